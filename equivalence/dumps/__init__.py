"""What is on disk already: arrays that two runs wrote, and two checkpoints, one beside the other.

read: the arrays of a file or a folder, by name.
names: which name of one side belongs to which of the other.
relation: how two arrays belong together, as far as numbers alone tell.
recorder: what a script of either framework writes of its run, in two lines.
monitor: what a long training writes of its norms, step by step; with a callback of MindSpore.
passing: what goes through the layers in a step, and how it is named.
torch_hooks, mindspore_hooks: how each framework lets it be seen.
layout: the folder that a recorder writes, and how it is read again.
compare: the pairs in the order of the run, and what they come to, in words.
beside: what each pair is, and the verdict on all.
judged: a recorded run, judged by the original on what went in.

Two files tell what is equal, and how two arrays differ. Whether rounding explains a difference they
cannot tell: that takes the network that made them.
"""

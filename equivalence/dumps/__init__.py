"""What is on disk already: arrays that two runs wrote, and two checkpoints, one beside the other.

read: the arrays of a file or a folder, by name.
names: which name of one side belongs to which of the other.
relation: how two arrays belong together, as far as numbers alone tell.
compare: the pairs in the order of the run, and what they come to.

Two files tell what is equal, and how two arrays differ. Whether rounding explains a difference they
cannot tell: that takes the network that made them.
"""

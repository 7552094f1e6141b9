"""Two networks of one framework: two revisions, two implementations, two execution modes.

Of two networks of PyTorch the first is the reference, with its float64 truth, as ever. Of two of
MindSpore none has a truth: the second is judged beside the first one's own runs.

check: the verdict on a network of MindSpore beside another.
first: the first network of MindSpore, in the place of a reference.
rounding: runs of a network of MindSpore in which every number is rounded once, at random.
diagnose: the first layer that departs, of either framework.
told: what the answer says of the sides.
"""

"""Cases of twins: each side runs once, and every check reads the same traces.

second_call: calls the candidate with other values before it is judged.
compare: runs and judges one size of a case, and sees the decisions of the candidate's own code.
excuses: judges a comparison that is not equal once more.
kernels: runs the candidate with accurate kernels.
replayed: compares a case that is right so with the same random numbers on both sides.
settings: compares the settings of both sides, without a run.
check: checks one case, in all sizes, or demands that both sides raise; begin to read here.

The frameworks are imported late.
"""

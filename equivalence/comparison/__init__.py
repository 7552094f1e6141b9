"""A case of a twin from end to end: both sides are built, run on one sample and judged.

check: one case: all its sizes, and the same draws on both sides; or that both raise. Begin here.
compare: runs and judges one size of a case, and sees the decisions of the candidate's own code.
comparison: a case with its seed and the unit roundoff by which it is judged; both sides with
their verdict; one verdict of several parts.
sides: the networks of both sides, the sample, and the state of networks that are handed over.
kept: the reference's side, which the next case may share.
random_layers: demands that random layers are pinned, and compares them.
second_call: calls the candidate with other values before it is judged.
settings: compares the settings of both sides, without a run.
excuses: judges a comparison that is not equal once more.
kernels: runs the candidate with accurate kernels.

The frameworks are imported late.
"""

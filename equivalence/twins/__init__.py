"""Cases of twins: each side runs once, and every check reads the same traces.

drawn: a case with its base seed.
sides: the networks of both sides, and the sample.
units: the unit roundoff by which a case is judged.
kept: the reference's side, which the next case may share.
comparison: both sides with their verdict.
pinned: demands that random layers are pinned, and compares them.
second_call: calls the candidate with other values before it is judged.
compare: runs and judges one size of a case.
excuses: judges a comparison that is not equal once more.
kernels: runs the candidate with accurate kernels.
accumulation: tells the rounding of long sums from a mistake.
sizes: compares all sizes of a case in one verdict.
raising: demands that both sides raise.
settings: compares the settings of both sides, without a run.
check: checks one case; begin to read here.

The frameworks are imported late.
"""

"""The two sides of a case of a twin: built, run and kept.

drawn: a case with its base seed, and the unit roundoff by which it is judged.
sides: the networks of both sides, and the sample.
trained: the weights of a checkpoint, for both sides.
state: what networks that are handed over, already built, write; both sides begin with it.
pinned: demands that random layers are pinned, and compares them.
pairing: the partners of the weights of a case.
kept: the reference's side, which the next case may share.
comparison: both sides with their verdict; one verdict of several parts.

The frameworks are imported late.
torch_candidate: a network of PyTorch as a candidate, beside another one of PyTorch.
"""

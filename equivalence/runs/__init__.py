"""The two sides of a case of a twin: built, run and kept.

sides: the networks of both sides, the sample, and the state of networks that are handed over.
trained: the weights of a checkpoint, for both sides.
pinned: demands that random layers are pinned, and compares them.
pairing: the partners of the weights of a case.
kept: the reference's side, which the next case may share.
comparison: a case with its seed and the unit roundoff by which it is judged; both sides with
their verdict; one verdict of several parts.

The frameworks are imported late.
torch_candidate: a network of PyTorch as a candidate, beside another one of PyTorch.
"""

"""The verdict on named arrays. Imports no framework.

tensors: the names of the arrays of a run, which together are its trace.
expected: the truth of one tensor, its sensitivity, and the distance between two arrays.
truth: the truth of a whole case.
sketch: a large tensor as 256 sums, which stand for all of its elements.
two_sample: whether two samples are of one distribution.
precision: the unit roundoffs, and the one budget.
verdict: the comparison of a trace with the truth; why a case cannot tell right from wrong.
attributes: what a run writes into attributes of layers, paired.
mistake: a place to mend, in plain words.
settings: the comparison of settings, which needs no run.
outcome: the result of a case, as reports read it, with the kernels to blame, and its draws.
excuses: the table of every way in which a difference may end other than red.
"""

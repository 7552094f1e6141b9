"""Initialisers, compared side by side: equal in distribution. Frameworks are imported late.

`compare` builds both sides many times (`values`) and judges them by `evidence`: the
tests of `judge/two_sample`, and the `conventions` that name a standard deviation;
then it finds the causes.
"""

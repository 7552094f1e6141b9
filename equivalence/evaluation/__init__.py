"""Two networks over a data set: the same weights and batches, metric by metric, sample by sample.

batches: a data loader of the user's as arrays and labels.
metrics: what is made of outputs and labels, and which samples rounding decides.
ranking: whether labels are among the first k classes, where rounding does not decide it.
evaluate: both sides over all batches.
command: `equivalence evaluate`.
"""

"""Further samples: after a green verdict, inputs that reach the decisions which it did not.

variant: other inputs for a case, as draws, and the case that has them.
shapes: variants by other sizes: a batch of one, one longer, one shorter.
values: variants by other values: large, tiny, on a grid, masked, first and last indices.
descent: inputs moved to the other side of a decision by the reference's gradient; loads torch.
trial: one run of the reference on a variant: what it reaches, or that it refuses it; loads torch.
search: the variants that are worth a comparison, one after the other; loads torch.
evidence: whether the verdict on a further sample says something of the candidate.
fixed: the sizes that a port takes alone, since its code holds their numbers; loads torch.
limits: the samples of which a declaration claims nothing; loads torch.
turns: one candidate that meets them one after the other, so that what it keeps shows.
samples: further samples of green cases, until one shows a difference; loads torch.
tried: what came of all further samples, in words.
"""

"""VarianceScaling(distribution="truncated_normal") draws from a uniform distribution.

A normal distribution truncated at two standard deviations has a kurtosis of 2.4, a uniform one
of 1.8.

Cause: `_initialize` compares the distribution with "truncated_norm", while `__init__` takes
"truncated_normal" only. The branch is never taken, and what is left is the uniform one.
"""

import sys

import numpy as np
import torch
from mindspore.common import initializer as init

API = "mindspore.common.initializer.VarianceScaling"
SEVERITY = "silent"
TORCH = ("torch.nn.init.trunc_normal_",)


def kurtosis(values):
    values = values.astype(np.float64).ravel()
    return np.mean((values - values.mean()) ** 4) / values.var() ** 2


scaling = init.VarianceScaling(distribution="truncated_normal")
drawn = init.initializer(scaling, [400, 500]).init_data().asnumpy()
reference = torch.nn.init.trunc_normal_(torch.empty(400, 500), a=-2, b=2).numpy()
expected, got = round(kurtosis(reference), 2), round(kurtosis(drawn), 2)
print("expected kurtosis", expected)
print("got      kurtosis", got)
sys.exit(0 if abs(got - expected) < 0.1 else 1)

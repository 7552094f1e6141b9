"""mindspore.common.initializer.Normal takes the deviation first, torch.nn.init.normal_ the mean.

Normal(0.0, 0.02) is a constant 0.02 without randomness.
"""

import sys

import torch
from mindspore.common import initializer as init

API = "mindspore.common.initializer.Normal"
SEVERITY = "default"
TORCH = ("torch.nn.init.normal_",)

expected = torch.nn.init.normal_(torch.empty(100, 100), 0.0, 0.02).numpy()
got = init.initializer(init.Normal(0.0, 0.02), [100, 100]).init_data().asnumpy()
print(f"expected mean {expected.mean():.3f}, standard deviation {expected.std():.3f}")
print(f"got      mean {got.mean():.3f}, standard deviation {got.std():.3f}")
sys.exit(0 if abs(got.std() - 0.02) < 0.002 else 1)

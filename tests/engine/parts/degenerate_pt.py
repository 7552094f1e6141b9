"""References whose results are NaN, infinite, zero, empty, float64 or complex on purpose."""

import torch
from torch import nn


class Overflowing(nn.Module):
    """Its gradient is 0 times infinity where float32 overflows, and zero in float64."""

    def forward(self, x):
        return torch.exp(x).clamp(max=1.0)


class Scored(nn.Module):
    """N,4 -> N,3: what `score` makes of a linear layer."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return self.score(self.layer(x))

    def score(self, y):
        return y


class Weighed(nn.Module):
    """N,4 -> N,4: each column times a weight."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x):
        return x * self.weight


class Rooted(Scored):
    def score(self, y):
        return torch.sqrt(-1.0 - y * y)


class Hinge(Scored):
    """A loss of logits that are all far enough from the margin."""

    def score(self, y):
        return torch.relu(-1.0 - y.abs()).mean()


class Power(Scored):
    """Complex numbers."""

    def forward(self, z):
        return self.layer((z * z.conj()).real), 2.0 * z

"""PyTorch networks with constant buffers; partners in `constants_ms.py`."""

import torch
from torch import nn


class Tables(nn.Module):
    """All kinds of tensors that a module can keep."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.frozen = nn.Parameter(torch.ones(4), requires_grad=False)
        self.register_buffer("mask", torch.tensor([True, False, True, True]))
        self.register_buffer("scale", torch.tensor(0.1))
        self.register_buffer("order", torch.tensor([2, 0, 3, 1]), persistent=False)
        self.register_buffer("noise", torch.randn(4))

    def forward(self, x):
        y = self.norm(self.linear(x)) * self.frozen + self.noise
        return (y * self.mask * self.scale)[:, self.order]


class Nest(nn.Module):
    """Another module inside."""

    def __init__(self):
        super().__init__()
        self.inner = Tables()

    def forward(self, x):
        return self.inner(x)


class Counting(nn.Module):
    """Counts its runs."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x):
        self.count += 1
        return x * self.count


class Attribute(nn.Module):
    """A table that is no buffer."""

    def __init__(self):
        super().__init__()
        self.table = torch.arange(4) / 10

    def forward(self, x):
        return x * self.table


class Island(nn.Module):
    """Computes a table in float32, and with it."""

    def forward(self, x):
        table = torch.arange(4, dtype=torch.float32) / 7
        return (x.float() * table).to(x.dtype)


class Spectral(nn.Module):
    """Its constructor computes two buffers of a parameter, and each call writes them."""

    def __init__(self):
        super().__init__()
        self.linear = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 5))

    def forward(self, x):
        return self.linear(x)


class Copying(nn.Module):
    """Its buffers are copies of initial weights: of ones, and of draws."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 5), nn.LayerNorm(5)
        self.register_buffer("ones", self.norm.weight.detach().clone())
        self.register_buffer("drawn", self.linear.weight.detach().clone())

    def forward(self, x):
        return self.norm(self.linear(x)) * self.ones + x @ self.drawn.T


class Seeded(nn.Module):
    """Its table is drawn by a seed of its own, and each call normalises it."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        torch.manual_seed(0)
        self.register_buffer("codes", torch.randn(7, 4))

    def forward(self, x):
        with torch.no_grad():
            self.codes.copy_(nn.functional.normalize(self.codes, dim=1))
        return self.linear(x) @ self.codes.T

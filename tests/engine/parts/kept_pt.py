"""Networks in PyTorch that keep something from one call to the next; partners in `kept_ms.py`."""

import torch
from torch import nn


class Plain(nn.Module):
    """Keeps nothing. factor: of its result."""

    def __init__(self, factor: float = 1.0):
        super().__init__()
        self.fc, self.factor = nn.Linear(4, 4), factor

    def forward(self, x):
        return self.fc(x) * self.factor


def scaled() -> Plain:
    """What the first call of a candidate gives that counts its calls."""
    return Plain(1.25)


class Attribute(nn.Module):
    """Counts its calls in a tensor that is a plain attribute."""

    def __init__(self):
        super().__init__()
        self.fc, self.calls = nn.Linear(4, 4), torch.zeros(())

    def forward(self, x):
        self.calls = self.calls + 1.0
        return self.fc(x) * (1.0 + 0.25 * self.calls)


class Buffer(nn.Module):
    """Counts its calls in a buffer that changes no result."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x):
        self.seen += 1.0
        return self.fc(x)

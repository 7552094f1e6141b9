"""Networks in PyTorch whose code looks up tables in globals and lists; see `looked_up_ms.py`."""

import numpy as np
import torch
from torch import nn

from tests.engine.parts import looked_up_tables

ALPHAS = [0.99, 0.95, 0.9, 0.8, 0.65, 0.5, 0.3, 0.1]
SIGMAS = np.linspace(0.5, 4.0, 8).astype(np.float32)
WIDTHS = {"small": [4, 4, 4], "large": [8, 8, 8]}
"""Of all variants; a constructor alone reads them."""


class Schedule:
    """A schedule that is no layer."""

    def __init__(self):
        self.betas = [0.01 * (1 + step) for step in range(10)]


class Sampler(nn.Module):
    """A step of a sampler, of which the first calls read little."""

    def __init__(self, size: str = "small"):
        super().__init__()
        self.fc = nn.Linear(WIDTHS[size][0], 4)
        self.anchors = [[10, 13, 16], [30, 33, 23], [30, 61, 62]]
        self.order = (0, 2, 1)
        self.schedule = Schedule()

    def scale(self, step):
        """What one step multiplies by."""
        return float(SIGMAS[step]) * self.schedule.betas[step] * looked_up_tables.guidance(step)

    def forward(self, x):
        steps = range(x.shape[0] - 1)
        scale = sum(ALPHAS[step] * self.scale(step) for step in steps)
        return self.fc(x) * scale + sum(self.anchors[0]) + self.order[0]


class OfTensors(nn.Module):
    """The table is a tensor of the network's."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("alphas", torch.tensor(ALPHAS), persistent=False)

    def forward(self, x):
        return self.fc(x) * self.alphas[0]

"""Networks in PyTorch that look up rows of tables; partners in `tabled_ms.py`."""

import math

import torch
from torch import nn


class Palette(nn.Module):
    """Colours by their numbers, of a table that is a plain attribute; and a mask beside it."""

    def __init__(self):
        super().__init__()
        self.table = torch.linspace(-1.0, 1.0, 40).sin().reshape(20, 2)
        self.mask = torch.full((8, 8), float("-inf")).triu(1)
        self.fc = nn.Linear(2, 3)

    def forward(self, ids):
        return self.fc(self.table[ids]).reshape(-1, 3)


class Positions(nn.Module):
    """Adds the sines of positions, a buffer for many more of them than are there."""

    def __init__(self, length: int = 64, width: int = 8):
        super().__init__()
        places = torch.arange(length).float()[:, None]
        turns = torch.exp(torch.arange(0, width, 2) * (-math.log(1e4) / width))
        table = torch.zeros(length, width)
        table[:, 0::2], table[:, 1::2] = torch.sin(places * turns), torch.cos(places * turns)
        self.register_buffer("pe", table, persistent=False)
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x + self.pe[: x.shape[1]])


class Saved(Palette):
    """The table is a buffer that a checkpoint holds."""

    def __init__(self):
        super().__init__()
        table = self.table
        del self.table
        self.register_buffer("table", table)

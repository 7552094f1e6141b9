"""A weight that is called `w`, beside a layer's `weight`."""

import torch
from torch import nn
from torch.nn import functional


class Renamed(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(5, 6))
        self.head = nn.Linear(5, 2)

    def forward(self, x):
        return self.head(torch.tanh(functional.linear(x, self.w)))

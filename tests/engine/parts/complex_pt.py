"""A network that returns complex numbers."""

import torch
from torch import nn


class Turned(nn.Module):
    def __init__(self):
        super().__init__()
        self.real, self.imaginary = (nn.Parameter(torch.zeros(4)) for _ in range(2))

    def forward(self, x):
        return torch.complex(x, -x) * torch.complex(self.real, self.imaginary)

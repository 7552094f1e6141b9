"""Embeddings of positions and times by sines and cosines."""

import math

import torch
from torch import nn


class TimestepEmbedding(nn.Module):
    """B -> B,C: a linear layer over the cosines and sines of times, as in a diffusion model."""

    def __init__(self, width: int, channels: int):
        super().__init__()
        self.half = width // 2
        self.linear = nn.Linear(width, channels)

    def forward(self, times):
        steps = torch.arange(self.half, dtype=torch.float32, device=times.device)
        frequencies = torch.exp(-math.log(10000.0) * steps / self.half)
        angles = times[:, None].float() * frequencies
        table = torch.cat([torch.cos(angles), torch.sin(angles)], -1)
        return self.linear(table.to(self.linear.weight.dtype))

"""Layers that add up thousands of terms."""

import math

import torch
from torch import nn
from torch.nn import functional


class Product(nn.Module):
    """A matrix product."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b


class NormThenMean(nn.Module):
    """LayerNorm of every token, then the mean of the tokens: the head of an image transformer."""

    def __init__(self, channels: int):
        super().__init__()
        self.norm = nn.LayerNorm(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x).mean(1)


class ChannelBias(nn.Module):
    """A bias for each channel, whose gradient is a sum over batch, height and width."""

    def __init__(self, channels: int):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.bias[:, None, None]


class VocabularyHead(nn.Module):
    """From the states of tokens to the loss of the next token, over a whole vocabulary."""

    def __init__(self, width: int, vocabulary: int):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(self.head(self.norm(x)), labels)


class Timesteps(nn.Module):
    """Sines and cosines of timesteps, then two layers: the time embedding of a diffusion model."""

    def __init__(self, width: int):
        super().__init__()
        self.half = width // 2
        self.linear_1, self.linear_2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, 4 * width)

    def forward(self, timesteps: torch.Tensor) -> torch.Tensor:
        exponents = torch.arange(self.half, dtype=torch.float32, device=timesteps.device)
        frequencies = torch.exp(exponents * (-math.log(10000.0) / self.half))
        angles = timesteps[:, None].float() * frequencies
        table = torch.cat([torch.cos(angles), torch.sin(angles)], 1)
        table = table.to(self.linear_1.weight.dtype)
        return self.linear_2(functional.silu(self.linear_1(table)))


class Recurrent(nn.Module):
    """A recurrent network over a sequence, batch first; its outputs and last states."""

    def __init__(self, kind: str, width: int, hidden: int, **options):
        super().__init__()
        self.layers = getattr(nn, kind)(width, hidden, batch_first=True, **options)

    def forward(self, x: torch.Tensor):
        return self.layers(x)

"""A decoder of a language model in PyTorch, of any size."""

import torch
from torch import nn


class RMSNorm(nn.Module):
    """Divides by the root mean square over the last axis."""

    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * self.weight


class Attention(nn.Module):
    """Causal attention with rotary positions."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x, cos, sin, mask):
        batch, tokens, width = x.shape

        def split(y):
            return y.view(batch, tokens, self.heads, -1).transpose(1, 2)

        def turned(y):
            first, second = y.chunk(2, -1)
            return y * cos + torch.cat((-second, first), -1) * sin

        q, k, v = turned(split(self.q(x))), turned(split(self.k(x))), split(self.v(x))
        scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5 + mask
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, tokens, width))


class MLP(nn.Module):
    """A gated layer."""

    def __init__(self, width: int):
        super().__init__()
        self.gate = nn.Linear(width, 4 * width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """One layer of the decoder."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.norm1, self.attention = RMSNorm(width), Attention(width, heads)
        self.norm2, self.mlp = RMSNorm(width), MLP(width)

    def forward(self, x, cos, sin, mask):
        x = x + self.attention(self.norm1(x), cos, sin, mask)
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Module):
    """Tokens -> logits."""

    def __init__(self, vocabulary: int, width: int, heads: int, depth: int):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm, self.head = RMSNorm(width), nn.Linear(width, vocabulary, bias=False)
        self.size = width // heads

    def forward(self, tokens):
        number = tokens.shape[1]
        rates = 1.0 / 10000 ** (torch.arange(0, self.size, 2).float() / self.size)
        angles = (torch.arange(number).float()[:, None] * rates).repeat(1, 2)
        mask = torch.full((number, number), float("-inf")).triu(1)
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, angles.cos(), angles.sin(), mask)
        return self.head(self.norm(x))

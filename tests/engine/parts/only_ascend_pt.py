"""The originals of `only_ascend_ms`."""

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x):
        heads = self.norm(x).view(2, 5, 2, 4).transpose(1, 2)
        read = F.scaled_dot_product_attention(heads, heads, heads, is_causal=True)
        x = x + read.transpose(1, 2).reshape(2, 5, 8)
        return x + self.down(F.gelu(self.up(x)))


class Lacking(nn.Module):
    def forward(self, x):
        return torch.cummin(x, 1)[0]


class Attention(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, scale=0.5)

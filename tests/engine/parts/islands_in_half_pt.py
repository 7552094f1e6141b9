"""Networks that run in float16 as a whole, with parts in float32, as many write them by hand."""

import torch
from torch import nn
from torch.nn import functional as F


class Attend(nn.Module):
    """A softmax in float32; the scores and the rest are in float16."""

    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(1, 2) * 0.3
        return torch.softmax(scores.float(), -1).to(x.dtype) @ x


class Normed(nn.Module):
    """A LayerNorm and a mean in float32."""

    def __init__(self):
        super().__init__()
        self.fc, self.norm = nn.Linear(8, 8), nn.LayerNorm(8)

    def forward(self, x):
        y = self.fc(x).float()
        y = F.layer_norm(y, (8,), self.norm.weight.float(), self.norm.bias.float(), 1e-5)
        return (y + y.mean(1, keepdim=True)).to(x.dtype)


class Stream(nn.Module):
    """A residual stream in float32 beside one in float16."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8, bias=False), nn.Linear(8, 8, bias=False)

    def forward(self, x):
        stream = x.float()
        stream = stream + self.first(x).float()
        short = stream.to(x.dtype)
        stream = stream + self.second(short).float()
        return (short + stream.to(x.dtype)).to(x.dtype)

"""Modules whose shapes or branches depend on data: bounds, counts, axes and masks are inputs."""

import torch
import torch.nn.functional as F
from torch import nn


def row_slice():
    return lambda x, start, stop: x[int(start) : int(stop)]


def top_k():
    return lambda x, k: tuple(torch.topk(x, int(k)))


def gather():
    return lambda x, rows: x[rows]


def segment_reductions():
    """Sum, largest, smallest and product of the rows of each segment: N,C -> segments,C."""

    def call(x, segments, count):
        places = segments[:, None].expand_as(x)
        empty = x.new_zeros(int(count), x.shape[1])

        def reduced(kind, start):
            return (empty + start).scatter_reduce(0, places, x, kind, include_self=False)

        return reduced("sum", 0.0), reduced("amax", 0.0), reduced("amin", 0.0), reduced("prod", 1.0)

    return call


def reductions():
    """Sum and mean without the axis, largest and smallest with it kept."""

    def call(x, axis):
        axes = axis.reshape(-1).tolist()
        largest, smallest = x.amax(axes, keepdim=True), x.amin(axes, keepdim=True)
        return x.sum(axes), x.mean(axes), largest, smallest

    return call


def transpose():
    return lambda x, order: x.permute(order.tolist())


def unique():
    return lambda x: torch.unique(x, return_inverse=True)


def masked_select():
    return lambda x: torch.masked_select(x, x > 0)


def non_zero():
    return lambda x: (torch.nonzero(x > 0), (x > 0).sum(1))


def sampler():
    """The rows whose score is positive, and all rows with the others set to their negative."""
    return lambda x, scores: (x[scores > 0], torch.where(scores[:, None] > 0, x, -x))


def branch():
    """The elements above a limit where there are any, otherwise zeros."""
    return lambda x, limit: x[x > limit] if (x > limit).any() else torch.zeros_like(x)


def halved():
    """x, halved until the sum of its squares is at most one."""

    def call(x):
        while (x * x).sum() > 1.0:
            x = 0.5 * x
        return x

    return call


class ConvBlock(nn.Module):
    """Convolution, BatchNorm, ReLU, mean of the map and a linear layer: N,3,H,W -> N,classes."""

    def __init__(self, planes: int, classes: int):
        super().__init__()
        self.conv = nn.Conv2d(3, planes, 3, stride=2, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(planes)
        self.relu, self.fc = nn.ReLU(), nn.Linear(planes, classes)

    def forward(self, x):
        x = self.relu(self.bn(self.conv(x)))
        return self.fc(x.mean((2, 3)))


class Encoder(nn.Module):
    """A layer of a Transformer's encoder: N,L,width and the N lengths -> N,L,width."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.linear1, self.linear2 = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x, lengths):
        query, key, value = (
            each(x).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for each in (self.query, self.key, self.value)
        )
        within = (torch.arange(x.shape[1]) < lengths[:, None])[:, None, None]
        mixed = F.scaled_dot_product_attention(query, key, value, within)
        x = self.norm1(x + self.out(mixed.transpose(1, 2).flatten(2)))
        return self.norm2(x + self.linear2(F.gelu(self.linear1(x))))

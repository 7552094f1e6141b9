"""Networks with branches, caches and boxes."""

import torch
from torch import nn


class Causal(nn.Module):
    """Attention with a mask that is kept, and made anew for another length."""

    def __init__(self, width=4):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.mask = None

    def forward(self, x):
        length = x.shape[1]
        if self.mask is None or self.mask.shape[0] != length:
            self.mask = torch.ones(length, length, dtype=torch.bool).triu(1)
        q, k, v = self.qkv(x).chunk(3, -1)
        logits = (q @ k.transpose(1, 2)).masked_fill(self.mask, -1e9)
        return torch.softmax(logits, -1) @ v


class Rotary(nn.Module):
    """Rotates pairs of channels by the position."""

    def forward(self, x):
        places = torch.arange(x.shape[1], device=x.device, dtype=torch.float32)[:, None]
        angles = places * torch.tensor([1.0, 0.1])
        sine, cosine = torch.sin(angles).to(x.dtype), torch.cos(angles).to(x.dtype)
        first, second = x[..., :2], x[..., 2:]
        return torch.cat((first * cosine - second * sine, first * sine + second * cosine), -1)


def chunked(x):
    """A long sequence is averaged in two halves."""
    if x.shape[1] > 12:
        half = x.shape[1] // 2
        return 0.5 * (x[:, :half].mean(1) + x[:, half:].mean(1))
    return x.mean(1)


def evened(x):
    """An odd sequence gets its last token once more."""
    if x.shape[1] % 2:
        x = torch.cat((x, x[:, -1:]), 1)
    return x.reshape(x.shape[0], x.shape[1] // 2, -1)


def single(x):
    """A batch of one is not centred."""
    if x.shape[0] == 1:
        return x * 2.0
    return (x - x.mean(0, keepdim=True)) * 2.0


def tamed(x):
    """What is too large is divided."""
    if x.abs().max() > 10.0:
        x = x / x.abs().max() * 10.0
    return x + 1.0


def stacked(x):
    """Sums of three neighbours, as many as there are."""
    total = torch.zeros_like(x[:, :1])
    for i in range(max(x.shape[1] - 4, 0)):
        total = total + x[:, i : i + 1] * (i + 1.0)
    return total + x.mean(1, keepdim=True)


def strided(x):
    """A window may be larger than the map."""
    size = min(5, x.shape[2], x.shape[3])
    return nn.functional.avg_pool2d(x, size, 1)


def overlaps(a, b):
    """Intersection over union of pairs of boxes (x, y, x, y)."""
    low, high = torch.maximum(a[:, :2], b[:, :2]), torch.minimum(a[:, 2:], b[:, 2:])
    inner = (high - low).clamp(min=0.0).prod(1)
    areas = [(each[:, 2:] - each[:, :2]).prod(1) for each in (a, b)]
    return inner / (areas[0] + areas[1] - inner + 1e-7)


def decoded(anchors, deltas):
    """Boxes of centre and size; sizes are bounded."""
    centre = anchors[:, :2] + deltas[:, :2] * anchors[:, 2:]
    size = anchors[:, 2:] * torch.exp(deltas[:, 2:].clamp(max=4.135))
    return torch.cat((centre - 0.5 * size, centre + 0.5 * size), 1)


def clipped(boxes):
    """Boxes within a picture of 40 rows and 60 columns."""
    x = boxes[:, 0::2].clamp(0.0, 60.0)
    y = boxes[:, 1::2].clamp(0.0, 40.0)
    return torch.stack((x, y), 2).flatten(1)


def located(x, places):
    """Values of a map at places, which are kept within it."""
    height, width = x.shape[1:]
    rows = places[:, 0].clamp(0, height - 1)
    columns = places[:, 1].clamp(0, width - 1)
    return x[:, rows, columns]


class Averaged(nn.Module):
    """A running mean, of which the first batch is all."""

    def __init__(self, width=4):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x):
        y = self.norm(x)
        if self.training and x.shape[0] > 6:
            y = y * 0.5
        return y

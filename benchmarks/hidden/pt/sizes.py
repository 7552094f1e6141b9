"""Networks whose sizes decide something."""

import torch
from torch import nn
from torch.nn import functional as F


def pooled(x):
    return F.max_pool2d(x, 2, 2, ceil_mode=True)


def averaged(x):
    return F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)


def adaptive(x):
    return F.adaptive_avg_pool2d(x, 4).flatten(1)


def thinned(x):
    return x[:, :, ::2, ::2] * 2.0


def merged(x):
    """Patch merging pads to even sizes."""
    height, width = x.shape[2:]
    x = F.pad(x, (0, width % 2, 0, height % 2))
    parts = [x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)]
    return torch.cat(parts, 1)


def joined(x, skip):
    up = F.interpolate(x, size=skip.shape[2:], mode="nearest")
    return torch.cat((up, skip), 1)


class Positions(nn.Module):
    """Adds as many learned positions as there are tokens."""

    def __init__(self, width=6, most=9):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(1, most, width))

    def forward(self, x):
        return x + self.table[:, : x.shape[1]]


def coordinates(x):
    """Two channels of coordinates, from -1 to 1."""
    batch, _, height, width = x.shape
    rows = torch.linspace(-1.0, 1.0, height, device=x.device).to(x.dtype)
    columns = torch.linspace(-1.0, 1.0, width, device=x.device).to(x.dtype)
    rows = rows[:, None].expand(batch, 1, height, width)
    columns = columns[None, :].expand(batch, 1, height, width)
    return torch.cat((x * 2.0, rows, columns), 1)


def windowed(x, window=6):
    """A mean over at most `window` last tokens."""
    size = min(window, x.shape[1])
    return x[:, -size:].mean(1)


def relative(x, most=8):
    """A bias by the distance of tokens, which is bounded."""
    length = x.shape[1]
    places = torch.arange(length, device=x.device)
    distance = (places[None] - places[:, None]).clamp(-most, most).to(x.dtype)
    return torch.softmax(x @ x.transpose(1, 2) + 0.1 * distance, -1) @ x


class Squeezed(nn.Module):
    """A score for each sample."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(5, 1)

    def forward(self, x):
        return self.head(x).squeeze(1)


class Classed(nn.Module):
    """A class token in front of all others."""

    def __init__(self, width=6):
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, width))

    def forward(self, x):
        return torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1)


def contrastive(a, b):
    """The loss of pairs of one batch."""
    logits = F.normalize(a, dim=1) @ F.normalize(b, dim=1).T / 0.1
    labels = torch.arange(a.shape[0], device=a.device)
    return F.cross_entropy(logits, labels)


def split_heads(x, heads=2):
    batch, length, width = x.shape
    x = x.reshape(batch, length, heads, width // heads).transpose(1, 2)
    return torch.softmax(x @ x.transpose(2, 3), -1) @ x


def shifted(x):
    """A temporal shift: one channel comes from the step before, one from the next."""
    y = torch.zeros_like(x)
    y[:, 1:, :1] = x[:, :-1, :1]
    y[:, :-1, 1:2] = x[:, 1:, 1:2]
    y[:, :, 2:] = x[:, :, 2:]
    return y


def differences(x):
    """Differences of neighbours, and the last one again."""
    step = x[:, 1:] - x[:, :-1]
    return torch.cat((step, step[:, -1:]), 1) * 3.0

"""PyTorch networks that decide something which the usual sample does not reach."""

import warnings

import torch
from torch import nn


class Clamped(nn.Module):
    """Behind a norm, so that no scale of the inputs reaches the bound."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8, elementwise_affine=False)

    def forward(self, x):
        return self.norm(x).clamp(max=2.6) * 2.0


class Guarded(nn.Module):
    """Behind a bias, so that no scale of the inputs comes near the epsilon."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)

    def forward(self, x):
        y = self.fc(x)
        y = y - y.mean(-1, keepdim=True)
        return y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-8)


class Masked(nn.Module):
    def forward(self, x):
        length = x.shape[1]
        mask = torch.ones(length, length, dtype=torch.bool).triu(1)
        return torch.softmax((x @ x.transpose(1, 2)).masked_fill(mask, -1e9), -1) @ x


def squeezed(x):
    return x.sum(1, keepdim=True).squeeze(1) * 2.0


def paired(x):
    return x[:, 1:] - x[:, :-1] + x[:, :1]


def halved(x):
    """Takes an even length alone, and no batch of one."""
    batch, length = x.shape
    assert batch > 1
    return x.reshape(batch, length // 2, 2).sum(2)


def even_mean(x):
    """Is told of an odd length that it may be meant otherwise."""
    if x.shape[1] % 2:
        warnings.warn(f"an odd length: {x.shape[1]}", stacklevel=1)
    return x.mean(1) + x[:, 0]


def rooted(x):
    return torch.sqrt(x + 30.0) * 2.0


def gated(x):
    return torch.where(x > 0.5, x * 2.0, x - 1.0)


def rooted_above(x):
    safe = torch.where(x > 0.5, x - 0.5, torch.ones_like(x))
    return torch.where(x > 0.5, safe.sqrt(), torch.zeros_like(x))


def absolute(x):
    return torch.clamp(x, min=0.5)


class Counting(nn.Module):
    """Keeps the length of its first call, as it should not."""

    def __init__(self):
        super().__init__()
        self.first = None

    def forward(self, x):
        self.first = self.first or x.shape[1]
        return x * (x.shape[1] - self.first + 1.0)


def chosen(x):
    """Far from zero, all probabilities but one underflow, and which is the second is chance."""
    top = torch.softmax(x, -1).topk(2, -1).indices
    return x.abs().sum(-1) * 10.0 + x.gather(1, top).sum(-1), x.sum(-1)


def turned(x):
    batch, rows, columns = x.shape
    return x.reshape(batch, columns, rows) * 2.0


def thinned(x):
    """Every fourth column, and a table of as many rows."""
    x = x[..., ::4]
    return x * torch.arange(x.shape[-1], dtype=x.dtype)


class LogSumExp(nn.Module):
    def forward(self, x):
        return torch.logsumexp(x, -1) * 2.0


def stretched(x):
    length = x.shape[1]
    return x * torch.arange(length)[:, None] / max(length / 16.0, 1.0)


def attended(q, k):
    mask = torch.ones(q.shape[1], k.shape[1]).tril(k.shape[1] - q.shape[1])
    return (q @ k.transpose(1, 2)) * mask


def first_of(x):
    return x.argmax(1), x * 2.0


def marked(x):
    """Nothing is marked where no more than four are there."""
    row = torch.zeros(x.shape[1])
    row[: max(x.shape[1] - 4, 0)] = 1.0
    return x * 2.0 + row


def summed_behind(x):
    return x[:, 4:].sum(1)


def behind(x):
    return x[:, 4:]

"""Networks in which the size of a number decides something."""

import torch
from torch import nn
from torch.nn import functional as F


class Clamped(nn.Module):
    """Clamps what a layer gives."""

    def __init__(self, width=6):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return torch.clamp(self.fc(x), -20.0, 20.0)


class Normed(nn.Module):
    """Clamps behind a norm, which no scale of the inputs passes."""

    def __init__(self, width=8):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return torch.clamp(self.norm(x), max=2.0) * 2.0


class Sampled(nn.Module):
    """The deviation of a variational autoencoder."""

    def __init__(self, width=4):
        super().__init__()
        self.both = nn.Linear(width, 2 * width)

    def forward(self, x, noise):
        mean, log = self.both(x).chunk(2, 1)
        return mean + noise * torch.exp(0.5 * torch.clamp(log, -30.0, 20.0))


def bounded(x):
    return F.relu6(x) * 1.5


def hard(x):
    return F.hardsigmoid(x) * x


def huber(x, y):
    return F.smooth_l1_loss(x, y, beta=8.0)


def soft(x):
    return F.softplus(x, beta=1.0, threshold=20.0)


def bent(x):
    return F.elu(x) + 2.0 * x


def mish(x):
    return F.mish(x) + 2.0 * x


def rooted(x):
    """RMSNorm."""
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-8)


class RootedLayer(nn.Module):
    """A norm behind a layer with a bias."""

    def __init__(self, width=6):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        y = self.fc(x)
        mean = y.mean(-1, keepdim=True)
        variance = (y - mean).pow(2).mean(-1, keepdim=True)
        return (y - mean) / torch.sqrt(variance + 1e-8)


def united(x):
    return F.normalize(x, dim=-1, eps=1e-6)


def similar(x, y):
    first = x.norm(dim=1).clamp(min=1e-7)
    second = y.norm(dim=1).clamp(min=1e-7)
    return (x * y).sum(1) / (first * second)


def logged(x):
    return torch.log(x + 1e-8)


def dice(x, y):
    x = torch.sigmoid(x).flatten(1)
    return (1.0 - (2.0 * (x * y).sum(1) + 1e-6) / (x.sum(1) + y.sum(1) + 1e-6)).mean()


def rounded(x):
    """A quantiser with eight steps, whose gradient goes straight through."""
    y = torch.clamp(x * 4.0, -8.0, 7.0)
    return x + (torch.round(y) / 4.0 - x).detach()


def gated(x):
    return torch.where(x > 0.5, x * 2.0, x - 1.0)


def signed(x):
    return torch.where(x >= 0.0, torch.ones_like(x), -torch.ones_like(x)) + 0.1 * x


def binned(x):
    return torch.floor(x * 2.0).detach() * 0.5 + x


def soft_maximum(x):
    return torch.softmax(x, -1)


def summed(x):
    return torch.logsumexp(x, 1)


def crossed(x, y):
    return F.binary_cross_entropy_with_logits(x, y)


def focal(x, y):
    p = torch.sigmoid(x)
    loss = F.binary_cross_entropy_with_logits(x, y, reduction="none")
    near = p * y + (1 - p) * (1 - y)
    return (loss * (1 - near) ** 2).mean()


def curved(x):
    return torch.tanh(x) * torch.sigmoid(x)


def cleaned(x):
    return torch.nan_to_num(x, nan=0.0, posinf=5.0, neginf=-5.0) * 2.0


def checked(x):
    return torch.where(torch.isfinite(x), x, torch.zeros_like(x)).sum(1)


def angled(x):
    return torch.acos(torch.clamp(x, -1.0 + 1e-4, 1.0 - 1e-4))


def rescaled(x):
    """Scales what is too large."""
    norm = x.norm(dim=1, keepdim=True)
    return x * torch.clamp(10.0 / (norm + 1e-6), max=1.0)


def absolute(x):
    return torch.sqrt(torch.abs(x) + 0.25)

"""PyTorch twins of the right cells in `networks_ms`."""

import torch
import torch.nn.functional as F
from torch import nn


class Nested(nn.Module):
    """N,4 -> (N,3), ((N,3), (N,))."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4, 3)

    def forward(self, x):
        y = self.dense(x)
        return y, (y * y, y.sum(1))


class Ranking(nn.Module):
    """Ids N -> the place of the largest score, an integer, and the scores N,3."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5, 3)

    def forward(self, ids):
        scores = self.embedding(ids)
        return scores.argmax(1), scores


class Places(nn.Module):
    """A layer whose largest output is told by its place alone."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4, 3)

    def forward(self, x):
        return self.dense(x).argmax(1)


class Initialised(nn.Module):
    """Layers with initialisers of every kind."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4, 3)
        nn.init.kaiming_normal_(self.dense.weight)
        nn.init.uniform_(self.dense.bias)
        self.embedding = nn.Embedding(5, 3)
        self.scale = nn.Parameter(torch.empty(3))
        with torch.no_grad():
            self.scale.normal_()


class UnpinnedDropout(nn.Module):
    """Dropout by function, which no phase reaches."""

    def forward(self, x):
        return F.dropout(x, training=True)


class Pooled(nn.Module):
    """A convolution whose outputs a max pooling compares."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3)

    def forward(self, x):
        return F.max_pool2d(self.conv(x), 2)


class Halfused(nn.Module):
    """Of two layers only the first is used, and only the first input."""

    def __init__(self):
        super().__init__()
        self.used = nn.Linear(4, 3)
        self.unused = nn.Linear(4, 2)

    def forward(self, x, y):  # noqa: ARG002
        return self.used(x)


class Frozen(nn.Module):
    """A frozen layer and a trained one."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(4, 4).requires_grad_(False)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


class Steps(nn.Module):
    """A layer and how many rows it finds positive: floats, but without a gradient."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4, 3)

    def forward(self, x):
        return (self.dense(x) > 0).sum(0).to(x.dtype)


class Dropping(nn.Module):
    """A layer and its dropout."""

    def __init__(self, p: float = 0.5):
        super().__init__()
        self.dense = nn.Linear(4, 3)
        self.dropout = nn.Dropout(p=p)

    def forward(self, x):
        return self.dropout(self.dense(x))


class ByKeyword(nn.Module):
    """Calls its layer with a tensor by its name."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4, 3)

    def forward(self, x):
        return self.dense(input=x)


class Refusing(nn.Module):
    """Raises ValueError for every input, after a first operator."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4, 3)

    def forward(self, x):
        y = self.dense(x)
        raise ValueError(f"no shape pleases me, nor does {tuple(y.shape)}")


class Rectified(nn.Module):
    """A layer and its ReLU."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4, 3)

    def forward(self, x):
        return self.dense(x).relu()


class RectifiedTwice(Rectified):
    """A ReLU behind a ReLU."""

    def forward(self, x):
        return super().forward(x).relu()


class BatchVariance(nn.Module):
    """E[x^2] - E[x]^2 of each row: all digits cancel where the mean is large."""

    def forward(self, x):
        return (x * x).mean(1) - x.mean(1) * x.mean(1)


class ItsOwnWeight(nn.Module):
    """The output and the weight it was made with."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4, 3)

    def forward(self, x):
        return self.dense(x), self.dense.weight


def one_hot():
    """A plain callable that takes no integers but int64."""
    return lambda ids: F.one_hot(ids, 5)


def doubling():
    """A plain callable."""
    return lambda x: x * 2


def drowned():
    """The place of the largest, which no short precision sees beside so large a number."""
    return lambda x: (x + 1e12).argmax(1)


def infinite():
    """Infinities, whatever x is."""
    return lambda x: x / 0.0


def logarithm():
    """NaN for negative numbers."""
    return torch.log


class Shifted(nn.Module):
    """N -> N: the cube of x, with digits lost on the way there and back."""

    def forward(self, x):
        return ((x + 1e4) - 1e4) ** 3


def scale_before_norm() -> nn.Sequential:
    """A scale for each channel, which the BatchNorm behind it undoes, but for its epsilon."""
    scale = nn.Conv2d(2, 2, 1, groups=2, bias=False)
    return nn.Sequential(scale, nn.BatchNorm2d(2, eps=1e-12))


class Guarded(nn.Module):
    """N,C -> N,C: numbers in the code, of which the last line shows two of three."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4, eps=1e-3)

    def forward(self, x):
        scale = x.mean().exp().clamp(max=100)
        x = F.normalize(self.norm(x), dim=-1)
        return (0.5 * x).clamp(-0.1, 1000) * scale


class Decoder(nn.Module):
    """Two joins with what came before, as in a U-Net: one line that runs twice."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4))
        self.deep = nn.Sequential(nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4))
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.one = nn.Sequential(nn.Conv2d(8, 4, 3, padding=1), nn.BatchNorm2d(4))
        self.two = nn.Conv2d(7, 3, 3, padding=1)

    def join(self, x, skip):
        x = self.up(x)
        down, right = skip.shape[2] - x.shape[2], skip.shape[3] - x.shape[3]
        x = F.pad(x, (0, right, 0, down))
        return torch.cat([skip, x], dim=1)

    def forward(self, x):
        middle = self.down(x)
        y = self.one(self.join(self.deep(middle), middle))
        return self.two(self.join(y, x))

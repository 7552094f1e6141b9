"""PyTorch twins of the right cells in `networks_ms`."""

import torch
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
    """Ids N -> scores N,3 and the place of the largest, an integer."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5, 3)

    def forward(self, ids):
        scores = self.embedding(ids)
        return scores, scores.argmax(1)


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

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4, 3)
        self.dropout = nn.Dropout(p=0.5)

    def forward(self, x):
        return self.dropout(self.dense(x))


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


def doubling():
    """A plain callable."""
    return lambda x: x * 2


def logarithm():
    """NaN for negative numbers."""
    return torch.log


class Shifted(nn.Module):
    """N -> N: the cube of x, with digits lost on the way there and back."""

    def forward(self, x):
        return ((x + 1e4) - 1e4) ** 3

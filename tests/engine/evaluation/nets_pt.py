"""Networks to evaluate, and the data to do it with."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SIZES = (10, 10, 4)


class Classes(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.fc = nn.BatchNorm1d(6), nn.Linear(6, 8)

    def forward(self, x):
        return self.fc(self.norm(x))


class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 5, 1)

    def forward(self, x):
        return {"out": self.conv(x), "aux": self.conv(x).mean((2, 3))}


class Text(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.fc = nn.Embedding(20, 8), nn.Linear(8, 20)

    def forward(self, ids):
        return self.fc(self.table(ids))


def _seeded():
    return torch.Generator().manual_seed(1)


def loader():
    seeded = _seeded()
    images = torch.randn(sum(SIZES), 6, generator=seeded)
    labels = torch.randint(0, 8, (sum(SIZES),), generator=seeded)
    return DataLoader(TensorDataset(images, labels), batch_size=SIZES[0])


def unlabelled():
    return [torch.randn(4, 6, generator=_seeded())]


def nothing():
    return []


def labels_of_another_shape():
    return [(torch.zeros(4, 6), torch.zeros(4, 2, dtype=torch.int64))]


def pictures():
    seeded = _seeded()
    labels = torch.randint(0, 5, (2, 4, 4), generator=seeded)
    labels[0, 0] = 255
    return [(torch.randn(2, 3, 4, 4, generator=seeded), labels)]


def text():
    ids = torch.randint(0, 20, (2, 7), generator=_seeded())
    return [{"ids": ids, "labels": ids.roll(-1, 1)}]


def share_of_first(outputs, labels):
    """The share of samples of the first class, and of right ones."""
    first = outputs.argmax(1)
    return {"first": (first == 0).mean(), "right": (first == labels).mean()}


def a_text(_outputs, _labels):
    return "high"

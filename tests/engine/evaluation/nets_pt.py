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


class Moved(nn.Module):
    """Moves what it gets by a little; what that is, its data says."""

    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return x + 1e-3 * self.fc(x)


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


def tokens():
    """Logits (4, 9, 7) whose largest is the label's, but for some tokens, and labels with -100."""
    labels = torch.arange(36).reshape(4, 9) * 5 % 7
    found = labels.clone()
    found[:, 4] = (found[:, 4] + 2) % 7
    labels[0, 7:] = -100
    logits = 4.0 * nn.functional.one_hot(found, 7) + torch.randn(4, 9, 7, generator=_seeded())
    return [(logits[:2], labels[:2]), (logits[2:], labels[2:])]


def speech():
    """Logits (2, 8, 5) of words, each for two frames with a blank between; one word is wrong."""
    frames = torch.tensor([[1, 1, 0, 3, 3, 0, 2, 2], [4, 4, 0, 4, 4, 0, 0, 1]])
    labels = torch.full((2, 8), -100)
    labels[:, :3] = torch.tensor([[1, 3, 4], [4, 4, 1]])
    logits = 4.0 * nn.functional.one_hot(frames, 5) + torch.randn(2, 8, 5, generator=_seeded())
    return [(logits, labels)]


def boxes():
    """Boxes and scores (2, 3, 6) of two classes, and three that are there, (2, 3, 5)."""
    found = torch.tensor([[0.0, 0, 4, 4, 3, -2], [5, 5, 9, 8, -1, 2], [0, 5, 3, 9, 2, 1]])
    there = torch.tensor([[0.0, 0, 4, 5, 0], [5, 5, 9, 9, 1], [9, 0, 12, 3, 0]])
    moved = torch.randn(2, 3, 6, generator=_seeded()) * 0.2
    return [(found + moved, torch.stack([there, there]))]


def boxes_of_several_sizes():
    ((found, there),) = boxes()
    return [(found, there), (found, there[:, :2])]

"""A folder of somebody's own networks: modules of PyTorch and their ports, right and wrong."""

NETS = """
import torch
from torch import nn
from torch.nn import functional


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return torch.relu(self.fc(x))


class Wide(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(4, width)

    def forward(self, x):
        return self.fc(x)


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(self.drop(self.norm(x)))


class Bounded(Net):
    def forward(self, x):
        return super().forward(x.clamp(max=100))


class Tabled(Net):
    def __init__(self):
        super().__init__()
        self.register_buffer("index", torch.arange(3))

    def forward(self, x):
        return super().forward(x)[:, self.index]


class Silent(Net):
    def forward(self, x):
        self.fc(x)


class Pair(Net):
    def forward(self, x, mask):
        return self.fc(x) * mask


class Named(Net):
    def forward(self, x):
        return {"logits": self.fc(x)}


class Drawing(Net):
    def forward(self, x):
        return functional.dropout(self.fc(x), 0.5, self.training)


class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        raise ValueError("the width is odd")


class Silence(nn.Module):
    def forward(self, x):
        return x.exp()


class Step(Net):
    pass


def nothing():
    Net()


def words():
    return "a network"


def class_itself():
    return Net


model, number = Net(), 3
"""

PORTS = """
from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3)

    def construct(self, x):
        return ops.relu(self.fc(x))


class Wide(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Dense(4, width)

    def construct(self, x):
        return self.fc(x)


class Normed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm((4,))
        self.drop = nn.Dropout(p=0.5)
        self.fc = nn.Dense(4, 3)

    def construct(self, x):
        return self.fc(self.drop(self.norm(x)))


class Renamed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)

    def construct(self, x):
        return ops.relu(self.dense(x))


class Bounded(Net):
    def construct(self, x):
        return super().construct(x.clamp(max=100.0))


class Bare(Net):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3, has_bias=False)


class Broad(Net):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 5)


class Pair(Net):
    def construct(self, x, mask):
        return self.fc(x) * mask


class Named(Net):
    def construct(self, x):
        return (self.fc(x),)


class Failing(Net):
    def construct(self, x):
        raise ValueError("not ported yet")


class Uncompiled(Net):
    def construct(self, x):
        return self.activation(self.fc(x))

    def activation(self, x):
        class Local:
            pass

        return ops.relu(x)


class Untrained(Net):
    def construct(self, x):
        if self.training:
            raise ValueError("not for training")
        return ops.relu(self.fc(x))


class Borrowing(Net):
    def construct(self, x):
        import torch

        return torch.relu(torch.ones(3))


class Odd(nn.Cell):
    def __init__(self):
        super().__init__()
        raise ValueError("the width is odd")


class Silence(nn.Cell):
    def construct(self, x):
        return ops.exp(x)


def nothing():
    Net()


model = Net()
"""

ODD = """
import warnings

import numpy as np
import torch
from nets import Net
from torch import nn


class Counting(Net):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return super().forward(x) * self.calls


class Unseeded(Net):
    def forward(self, x):
        return super().forward(x) * np.random.rand()


class Either(Net):
    def forward(self, x, y=None):
        return super().forward(x["x"] if isinstance(x, dict) else x)


class Partly(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = scripted()

    def forward(self, x):
        return self.inner(x)


class Construct(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def construct(self, x):
        return self.fc(x)


def scripted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer releases of torch call it deprecated
        return torch.jit.script(Net())


def compiled():
    return torch.compile(nn.LeakyReLU(0.1))


def parallel():
    return nn.DataParallel(nn.LeakyReLU(0.1))


def in_half():
    return Net().half()
"""

ODD_PORTS = """
from mindspore import nn, ops
from ports import Net


class Forward(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3)

    def forward(self, x):
        return ops.relu(self.fc(x))


class Silent(Net):
    def construct(self, x):
        self.fc(x)


class Either(Net):
    def construct(self, x, y=None):
        x = x["x"] if isinstance(x, dict) else x
        return ops.relu(self.fc(x))


class Neither(Net):
    def construct(self, x, y=None):
        x = x["x"] if isinstance(x, dict) else x
        return ops.relu(self.fc(-x))


def leaky():
    return nn.LeakyReLU(0.1)


def leakier():
    return nn.LeakyReLU(0.2)
"""

MODULES = {
    "nets.py": NETS,
    "ports.py": PORTS,
    "odd.py": ODD,
    "odd_ms.py": ODD_PORTS,
    "raising.py": "raise RuntimeError('no licence')\n",
    "needy.py": "import not_installed_here\n",
    "unfinished.py": "class Net(\n",
    "leaving.py": "import sys\nsys.exit(0)\n",
    "pairs.txt": "# of mine\ndense = fc\n",
    "no_pairs.txt": "dense = fc\ndense fc\n",
    "plain.npy": "rubbish",
    "plain.npz": "rubbish",
}
"""The files of the folder that are texts."""

"""A float network of PyTorch, and quantised ones."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(32, 64)
        self.act = nn.ReLU()
        self.second = nn.Linear(64, 64)
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        return self.head(self.act(self.second(self.act(self.first(x)))))


class WeightOnly(nn.Module):
    """A dense layer with whole numbers for weights."""

    def __init__(self, dense, bits):
        super().__init__()
        scale = dense.weight.abs().amax() / (2 ** (bits - 1) - 1)
        self.register_buffer("whole", (dense.weight / scale).round().to(torch.int8))
        self.register_buffer("scale", scale.detach())
        self.register_buffer("bias", dense.bias.detach())

    def forward(self, x):
        return x @ (self.whole.float() * self.scale).T + self.bias


def trained():
    torch.manual_seed(0)
    return Net()


def weight_only():
    """The second layer in four bits, the others in eight."""
    net = trained()
    for name, bits in (("first", 8), ("second", 4), ("head", 8)):
        setattr(net, name, WeightOnly(getattr(net, name), bits))
    return net


def half():
    net = trained()
    for parameter in net.parameters():
        parameter.data = parameter.data.half().float()
    return net


def other_weights():
    torch.manual_seed(1)
    return Net()


def wider():
    return nn.Linear(32, 11)


class Renamed(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = weight_only()

    def forward(self, x):
        return self.net(x)

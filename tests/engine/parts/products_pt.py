"""References that multiply and that do not: trainings by optimizers, and a product."""

import torch
from torch import nn


class Scaled(nn.Module):
    """(N, 5) -> the mean of its elements, each times a weight."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 5))

    def forward(self, x):
        return (self.weight * x).mean()


class Elementwise(nn.Module):
    """A step of SGD."""

    optimizer = torch.optim.SGD

    def __init__(self):
        super().__init__()
        self.network = Scaled()
        self.by = self.optimizer(self.network.parameters(), lr=0.1)

    def forward(self, x):
        loss = self.network(x)
        self.by.zero_grad()
        loss.backward()
        self.by.step()
        return loss


class Muon(Elementwise):
    """A step that makes the update's matrix orthogonal by products."""

    optimizer = torch.optim.Muon


class Squared(nn.Module):
    """x, multiplied with itself twice."""

    def __init__(self, approximate: str):  # noqa: ARG002
        super().__init__()

    def forward(self, x):
        return x @ x.T @ x


class Untouched(nn.Linear):
    """A layer that adds up its weights, and leaves its input as it is."""

    def forward(self, x):
        return x[:, : self.out_features] + self.weight.sum() + self.bias

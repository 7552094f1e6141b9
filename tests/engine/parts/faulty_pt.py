"""Networks that meet silent faults of MindSpore; partners in `faulty_ms.py`."""

import torch
from torch import nn
from torch.nn import functional


class Shifted(nn.Module):
    """Scores by distance, each row shifted by one more, as in Transformer-XL."""

    def __init__(self):
        super().__init__()
        self.far = nn.Linear(6, 5)

    def forward(self, x):
        scores = self.far(x)
        b, rows, columns = scores.shape
        wide = functional.pad(scores, (1, 0), value=0.5)
        return wide.view(b, columns + 1, rows)[:, 1:].reshape(b, rows, columns)


class Scaled(nn.Module):
    """A SELU between two layers."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(6, 5), nn.Linear(5, 4)

    def forward(self, x):
        return self.two(functional.selu(self.one(x)))


class Both(nn.Module):
    """One behind the other."""

    def __init__(self):
        super().__init__()
        self.shifted = Shifted()

    def forward(self, x):
        return functional.selu(self.shifted(x))


class Step(nn.Module):
    """One update by plain gradient descent."""

    def __init__(self):
        super().__init__()
        self.network = Loss()
        self.optimizer = torch.optim.SGD(self.network.parameters(), 0.1)

    def forward(self, x):
        loss = self.network(x)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.shifted = Shifted()

    def forward(self, x):
        return self.shifted(x).square().mean()

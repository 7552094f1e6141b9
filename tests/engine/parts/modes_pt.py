"""Networks in PyTorch whose owners hold a part in evaluation; partners in `modes_ms.py`."""

import torch
from torch import nn


def block() -> nn.Sequential:
    layers = nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 1)
    return nn.Sequential(*layers, nn.BatchNorm2d(4))


class Free(nn.Module):
    """Trains as a whole."""

    def __init__(self):
        super().__init__()
        self.backbone = block()
        self.head = nn.Sequential(nn.Conv2d(4, 4, 1), nn.BatchNorm2d(4))

    def forward(self, x):
        return self.head(self.backbone(x))


class Held(Free):
    """Holds its backbone in evaluation, and its weights as they are."""

    def __init__(self):
        super().__init__()
        self.backbone.requires_grad_(False)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self


class HeldInside(nn.Module):
    """Its backbone holds its own norms in evaluation."""

    class Backbone(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = block()

        def forward(self, x):
            return self.layers(x)

        def train(self, mode=True):
            super().train(mode)
            for module in self.modules():
                if isinstance(module, nn.BatchNorm2d):
                    module.eval()
            return self

    def __init__(self):
        super().__init__()
        self.backbone = self.Backbone()
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.backbone(x).mean((2, 3)))


class HeldWhenCalled(Free):
    """Puts its backbone into evaluation for the call alone."""

    def forward(self, x):
        self.backbone.eval()
        x = self.backbone(x)
        self.backbone.train(self.training)
        return self.head(x)


class HeldWhenBuilt(Free):
    """What the constructor says of modes is undone by `train`."""

    def __init__(self):
        super().__init__()
        self.backbone.eval()


class StillDropout(nn.Module):
    """Its dropout never drops."""

    def __init__(self):
        super().__init__()
        self.first, self.drop, self.second = nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 3)

    def forward(self, x):
        return self.second(self.drop(self.first(x)))

    def train(self, mode=True):
        super().train(mode)
        self.drop.eval()
        return self


class Step(nn.Module):
    """Trains a network by its mean square."""

    def __init__(self, network):
        super().__init__()
        self.network = network
        self.optimizer = torch.optim.SGD([p for p in network.parameters() if p.requires_grad], 0.1)

    def forward(self, x):
        loss = (self.network(x) ** 2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def held_step():
    return Step(Held())


class Scaled(nn.Module):
    """Its scale is not trained."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(4), requires_grad=False)
        self.first = nn.Linear(4, 4)

    def forward(self, x):
        return self.first(x) * self.w

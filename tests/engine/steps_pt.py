"""Training steps in PyTorch, to see the engine train; partners in `steps_ms.py`."""

import torch
from torch import nn


class Given(nn.Module):
    """A network whose gradients are its inputs."""

    def __init__(self):
        super().__init__()
        self.kernel = nn.Parameter(torch.empty(3, 2, 3, 3))
        self.bias = nn.Parameter(torch.empty(3))

    def forward(self, kernel, bias):
        return (self.kernel * kernel).sum() + (self.bias * bias).sum()


class Classifier(nn.Module):
    """Convolution, BatchNorm, SiLU and a dense layer, with a cross entropy."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(6)
        self.fc = nn.Linear(6, 5)

    def forward(self, images, labels):
        features = nn.functional.silu(self.bn(self.conv(images))).mean((2, 3))
        return nn.functional.cross_entropy(self.fc(features), labels.long())


class Step(nn.Module):
    """One update by momentum and decay; the rate falls from step to step."""

    def __init__(self, network, learning_rate=0.1, momentum=0.9, weight_decay=0.1, fall=0.8):
        super().__init__()
        self.network = network
        self.optimizer = torch.optim.SGD(
            network.parameters(), learning_rate, momentum, weight_decay=weight_decay
        )
        self.fall = fall

    def forward(self, *batch):
        loss = self.network(*batch)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        for group in self.optimizer.param_groups:
            group["lr"] *= self.fall
        return loss.detach()


def given(**settings):
    return Step(Given(), **settings)


def classifier(**settings):
    return Step(Classifier(), **settings)


def not_a_step():
    return Given()

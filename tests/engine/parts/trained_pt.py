"""A small convolutional network to train: the reference."""

import torch
from torch import nn


class Net(nn.Module):
    """Classifies images of 16x16; with `tied` it has a weight of two names, and a table."""

    def __init__(self, classes=4, tied=False):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1, bias=False),
            nn.BatchNorm2d(32),
            nn.ReLU(),
        )
        self.head = nn.Linear(32, classes)
        if tied:
            self.again = self.head
            self.register_buffer("table", torch.arange(3))

    def forward(self, x):
        return self.head(self.features(x).mean((2, 3)))


def trained(steps=60):
    """A state dict after some steps on images of four kinds."""
    generator = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4)
    for _ in range(steps):
        labels = torch.randint(0, 4, (32,), generator=generator)
        images = 0.5 * torch.randn(32, 3, 16, 16, generator=generator)
        images[:, 0, :8] += (labels == 1).float()[:, None, None]
        images[:, 1, :, 8:] += (labels == 2).float()[:, None, None]
        images[:, 2] += (labels == 3).float()[:, None, None] * torch.linspace(-1, 1, 16)
        loss = nn.functional.cross_entropy(net(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.2, "it has not learnt"
    return net.state_dict()

"""The network as it was: PyTorch."""

from torch import nn


class Net(nn.Module):
    """Two convolutions with batch normalisation, and a classifier."""

    def __init__(self, channels: int = 8, classes: int = 5):
        super().__init__()
        self.conv1 = nn.Conv2d(3, channels, 3, stride=2, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, stride=2, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.fc = nn.Linear(channels * 2 * 2, classes)

    def forward(self, x):
        x = self.bn1(self.conv1(x)).relu()
        x = self.bn2(self.conv2(x)).relu()
        return self.fc(x.flatten(1))

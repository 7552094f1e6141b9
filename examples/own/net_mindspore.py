"""The same network, migrated: MindSpore."""

from mindspore import nn, ops


class Net(nn.Cell):
    """Two convolutions with batch normalisation, and a classifier."""

    def __init__(self, channels: int = 8, classes: int = 5):
        super().__init__()
        self.conv1 = nn.Conv2d(3, channels, 3, 2, pad_mode="pad", padding=1)
        self.bn1 = nn.BatchNorm2d(channels, momentum=0.9)
        self.conv2 = nn.Conv2d(channels, channels, 3, 2, pad_mode="pad", padding=1)
        self.bn2 = nn.BatchNorm2d(channels, momentum=0.9)
        self.fc = nn.Dense(channels * 2 * 2, classes)

    def construct(self, x):
        x = ops.relu(self.bn1(self.conv1(x)))
        x = ops.relu(self.bn2(self.conv2(x)))
        return self.fc(ops.flatten(x))

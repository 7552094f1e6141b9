"""Its port to MindSpore, and one with a mistake."""

from mindspore import nn, ops


def conv(inputs: int, outputs: int, kernel: int, stride: int) -> nn.Conv2d:
    """A convolution without a bias that pads as torchvision's do."""
    return nn.Conv2d(inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2)


class Block(nn.Cell):
    """Two convolutions and the shortcut."""

    def __init__(self, inputs: int, outputs: int, stride: int, eps: float = 1e-5):
        super().__init__()
        self.conv1 = conv(inputs, outputs, 3, stride)
        self.bn1 = nn.BatchNorm2d(outputs, eps=eps)
        self.conv2 = conv(outputs, outputs, 3, 1)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if inputs != outputs:
            self.downsample = nn.SequentialCell(
                conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)
            )

    def construct(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        x = ops.relu(self.bn1(self.conv1(x)))
        return ops.relu(self.bn2(self.conv2(x)) + shortcut)


class Net(nn.Cell):
    """ResNet-18 for five classes."""

    def __init__(self, eps: float = 1e-5):
        super().__init__()
        self.conv1 = conv(3, 64, 7, 2)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        self.layer1 = nn.SequentialCell(Block(64, 64, 1, eps), Block(64, 64, 1))
        self.layer2 = nn.SequentialCell(Block(64, 128, 2), Block(128, 128, 1))
        self.layer3 = nn.SequentialCell(Block(128, 256, 2), Block(256, 256, 1))
        self.layer4 = nn.SequentialCell(Block(256, 512, 2), Block(512, 512, 1))
        self.fc = nn.Dense(512, 5)

    def construct(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


def net() -> Net:
    """The right port."""
    return Net()


def wrong() -> Net:
    """A port with an epsilon of its own in one layer."""
    return Net(eps=1e-3)

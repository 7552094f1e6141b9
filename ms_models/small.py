"""The training recipes around a network small enough to be trained in a moment."""

from mindspore import nn

from ms_models import steps
from ms_models.conv import conv3x3
from ms_models.norm import batch_norm2d


class SmallNetwork(nn.Cell):
    """Images N,3,H,W -> logits N,num_classes, smooth: no activation has a kink."""

    def __init__(self, num_classes: int = 5):
        super().__init__()
        self.conv1, self.bn1 = conv3x3(3, 8, 2), batch_norm2d(8)
        self.conv2, self.bn2 = conv3x3(8, 12), batch_norm2d(12)
        self.silu, self.fc = nn.SiLU(), nn.Dense(12, num_classes)

    def construct(self, x):
        x = self.silu(self.bn1(self.conv1(x)))
        x = self.silu(self.bn2(self.conv2(x)))
        return self.fc(x.mean((2, 3)))


def imagenet_step(num_classes: int = 5, **settings) -> nn.Cell:
    """`steps.imagenet_step` around the small network."""
    return steps.imagenet_step(SmallNetwork(num_classes), **settings)


def cifar10_step(num_classes: int = 5, **settings) -> nn.Cell:
    """`steps.cifar10_step` around the small network."""
    return steps.cifar10_step(SmallNetwork(num_classes), **settings)

"""The network of `net_mindspore.py` with a mistake."""

from mindspore import nn
from net_mindspore import Net


class Scaled(Net):
    """Its outputs are a thousandth too large."""

    def construct(self, x):
        return super().construct(x) * 1.001


class Forgetful(Net):
    """A running mean moves five times as far as PyTorch's, which an evaluation does not show."""

    def __init__(self):
        super().__init__()
        self.bn1 = nn.BatchNorm2d(8, momentum=0.5)

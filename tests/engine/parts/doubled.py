"""A network that is wrong in every call, and one whose graph is right in its first call only."""

from mindspore import nn, ops

from ms_models.random_layers import Residual


class Doubled(Residual):
    """Gives twice the result."""

    def construct(self, x):
        return 2.0 * super().construct(x)


class Padded(nn.Cell):
    """N,C -> N,C+2: twice the input, and zeros."""

    def construct(self, x):
        return ops.pad(2.0 * x, (0, 2))

"""A network with a tanh, in MindSpore, whose own kernel keeps four digits."""

from mindspore import nn


class Squashed(nn.Cell):
    """The port is right."""

    def __init__(self, eps=1e-5):
        super().__init__()
        self.norm = nn.LayerNorm((6,), epsilon=eps)
        self.act = nn.Tanh()
        self.mix = nn.Dense(6, 6)

    def construct(self, x):
        return self.mix(self.act(self.norm(x)))


class Mixed(Squashed):
    """Another epsilon, beside the tanh."""

    def __init__(self):
        super().__init__(eps=1e-2)


class Steep(nn.Tanh):
    def construct(self, x):
        return super().construct(1.001 * x)


class Wrong(Squashed):
    """The tanh itself is ported wrongly."""

    def __init__(self):
        super().__init__()
        self.act = Steep()

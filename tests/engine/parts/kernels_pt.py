"""A network with a tanh, in PyTorch; partners in `kernels_ms.py`."""

from torch import nn


class Squashed(nn.Module):
    """Normalises, squashes and mixes."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.act = nn.Tanh()
        self.mix = nn.Linear(6, 6)

    def forward(self, x):
        return self.mix(self.act(self.norm(x)))

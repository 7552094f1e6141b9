"""A recipe around a network whose gradients are small, as an optimiser's epsilon shows there."""

from mindspore import nn

from ms_models import steps
from ms_models.optim import adam


class FaintNetwork(nn.Cell):
    """Images N,3,H,W -> logits N,num_classes, smooth, and so small that gradients are, too."""

    def __init__(self, num_classes: int = 5):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, 2, pad_mode="pad", padding=1, has_bias=True)
        self.silu, self.fc = nn.SiLU(), nn.Dense(8, num_classes)

    def construct(self, x):
        return self.fc(self.silu(self.conv(x)).mean((2, 3))) / 256.0


def cifar10_step_by_nn_adam(num_classes: int = 5, **settings) -> nn.Cell:
    """`steps.cifar10_step` around the faint network, by `nn.Adam`, whose eps is another."""
    return steps.cifar10_step(FaintNetwork(num_classes), optimizer=adam, **settings)

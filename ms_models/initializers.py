"""Layers and ResNets initialised as PyTorch's recipes and torchvision initialise them."""

import math

from mindspore import nn
from mindspore.common.initializer import (
    HeNormal,
    HeUniform,
    Initializer,
    Normal,
    TruncatedNormal,
    VarianceScaling,
    XavierNormal,
    XavierUniform,
    initializer,
)

from ms_models.conv import conv2d


def lecun_normal(shape: tuple[int, ...]) -> TruncatedNormal:
    """A normal distribution cut off at two standard deviations and rescaled to 1/sqrt(fan_in).

    0.8796 is the standard deviation of the standard normal distribution cut off there.
    """
    sigma = math.sqrt(1 / math.prod(shape[1:])) / 0.87962566
    return TruncatedNormal(sigma=sigma, a=-2 * sigma, b=2 * sigma)


# Name -> initialiser of a kernel, given its shape.
INITIALIZERS = {
    "he_normal": lambda _: HeNormal(mode="fan_out", nonlinearity="relu"),
    "he_uniform": lambda _: HeUniform(negative_slope=math.sqrt(5)),
    "xavier_normal": lambda _: XavierNormal(),
    "xavier_uniform": lambda _: XavierUniform(),
    # Bounds are values, as torch's are, and no multiples of sigma: those of -2 and 2, the default
    # of both frameworks, cut nothing off at this one.
    "truncated_normal": lambda _: TruncatedNormal(sigma=0.02, a=-0.04, b=0.04),
    "truncated_normal_in_values": lambda _: TruncatedNormal(sigma=0.02),
    "truncated_normal_default": lambda _: TruncatedNormal(),
    "lecun_normal": lecun_normal,
    "variance_scaling": lambda _: VarianceScaling(scale=1.0, distribution="truncated_normal"),
    "normal": lambda _: Normal(sigma=0.01),
    "ones": lambda _: "ones",
    "zeros": lambda _: "zeros",
}


def fill(parameter, init: Initializer | str) -> None:
    """Give a parameter the values of an initialiser, or of one named "ones" or "zeros"."""
    parameter.set_data(initializer(init, parameter.shape, parameter.dtype))


def dense(in_features: int, out_features: int, init: str) -> nn.Dense:
    """A dense layer with bias whose kernel is drawn by a row of INITIALIZERS."""
    layer = nn.Dense(in_features, out_features)
    fill(layer.weight, INITIALIZERS[init](layer.weight.shape))
    return layer


def conv(
    in_planes: int, out_planes: int, kernel_size: int, init: str, groups: int = 1
) -> nn.Conv2d:
    """A convolution with bias whose kernel is drawn by a row of INITIALIZERS."""
    layer = conv2d(in_planes, out_planes, kernel_size, groups=groups, bias=True)
    fill(layer.weight, INITIALIZERS[init](layer.weight.shape))
    return layer


def embedding(num_embeddings: int, embedding_dim: int) -> nn.Embedding:
    """An embedding as MindSpore initialises it: normal, of standard deviation 0.01."""
    return nn.Embedding(num_embeddings, embedding_dim)


def as_torchvision(network: nn.Cell, last_norms: list[nn.BatchNorm2d]) -> None:
    """Initialise a ResNet: He's normal distribution over fan_out; BatchNorms begin as units.

    The scales of `last_norms`, one for each residual branch, are zeroed. Dense layers keep what
    both frameworks give them: uniform within 1/sqrt(fan_in), kernel and bias.
    """
    for _, cell in network.cells_and_names():
        if isinstance(cell, nn.Conv2d):
            fill(cell.weight, INITIALIZERS["he_normal"](cell.weight.shape))
    for norm in last_norms:
        fill(norm.gamma, "zeros")

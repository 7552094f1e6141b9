"""Networks that are initialised wrongly, each in one way."""

import copy
import math

import numpy as np
from mindspore import Tensor, nn
from mindspore.common.initializer import (
    Constant,
    HeNormal,
    HeUniform,
    Normal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
)

from ms_models import initializers, orthogonal, resnet
from ms_models.conv import conv2d
from ms_models.initializers import fill


def _conv(make):
    """A constructor of convolutions whose kernel is given what `make(shape)` returns."""

    def build(in_planes: int, out_planes: int, kernel_size: int, init: str) -> nn.Conv2d:  # noqa: ARG001
        layer = conv2d(in_planes, out_planes, kernel_size, bias=True)
        fill(layer.weight, make(layer.weight.shape))
        return layer

    return build


def _fans(shape):
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


he_over_fan_in = _conv(lambda _: HeNormal(mode="fan_in", nonlinearity="relu"))
he_without_gain = _conv(lambda _: HeNormal(mode="fan_out", nonlinearity="sigmoid"))
he_uniform_for_normal = _conv(lambda _: HeUniform(mode="fan_out", nonlinearity="relu"))
xavier_for_he = _conv(lambda _: XavierNormal())
he_variance_for_deviation = _conv(lambda shape: Normal(sigma=2 / _fans(shape)[1]))
default_slope = _conv(lambda _: HeUniform())
deviation_for_bound = _conv(lambda shape: Uniform(math.sqrt(2 / sum(_fans(shape)))))
bounds_in_sigmas = _conv(lambda _: TruncatedNormal(sigma=0.02, a=-2.0, b=2.0))
swapped_arguments = _conv(lambda _: Normal(0.0, 0.01))
constant = _conv(lambda _: Constant(0.01))


def not_rescaled(shape):
    sigma = math.sqrt(1 / _fans(shape)[0])
    return TruncatedNormal(sigma=sigma, a=-2 * sigma, b=2 * sigma)


truncated_without_rescaling = _conv(not_rescaled)


def filters_alike(in_planes: int, out_planes: int, kernel_size: int, init: str) -> nn.Conv2d:
    """One filter, drawn as asked for, for every output channel."""
    layer = initializers.conv(in_planes, out_planes, kernel_size, init)
    weight = layer.weight.asnumpy()
    layer.weight.set_data(Tensor(np.repeat(weight[:1], out_planes, axis=0)))
    return layer


def seeded_within(in_planes: int, out_planes: int, kernel_size: int, init: str) -> nn.Conv2d:
    """The constructor fixes the seed."""
    np.random.seed(1)
    return initializers.conv(in_planes, out_planes, kernel_size, init)


def transposed_dense(in_features: int, out_features: int, init: str) -> nn.Dense:
    """The kernel is drawn in the shape (in, out), and turned."""
    layer = initializers.dense(in_features, out_features, init)
    drawn = initializers.initializer(
        initializers.INITIALIZERS[init]((in_features, out_features)), (in_features, out_features)
    )
    layer.weight.set_data(Tensor(np.ascontiguousarray(drawn.init_data().asnumpy().T)))
    return layer


def dense_without_bias_values(in_features: int, out_features: int, init: str) -> nn.Dense:
    """The bias is zeroed, as the guide to CIFAR-10 has it."""
    layer = initializers.dense(in_features, out_features, init)
    fill(layer.bias, "zeros")
    return layer


def one_sided_bias(in_features: int, out_features: int, init: str) -> nn.Dense:
    """The bias is drawn between 0 and its bound."""
    layer = initializers.dense(in_features, out_features, init)
    layer.bias.set_data(Tensor(np.abs(layer.bias.asnumpy())))
    return layer


def residual_kept(depth: int, zero_init_residual: bool) -> nn.Cell:  # noqa: ARG001
    """zero_init_residual is not handed on."""
    return resnet.resnet(depth)


def residual_renamed(depth: int, zero_init_residual: bool) -> nn.Cell:
    """zero_init_residual changes what the initialiser is called, after it has been called."""
    network = resnet.resnet(depth)
    if zero_init_residual:
        for _, cell in network.cells_and_names():
            if isinstance(cell, resnet.BasicBlock):
                cell.bn2.gamma_init = "zeros"
    return network


def residual_by_a_string(depth: int, zero_init_residual: bool) -> nn.Cell:
    """The name of an initialiser is assigned, as the guide to CIFAR-10 has it."""
    network = resnet.resnet(depth)
    if zero_init_residual:
        for _, cell in network.cells_and_names():
            if isinstance(cell, resnet.BasicBlock):
                cell.bn2.gamma.set_data("zeros")
    return network


def residual_of_second_norm(depth: int, zero_init_residual: bool) -> nn.Cell:
    """bn2 is zeroed, which is the last BatchNorm of a BasicBlock, and not of a Bottleneck."""
    network = resnet.resnet(depth)
    if zero_init_residual:
        for _, cell in network.cells_and_names():
            if isinstance(cell, resnet.Bottleneck):
                fill(cell.bn2.gamma, "zeros")
    return network


def not_initialised(depth: int, zero_init_residual: bool) -> nn.Cell:
    """The convolutions keep what MindSpore gives them."""
    network = resnet.resnet(depth, zero_init_residual=zero_init_residual)
    for _, cell in network.cells_and_names():
        if isinstance(cell, nn.Conv2d):
            fill(cell.weight, HeUniform(math.sqrt(5)))
    return network


def random_scales(depth: int, zero_init_residual: bool) -> nn.Cell:
    """The scale of the first BatchNorm is drawn around 1."""
    network = resnet.resnet(depth, zero_init_residual=zero_init_residual)
    fill(network.bn1.gamma, Normal(sigma=0.02, mean=1.0))
    return network


def blocks_copied(depth: int, zero_init_residual: bool) -> nn.Cell:
    """The second block of the first stage is a copy of the first."""
    network = resnet.resnet(depth, zero_init_residual=zero_init_residual)
    network.layer1[1] = copy.deepcopy(network.layer1[0])
    return network


def orthogonal_by_normal(in_features: int, out_features: int, gain: float) -> nn.Cell:
    """Normal numbers of the standard deviation that an orthogonal matrix has."""
    deviation = gain / math.sqrt(max(in_features, out_features))
    return nn.Dense(in_features, out_features, Normal(deviation), has_bias=False)


def orthogonal_without_gain(in_features: int, out_features: int, gain: float) -> nn.Cell:  # noqa: ARG001
    """The gain is not handed on."""
    return orthogonal.dense(in_features, out_features)

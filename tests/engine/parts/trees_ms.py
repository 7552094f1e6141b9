"""Networks with layers, for the tests of the diagnosis: MindSpore's side, right and wrong."""

import mindspore as ms
from mindspore import nn, ops

from tests.defects.layer_candidates import GradientsExchanged, InEvaluation


class Tree(nn.Cell):
    """As the reference, but for a padded pooling of two cells."""

    def __init__(self, eps=1e-5, border=-6e4, slope=0.1):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1)
        self.bn = nn.BatchNorm2d(4, eps=eps)
        self.act = nn.LeakyReLU(slope)
        self.pool = nn.SequentialCell(
            nn.ConstantPad2d((1, 1, 1, 1), border), nn.MaxPool2d(3, 2, pad_mode="valid")
        )
        self.body = nn.SequentialCell(nn.Dense(4, 4), nn.LeakyReLU(0.1), nn.Dense(4, 4))

    def construct(self, x):
        x = self.pool(self.act(self.bn(self.conv(x))))
        x = x.mean((2, 3))
        return x + self.act(self.body(x))


class Border(nn.Cell):
    """A frame of one element, whose gradient is right in each call of a graph."""

    def __init__(self, value: float):
        super().__init__()
        self.value = value
        self.frame = nn.Pad(((0, 0), (0, 0), (1, 1), (1, 1)))

    def construct(self, x):
        return self.frame(x) + self.value * (1.0 - self.frame(ops.ones_like(x)))


class TreeInGraph(Tree):
    """A right one in a graph that is called again, in which `nn.ConstantPad2d` is not."""

    def __init__(self):
        super().__init__()
        self.pool = nn.SequentialCell(Border(-6e4), nn.MaxPool2d(3, 2, pad_mode="valid"))


def tree_of_another_epsilon():
    """A hyper-parameter is wrong."""
    return Tree(eps=1e-3)


def tree_of_another_momentum():
    """Its outputs and gradients are right in training, and its statistics are not."""
    tree = TreeInGraph()
    tree.bn = nn.BatchNorm2d(4, momentum=0.1)
    return tree


def tree_padded_with_zeros():
    """One of two cells for one layer is wrong."""
    return Tree(border=0.0)


def tree_of_two_mistakes():
    """Two layers are wrong."""
    return Tree(eps=1e-3, slope=0.2)


class Unjoined(Tree):
    """The shortcut is forgotten."""

    def construct(self, x):
        x = self.pool(self.act(self.bn(self.conv(x))))
        return self.act(self.body(x.mean((2, 3))))


class Detached(Tree):
    """No gradient flows back through the body."""

    def construct(self, x):
        x = self.pool(self.act(self.bn(self.conv(x))))
        x = x.mean((2, 3))
        return x + ops.stop_gradient(self.act(self.body(x)))


class Turned(nn.Dense):
    """Multiplies by the weight instead of by its transpose."""

    def construct(self, x):
        return ops.matmul(x, self.weight) + self.bias


class Swapping(nn.BatchNorm2d):
    """Takes beta for gamma and gamma for beta."""

    def construct(self, x):
        mean = x.mean((0, 2, 3), keep_dims=True)
        variance = (x - mean).square().mean((0, 2, 3), keep_dims=True)
        scale, shift = self.beta.reshape(1, -1, 1, 1), self.gamma.reshape(1, -1, 1, 1)
        return (x - mean) * ops.rsqrt(variance + self.eps) * scale + shift


class Narrow(nn.Dense):
    """Computes with inputs in half precision."""

    def construct(self, x):
        return super().construct(x.astype(ms.float16).astype(ms.float32))


class Deaf(nn.Dense):
    """Computes with the bias that it was made with."""

    def __init__(self, inner, outer):
        super().__init__(inner, outer)
        self.initial = ms.Tensor([0.0] * outer, ms.float32)

    def construct(self, x):
        return ops.matmul(x, self.weight.T) + self.initial


def tree_with(name, layer):
    """A tree with one layer exchanged."""
    tree = Tree()
    if name == "body":
        tree.body = nn.SequentialCell(nn.Dense(4, 4), nn.LeakyReLU(0.1), layer)
    else:
        setattr(tree, name, layer)
    return tree


def tree_of_a_turned_weight():
    """A square weight is taken for its transpose."""
    return tree_with("body", Turned(4, 4))


def tree_of_swapped_weights():
    """Gamma and beta are swapped inside the layer."""
    return tree_with("bn", Swapping(4))


def tree_of_a_resting_norm():
    """A norm is frozen by its own code."""
    return tree_with("bn", InEvaluation(4))


def tree_of_crossed_gradients():
    """The gradients of gamma and beta are exchanged."""
    return tree_with("bn", GradientsExchanged(4))


def tree_of_narrow_inputs():
    """The inputs of a layer are rounded."""
    return tree_with("body", Narrow(4, 4))


def tree_of_an_unused_bias():
    """A bias is loaded, and not used."""
    return tree_with("body", Deaf(4, 4))


class Misaligned(nn.Cell):
    """Pools in a cell of its own under another name, and has one cell more."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.activation = nn.LeakyReLU(0.1)
        self.shrink = nn.MaxPool2d(3, 2, pad_mode="same")
        self.extra = nn.ReLU()
        self.body = nn.SequentialCell(nn.Dense(4, 4), nn.LeakyReLU(0.1), nn.Dense(4, 4))

    def construct(self, x):
        x = self.extra(self.shrink(self.activation(self.bn(self.conv(x)))))
        x = x.mean((2, 3))
        return x + self.activation(self.body(x))


class Keyed(nn.Cell):
    """As the reference, with a wrong factor on the inside."""

    def __init__(self):
        super().__init__()
        self.inner = Scaled()

    def construct(self, x):
        return self.inner(x, 2.0)


class Scaled(nn.Cell):
    """A layer whose dense layer is wrong."""

    def __init__(self):
        super().__init__()
        self.dense = Turned(4, 4)

    def construct(self, x, factor):
        return ops.tanh(self.dense(x)) * factor


class Overactive(Misaligned):
    """Pools as the reference does, and has an activation too many."""

    def __init__(self):
        super().__init__()
        self.shrink = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)


class Flipped(nn.Conv2d):
    """A convolution in the mathematical sense: PyTorch's is a correlation."""

    def construct(self, x):
        return ops.conv2d(x, self.weight.flip((2, 3)), pad_mode="pad", padding=1)


def tree_of_flipped_kernels():
    """The kernels are taken the other way round."""
    return tree_with("conv", Flipped(3, 4, 3, pad_mode="pad", padding=1))


def tree_of_a_larger_pooling():
    """A pooling strides by one."""
    return tree_with("pool", nn.MaxPool2d(3, 1, pad_mode="pad", padding=1))


class Bodiless(Tree):
    """The body is built, loaded, and never run."""

    def construct(self, x):
        x = self.pool(self.act(self.bn(self.conv(x))))
        x = x.mean((2, 3))
        return x + self.act(x)


class Inactive(Tree):
    """The first activation is forgotten."""

    def construct(self, x):
        x = self.pool(self.bn(self.conv(x)))
        x = x.mean((2, 3))
        return x + self.act(self.body(x))


class Moody(Tree):
    """Right, but for graph mode."""

    def __init__(self):
        super().__init__()
        self.graph = ms.get_context("mode") == ms.GRAPH_MODE

    def construct(self, x):
        x = self.pool(self.act(self.bn(self.conv(x))))
        x = x.mean((2, 3))
        if self.graph:
            x = x * 2
        return x + self.act(self.body(x))


class MoodyBackward(Moody):
    """Right, but for the gradients in graph mode."""

    def construct(self, x):
        x = self.pool(self.act(self.bn(self.conv(x))))
        x = x.mean((2, 3))
        h = ops.stop_gradient(x) if self.graph else x
        return x + self.act(self.body(h))


class Activated(nn.Cell):
    """The activation is a function, or a layer of its own; the norm may have another epsilon."""

    def __init__(self, act=ops.silu, eps=1e-5):
        super().__init__()
        self.bn = nn.BatchNorm2d(3)
        self.act = act
        self.norm = nn.LayerNorm((3,), epsilon=eps)
        self.fc = nn.Dense(3, 2)

    def construct(self, x):
        return self.fc(self.norm(self.act(self.bn(x)).mean((2, 3))))


class NormAct(nn.BatchNorm2d):
    """A batch norm that holds its activation."""

    def __init__(self, channels):
        super().__init__(channels)
        self.act = nn.SiLU()

    def construct(self, x):
        return self.act(super().construct(x))


class Together(nn.Cell):
    """Norm and activation are one layer, and another norm has another epsilon."""

    def __init__(self):
        super().__init__()
        self.bn = NormAct(3)
        self.norm = nn.LayerNorm((3,), epsilon=1e-2)
        self.fc = nn.Dense(3, 2)

    def construct(self, x):
        return self.fc(self.norm(self.bn(x).mean((2, 3))))


def another_epsilon():
    """One layer is wrong."""
    return Activated(eps=1e-2)


def another_function():
    """A function between the layers is wrong."""
    return Activated(ops.gelu)


def another_activation():
    """A layer is wrong that the reference's norm holds."""
    return Activated(nn.GELU())


class Mean(nn.Cell):
    """A pooling that flattens, or sums."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def construct(self, x):
        return x.mean((2, 3)) * self.factor


class Pooled(nn.Cell):
    """The pooling flattens by itself; the norm may have another epsilon."""

    def __init__(self, eps=1e-5, factor=1.0):
        super().__init__()
        self.norm = nn.BatchNorm2d(3, eps=eps)
        self.pool = Mean(factor)
        self.fc = nn.Dense(3, 2)

    def construct(self, x):
        return self.fc(self.pool(self.norm(x)))


def pooled_of_another_epsilon():
    """One layer is wrong."""
    return Pooled(eps=1e-2)


def pooled_twice():
    """The pooling is wrong, too."""
    return Pooled(factor=2.0)


class Residual(nn.Cell):
    """The layers of the residual lie in a container of their own; the norm has another epsilon."""

    def __init__(self, factor=1.0):
        super().__init__()
        self.outer = Added(factor)
        self.norm = nn.LayerNorm((4,), epsilon=1e-2)

    def construct(self, x):
        return self.norm(self.outer(x))


class Added(nn.Cell):
    """What the container gives is added outside of it."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor
        self.block = nn.SequentialCell(nn.Dense(4, 4), nn.Dense(4, 4))

    def construct(self, x):
        return self.factor * x + self.block(x)


class Nearly(nn.Dense):
    """A layer that is off by some 40 roundings."""

    def construct(self, x):
        return super().construct(x) * (1 + 6e-6)


def residual_off_by_little(eps=1e-5):
    """A layer is wrong, but hardly; the norm may be, too."""
    network = Residual()
    network.outer.block[0] = Nearly(4, 4)
    network.norm = nn.LayerNorm((4,), epsilon=eps)
    return network


def residual_off_by_much():
    """The norm has another epsilon besides."""
    return residual_off_by_little(1e-2)


def residual_of_another_factor():
    """The residual is wrong, too."""
    return Residual(2.0)


class Weighted(nn.Cell):
    """Its own code doubles the result."""

    def __init__(self):
        super().__init__()
        self.scaled, self.dense = Sines(), nn.Dense(4, 4)

    def construct(self, x, constant):
        return 2.0 * self.dense(self.scaled(x, constant))


class Sines(nn.Cell):
    """As a constant has no gradient, nothing stops it."""

    def construct(self, x, constant):
        return x * ops.sin(constant)


class Unsent(nn.Cell):
    """All rows go through the expert, which counts nothing; the result is off."""

    def __init__(self):
        super().__init__()
        self.dense, self.expert = nn.Dense(4, 4), nn.Dense(4, 4)

    def construct(self, x):
        return 1.01 * self.dense(x) + 0.0 * self.expert(x)

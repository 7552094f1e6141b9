"""Small MindSpore cells that the engine is tested with: right ones, then ones with a defect."""

import itertools
import os
import signal
import time

import numpy as np
from mindspore import Parameter, Tensor, float64, nn, ops

import ms_models.conv
import ms_models.losses
import ms_models.resnet


class Affine(nn.Cell):
    """`torch.nn.Linear`, spelled out."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.weight = Parameter(ops.zeros((out_features, in_features)))
        self.bias = Parameter(ops.zeros(out_features))

    def construct(self, x):
        return ops.matmul(x, self.weight.T) + self.bias


class Scaling(nn.Cell):
    """A dense layer whose constructor computes with its initial weight."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)
        self.dense.weight.set_data(self.dense.weight * 0.5)

    def construct(self, x):
        return self.dense(x)


class Nested(nn.Cell):
    """N,4 -> (N,3), ((N,3), (N,))."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)

    def construct(self, x):
        y = self.dense(x)
        return y, (y * y, y.sum(1))


class Ranking(nn.Cell):
    """Ids N -> the place of the largest score, an integer, and the scores N,3."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5, 3)

    def construct(self, ids):
        scores = self.embedding(ids)
        return ops.argmax(scores, 1), scores


class Places(nn.Cell):
    """A layer whose largest output is told by its place alone."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)

    def construct(self, x):
        return ops.argmax(self.dense(x), 1)


class Halfused(nn.Cell):
    """Of two layers only the first is used, and only the first input."""

    def __init__(self):
        super().__init__()
        self.used = nn.Dense(4, 3)
        self.unused = nn.Dense(4, 2)

    def construct(self, x, y):  # noqa: ARG002
        return self.used(x)


class Frozen(nn.Cell):
    """A frozen layer and a trained one."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Dense(4, 4)
        self.head = nn.Dense(4, 3)
        for parameter in self.backbone.get_parameters():
            parameter.requires_grad = False

    def construct(self, x):
        return self.head(self.backbone(x))


class Steps(nn.Cell):
    """A layer and how many rows it finds positive: floats, but without a gradient."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)

    def construct(self, x):
        return ops.stop_gradient((self.dense(x) > 0).sum(0).astype(x.dtype))


class Dropping(nn.Cell):
    """A layer and its dropout."""

    def __init__(self, p: float = 0.5, kind=nn.Dropout):
        super().__init__()
        self.dense = nn.Dense(4, 3)
        self.dropout = kind(p=p)

    def construct(self, x):
        return self.dropout(self.dense(x))


class Dense(nn.Cell):
    """A layer under the name `dense`."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)

    def construct(self, x):
        return self.dense(x)


class Aborting(Affine):
    """Ends the process."""

    def construct(self, x):
        os.abort()
        return x


class Hanging(Affine):
    """Never comes back, and hears no signal."""

    def construct(self, x):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        time.sleep(3600)
        return x


class Refusing(nn.Cell):
    """Raises ValueError for every input, after a first operator."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)

    def construct(self, x):
        y = self.dense(x)
        raise ValueError(f"no shape pleases me, nor does {y.shape}")


class BatchVariance(nn.Cell):
    """E[x^2] - E[x]^2 of each row: all digits cancel where the mean is large."""

    def construct(self, x):
        return (x * x).mean(1) - x.mean(1) * x.mean(1)


def double(x):
    return x * 2


def doubling():
    """A plain callable."""
    return double


# Candidates with one defect each.


class TransposedWeight(Affine):
    """The weight applied the other way round."""

    def construct(self, x):
        return ops.matmul(x, self.weight) + self.bias


class SlightlyScaled(Affine):
    """The product is off by one part in 2048."""

    def construct(self, x):
        return ops.matmul(x, self.weight.T) * (1.0 + 2.0**-11) + self.bias


class DetachedBias(Affine):
    """No gradient reaches the bias."""

    def construct(self, x):
        return ops.matmul(x, self.weight.T) + ops.stop_gradient(self.bias)


class StaleWeight(Affine):
    """Computes with the weight as it was when the cell was built."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__(in_features, out_features)
        self.initial = Tensor(np.eye(out_features, in_features, dtype=np.float32))

    def construct(self, x):
        return ops.matmul(x, self.initial.T) + self.bias


class OneNaN(Affine):
    """The last element of the output is NaN; gradients are right."""

    def construct(self, x):
        y = ops.matmul(x, self.weight.T) + self.bias
        last = ops.arange(y.size).reshape(y.shape) == y.size - 1
        return y + ops.stop_gradient(ops.where(last, float("nan"), 0.0))


class DoubleOutput(Affine):
    """The output in float64."""

    def construct(self, x):
        return (ops.matmul(x, self.weight.T) + self.bias).astype(float64)


class DroppedOutput(Nested):
    """Without the last output."""

    def construct(self, x):
        y = self.dense(x)
        return y, y * y


class RenamedWeight(nn.Cell):
    """The weight under a name that nothing maps."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__()
        self.kernel = Parameter(ops.zeros((out_features, in_features)))
        self.bias = Parameter(ops.zeros(out_features))

    def construct(self, x):
        return ops.matmul(x, self.kernel.T) + self.bias


class FrozenBias(Affine):
    """The bias without a gradient."""

    def __init__(self, in_features: int, out_features: int):
        super().__init__(in_features, out_features)
        self.bias.requires_grad = False


class UnpinnedDropout(Dropping):
    """Dropout by function, which no phase reaches."""

    def construct(self, x):
        return ops.dropout(self.dense(x), p=0.5, training=True)


class DetachedShortcut(ms_models.resnet.Bottleneck):
    """The residual branch passes no gradient."""

    def construct(self, x):
        shortcut = ops.stop_gradient(self.downsample(x))
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        return self.relu(self.bn3(self.conv3(out)) + shortcut)


def batch_norm_of_another_epsilon(num_features: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(num_features, eps=1e-4)


def batch_norm_of_reversed_momentum(num_features: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(num_features, momentum=0.1)


def conv3x3_padded_by_rule(in_planes: int, out_planes: int, stride: int) -> nn.Conv2d:
    return nn.Conv2d(in_planes, out_planes, 3, stride, pad_mode="same")


def max_pool2d(kernel_size: int, stride: int, padding: int) -> nn.MaxPool2d:
    return nn.MaxPool2d(kernel_size, stride, pad_mode="pad", padding=padding)


def max_pool2d_padded_by_rule(kernel_size: int, stride: int, padding: int) -> nn.MaxPool2d:  # noqa: ARG001
    return nn.MaxPool2d(kernel_size, stride, pad_mode="same")


def focal_loss_of_swapped_alpha(alpha: float, reduction: str) -> nn.Cell:
    return ms_models.losses.SigmoidFocalLoss(alpha=1 - alpha, reduction=reduction)


def focal_loss_averaged(alpha: float, reduction: str) -> nn.Cell:  # noqa: ARG001
    return ms_models.losses.SigmoidFocalLoss(alpha=alpha, reduction="mean")


# What takes another branch than the reference at chosen activations.


class Unbiased(nn.Cell):
    """Convolutions without bias, each with its ReLU. `nudges` are added before, by layer."""

    nudges: dict[int, np.ndarray] = {}

    def __init__(self, layers: int, planes: int):
        super().__init__()
        widths = [2] + [planes] * layers
        self.convs = nn.CellList(
            [
                nn.Conv2d(i, o, 3, pad_mode="valid", has_bias=False)
                for i, o in itertools.pairwise(widths)
            ]
        )

    def construct(self, x):
        for layer, conv in enumerate(self.convs):
            x = conv(x)
            if layer in self.nudges:
                x = x + Tensor(self.nudges[layer], x.dtype)
            x = ops.relu(x)
        return x


class UnbiasedPooled(Unbiased):
    """A max pooling behind a convolution; `nudges` are added between them."""

    def __init__(self, layers: int, planes: int):
        super().__init__(layers, planes)
        self.pool = nn.MaxPool2d(2, 2)

    def construct(self, x):
        x = self.convs[0](x)
        if 0 in self.nudges:
            x = x + Tensor(self.nudges[0], x.dtype)
        return self.pool(x)


class Rounded(Unbiased):
    """The square of a convolution in steps of an eighth, whose gradient is that without steps."""

    rounding = staticmethod(ops.round)

    def construct(self, x):
        x = self.convs[0](x)
        if 0 in self.nudges:
            x = x + Tensor(self.nudges[0], x.dtype)
        return ops.square(x + ops.stop_gradient(self.rounding(8 * x) / 8 - x))


class Floored(Rounded):
    rounding = staticmethod(ops.floor)


class Decoder(nn.Cell):
    """Joins whose corners are not aligned, as the reference's are."""

    def __init__(self):
        super().__init__()
        self.down = nn.SequentialCell(nn.MaxPool2d(2, 2), padded(3, 4), nn.BatchNorm2d(4))
        self.deep = nn.SequentialCell(nn.MaxPool2d(2, 2), padded(4, 4), nn.BatchNorm2d(4))
        self.one = nn.SequentialCell(padded(8, 4), nn.BatchNorm2d(4))
        self.two = padded(7, 3)

    def join(self, x, skip):
        size = (2 * x.shape[2], 2 * x.shape[3])
        x = ops.interpolate(x, size=size, mode="bilinear")
        down, right = skip.shape[2] - x.shape[2], skip.shape[3] - x.shape[3]
        x = ops.pad(x, (0, right, 0, down))
        return ops.cat([skip, x], axis=1)

    def construct(self, x):
        middle = self.down(x)
        y = self.one(self.join(self.deep(middle), middle))
        return self.two(self.join(y, x))


def padded(inputs, outputs):
    """A convolution of three by three that keeps the size."""
    return nn.Conv2d(inputs, outputs, 3, pad_mode="pad", padding=1, has_bias=True)

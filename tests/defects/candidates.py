"""Blocks, networks and layers with one mistake each; losses are in `loss_candidates.py`."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from ms_models import resnet

# Blocks. The right ones come first, in parts of which a wrong one replaces one.


class Block(resnet.BasicBlock):
    """The basic block in two parts."""

    def branch(self, x):
        return self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))

    def shortcut(self, x):
        return x if self.downsample is None else self.downsample(x)

    def construct(self, x):
        return self.relu(self.branch(x) + self.shortcut(x))


class ForgottenShortcut(Block):
    def construct(self, x):
        return self.relu(self.branch(x))


class ShortcutAfterReLU(Block):
    def construct(self, x):
        return self.relu(self.branch(x)) + self.shortcut(x)


class WithoutLastReLU(Block):
    def construct(self, x):
        return self.branch(x) + self.shortcut(x)


class ReLUOnShortcut(Block):
    def shortcut(self, x):
        return self.relu(self.downsample(x))


class ProjectionWithoutNorm(Block):
    def shortcut(self, x):
        return self.downsample[0](x)


class ShortcutFromInside(Block):
    def construct(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(out)) + out)


class ReLUBeforeNorm(Block):
    def branch(self, x):
        return self.bn2(self.conv2(self.bn1(self.relu(self.conv1(x)))))


class PreActivation(Block):
    def branch(self, x):
        out = self.conv1(self.relu(self.bn1(x)))
        return self.conv2(self.relu(self.bn2(out)))

    def construct(self, x):
        return self.branch(x) + self.shortcut(x)


class FirstConvolutionTwice(Block):
    def branch(self, x):
        return self.bn2(self.conv1(self.relu(self.bn1(self.conv1(x)))))


class DetachedBranch(Block):
    def branch(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        return ops.stop_gradient(self.bn2(self.conv2(out)))


class DetachedInput(Block):
    def construct(self, x):
        x = ops.stop_gradient(x)
        return self.relu(self.branch(x) + self.shortcut(x))


class ClippedGradient(Block):
    """Left over from a hunt for exploding gradients."""

    def __init__(self, inplanes: int, planes: int, stride: int = 1):
        super().__init__(inplanes, planes, stride)
        self.clip = ops.InsertGradientOf(clipped)

    def construct(self, x):
        return self.relu(self.clip(self.branch(x)) + self.shortcut(x))


def clipped(gradient):
    return ops.clip_by_value(gradient, ms.Tensor(-1.0), ms.Tensor(1.0))


class StatisticsTwice(Block):
    def branch(self, x):
        out = self.conv1(x)
        spread = self.bn1(out).abs().max()  # to be printed
        out = self.relu(self.bn1(out) + 0.0 * spread)
        return self.bn2(self.conv2(out))


class DropoutByFunction(Block):
    def construct(self, x):
        return ops.dropout(self.relu(self.branch(x) + self.shortcut(x)), p=0.2)


class DetachedShortcut(resnet.Bottleneck):
    def construct(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        return self.relu(self.bn3(self.conv3(out)) + ops.stop_gradient(shortcut))


class WithoutSecondReLU(resnet.Bottleneck):
    def construct(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn3(self.conv3(self.bn2(self.conv2(out))))
        return self.relu(out + shortcut)


class PoolBeforeNorm(resnet.PooledBottleneck):
    def construct(self, x):
        out = self.e2[0](self.relu(self.bn1(self.conv1(x))))
        out = self.e2[2](self.e2[1](self.e2[3](out)))
        return self.relu(self.bn3(self.conv3(out)) + self.down_sample_layer(x))


class HalfExpansion(resnet.Bottleneck):
    expansion = 2


# Networks.


class Network(resnet.ResNet):
    """The residual network in three parts."""

    def stem(self, x):
        return self.maxpool(self.relu(self.bn1(self.conv1(x))))

    def stages(self, x):
        return self.layer4(self.layer3(self.layer2(self.layer1(x))))

    def head(self, x):
        return self.fc(self.flatten(self.avgpool(x, (2, 3))))

    def construct(self, x):
        return self.head(self.stages(self.stem(x)))


class PoolBeforeNormInStem(Network):
    def stem(self, x):
        return self.relu(self.bn1(self.maxpool(self.conv1(x))))


class StemWithoutReLU(Network):
    def stem(self, x):
        return self.maxpool(self.bn1(self.conv1(x)))


class FrozenStem(Network):
    def stages(self, x):
        x = ops.stop_gradient(self.layer1(x))
        return self.layer4(self.layer3(self.layer2(x)))


class Probabilities(Network):
    def construct(self, x):
        return ops.softmax(self.head(self.stages(self.stem(x))), axis=1)


class ReversedColours(Network):
    def construct(self, x):
        return self.head(self.stages(self.stem(ops.flip(x, (1,)))))


class RoundedInput(Network):
    def construct(self, x):
        x = x.astype(ms.bfloat16).astype(ms.float32)
        return self.head(self.stages(self.stem(x)))


class HalfLogits(Network):
    def construct(self, x):
        return self.head(self.stages(self.stem(x))).astype(ms.float16)


class ChannelsLastMean(Network):
    """The axes of TensorFlow's global average pooling."""

    def head(self, x):
        return self.fc(self.flatten(self.avgpool(x, (1, 2))))


class WithoutThirdBlock(nn.SequentialCell):
    """A stage whose loop is one short in the middle."""

    def construct(self, x):
        for block in self.cell_list[:2] + self.cell_list[3:]:
            x = block(x)
        return x


# Layers.


class HalfConvolution(nn.Conv2d):
    def construct(self, x):
        return self.conv2d(x.astype(ms.float16), self.weight.astype(ms.float16)).astype(ms.float32)


class FlippedKernel(nn.Conv2d):
    def construct(self, x):
        return self.conv2d(x, ops.flip(self.weight, (2, 3)))


class TransposedKernel(nn.Conv2d):
    def construct(self, x):
        return self.conv2d(x, self.weight.swapaxes(2, 3))


class SwappedChannels(nn.Conv2d):
    def construct(self, x):
        return self.conv2d(x, self.weight.swapaxes(0, 1))


class ScaledKernel(nn.Conv2d):
    """He's gain at run time, on weights that were trained with it."""

    def construct(self, x):
        return self.conv2d(x, self.weight * 2**0.5)


class ScaledGradient(nn.Conv2d):
    """A learning rate of its own, by way of the gradient."""

    def construct(self, x):
        weight = 0.1 * self.weight + ops.stop_gradient(0.9 * self.weight)
        return self.conv2d(x, weight)


class DetachedKernel(nn.Conv2d):
    def construct(self, x):
        return self.conv2d(x, ops.stop_gradient(self.weight))


class StaleKernel(nn.Cell):
    """Computes with a copy of the weight from before the checkpoint was loaded."""

    def __init__(self, convolution: nn.Conv2d):
        super().__init__()
        self.weight = convolution.weight
        self.conv2d = convolution.conv2d
        drawn = np.random.default_rng(0).standard_normal(self.weight.shape)
        self.kept = ms.Tensor(0.05 * drawn, ms.float32)

    def construct(self, x):
        return self.conv2d(x, self.kept)


class UnregisteredKernel(nn.Cell):
    """Keeps its parameters in a dict, where no cell finds them."""

    def __init__(self, convolution: nn.Conv2d):
        super().__init__()
        self.conv2d = convolution.conv2d
        self.weights = {"kernel": convolution.weight}

    def construct(self, x):
        return self.conv2d(x, self.weights["kernel"])


class TransposedDense(nn.Dense):
    def construct(self, x):
        return ops.matmul(x, self.weight) + self.bias


class HalfDense(nn.Dense):
    def construct(self, x):
        product = ops.matmul(x.astype(ms.float16), self.weight.T.astype(ms.float16))
        return product.astype(ms.float32) + self.bias


class DetachedBias(nn.Dense):
    def construct(self, x):
        return ops.matmul(x, self.weight.T) + ops.stop_gradient(self.bias)


class Norm(nn.BatchNorm2d):
    """Batch normalisation spelled out, in parts."""

    def of_batch(self, x):
        mean = x.mean((0, 2, 3))
        return mean, (x - mean.reshape(1, -1, 1, 1)).square().mean((0, 2, 3))

    def keep(self, x, mean, variance):
        """Unlike the batch's own, the variance that is kept divides by n - 1."""
        elements = x.size // x.shape[1]
        self.keep_mean(mean)
        self.keep_variance(variance * (elements / (elements - 1)))

    def keep_mean(self, mean):
        share = self.momentum
        ops.assign(self.moving_mean, (1 - share) * self.moving_mean + share * mean)

    def keep_variance(self, variance):
        share = self.momentum
        ops.assign(self.moving_variance, (1 - share) * self.moving_variance + share * variance)

    def normalised(self, x, mean, variance):
        scale = self.gamma * ops.rsqrt(variance + self.eps)
        return (x - mean.reshape(1, -1, 1, 1)) * scale.reshape(1, -1, 1, 1) + self.beta.reshape(
            1, -1, 1, 1
        )

    def construct(self, x):
        if not self.training:
            return self.normalised(x, self.moving_mean, self.moving_variance)
        mean, variance = self.of_batch(x)
        self.keep(x, mean, variance)
        return self.normalised(x, mean, variance)


class BiasedRunningVariance(Norm):
    def keep(self, x, mean, variance):  # noqa: ARG002
        self.keep_mean(mean)
        self.keep_variance(variance)


class VarianceNotKept(Norm):
    def keep(self, x, mean, variance):  # noqa: ARG002
        self.keep_mean(mean)


class DetachedStatistics(Norm):
    def construct(self, x):
        mean, variance = self.of_batch(x)
        self.keep(x, mean, variance)
        return self.normalised(x, ops.stop_gradient(mean), ops.stop_gradient(variance))


class NormalisedByRunningStatistics(Norm):
    """Lets the batch into the running statistics first, and normalises with those."""

    def construct(self, x):
        mean, variance = self.of_batch(x)
        share = self.momentum
        running_mean = (1 - share) * self.moving_mean + share * mean
        running_variance = (1 - share) * self.moving_variance + share * variance
        self.keep(x, mean, variance)
        return self.normalised(x, running_mean, running_variance)


class KeepsInEvaluation(Norm):
    def construct(self, x):
        mean, variance = self.of_batch(x)
        out = self.normalised(x, self.moving_mean, self.moving_variance)
        self.keep(x, mean, variance)
        return out


class GammaIgnored(nn.BatchNorm2d):
    """TensorFlow-slim's BatchNorm, which does not scale unless told to."""

    def construct(self, x):
        plain = ops.ones_like(self.gamma)
        statistics = (self.moving_mean, self.moving_variance)
        return self.bn_train(x, plain, self.beta, *statistics)[0]


class HalfNorm(nn.BatchNorm2d):
    def construct(self, x):
        return super().construct(x.astype(ms.float16)).astype(ms.float32)

"""Normalisation, activations and dense layers with one mistake each."""

from mindspore import nn, ops

# Wrong normalisation.


class EpsilonOutside(nn.BatchNorm2d):
    """Divides by sqrt(variance) + eps."""

    def construct(self, x):
        mean, variance = self.moving_mean.reshape(1, -1, 1, 1), self.moving_variance
        scale = (self.gamma / (ops.sqrt(variance) + self.eps)).reshape(1, -1, 1, 1)
        return (x - mean) * scale + self.beta.reshape(1, -1, 1, 1)


class InEvaluation(nn.BatchNorm2d):
    """Is in evaluation mode while the network trains."""

    def construct(self, x):
        mean, variance = self.moving_mean.reshape(1, -1, 1, 1), self.moving_variance
        scale = (self.gamma * ops.rsqrt(variance + self.eps)).reshape(1, -1, 1, 1)
        return (x - mean) * scale + self.beta.reshape(1, -1, 1, 1)


class GradientsExchanged(nn.BatchNorm2d):
    """Its own backward pass returns the gradients of gamma and beta in the other order."""

    def construct(self, x):
        mean = x.mean((0, 2, 3), keep_dims=True)
        variance = (x - mean).square().mean((0, 2, 3), keep_dims=True)
        normal = (x - mean) * ops.rsqrt(variance + self.eps)
        scale, shift = self.gamma.reshape(1, -1, 1, 1), self.beta.reshape(1, -1, 1, 1)
        fixed, moved = ops.stop_gradient(scale), ops.stop_gradient(shift)
        out = normal * fixed + moved
        return out + (scale - fixed) + (shift - moved) * ops.stop_gradient(normal)


class StatisticsOfEachImage(nn.BatchNorm2d):
    """Instance normalisation with the weights of a batch normalisation."""

    def construct(self, x):
        if not self.training:
            return super().construct(x)
        mean = x.mean((2, 3), keep_dims=True)
        variance = (x - mean).square().mean((2, 3), keep_dims=True)
        scale = self.gamma.reshape(1, -1, 1, 1) * ops.rsqrt(variance + self.eps)
        return (x - mean) * scale + self.beta.reshape(1, -1, 1, 1)


class StatisticsOfEachDevice(nn.BatchNorm2d):
    """Two devices share the batch, and each normalises its own part."""

    def construct(self, x):
        return ops.cat((super().construct(x[:1]), super().construct(x[1:])))


class GammaPlusOne(nn.LayerNorm):
    """Takes gamma as the distance from one, as Gemma's checkpoints store it."""

    def construct(self, x):
        return self.layer_norm(x, self.gamma + 1.0, self.beta)[0]


class Spelled(nn.LayerNorm):
    """Layer normalisation spelled out, in parts."""

    axes = -1

    def centred(self, x):
        return x - x.mean(self.axes, keep_dims=True)

    def divisor(self, centred):
        return ops.sqrt(centred.square().mean(self.axes, keep_dims=True) + self.epsilon)

    def construct(self, x):
        centred = self.centred(x)
        return centred / self.divisor(centred) * self.gamma + self.beta


class DeviationPlusEpsilon(Spelled):
    """The annotated Transformer's: eps beside the root, and the variance by n - 1."""

    def divisor(self, centred):
        count = centred.shape[-1] - 1
        return ops.sqrt(centred.square().sum(-1, keepdims=True) / count) + self.epsilon


class RootMeanSquare(Spelled):
    """RMSNorm, which does not centre."""

    def centred(self, x):
        return x


class OverTwoAxes(Spelled):
    axes = (-2, -1)


class DetachedDivisor(Spelled):
    def divisor(self, centred):
        return ops.stop_gradient(super().divisor(centred))


class InterleavedGroups(nn.GroupNorm):
    """Group g holds every channel c with c % groups == g, as reshaping the other way round does."""

    def construct(self, x):
        batch, channels, height, width = x.shape
        grouped = x.reshape(batch, channels // self.num_groups, self.num_groups, height, width)
        mean = grouped.mean((1, 3, 4), keep_dims=True)
        variance = (grouped - mean).square().mean((1, 3, 4), keep_dims=True)
        plain = ((grouped - mean) * ops.rsqrt(variance + self.eps)).reshape(x.shape)
        return plain * self.gamma.reshape(1, -1, 1, 1) + self.beta.reshape(1, -1, 1, 1)


# Wrong activations.


class QuickGELU(nn.Cell):
    def construct(self, x):
        return x * ops.sigmoid(1.702 * x)


class KerasHardSwish(nn.Cell):
    """With Keras' hard sigmoid, 0.2 x + 0.5."""

    def construct(self, x):
        return x * ops.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


class DeadBelowZero(nn.Cell):
    """A leaky ReLU whose slope is lost to the gradient."""

    def construct(self, x):
        return ops.maximum(x, ops.stop_gradient(0.1 * x))


class ConstantSlope(nn.PReLU):
    """Computes with the slope that a PReLU starts with."""

    def construct(self, x):
        return self.prelu(x, ops.full_like(self.w, 0.25))


class NegatedPart(nn.PReLU):
    """max(x, 0) - slope * max(-x, 0) with the sign lost."""

    def construct(self, x):
        return ops.relu(x) + self.w.reshape(-1, 1, 1) * ops.relu(-x)


class NotNormalised(nn.Cell):
    """exp(x - max) without the division."""

    def construct(self, x):
        return ops.exp(x - ops.stop_gradient(ops.amax(x, 1, keepdims=True)))


# Wrong dense layers.


class UnusedBias(nn.Dense):
    """Holds a bias, and does not add it."""

    def construct(self, x):
        return ops.matmul(x, self.weight.T)


class BiasTwice(nn.Dense):
    def construct(self, x):
        return super().construct(x) + self.bias


class AveragedBiasGradient(nn.Dense):
    """A backward pass of its own takes the mean over the batch where it is a sum."""

    def construct(self, x):
        share = self.bias / x.shape[0]
        return ops.matmul(x, self.weight.T) + share + ops.stop_gradient(self.bias - share)

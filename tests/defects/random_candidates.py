"""Wrong candidates with random layers, and such that keep state between their calls."""

import mindspore as ms
from mindspore import nn, ops

from ms_models.random_layers import Classifier, DropPath, Residual
from ms_models.random_places import Attending, Augmented, Masks, Noise, Slopes


class Unscaled(DropPath):
    """What is kept is not divided by its share."""

    def construct(self, x):
        if not self.training:
            return x
        return x * (ops.rand((x.shape[0], 1, 1)) < 1.0 - self.p).astype(x.dtype)


class ByElement(DropPath):
    """Single elements are dropped, not samples."""

    def construct(self, x):
        if not self.training:
            return x
        return x * (ops.rand(x.shape) < 1.0 - self.p).astype(x.dtype) / (1.0 - self.p)


class WithoutFunction(Classifier):
    """The dropout that is a function is forgotten."""

    def drop_hidden(self, x):
        return x


class FunctionOfOtherShare(Classifier):
    """The share of the layers is used for the function, too."""

    def drop_hidden(self, x):
        return ops.dropout(x, self.p, self.training)


class FunctionInEvaluation(Classifier):
    """The function drops in every phase."""

    def drop_hidden(self, x):
        return ops.dropout(x, 0.5 * self.p)


class BehindAddition(Attending):
    """The sum is dropped, not the branch."""

    def construct(self, x):
        y = self.norm(x)
        scores = ops.matmul(self.query(y), self.key(y).swapaxes(1, 2)) / y.shape[-1] ** 0.5
        mixed = ops.matmul(self.drop_weights(ops.softmax(scores, -1)), self.value(y))
        x = self.drop_out(x + self.out(mixed))
        return x + self.drop_hidden(ops.sigmoid(self.hidden(x)))


class OnShortcut(Attending):
    """The shortcut is dropped, not the branch."""

    def construct(self, x):
        y = self.norm(x)
        scores = ops.matmul(self.query(y), self.key(y).swapaxes(1, 2)) / y.shape[-1] ** 0.5
        mixed = ops.matmul(self.drop_weights(ops.softmax(scores, -1)), self.value(y))
        x = x + self.drop_out(self.out(mixed))
        return self.drop_hidden(x) + ops.sigmoid(self.hidden(x))


class OnNorm(Attending):
    """What the norm gives is dropped, not what the attention does."""

    def construct(self, x):
        y = self.drop_out(self.norm(x))
        scores = ops.matmul(self.query(y), self.key(y).swapaxes(1, 2)) / y.shape[-1] ** 0.5
        mixed = ops.matmul(self.drop_weights(ops.softmax(scores, -1)), self.value(y))
        x = x + self.out(mixed)
        return x + self.drop_hidden(ops.sigmoid(self.hidden(x)))


class BeforeSoftmax(Attending):
    """Scores are dropped, not the weights that the softmax gives."""

    def construct(self, x):
        y = self.norm(x)
        scores = ops.matmul(self.query(y), self.key(y).swapaxes(1, 2)) / y.shape[-1] ** 0.5
        mixed = ops.matmul(ops.softmax(self.drop_weights(scores), -1), self.value(y))
        x = x + self.drop_out(self.out(mixed))
        return x + self.drop_hidden(ops.sigmoid(self.hidden(x)))


class BeforeProjection(Attending):
    """What the projection takes is dropped."""

    def construct(self, x):
        y = self.norm(x)
        scores = ops.matmul(self.query(y), self.key(y).swapaxes(1, 2)) / y.shape[-1] ** 0.5
        mixed = ops.matmul(self.drop_weights(ops.softmax(scores, -1)), self.value(y))
        x = x + self.out(self.drop_out(mixed))
        return x + self.drop_hidden(ops.sigmoid(self.hidden(x)))


class BeforeActivation(Attending):
    """What the activation takes is dropped."""

    def construct(self, x):
        y = self.norm(x)
        scores = ops.matmul(self.query(y), self.key(y).swapaxes(1, 2)) / y.shape[-1] ** 0.5
        mixed = ops.matmul(self.drop_weights(ops.softmax(scores, -1)), self.value(y))
        x = x + self.drop_out(self.out(mixed))
        return x + ops.sigmoid(self.drop_hidden(self.hidden(x)))


class PathBehindAddition(Residual):
    """The sum is dropped, not the path."""

    def construct(self, x):
        x = self.path1(x + ops.sigmoid(self.first(x)))
        return x + self.path2(ops.sigmoid(self.second(x)))


class PathBeforeActivation(Residual):
    """The path is dropped before its activation."""

    def construct(self, x):
        x = x + self.path1(ops.sigmoid(self.first(x)))
        return x + ops.sigmoid(self.path2(self.second(x)))


class Multiplied(Noise):
    """Noise is multiplied."""

    def construct(self, x):
        return x * (1.0 + 0.1 * ops.standard_normal(x.shape)) if self.training else x


class Halved(Noise):
    """Half of the noise."""

    def construct(self, x):
        return x + 0.05 * ops.standard_normal(x.shape) if self.training else x


class DefaultSlopes(Slopes):
    """Slopes between 1/8 and 1/3."""

    def construct(self, x):
        slope = 1.0 / 8.0 + (1.0 / 3.0 - 1.0 / 8.0) * ops.rand(x.shape) if self.training else 0.25
        return ops.where(x >= 0.0, x, x * slope)


class Longer(Masks):
    """Masks of frames are one longer."""

    def construct(self, x):
        if not self.training:
            return x
        n, bands, frames = x.shape
        start = ops.randint(0, frames - 3, (n, 1, 1))
        place = ops.arange(frames).reshape(1, 1, frames)
        x = x.masked_fill(ops.logical_and(place >= start, place <= start + 3), 0.0)
        start = ops.randint(0, bands - 2, (n, 1, 1))
        place = ops.arange(bands).reshape(1, bands, 1)
        return x.masked_fill(ops.logical_and(place >= start, place < start + 2), 0.0)


class NoiseBehind(Augmented):
    """Noise is added behind the slopes."""

    def construct(self, x):
        x = self.noise(self.slopes(self.conv(self.masks(x))))
        return self.head(x.mean(2))


class CachedWeight(Residual):
    """The first call keeps its weights for all others."""

    def __init__(self, width: int = 8, p: float = 0.2):
        super().__init__(width, p)
        self.cached = None

    def construct(self, x):
        weight = self.first.weight
        if self.cached is None:
            self.cached = ms.Tensor(weight.asnumpy())
        used = self.cached + (weight - ops.stop_gradient(weight))
        x = x + self.path1(ops.sigmoid(ops.matmul(x, used.T) + self.first.bias))
        return x + self.path2(ops.sigmoid(self.second(x)))


class Counting(Residual):
    """From the second call on the output is scaled."""

    def __init__(self, width: int = 8, p: float = 0.2):
        super().__init__(width, p)
        self.calls = 0

    def construct(self, x):
        self.calls = self.calls + 1
        return super().construct(x) * (1.0 if self.calls == 1 else 1.001)


class CountingInABuffer(Residual):
    """From the second call on the output is scaled; the count is a tensor that it alone has."""

    def __init__(self, width: int = 8, p: float = 0.2):
        super().__init__(width, p)
        self.register_buffer("calls", ms.Tensor(0.0))

    def construct(self, x):
        self.calls.assign_value(self.calls + 1.0)
        return super().construct(x) * (1.0 if self.calls == 1.0 else 1.001)


class GrowingCache(Residual):
    """Attends to the inputs of earlier calls, too, as a cache of keys that is not emptied."""

    def __init__(self, width: int = 8, p: float = 0.2):
        super().__init__(width, p)
        self.seen = []

    def construct(self, x):
        self.seen.append(ops.stop_gradient(x))
        return super().construct(x) + sum(self.seen[:-1], ops.zeros_like(x))


class FirstScale(Residual):
    """A scale that is computed from the first input, and kept."""

    def __init__(self, width: int = 8, p: float = 0.2):
        super().__init__(width, p)
        self.scale = None

    def construct(self, x):
        if self.scale is None:
            self.scale = float(x.abs().max())
        return super().construct(x) * (float(x.abs().max()) / self.scale)


def with_dropout_twice(old: nn.Cell) -> nn.Cell:
    """Two dropouts for one."""
    return nn.SequentialCell(old, nn.Dropout(p=old.p))

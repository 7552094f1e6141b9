"""Wrong candidates with random layers, and such that keep state between their calls."""

import mindspore as ms
from mindspore import nn, ops

from ms_models.random_layers import Classifier, DropPath, Residual


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

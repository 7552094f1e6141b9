"""Candidates with long sums; some are wrong by little more than rounding."""

import mindspore as ms
from mindspore import mint, ops


class Linear(mint.nn.Linear):
    """The gradient of its bias is summed term after term on a CPU."""

    def construct(self, x):
        return mint.nn.functional.linear(x, self.weight, self.backward(self.bias))

    def backward(self, bias):
        return bias


class SlightlyLarger(Linear):
    """The gradient of the bias is too large by 100 units of roundoff."""

    def backward(self, bias):
        larger = bias * (1.0 + 100 * 2.0**-24)
        return larger - ops.stop_gradient(larger - bias)


class LargerOutput(Linear):
    """The output is too large by 90 units of roundoff; its gradients are right."""

    def construct(self, x):
        right = super().construct(x)
        return right + ops.stop_gradient(right * (90 * 2.0**-24))


class Halved(Linear):
    """The bias and its gradient go through half precision."""

    def backward(self, bias):
        return bias.astype(ms.float16).astype(ms.float32)


class Squashed(Linear):
    """Tanh, which loses digits on a CPU, of the linear layer."""

    def construct(self, x):
        return ops.tanh(super().construct(x))


class Rectified(Linear):
    """A ReLU of the linear layer."""

    def construct(self, x):
        return ops.relu(super().construct(x) + 8.0)

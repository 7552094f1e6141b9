"""Ports of `pt/numbers.py`."""

from mindspore import mint, nn, ops
from mindspore.mint.nn import functional as F


class Clamped(nn.Cell):
    def __init__(self, width=6):
        super().__init__()
        self.fc = mint.nn.Linear(width, width)

    def construct(self, x):
        return mint.clamp(self.fc(x), -20.0, 20.0)


class ClampedNot(Clamped):
    def construct(self, x):
        return self.fc(x)


class ClampedAbove(Clamped):
    def construct(self, x):
        return mint.clamp(self.fc(x), max=20.0)


class ClampedFarther(Clamped):
    def construct(self, x):
        return mint.clamp(self.fc(x), -20.0, 25.0)


class Normed(nn.Cell):
    def __init__(self, width=8):
        super().__init__()
        self.norm = mint.nn.LayerNorm((width,))

    def construct(self, x):
        return mint.clamp(self.norm(x), max=2.0) * 2.0


class NormedNot(Normed):
    def construct(self, x):
        return self.norm(x) * 2.0


class Sampled(nn.Cell):
    def __init__(self, width=4):
        super().__init__()
        self.both = mint.nn.Linear(width, 2 * width)

    def construct(self, x, noise):
        mean, log = mint.chunk(self.both(x), 2, 1)
        return mean + noise * mint.exp(0.5 * mint.clamp(log, -30.0, 20.0))


class SampledNot(Sampled):
    def construct(self, x, noise):
        mean, log = mint.chunk(self.both(x), 2, 1)
        return mean + noise * mint.exp(0.5 * log)


class SampledNearer(Sampled):
    def construct(self, x, noise):
        mean, log = mint.chunk(self.both(x), 2, 1)
        return mean + noise * mint.exp(0.5 * mint.clamp(log, -30.0, 10.0))


def bounded(x):
    return F.relu6(x) * 1.5


def bounded_not(x):
    return F.relu(x) * 1.5


def hard(x):
    return F.hardsigmoid(x) * x


def hard_linear(x):
    return (x / 6.0 + 0.5) * x


def hard_fifth(x):
    return mint.clamp(x / 6.0 + 0.5, min=0.0) * x


def huber(x, y):
    return F.smooth_l1_loss(x, y, beta=8.0)


def huber_square(x, y):
    return ((x - y) ** 2).mean() / 16.0


def soft(x):
    return F.softplus(x, beta=1.0, threshold=20.0)


def soft_naive(x):
    return mint.log(1.0 + mint.exp(x))


def bent(x):
    return F.elu(x) + 2.0 * x


def bent_by_where(x):
    """Its gradient is zero times infinity where the exponential overflows."""
    return mint.where(x > 0.0, x, mint.exp(x) - 1.0) + 2.0 * x


def mish(x):
    return x * mint.tanh(F.softplus(x)) + 2.0 * x


def mish_by_exponential(x):
    return x * mint.tanh(mint.log(1.0 + mint.exp(x))) + 2.0 * x


def mish_by_square(x):
    square = mint.square(1.0 + mint.exp(x))
    return x * (square - 1.0) / (square + 1.0) + 2.0 * x


def rooted(x):
    return x * mint.rsqrt(mint.square(x).mean(-1, True) + 1e-8)


def rooted_larger(x):
    return x * mint.rsqrt(mint.square(x).mean(-1, True) + 1e-7)


def rooted_outside(x):
    return x / (mint.sqrt(mint.square(x).mean(-1, True)) + 1e-8)


def rooted_not(x):
    return x * mint.rsqrt(mint.square(x).mean(-1, True))


class RootedLayer(nn.Cell):
    def __init__(self, width=6):
        super().__init__()
        self.fc = mint.nn.Linear(width, width)

    def construct(self, x):
        return self.normed(self.fc(x), 1e-8)

    def normed(self, y, epsilon):
        mean = y.mean(-1, True)
        variance = mint.square(y - mean).mean(-1, True)
        return (y - mean) / mint.sqrt(variance + epsilon)


class RootedLayerSmaller(RootedLayer):
    def construct(self, x):
        return self.normed(self.fc(x), 1e-9)


class RootedLayerOutside(RootedLayer):
    def normed(self, y, epsilon):
        mean = y.mean(-1, True)
        variance = mint.square(y - mean).mean(-1, True)
        return (y - mean) / (mint.sqrt(variance) + epsilon)


def united(x):
    return x / mint.clamp(mint.norm(x, dim=-1, keepdim=True), min=1e-6)


def united_added(x):
    return x / (mint.norm(x, dim=-1, keepdim=True) + 1e-6)


def united_smaller(x):
    return x / mint.clamp(mint.norm(x, dim=-1, keepdim=True), min=1e-12)


def similar(x, y):
    first = mint.clamp(mint.norm(x, dim=1), min=1e-7)
    second = mint.clamp(mint.norm(y, dim=1), min=1e-7)
    return (x * y).sum(1) / (first * second)


def similar_larger(x, y):
    first = mint.clamp(mint.norm(x, dim=1), min=1e-4)
    second = mint.clamp(mint.norm(y, dim=1), min=1e-4)
    return (x * y).sum(1) / (first * second)


def logged(x):
    return mint.log(x + 1e-8)


def logged_smaller(x):
    return mint.log(x + 1e-10)


def logged_clamped(x):
    return mint.log(mint.clamp(x, min=1e-8))


def _dice(x, y, above, below):
    x = mint.sigmoid(x).flatten(start_dim=1)
    return (1.0 - (2.0 * (x * y).sum(1) + above) / (x.sum(1) + y.sum(1) + below)).mean()


def dice(x, y):
    return _dice(x, y, 1e-6, 1e-6)


def dice_below(x, y):
    return _dice(x, y, 0.0, 1e-6)


def dice_smaller(x, y):
    return _dice(x, y, 1e-8, 1e-8)


def _through(x, y):
    return x + ops.stop_gradient(y / 4.0 - x)


def rounded(x):
    return _through(x, mint.round(mint.clamp(x * 4.0, -8.0, 7.0)))


def rounded_up(x):
    return _through(x, mint.floor(mint.clamp(x * 4.0, -8.0, 7.0) + 0.5))


def rounded_symmetric(x):
    return _through(x, mint.round(mint.clamp(x * 4.0, -8.0, 8.0)))


def gated(x):
    return mint.where(x > 0.5, x * 2.0, x - 1.0)


def gated_at(x):
    return mint.where(x >= 0.5, x * 2.0, x - 1.0)


def signed(x):
    return mint.where(x >= 0.0, mint.ones_like(x), -mint.ones_like(x)) + 0.1 * x


def signed_zero(x):
    return mint.sign(x) + 0.1 * x


def signed_above(x):
    return mint.where(x > 0.0, mint.ones_like(x), -mint.ones_like(x)) + 0.1 * x


def binned(x):
    return ops.stop_gradient(mint.floor(x * 2.0)) * 0.5 + x


def binned_cut(x):
    return ops.stop_gradient(mint.trunc(x * 2.0)) * 0.5 + x


def binned_up(x):
    return ops.stop_gradient(mint.ceil(x * 2.0) - 1.0) * 0.5 + x


def soft_maximum(x):
    return mint.softmax(x, -1)


def soft_maximum_naive(x):
    y = mint.exp(x)
    return y / y.sum(-1, True)


def soft_maximum_clamped(x):
    return mint.softmax(mint.clamp(x, max=50.0), -1)


def summed(x):
    return mint.logsumexp(x, 1)


def summed_naive(x):
    return mint.log(mint.exp(x).sum(1))


def crossed(x, y):
    return F.binary_cross_entropy_with_logits(x, y)


def crossed_naive(x, y):
    return (mint.log(1.0 + mint.exp(-x)) + (1.0 - y) * x).mean()


def crossed_by_probability(x, y):
    return F.binary_cross_entropy(mint.sigmoid(x), y)


def _focal(x, y, loss):
    p = mint.sigmoid(x)
    near = p * y + (1 - p) * (1 - y)
    return (loss * (1 - near) ** 2).mean()


def focal(x, y):
    return _focal(x, y, F.binary_cross_entropy_with_logits(x, y, reduction="none"))


def focal_by_probability(x, y):
    p = mint.sigmoid(x)
    loss = -(y * mint.log(p) + (1 - y) * mint.log(1 - p))
    return _focal(x, y, loss)


def curved(x):
    return mint.tanh(x) * mint.sigmoid(x)


def curved_naive(x):
    a, b = mint.exp(x), mint.exp(-x)
    return (a - b) / (a + b) * mint.sigmoid(x)


def cleaned(x):
    return mint.nan_to_num(x, 0.0, 5.0, -5.0) * 2.0


def cleaned_of_nan(x):
    return mint.where(mint.isnan(x), mint.zeros_like(x), x) * 2.0


def cleaned_otherwise(x):
    return mint.nan_to_num(x, 0.0, 5.0, -6.0) * 2.0


def checked(x):
    return mint.where(mint.isfinite(x), x, mint.zeros_like(x)).sum(1)


def checked_not(x):
    return x.sum(1)


def angled(x):
    return mint.acos(mint.clamp(x, -1.0 + 1e-4, 1.0 - 1e-4))


def angled_not(x):
    return mint.acos(x)


def angled_nearer(x):
    return mint.acos(mint.clamp(x, -1.0 + 1e-6, 1.0 - 1e-6))


def rescaled(x):
    norm = mint.norm(x, dim=1, keepdim=True)
    return x * mint.clamp(10.0 / (norm + 1e-6), max=1.0)


def rescaled_always(x):
    return x


def absolute(x):
    return mint.sqrt(mint.abs(x) + 0.25)


def absolute_not(x):
    return mint.sqrt(x + 0.25)

"""Ports of `further_pt`: right ones, and wrong ones that differ beyond the usual sample."""

import mindspore as ms
from mindspore import mint, nn


class Clamped(nn.Cell):
    most = 2.6

    def __init__(self):
        super().__init__()
        self.norm = mint.nn.LayerNorm((8,), elementwise_affine=False)

    def construct(self, x):
        return mint.clamp(self.norm(x), max=self.most) * 2.0


class Unclamped(Clamped):
    def construct(self, x):
        return self.norm(x) * 2.0


class Guarded(nn.Cell):
    epsilon = 1e-8

    def __init__(self):
        super().__init__()
        self.fc = mint.nn.Linear(6, 6)

    def construct(self, x):
        y = self.fc(x)
        y = y - y.mean(-1, True)
        return y * mint.rsqrt(mint.square(y).mean(-1, True) + self.epsilon)


class Unguarded(Guarded):
    epsilon = 1e-12


class Masked(nn.Cell):
    def mask(self, length):
        return mint.triu(mint.ones((length, length)), 1) > 0.5

    def construct(self, x):
        logits = (x @ x.swapaxes(1, 2)).masked_fill(self.mask(x.shape[1]), -1e9)
        return mint.softmax(logits, -1) @ x


class MaskedOnce(Masked):
    """Keeps the mask of its first call."""

    def __init__(self):
        super().__init__()
        self.kept = None

    def mask(self, length):
        if self.kept is None:
            self.kept = mint.triu(mint.ones((length, length)), 1)
        return self.kept > 0.5


def squeezed(x):
    return x.sum(1, keepdims=True).squeeze(1) * 2.0


def squeezed_all(x):
    return x.sum(1, keepdims=True).squeeze() * 2.0


def paired(x):
    return x[:, 1:] - x[:, :-1] + x[:, :1]


def halved(x):
    batch, length = x.shape
    return x.reshape(batch, length // 2, 2).sum(2)


def even_mean(x):
    return x.mean(1) + x[:, 0]


def rooted(x):
    return mint.sqrt(x + 30.0) * 2.0


def gated(x):
    return mint.where(x > 0.5, x * 2.0, x - 1.0)


def gated_at(x):
    return mint.where(x >= 0.5, x * 2.0, x - 1.0)


def rooted_above(x):
    safe = mint.where(x > 0.5, x - 0.5, mint.ones_like(x))
    return mint.where(x > 0.5, mint.sqrt(safe), mint.zeros_like(x))


def rooted_above_with_nan(x):
    """The same values; where the root is not chosen, its gradient is NaN."""
    return mint.where(x > 0.5, mint.sqrt(x - 0.5), mint.zeros_like(x))


def absolute(x):
    return mint.clamp(x, min=0.5)


def absolute_by_maximum(x):
    """The same values; at the bound itself half of the gradient."""
    return mint.maximum(x, mint.ones_like(x) * 0.5)


def chosen(x):
    _, top = mint.topk(mint.nn.functional.softmax(x, -1), 2, -1)
    return mint.abs(x).sum(-1) * 10.0 + mint.gather(x, 1, top).sum(-1), x.sum(-1)


def chosen_of_half(x):
    first, second = chosen(x)
    return first, second * 0.5


def turned(x):
    batch, rows, columns = x.shape
    return x.reshape(batch, columns, rows) * 2.0


def turned_of_one_size(x):
    """Right, and at the sizes 5 and 7 alone."""
    return x.reshape(x.shape[0], 7, 5) * 2.0


def turned_of_any_batch(x):
    """Right at the sizes 5 and 6 alone; of twice as many rows it makes twice as large a batch."""
    return x.reshape(-1, 6, 5) * 2.0


def turned_of_one_batch(x):
    _, rows, columns = x.shape
    return x.reshape(2, columns, rows) * 2.0


def turned_of_squares(x):
    """Wrong: the rows stand for the columns."""
    batch, rows, _ = x.shape
    return x.reshape(batch, rows, rows) * 2.0


def turned_of_many(x):
    """Wrong: a batch of one loses its axis."""
    _, rows, columns = x.shape
    x = x.squeeze()
    return x.reshape(x.shape[0], columns, rows) * 2.0


def turned_of_rows_alone(x):
    """Wrong beside a size that is fixed: a batch of one is another one."""
    factor = 2.0 if x.shape[0] > 1 else 3.0
    return x.reshape(x.shape[0], 7, 5) * factor


def thinned_to_three(x):
    """Right, from 9 columns to 12 alone: the table is written down."""
    return x[..., ::4] * ms.Tensor([0.0, 1.0, 2.0], x.dtype)


def thinned_to_even(x):
    """Wrong: it takes an even number of columns alone."""
    if x.shape[-1] % 2:
        raise ValueError("an odd number of columns")
    x = x[..., ::4]
    return x * ms.ops.arange(x.shape[-1]).astype(x.dtype)


def thinned_wrongly_nearby(x):
    """Wrong in 10 columns, and right in 9, 11 and 12."""
    factor = 2.0 if x.shape[-1] == 10 else 1.0
    return thinned_to_three(x) * factor


class LogSumExp(nn.Cell):
    def construct(self, x):
        return mint.logsumexp(x, -1) * 2.0


class NaiveLogSumExp(nn.Cell):
    def construct(self, x):
        return mint.log(mint.exp(x).sum(-1)) * 2.0


class AveragedOverOne(LogSumExp):
    """A mistake for a batch of one alone."""

    def construct(self, x):
        return super().construct(x) * (0.5 if x.shape[0] == 1 else 1.0)


class StretchedOnce(nn.Cell):
    """Keeps the table of the greatest length."""

    def __init__(self):
        super().__init__()
        self.longest, self.kept = 0, None

    def construct(self, x):
        length = x.shape[1]
        if length > self.longest:
            self.longest = length
            table = ms.ops.arange(length).astype(ms.float32).expand_dims(1)
            self.kept = table / max(length / 16.0, 1.0)
        return x * self.kept[:length]


def attended(q, k):
    mask = mint.tril(mint.ones((q.shape[1], k.shape[1])), k.shape[1] - q.shape[1])
    return (q @ k.swapaxes(1, 2)) * mask


def first_of(x):
    return x.argmax(1), x * 2.0


def marked(x):
    return x * 2.0 + (ms.ops.arange(x.shape[1]) < x.shape[1] - 4).astype(x.dtype)


def summed_behind(x):
    return x[:, 4:].sum(1)


def behind(x):
    return x[:, 4:]

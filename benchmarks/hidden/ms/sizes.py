"""Ports of `pt/sizes.py`."""

import mindspore as ms
from mindspore import Parameter, mint, nn, ops
from mindspore.mint.nn import functional as F


def pooled(x):
    return F.max_pool2d(x, 2, 2, ceil_mode=True)


def pooled_floor(x):
    return F.max_pool2d(x, 2, 2)


def pooled_reshaped(x):
    batch, channels, height, width = x.shape
    return x.reshape(batch, channels, height // 2, 2, width // 2, 2).max((3, 5))


def averaged(x):
    return F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)


def averaged_ceil(x):
    return F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)


def adaptive(x):
    return F.adaptive_avg_pool2d(x, (4, 4)).flatten(start_dim=1)


def adaptive_halved(x):
    return F.avg_pool2d(x, 2, 2).flatten(start_dim=1)


def adaptive_strided(x):
    size = x.shape[2] // 4
    return F.avg_pool2d(x, size, size).flatten(start_dim=1)


def _every_other(x, first=0, second=0):
    """Every other row and column; a slice with a step has no gradient on a CPU."""
    rows = mint.index_select(x, 2, mint.arange(first, x.shape[2], 2))
    return mint.index_select(rows, 3, mint.arange(second, x.shape[3], 2))


def thinned(x):
    return _every_other(x) * 2.0


def thinned_pairs(x):
    batch, channels, height, width = x.shape
    pairs = x.reshape(batch, channels, height // 2, 2, width // 2, 2)
    return pairs[:, :, :, 0, :, 0] * 2.0


def thinned_fixed(x):
    return _every_other(x[:, :, :8, :8]) * 2.0


def _parts(x):
    places = ((0, 0), (0, 1), (1, 0), (1, 1))
    return mint.cat([_every_other(x, *place) for place in places], 1)


def merged(x):
    height, width = x.shape[2:]
    if height % 2 or width % 2:
        x = F.pad(x, (0, width % 2, 0, height % 2))
    return _parts(x)


def merged_unpadded(x):
    return _parts(x)


def merged_padded_left(x):
    height, width = x.shape[2:]
    if height % 2 or width % 2:
        x = F.pad(x, (width % 2, 0, height % 2, 0))
    return _parts(x)


def merged_swapped(x):
    height, width = x.shape[2:]
    if height % 2 or width % 2:
        x = F.pad(x, (0, height % 2, 0, width % 2))
    return _parts(x)


def joined(x, skip):
    up = F.interpolate(x, size=tuple(skip.shape[2:]), mode="nearest")
    return mint.cat((up, skip), 1)


def joined_by_factor(x, skip):
    up = x.repeat_interleave(2, 2).repeat_interleave(2, 3)
    return mint.cat((up, skip), 1)


def joined_square(x, skip):
    up = F.interpolate(x, size=(skip.shape[2], skip.shape[2]), mode="nearest")
    return mint.cat((up, skip), 1)


class Positions(nn.Cell):
    def __init__(self, width=6, most=9):
        super().__init__()
        self.table = Parameter(mint.zeros((1, most, width)))

    def construct(self, x):
        return x + self.table[:, : x.shape[1]]


class PositionsFromEnd(Positions):
    def construct(self, x):
        return x + self.table[:, -x.shape[1] :]


class PositionsWhole(Positions):
    def construct(self, x):
        return x + self.table


def _coordinates(x, rows, columns):
    batch, _, height, width = x.shape
    rows = rows[:, None].broadcast_to((batch, 1, height, width))
    columns = columns[None, :].broadcast_to((batch, 1, height, width))
    return mint.cat((x * 2.0, rows, columns), 1)


def coordinates(x):
    rows, columns = (mint.linspace(-1.0, 1.0, size).astype(x.dtype) for size in x.shape[2:])
    return _coordinates(x, rows, columns)


def coordinates_square(x):
    rows = mint.linspace(-1.0, 1.0, x.shape[2]).astype(x.dtype)
    batch, _, height, width = x.shape
    down = rows[:, None].broadcast_to((batch, 1, height, height))
    right = rows[None, :].broadcast_to((batch, 1, height, height))
    return mint.cat((x * 2.0, down[..., :width], right[..., :width]), 1)


def coordinates_of_eight(x):
    _, _, height, width = x.shape
    rows = mint.arange(height).astype(x.dtype) * (2.0 / 7.0) - 1.0
    columns = mint.arange(width).astype(x.dtype) * (2.0 / 7.0) - 1.0
    return _coordinates(x, rows, columns)


def windowed(x, window=6):
    size = min(window, x.shape[1])
    return x[:, -size:].mean(1)


def windowed_divided(x, window=6):
    return x[:, -window:].sum(1) / window


def windowed_all(x):
    return x.mean(1)


def windowed_first(x, window=6):
    return x[:, :window].mean(1)


def relative(x, most=8):
    places = mint.arange(x.shape[1])
    distance = mint.clamp(places[None] - places[:, None], -most, most).astype(x.dtype)
    return mint.softmax(x @ x.swapaxes(1, 2) + 0.1 * distance, -1) @ x


def relative_unbounded(x):
    places = mint.arange(x.shape[1])
    distance = (places[None] - places[:, None]).astype(x.dtype)
    return mint.softmax(x @ x.swapaxes(1, 2) + 0.1 * distance, -1) @ x


class Squeezed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.head = mint.nn.Linear(5, 1)

    def construct(self, x):
        return self.head(x).squeeze(1)


class SqueezedAll(Squeezed):
    def construct(self, x):
        return self.head(x).squeeze()


class SqueezedFixed(Squeezed):
    def construct(self, x):
        return self.head(x).reshape((3,))


class Classed(nn.Cell):
    def __init__(self, width=6):
        super().__init__()
        self.token = Parameter(mint.zeros((1, 1, width)))

    def construct(self, x):
        return mint.cat((self.token.broadcast_to((x.shape[0], 1, x.shape[2])), x), 1)


class ClassedFixed(Classed):
    def construct(self, x):
        return mint.cat((self.token.broadcast_to((2, 1, x.shape[2])), x), 1)


class ClassedTwice(Classed):
    def construct(self, x):
        return mint.cat((mint.cat((self.token, self.token)), x), 1)


def _contrastive(a, b, labels):
    a = a / mint.clamp(mint.norm(a, dim=1, keepdim=True), min=1e-12)
    b = b / mint.clamp(mint.norm(b, dim=1, keepdim=True), min=1e-12)
    return F.cross_entropy(a @ b.T / 0.1, labels)


def contrastive(a, b):
    return _contrastive(a, b, mint.arange(a.shape[0]).astype(ms.int32))


def contrastive_of_four(a, b):
    return _contrastive(a, b, mint.arange(4).astype(ms.int32))


def contrastive_wrapped(a, b):
    return _contrastive(a, b, (mint.arange(a.shape[0]) % 4).astype(ms.int32))


def split_heads(x, heads=2):
    batch, length, width = x.shape
    x = x.reshape(batch, length, heads, width // heads).swapaxes(1, 2)
    return mint.softmax(x @ x.swapaxes(2, 3), -1) @ x


def split_heads_of_two(x, heads=2):
    x = x.reshape(2, -1, heads, x.shape[2] // heads).swapaxes(1, 2)
    return mint.softmax(x @ x.swapaxes(2, 3), -1) @ x


def split_heads_of_seven(x, heads=2):
    x = x.reshape(-1, 7, heads, x.shape[2] // heads).swapaxes(1, 2)
    return mint.softmax(x @ x.swapaxes(2, 3), -1) @ x


def shifted(x):
    first, second = mint.zeros_like(x[:, :1, :1]), mint.zeros_like(x[:, :1, 1:2])
    before = mint.cat((first, x[:, :-1, :1]), 1)
    after = mint.cat((x[:, 1:, 1:2], second), 1)
    return mint.cat((before, after, x[:, :, 2:]), 2)


def shifted_of_five(x):
    first, second = mint.zeros_like(x[:, :1, :1]), mint.zeros_like(x[:, :1, 1:2])
    before = mint.cat((first, x[:, :4, :1]), 1)
    after = mint.cat((x[:, 1:5, 1:2], second), 1)
    return mint.cat((before, after, x[:, :, 2:]), 2)


def differences(x):
    step = x[:, 1:] - x[:, :-1]
    return mint.cat((step, step[:, -1:]), 1) * 3.0


def differences_of_six(x):
    step = x[:, 1:] - x[:, :-1]
    return mint.cat((step, step[:, 4:5]), 1) * 3.0


def differences_rolled(x):
    step = ops.roll(x, -1, 1) - x
    return mint.cat((step[:, :5], step[:, 4:5]), 1) * 3.0

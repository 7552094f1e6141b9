"""Ports of `pt/flow.py`."""

import mindspore as ms
from mindspore import Tensor, mint, nn
from mindspore.mint.nn import functional as F


class Causal(nn.Cell):
    def __init__(self, width=4):
        super().__init__()
        self.qkv = mint.nn.Linear(width, 3 * width)

    def mask_of(self, length):
        return mint.triu(mint.ones((length, length)), 1) > 0.5

    def construct(self, x):
        q, k, v = mint.chunk(self.qkv(x), 3, -1)
        logits = (q @ k.swapaxes(1, 2)).masked_fill(self.mask_of(x.shape[1]), -1e9)
        return mint.softmax(logits, -1) @ v


class CausalOfSeven(Causal):
    def __init__(self, width=4):
        super().__init__(width)
        self.whole = mint.triu(mint.ones((7, 7)), 1)

    def mask_of(self, _):
        return self.whole > 0.5


class CausalFromEnd(CausalOfSeven):
    def __init__(self, width=4):
        super().__init__(width)
        self.whole = mint.triu(mint.ones((16, 16)), 10)

    def mask_of(self, length):
        return self.whole[:length, 9 : 9 + length] > 0.5


class CausalKept(Causal):
    def __init__(self, width=4):
        super().__init__(width)
        self.kept = None

    def mask_of(self, length):
        if self.kept is None or self.kept.shape[0] < length:
            self.kept = mint.triu(mint.ones((length, length)), 1)
        return self.kept[-length:, -length - 1 : -1] > 0.5 if length < 7 else self.kept > 0.5


class CausalOnce(Causal):
    def __init__(self, width=4):
        super().__init__(width)
        self.kept = None

    def mask_of(self, length):
        if self.kept is None:
            self.kept = mint.triu(mint.ones((length, length)), 1)
        return self.kept > 0.5


class Rotary(nn.Cell):
    def table(self, length):
        return mint.arange(length).astype(ms.float32)[:, None] * Tensor([1.0, 0.1], ms.float32)

    def construct(self, x):
        angles = self.table(x.shape[1])
        sine, cosine = mint.sin(angles), mint.cos(angles)
        first, second = x[..., :2], x[..., 2:]
        return mint.cat((first * cosine - second * sine, first * sine + second * cosine), -1)


class RotaryReversed(Rotary):
    """Its table has room for six positions; later ones begin anew."""

    def table(self, length):
        places = (mint.arange(length) % 6).astype(ms.float32)[:, None]
        return places * Tensor([1.0, 0.1], ms.float32)


class RotaryOnce(Rotary):
    def __init__(self):
        super().__init__()
        self.kept = None

    def table(self, length):
        if self.kept is None or self.kept.shape[0] != length:
            begin = 0 if self.kept is None else self.kept.shape[0] - length
            places = mint.arange(length).astype(ms.float32)[:, None] + float(max(begin, 0))
            self.kept = places * Tensor([1.0, 0.1], ms.float32)
        return self.kept


def chunked(x):
    if x.shape[1] > 12:
        half = x.shape[1] // 2
        return 0.5 * (x[:, :half].mean(1) + x[:, half:].mean(1))
    return x.mean(1)


def chunked_never(x):
    return x.mean(1)


def chunked_unweighted(x):
    if x.shape[1] > 12:
        half = x.shape[1] // 2
        return x[:, :half].mean(1) + x[:, half:].mean(1)
    return x.mean(1)


def chunked_later(x):
    if x.shape[1] > 13:
        half = x.shape[1] // 2
        return 0.5 * (x[:, :half].mean(1) + x[:, half:].mean(1))
    return x.mean(1)


def evened(x):
    if x.shape[1] % 2:
        x = mint.cat((x, x[:, -1:]), 1)
    return x.reshape(x.shape[0], x.shape[1] // 2, -1)


def evened_by_zeros(x):
    if x.shape[1] % 2:
        x = mint.cat((x, mint.zeros_like(x[:, -1:])), 1)
    return x.reshape(x.shape[0], x.shape[1] // 2, -1)


def evened_by_first(x):
    if x.shape[1] % 2:
        x = mint.cat((x, x[:, :1]), 1)
    return x.reshape(x.shape[0], x.shape[1] // 2, -1)


def evened_by_cutting(x):
    size = x.shape[1] // 2
    return x[:, : 2 * size].reshape(x.shape[0], size, -1)


def single(x):
    if x.shape[0] == 1:
        return x * 2.0
    return (x - x.mean(0, True)) * 2.0


def single_centred(x):
    return (x - x.mean(0, True)) * 2.0


def single_plain(x):
    if x.shape[0] == 1:
        return x
    return (x - x.mean(0, True)) * 2.0


def tamed(x):
    if mint.abs(x).max() > 10.0:
        x = x / mint.abs(x).max() * 10.0
    return x + 1.0


def tamed_not(x):
    return x + 1.0


def tamed_to_one(x):
    if mint.abs(x).max() > 10.0:
        x = x / mint.abs(x).max()
    return x + 1.0


def tamed_by_clamp(x):
    return mint.clamp(x, -10.0, 10.0) + 1.0


def _stacked(x, count):
    total = mint.zeros_like(x[:, :1])
    for i in range(count):
        total = total + x[:, i : i + 1] * (i + 1.0)
    return total + x.mean(1, True)


def stacked(x):
    return _stacked(x, max(x.shape[1] - 4, 0))


def stacked_of_two(x):
    return _stacked(x, min(x.shape[1], 2))


def stacked_absolute(x):
    return _stacked(x, abs(x.shape[1] - 4))


def _window(x, size):
    return F.avg_pool2d(x, size, 1)


def strided(x):
    return _window(x, min(5, x.shape[2], x.shape[3]))


def strided_fixed(x):
    return _window(x, 5)


def strided_by_height(x):
    return _window(x, min(5, x.shape[2]))


def strided_whole(x):
    return _window(x, (min(5, x.shape[2]), min(5, x.shape[3])))


def _overlaps(a, b, inner, epsilon):
    areas = [mint.prod(each[:, 2:] - each[:, :2], 1) for each in (a, b)]
    return inner / (areas[0] + areas[1] - inner + epsilon)


def _inner(a, b):
    return mint.minimum(a[:, 2:], b[:, 2:]) - mint.maximum(a[:, :2], b[:, :2])


def overlaps(a, b):
    return _overlaps(a, b, mint.prod(mint.clamp(_inner(a, b), min=0.0), 1), 1e-7)


def overlaps_apart(a, b):
    return _overlaps(a, b, mint.prod(_inner(a, b), 1), 1e-7)


def overlaps_clamped_late(a, b):
    return _overlaps(a, b, mint.clamp(mint.prod(_inner(a, b), 1), min=0.0), 1e-7)


def overlaps_without_epsilon(a, b):
    return _overlaps(a, b, mint.prod(mint.clamp(_inner(a, b), min=0.0), 1), 0.0)


def _decoded(anchors, deltas, grown):
    centre = anchors[:, :2] + deltas[:, :2] * anchors[:, 2:]
    size = anchors[:, 2:] * mint.exp(grown)
    return mint.cat((centre - 0.5 * size, centre + 0.5 * size), 1)


def decoded(anchors, deltas):
    return _decoded(anchors, deltas, mint.clamp(deltas[:, 2:], max=4.135))


def decoded_unbounded(anchors, deltas):
    return _decoded(anchors, deltas, deltas[:, 2:])


def decoded_at_five(anchors, deltas):
    return _decoded(anchors, deltas, mint.clamp(deltas[:, 2:], max=5.0))


def _clipped(boxes, width, height):
    x = mint.clamp(boxes[:, 0::2], 0.0, width)
    y = mint.clamp(boxes[:, 1::2], 0.0, height)
    return mint.stack((x, y), 2).flatten(start_dim=1)


def clipped(boxes):
    return _clipped(boxes, 60.0, 40.0)


def clipped_swapped(boxes):
    return _clipped(boxes, 40.0, 60.0)


def clipped_by_one(boxes):
    return _clipped(boxes, 59.0, 39.0)


def clipped_below(boxes):
    return _clipped(boxes, None, None)


def _located(x, rows, columns):
    return x[:, rows, columns]


def located(x, places):
    height, width = x.shape[1:]
    rows = mint.clamp(places[:, 0], 0, height - 1)
    return _located(x, rows, mint.clamp(places[:, 1], 0, width - 1))


def located_wrapped(x, places):
    height, width = x.shape[1:]
    return _located(x, places[:, 0] % height, places[:, 1] % width)


def located_by_one(x, places):
    height, width = x.shape[1:]
    rows = mint.clamp(places[:, 0], 0, height - 2)
    return _located(x, rows, mint.clamp(places[:, 1], 0, width - 1))


class Averaged(nn.Cell):
    def __init__(self, width=4):
        super().__init__()
        self.norm = nn.BatchNorm1d(width, momentum=0.9)

    def construct(self, x):
        y = self.norm(x)
        if self.training and x.shape[0] > 6:
            y = y * 0.5
        return y


class AveragedPlainly(Averaged):
    def construct(self, x):
        return self.norm(x)

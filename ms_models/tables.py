"""Networks with masks, tables and indices: buffers that no optimizer trains."""

import math

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, mint, nn, ops
from mindspore.common.initializer import initializer


class RMSNorm(nn.Cell):
    """Divides by the root mean square, in float32."""

    def __init__(self, size: int, eps: float = 1e-6):
        super().__init__()
        self.weight = Parameter(ops.ones(size, ms.float32))
        self.eps = eps

    def construct(self, x):
        wide = x.astype(ms.float32)
        wide = wide * ops.rsqrt((wide * wide).mean(-1, True) + self.eps)
        return self.weight * wide.astype(x.dtype)


def frequencies(size: int, base: float) -> np.ndarray:
    """The angle per position of each pair of a head of `size` channels: size / 2."""
    return (1.0 / base ** (np.arange(0, size, 2) / size)).astype(np.float32)


def rotate_half(x):
    """The second half of the channels, negated, in front of the first."""
    first, second = x.chunk(2, -1)
    return ops.cat((-second, first), -1)


class Rotary(nn.Cell):
    """The cosines and sines of the angles of `length` positions from `start` on.

    `tables` says where they are computed: in "forward" from frequencies that are computed there;
    from frequencies in a "buffer"; or in the "constructor".
    """

    def __init__(self, size: int, length: int, start: int, tables: str, base: float = 1e4):
        super().__init__()
        self.size, self.base = size, base
        self.tables = tables
        self.positions = Tensor(np.arange(start, start + length), ms.int32)
        if tables != "forward":
            inverse = frequencies(size, base)
            self.register_buffer("inv_freq", Tensor(inverse), persistent=False)
        if tables == "constructor":
            angles = np.outer(np.arange(start, start + length).astype(np.float32), inverse)
            angles = np.concatenate((angles, angles), -1)
            self.register_buffer("cosines", Tensor(np.cos(angles)), persistent=False)
            self.register_buffer("sines", Tensor(np.sin(angles)), persistent=False)

    def angles(self):
        """The cosines and sines, each length x size."""
        if self.tables == "forward":
            inverse = 1.0 / ops.pow(
                self.base, ops.arange(0, self.size, 2).astype(ms.float32) / self.size
            )
        else:
            inverse = self.inv_freq
        angles = self.positions.astype(ms.float32)[:, None] * inverse[None]
        angles = ops.cat((angles, angles), -1)
        return ops.cos(angles), ops.sin(angles)

    def construct(self, x):
        if self.tables == "constructor":
            cosines, sines = self.cosines, self.sines
        else:
            cosines, sines = self.angles()
        return x * cosines.astype(x.dtype) + rotate_half(x) * sines.astype(x.dtype)


class Attention(nn.Cell):
    """Causal attention of rotated queries and keys: batch, length, heads x size."""

    def __init__(self, heads: int, size: int, length: int, start: int, tables: str):
        super().__init__()
        self.heads, self.size = heads, size
        width = heads * size
        self.q_proj = mint.nn.Linear(width, width, bias=False)
        self.k_proj = mint.nn.Linear(width, width, bias=False)
        self.v_proj = mint.nn.Linear(width, width, bias=False)
        self.o_proj = mint.nn.Linear(width, width, bias=False)
        self.rotary = Rotary(size, length, start, tables)
        mask = Tensor(np.tril(np.ones((length, length), bool)))
        self.register_buffer("mask", mask, persistent=False)

    def split(self, rows):
        """Rows as batch, heads, length, size."""
        return rows.reshape(rows.shape[0], rows.shape[1], self.heads, self.size).swapaxes(1, 2)

    def construct(self, x):
        queries = self.rotary(self.split(self.q_proj(x)))
        keys = self.rotary(self.split(self.k_proj(x)))
        scores = ops.matmul(queries, keys.swapaxes(-1, -2)) / math.sqrt(self.size)
        scores = scores.masked_fill(ops.logical_not(self.mask), -float("inf"))
        shares = ops.softmax(scores.astype(ms.float32), -1).astype(x.dtype)
        mixed = ops.matmul(shares, self.split(self.v_proj(x))).swapaxes(1, 2)
        return self.o_proj(mixed.reshape(x.shape))


class Block(nn.Cell):
    """Attention and a gated pair of products, each behind an RMSNorm and beside a shortcut."""

    def __init__(self, heads: int, size: int, length: int, start: int, tables: str):
        super().__init__()
        width = heads * size
        self.input_layernorm = RMSNorm(width)
        self.self_attn = Attention(heads, size, length, start, tables)
        self.post_attention_layernorm = RMSNorm(width)
        self.gate_proj = mint.nn.Linear(width, 2 * width, bias=False)
        self.up_proj = mint.nn.Linear(width, 2 * width, bias=False)
        self.down_proj = mint.nn.Linear(2 * width, width, bias=False)

    def construct(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        y = self.post_attention_layernorm(x)
        return x + self.down_proj(mint.nn.functional.silu(self.gate_proj(y)) * self.up_proj(y))


class Timesteps(nn.Cell):
    """Two products of the sines and cosines of timesteps: batch -> batch, width."""

    def __init__(self, width: int):
        super().__init__()
        self.width = width
        self.linear_1 = mint.nn.Linear(width, 2 * width)
        self.linear_2 = mint.nn.Linear(2 * width, width)

    def construct(self, timesteps):
        half = self.width // 2
        steps = ops.arange(half).astype(ms.float32)
        inverse = ops.exp(-math.log(10000) * steps / half)
        angles = timesteps[:, None].astype(ms.float32) * inverse[None]
        embedding = ops.cat((ops.cos(angles), ops.sin(angles)), -1)
        return self.linear_2(mint.nn.functional.silu(self.linear_1(embedding)))


class WindowAttention(nn.Cell):
    """Attention within windows of `side` x `side` places: windows, places, heads x size.

    The bias of two places is looked up by their distance. Places of the upper and of the lower half
    of every second window do not see each other.
    """

    def __init__(self, heads: int, size: int, side: int, windows: int):
        super().__init__()
        self.heads, self.size = heads, size
        self.qkv = mint.nn.Linear(heads * size, 3 * heads * size)
        table = ops.zeros(((2 * side - 1) ** 2, heads), ms.float32)
        self.relative_position_bias_table = Parameter(table)
        rows, columns = np.indices((side, side)).reshape(2, -1)
        index = Tensor(self.index(rows, columns, side), ms.int32)
        self.relative_position_index = Parameter(index, requires_grad=False)
        self.attn_mask = Tensor(self.masked(rows < side // 2, windows), ms.float32)

    def index(self, rows, columns, side):
        """The row of the table for each two places."""
        vertical = rows[:, None] - rows[None] + side - 1
        return vertical * (2 * side - 1) + columns[:, None] - columns[None] + side - 1

    def masked(self, upper, windows):
        """What is added to the scores of each window."""
        odd = np.arange(windows)[:, None, None] % 2 == 1
        return np.where((upper[:, None] != upper[None]) & odd, -100.0, 0.0)

    def construct(self, x):
        windows, places, width = x.shape
        rows = self.qkv(x).reshape(windows, places, 3, self.heads, self.size)
        queries, keys, values = rows.transpose(2, 0, 3, 1, 4)
        scores = ops.matmul(queries, keys.swapaxes(-1, -2)) * self.size**-0.5
        bias = self.relative_position_bias_table[self.relative_position_index]
        scores = scores + bias.transpose(2, 0, 1) + self.attn_mask[:, None]
        mixed = ops.matmul(ops.softmax(scores, -1), values)
        return mixed.swapaxes(1, 2).reshape(windows, places, width)


class Pixels(nn.Cell):
    """A convolution of pixels that are normalised first: batch, 3, height, width."""

    MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

    def __init__(self, planes: int):
        super().__init__()
        self.mean, self.std = (
            Parameter(Tensor(np.reshape(values, (3, 1, 1)), ms.float32), requires_grad=False)
            for values in (self.MEAN, self.STD)
        )
        self.conv = nn.Conv2d(3, planes, 3, pad_mode="pad", padding=1, has_bias=True)

    def construct(self, x):
        return self.conv((x - self.mean) / self.std)


class Centred(nn.Cell):
    """A product minus its centre, which follows the means of the batches: batch, classes."""

    def __init__(self, features: int, classes: int, momentum: float = 0.9):
        super().__init__()
        self.linear = mint.nn.Linear(features, classes)
        self.momentum = momentum
        self.centre = Parameter(initializer(0.25, (classes,)), requires_grad=False)

    def construct(self, x):
        y = self.linear(x)
        if self.training:
            mean = ops.stop_gradient(y).mean(0)
            followed = self.centre * self.momentum + mean * (1.0 - self.momentum)
            ops.assign(self.centre, followed)
        return mint.tanh(y - self.centre)

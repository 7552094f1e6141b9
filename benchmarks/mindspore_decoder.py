"""The decoder of `torch_decoder.py` in MindSpore."""

import mindspore as ms
from mindspore import nn, ops
from mindspore.common.initializer import initializer


class RMSNorm(nn.Cell):
    """Divides by the root mean square over the last axis."""

    def __init__(self, width: int):
        super().__init__()
        self.weight = ms.Parameter(initializer("ones", (width,)), name="weight")

    def construct(self, x):
        return x * ops.rsqrt(ops.square(x).mean(-1, keep_dims=True) + 1e-5) * self.weight


class Attention(nn.Cell):
    """Causal attention with rotary positions."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Dense(width, width, has_bias=False) for _ in range(4))

    def construct(self, x, cos, sin, mask):
        batch, tokens, width = x.shape
        shape = (batch, tokens, self.heads, -1)
        q = self.turned(self.q(x).reshape(shape).swapaxes(1, 2), cos, sin)
        k = self.turned(self.k(x).reshape(shape).swapaxes(1, 2), cos, sin)
        v = self.v(x).reshape(shape).swapaxes(1, 2)
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / (width // self.heads) ** 0.5 + mask
        mixed = ops.matmul(ops.softmax(scores, -1), v)
        return self.o(mixed.swapaxes(1, 2).reshape(batch, tokens, width))

    def turned(self, y, cos, sin):
        first, second = ops.chunk(y, 2, -1)
        return y * cos + ops.cat((-second, first), -1) * sin


class MLP(nn.Cell):
    """A gated layer."""

    def __init__(self, width: int):
        super().__init__()
        self.gate = nn.Dense(width, 4 * width, has_bias=False)
        self.up = nn.Dense(width, 4 * width, has_bias=False)
        self.down = nn.Dense(4 * width, width, has_bias=False)

    def construct(self, x):
        return self.down(ops.silu(self.gate(x)) * self.up(x))


class WrongMLP(MLP):
    """A gated layer with another gate: a mistake to be found."""

    def construct(self, x):
        return self.down(ops.sigmoid(self.gate(x)) * self.up(x))


class Block(nn.Cell):
    """One layer of the decoder."""

    def __init__(self, width: int, heads: int, mlp: type):
        super().__init__()
        self.norm1, self.attention = RMSNorm(width), Attention(width, heads)
        self.norm2, self.mlp = RMSNorm(width), mlp(width)

    def construct(self, x, cos, sin, mask):
        x = x + self.attention(self.norm1(x), cos, sin, mask)
        return x + self.mlp(self.norm2(x))


class Decoder(nn.Cell):
    """Tokens -> logits."""

    wrong = False

    def __init__(self, vocabulary: int, width: int, heads: int, depth: int):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        wrong = depth // 2 if self.wrong else None
        mlps = [WrongMLP if number == wrong else MLP for number in range(depth)]
        self.layers = nn.CellList([Block(width, heads, mlp) for mlp in mlps])
        self.norm, self.head = RMSNorm(width), nn.Dense(width, vocabulary, has_bias=False)
        self.size = width // heads

    def construct(self, tokens):
        number = tokens.shape[1]
        rates = 1.0 / 10000 ** (ops.arange(0, self.size, 2).float() / self.size)
        angles = ops.tile(ops.arange(number).float()[:, None] * rates, (1, 2))
        mask = ops.triu(ops.full((number, number), float("-inf")), 1)
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, ops.cos(angles), ops.sin(angles), mask)
        return self.head(self.norm(x))


class Wrong(Decoder):
    """A decoder with a mistake in the layer in the middle."""

    wrong = True

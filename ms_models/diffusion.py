"""Diffusion transformers: times, patches, DiT with adaLN-zero, and a joint block of two streams."""

import math

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.common.initializer import Normal, XavierUniform, initializer


class TimestepMLP(nn.Cell):
    """B -> B,C: two dense layers over the cosines and sines of times."""

    def __init__(self, width: int, channels: int):
        super().__init__()
        self.half = width // 2
        self.mlp = nn.SequentialCell(
            nn.Dense(width, channels), nn.SiLU(), nn.Dense(channels, channels)
        )

    def construct(self, times):
        steps = ops.arange(self.half).astype(ms.float32)
        frequencies = ops.exp(-math.log(10000.0) * steps / self.half)
        angles = times[:, None].astype(ms.float32) * frequencies
        return self.mlp(ops.cat([ops.cos(angles), ops.sin(angles)], -1))


class Patchify(nn.Cell):
    """B,C,H,W -> B,T,D: a dense layer over patches that do not overlap."""

    def __init__(self, channels: int, width: int, patch: int):
        super().__init__()
        self.proj = nn.Conv2d(channels, width, patch, stride=patch, pad_mode="valid", has_bias=True)

    def construct(self, x):
        x = self.proj(x)
        return x.reshape(x.shape[0], x.shape[1], -1).swapaxes(1, 2)


def unpatchify(x, patch, channels, height, width):
    """B,T,P*P*C -> B,C,H,W, where there are T = (H / P) * (W / P) patches."""
    x = x.reshape(-1, height // patch, width // patch, patch, patch, channels)
    x = x.transpose(0, 5, 1, 3, 2, 4)  # ops.einsum has no kernel on a CPU
    return x.reshape(-1, channels, height, width)


class Patches(nn.Cell):
    """An image through its patches and back: B,C,H,W -> B,C,H,W."""

    def __init__(self, channels: int, hidden: int, patch: int):
        super().__init__()
        self.channels, self.patch = channels, patch
        self.patchify = Patchify(channels, hidden, patch)
        self.head = nn.Dense(hidden, patch * patch * channels)

    def construct(self, x):
        height, width = x.shape[-2:]
        x = self.head(self.patchify(x))
        return unpatchify(x, self.patch, self.channels, height, width)


class PlainLayerNorm(nn.Cell):
    """A norm of the last axis without scale and shift; nn.LayerNorm always has both."""

    def __init__(self, width: int, eps: float):
        super().__init__()
        self.norm = ops.LayerNorm(-1, -1, eps)
        self.ones = ms.Tensor(np.ones(width, np.float32))
        self.zeros = ms.Tensor(np.zeros(width, np.float32))

    def construct(self, x):
        return self.norm(x, self.ones, self.zeros)[0]


class RMSNorm(nn.Cell):
    """A norm by the root mean square; ops.rms_norm has no kernel on a CPU."""

    def __init__(self, width: int, eps: float):
        super().__init__()
        self.eps = eps
        self.weight = ms.Parameter(np.ones(width, np.float32))

    def construct(self, x):
        mean = ops.square(x).mean(-1, keep_dims=True)
        return x * ops.rsqrt(mean + self.eps) * self.weight


def modulate(x, shift, scale):
    """B,T,D, scaled and shifted as a condition of shape B,D says."""
    return x * (1 + scale.expand_dims(1)) + shift.expand_dims(1)


def attend(q, k, v):
    """Attention of B,H,T,D; fused kernels are on Ascend alone."""
    scores = ops.matmul(q, k.swapaxes(-2, -1)) * q.shape[-1] ** -0.5
    y = ops.matmul(ops.softmax(scores, -1), v).swapaxes(1, 2)
    return y.reshape(y.shape[0], y.shape[1], -1)


def heads_of(x, heads):
    """Queries, keys and values of one projection: B,T,3*C -> 3,B,H,T,D."""
    b, t, c = x.shape
    return x.reshape(b, t, 3, heads, c // 3 // heads).transpose(2, 0, 3, 1, 4)


class Attention(nn.Cell):
    """Self-attention by one projection to queries, keys and values."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Dense(width, 3 * width)
        self.proj = nn.Dense(width, width)

    def construct(self, x):
        qkv = heads_of(self.qkv(x), self.heads)
        y = attend(qkv[0], qkv[1], qkv[2])
        return self.proj(y)


class FeedForward(nn.Cell):
    """Two dense layers with the approximate GELU between them."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.fc1 = nn.Dense(width, hidden)
        self.act = nn.GELU(approximate=True)
        self.fc2 = nn.Dense(hidden, width)

    def construct(self, x):
        return self.fc2(self.act(self.fc1(x)))


class DiTBlock(nn.Cell):
    """A block of DiT: its norms are shifted and scaled, its branches gated by the condition."""

    def __init__(self, width: int, heads: int, ratio: int = 4):
        super().__init__()
        self.norm1 = PlainLayerNorm(width, 1e-6)
        self.attn = Attention(width, heads)
        self.norm2 = PlainLayerNorm(width, 1e-6)
        self.mlp = FeedForward(width, ratio * width)
        self.adaLN_modulation = nn.SequentialCell(nn.SiLU(), nn.Dense(width, 6 * width))

    def construct(self, x, c):
        parts = ops.chunk(self.adaLN_modulation(c), 6, axis=1)
        shift1, scale1, gate1, shift2, scale2, gate2 = parts
        h = modulate(self.norm1(x), shift1, scale1)
        x = x + gate1.expand_dims(1) * self.attn(h)
        h = modulate(self.norm2(x), shift2, scale2)
        return x + gate2.expand_dims(1) * self.mlp(h)


class FinalLayer(nn.Cell):
    """From tokens to patches."""

    def __init__(self, width: int, outputs: int):
        super().__init__()
        self.norm_final = PlainLayerNorm(width, 1e-6)
        self.linear = nn.Dense(width, outputs)
        self.adaLN_modulation = nn.SequentialCell(nn.SiLU(), nn.Dense(width, 2 * width))

    def construct(self, x, c):
        shift, scale = ops.chunk(self.adaLN_modulation(c), 2, axis=1)
        return self.linear(modulate(self.norm_final(x), shift, scale))


def position_table(width: int, rows: int, columns: int) -> np.ndarray:
    """Sines and cosines of the places in a grid, half of the width for each axis: 1,T,D."""
    half = width // 4
    frequencies = 10000.0 ** (-np.arange(half) / half)
    down, along = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    # DiT has the columns in the first half.
    angles = [places.reshape(-1, 1) * frequencies for places in (along, down)]
    table = [part for each in angles for part in (np.sin(each), np.cos(each))]
    return np.concatenate(table, axis=1)[None].astype(np.float32)


class DiT(nn.Cell):
    """A diffusion transformer with labels: images, times, labels -> images.

    The last row of the table of labels stands for no label.
    """

    def __init__(
        self, size: int, channels: int, patch: int, width: int, depth: int, heads: int, classes: int
    ):
        super().__init__()
        self.channels, self.patch = channels, patch
        self.x_embedder = Patchify(channels, width, patch)
        self.t_embedder = TimestepMLP(width, width)
        self.y_embedder = nn.Embedding(classes + 1, width)
        grid = size // patch
        self.pos_embed = ms.Parameter(position_table(width, grid, grid), requires_grad=False)
        self.blocks = nn.CellList([DiTBlock(width, heads) for _ in range(depth)])
        self.final_layer = FinalLayer(width, patch * patch * channels)
        self.initialise()

    def initialise(self) -> None:
        """Xavier for what is dense; zeros where adaLN-zero wants a block to be the identity."""
        for _, cell in self.cells_and_names():
            if isinstance(cell, nn.Dense):
                fill(cell.weight, XavierUniform())
                fill(cell.bias, "zeros")
        kernel = self.x_embedder.proj.weight
        rows = kernel.reshape(kernel.shape[0], -1)
        kernel.set_data(initializer(XavierUniform(), rows.shape).init_data().reshape(kernel.shape))
        fill(self.x_embedder.proj.bias, "zeros")
        times = self.t_embedder.mlp
        for weight in (self.y_embedder.embedding_table, times[0].weight, times[2].weight):
            fill(weight, Normal(0.02))
        for layer in (*self.blocks, self.final_layer):
            fill(layer.adaLN_modulation[1].weight, "zeros")
        fill(self.final_layer.linear.weight, "zeros")

    def construct(self, x, times, labels):
        height, width = x.shape[-2:]
        x = self.x_embedder(x) + self.pos_embed
        c = self.t_embedder(times) + self.y_embedder(labels)
        for block in self.blocks:
            x = block(x, c)
        x = self.final_layer(x, c)
        return unpatchify(x, self.patch, self.channels, height, width)


def fill(parameter, how) -> None:
    """Initialise a parameter that a layer has made."""
    parameter.set_data(initializer(how, parameter.shape, parameter.dtype))


class JointAttention(nn.Cell):
    """Attention over an image and a text at once; queries and keys are normalised by head."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Dense(width, 3 * width)
        self.add_qkv = nn.Dense(width, 3 * width)
        self.norm_q = RMSNorm(width // heads, 1e-6)
        self.norm_k = RMSNorm(width // heads, 1e-6)
        self.norm_added_q = RMSNorm(width // heads, 1e-6)
        self.norm_added_k = RMSNorm(width // heads, 1e-6)
        self.to_out = nn.Dense(width, width)
        self.to_add_out = nn.Dense(width, width)

    def construct(self, x, text):
        qkv = heads_of(self.to_qkv(x), self.heads)
        added = heads_of(self.add_qkv(text), self.heads)
        q = ops.cat([self.norm_q(qkv[0]), self.norm_added_q(added[0])], 2)
        k = ops.cat([self.norm_k(qkv[1]), self.norm_added_k(added[1])], 2)
        v = ops.cat([qkv[2], added[2]], 2)
        y = attend(q, k, v)
        return self.to_out(y[:, : x.shape[1]]), self.to_add_out(y[:, x.shape[1] :])


class Stream(nn.Cell):
    """What one of the streams of a joint block does before and after the attention."""

    def __init__(self, width: int, ratio: int):
        super().__init__()
        self.modulation = nn.SequentialCell(nn.SiLU(), nn.Dense(width, 6 * width))
        self.norm1 = PlainLayerNorm(width, 1e-6)
        self.norm2 = PlainLayerNorm(width, 1e-6)
        self.ff = FeedForward(width, ratio * width)

    def before(self, x, c):
        """What goes into the attention, and what `after` needs of the condition."""
        parts = ops.chunk(self.modulation(c), 6, axis=1)
        return modulate(self.norm1(x), parts[0], parts[1]), parts[2:]

    def after(self, x, attended, later):
        """The stream with what the attention adds, and the feed-forward layer."""
        gate1, shift, scale, gate2 = later
        x = x + gate1.expand_dims(1) * attended
        h = modulate(self.norm2(x), shift, scale)
        return x + gate2.expand_dims(1) * self.ff(h)


class JointBlock(nn.Cell):
    """A block of MMDiT: an image and a text with weights of their own, one attention over both."""

    def __init__(self, width: int, heads: int, ratio: int = 4):
        super().__init__()
        self.image = Stream(width, ratio)
        self.text = Stream(width, ratio)
        self.attn = JointAttention(width, heads)

    def construct(self, x, text, c):
        image, of_image = self.image.before(x, c)
        words, of_text = self.text.before(text, c)
        image, words = self.attn(image, words)
        return self.image.after(x, image, of_image), self.text.after(text, words, of_text)

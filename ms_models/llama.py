"""A Llama: rotary positions, grouped queries, gated layers, a cache, its loss, greedy generation.

Names of weights are those of the checkpoints that are published for `transformers`.
"""

import math

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from ms_models.optim import adamw
from ms_models.steps import TrainStep

HALVES = (ms.float16, ms.bfloat16)


def dense(inputs: int, outputs: int) -> nn.Dense:
    """A projection without a bias."""
    return nn.Dense(inputs, outputs, has_bias=False)


class RMSNorm(nn.Cell):
    """`torch.nn.RMSNorm` over the last axis.

    `ops.rms_norm` has a kernel on Ascend alone. Squares of halves overflow above 255, so they are
    float32; in PyNative mode `to_float(float16)` on a cell around it undoes that. The scale is
    called gamma: optimisers leave that out of the weight decay by its name.
    """

    def __init__(self, normalized_shape: int, eps: float):
        super().__init__()
        self.eps = eps
        self.gamma = ms.Parameter(ops.ones(normalized_shape, ms.float32))

    def construct(self, x):
        wide = x.astype(ms.float32)
        mean = ops.square(wide).mean(-1, keep_dims=True)
        return (wide * ops.rsqrt(mean + self.eps)).astype(x.dtype) * self.gamma


def frequencies(size: int, theta: float, scaling: tuple | None) -> np.ndarray:
    """The angles from one position to the next, of size / 2 planes, from fast to slow.

    They are computed in float64 and rounded once: an error in an angle grows with the position.

    scaling: None; ("linear", factor) to slow all down; ("llama3", factor, low, high, length) to
    slow down those that turn fewer than `low` times in `length` tokens, keep those that turn more
    than `high` times, and blend between.
    """
    fast = theta ** -(np.arange(0, size, 2) / size)
    if scaling is None:
        return fast
    kind, factor, *rest = scaling
    if kind == "linear":
        return fast / factor
    low, high, length = rest
    turns = length * fast / (2 * math.pi)
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return (1 - kept) * fast / factor + kept * fast


class Rotary(nn.Cell):
    """Turns the planes of each head by their positions: (B, heads, T, size), (B, T) -> the same.

    style: "halves" pairs element i with i + size / 2; "interleaved" pairs 2i with 2i + 1.
    """

    def __init__(
        self,
        size: int,
        theta: float = 10000.0,
        style: str = "halves",
        scaling: tuple | None = None,
    ):
        super().__init__()
        self.interleaved = style == "interleaved"
        self.frequencies = Tensor(frequencies(size, theta, scaling), ms.float32)

    def construct(self, x, positions):
        # In float32 whatever x is: a half counts no further than 2048.
        angles = positions[:, None, :, None].astype(ms.float32) * self.frequencies
        cos, sin = ops.cos(angles).astype(x.dtype), ops.sin(angles).astype(x.dtype)
        if self.interleaved:
            one, two = x[..., ::2], x[..., 1::2]
            turned = ops.stack((one * cos - two * sin, two * cos + one * sin), -1)
            return turned.reshape(x.shape)
        one, two = ops.chunk(x, 2, axis=-1)
        return ops.cat((one * cos - two * sin, two * cos + one * sin), -1)


def hidden(attended, tokens: int):
    """Which of all tokens the last `tokens` ones do not see: (B, all) -> (B, 1, tokens, all).

    attended: 1 for a token, 0 for padding. Each sees what is no padding and no later than itself,
    and padding sees itself, so that no row of a softmax is empty.
    """
    places = ops.arange(attended.shape[1])
    own = places[-tokens:].expand_dims(1)
    unseen = ops.logical_or(places > own, (attended == 0)[:, None, None])
    return ops.logical_and(unseen, places != own)


def places(attended):
    """The position of each token, from 0 at the first that is no padding: (B, T) -> (B, T)."""
    return ops.clamp(ops.cumsum(attended, 1) - 1, min=0)


class Attention(nn.Cell):
    """Causal attention with fewer heads of keys and values than of queries."""

    def __init__(
        self,
        width: int,
        heads: int,
        kv_heads: int,
        theta: float = 10000.0,
        style: str = "halves",
        scaling: tuple | None = None,
    ):
        super().__init__()
        self.count, self.groups = heads, heads // kv_heads
        self.size = width // heads
        self.scale = self.size**-0.5
        self.fused = ms.get_context("device_target") == "Ascend" and self.size % 16 == 0
        self.rotary = Rotary(self.size, theta, style, scaling)
        self.q_proj = dense(width, heads * self.size)
        self.k_proj = dense(width, kv_heads * self.size)
        self.v_proj = dense(width, kv_heads * self.size)
        self.o_proj = dense(heads * self.size, width)

    def heads(self, x):
        """(B, T, heads * size) -> (B, heads, T, size)."""
        b, t, _ = x.shape
        return x.reshape(b, t, -1, self.size).swapaxes(1, 2)

    def attend(self, q, k, v, unseen):
        """The fused kernel where there is one: on Ascend, of halves. It repeats the heads itself.

        Its mask is True for what is not seen, that of `scaled_dot_product_attention` for what is.
        """
        if self.fused and q.dtype in HALVES:
            return ops.flash_attention_score(
                q, k, v, self.count, attn_mask=unseen, scalar_value=self.scale, input_layout="BNSD"
            )
        k = ops.repeat_interleave(k, self.groups, axis=1)
        v = ops.repeat_interleave(v, self.groups, axis=1)
        scores = ops.matmul(q, k.swapaxes(2, 3)) * self.scale
        scores = ops.masked_fill(scores.astype(ms.float32), unseen, float("-inf"))
        return ops.matmul(ops.softmax(scores, -1).astype(q.dtype), v)

    def construct(self, x, attended, past=None):
        b, t, _ = x.shape
        positions = places(attended)[:, -t:]
        q = self.rotary(self.heads(self.q_proj(x)), positions)
        k = self.rotary(self.heads(self.k_proj(x)), positions)
        v = self.heads(self.v_proj(x))
        if past is not None:
            k, v = ops.cat((past[0], k), 2), ops.cat((past[1], v), 2)
        y = self.attend(q, k, v, hidden(attended, t))
        return self.o_proj(y.swapaxes(1, 2).reshape(b, t, -1)), (k, v)


class Gated(nn.Cell):
    """A gated layer: SwiGLU by "silu", GeGLU by "gelu" (erf) or "gelu_tanh"."""

    def __init__(self, width: int, hidden: int, activation: str = "silu"):
        super().__init__()
        self.activation = activation
        self.gate_proj = dense(width, hidden)
        self.up_proj = dense(width, hidden)
        self.down_proj = dense(hidden, width)

    def activate(self, x):
        if self.activation == "silu":
            return ops.silu(x)
        return ops.gelu(x, approximate="tanh" if self.activation == "gelu_tanh" else "none")

    def construct(self, x):
        return self.down_proj(self.activate(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Cell):
    """Attention and a gated layer, each after a normalisation and beside a residual."""

    def __init__(self, width: int, hidden: int, eps: float, **attention):
        super().__init__()
        self.input_layernorm = RMSNorm(width, eps)
        self.self_attn = Attention(width, **attention)
        self.post_attention_layernorm = RMSNorm(width, eps)
        self.mlp = Gated(width, hidden)

    def construct(self, x, attended, past=None):
        y, cache = self.self_attn(self.input_layernorm(x), attended, past)
        x = x + y
        return x + self.mlp(self.post_attention_layernorm(x)), cache


class Llama(nn.Cell):
    """(tokens, attended, cache) -> logits and the longer cache.

    tokens: (B, T). attended: 1 for a token, 0 for padding, of all tokens, those of the cache, too.
    tied: whether the head is the table of the embedding.
    """

    def __init__(
        self,
        vocabulary: int,
        width: int,
        layers: int,
        hidden: int,
        eps: float = 1e-5,
        tied: bool = True,
        **attention,
    ):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocabulary, width)
        self.layers = nn.CellList([Layer(width, hidden, eps, **attention) for _ in range(layers)])
        self.norm = RMSNorm(width, eps)
        self.lm_head = dense(width, vocabulary)
        if tied:
            self.lm_head.weight = self.embed_tokens.embedding_table

    def construct(self, tokens, attended, past=None):
        x, cache = self.embed_tokens(tokens), ()
        for number, layer in enumerate(self.layers):
            x, kept = layer(x, attended, None if past is None else past[number])
            cache = (*cache, kept)
        return self.lm_head(self.norm(x)), cache


class InPieces(nn.Cell):
    """The logits of a Llama that is fed its tokens piece by piece, with a cache, and that cache."""

    def __init__(self, pieces: tuple[int, ...], **model):
        super().__init__()
        self.pieces = pieces
        self.model = Llama(**model)

    def construct(self, tokens, attended):
        found, past, start = (), None, 0
        for length in self.pieces:
            end = start + length
            logits, past = self.model(tokens[:, start:end], attended[:, :end], past)
            found = (*found, logits)
            start = end
        return ops.cat(found, 1), past


class AtOnce(InPieces):
    """The same of all tokens in one pass."""

    def __init__(self, pieces: tuple[int, ...], **model):
        super().__init__((sum(pieces),), **model)


class Greedy(nn.Cell):
    """The tokens that follow a prompt, the likeliest one each time, and the logits of each."""

    def __init__(self, count: int, **model):
        super().__init__()
        self.count = count
        self.model = Llama(**model)

    def construct(self, tokens, attended):
        past, new, chosen, found = None, tokens, (), ()
        for _ in range(self.count):
            logits, past = self.model(new, attended, past)
            last = logits[:, -1]
            new = ops.argmax(last, -1, True)
            chosen, found = (*chosen, new), (*found, last)
            attended = ops.cat((attended, ops.ones_like(attended[:, :1])), 1)
        return ops.cat(chosen, 1), ops.stack(found, 1)


class LanguageModel(nn.Cell):
    """(tokens, attended, labels) -> the loss of each next token; a label of -100 does not count."""

    def __init__(self, **model):
        super().__init__()
        self.model = Llama(**model)

    def construct(self, tokens, attended, labels):
        logits, _ = self.model(tokens, attended)
        logits, labels = logits[:, :-1], labels[:, 1:]
        return ops.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


def training_step(learning_rate: float, weight_decay: float, **model) -> nn.Cell:
    """One update by AdamW, which decays matrices alone."""
    network = LanguageModel(**model)
    return TrainStep(network, adamw(network, learning_rate, weight_decay=weight_decay))

"""Parts of language models: relative positions of T5, BERT, LoRA, the selective scan of Mamba."""

import math

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from ms_models.llama import Gated, RMSNorm, dense, hidden


def bounds(count: int, farthest: int) -> np.ndarray:
    """The least distance of each bucket but the first, as in T5.

    Comparing whole numbers with these leaves no logarithm to be rounded on a device, which at a
    bound would give the bucket beside it.
    """
    exact = count // 2
    far = np.arange(exact, farthest + 1)
    growth = np.log(far / exact) / math.log(farthest / exact) * (count - exact)
    bucket = np.minimum(exact + growth.astype(int), count - 1)
    first = [far[bucket >= one][0] for one in range(exact, count)]
    return np.array([*range(1, exact), *first], np.int32)


class Buckets(nn.Cell):
    """The bucket of each distance from a query to a key, as in T5.

    bidirectional: keys behind the query have buckets of their own; else all are 0.
    """

    def __init__(self, count: int, farthest: int, bidirectional: bool):
        super().__init__()
        self.half, self.bidirectional = count // 2, bidirectional
        self.bounds = Tensor(bounds(self.half if bidirectional else count, farthest))

    def construct(self, distance):
        near = ops.abs(distance) if self.bidirectional else -ops.clamp(distance, max=0)
        bucket = (near.expand_dims(-1) >= self.bounds).astype(ms.int32).sum(-1)
        if self.bidirectional:
            bucket = bucket + (distance > 0).astype(ms.int32) * self.half
        return bucket.astype(ms.int64)


class RelativeAttention(nn.Cell):
    """Attention with a learnt bias for each distance and head, and without a scale."""

    def __init__(
        self,
        width: int,
        heads: int,
        bidirectional: bool,
        count: int = 32,
        farthest: int = 128,
    ):
        super().__init__()
        self.num_heads, self.bidirectional = heads, bidirectional
        self.buckets = Buckets(count, farthest, bidirectional)
        self.q = dense(width, width)
        self.k = dense(width, width)
        self.v = dense(width, width)
        self.o = dense(width, width)
        self.relative_attention_bias = nn.Embedding(count, heads)

    def heads(self, x):
        """(B, T, width) -> (B, heads, T, size)."""
        b, t, _ = x.shape
        return x.reshape(b, t, self.num_heads, -1).swapaxes(1, 2)

    def bias(self, tokens: int):
        """(heads, tokens, tokens)."""
        places = ops.arange(tokens)
        found = self.buckets(places.expand_dims(0) - places.expand_dims(1))
        return self.relative_attention_bias(found).transpose(2, 0, 1)

    def construct(self, x, attended):
        b, t, _ = x.shape
        unseen = (attended == 0)[:, None, None]
        if not self.bidirectional:
            unseen = hidden(attended, t)
        q, k, v = self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
        scores = ops.matmul(q, k.swapaxes(2, 3)) + self.bias(t)
        scores = ops.masked_fill(scores, unseen, float("-inf"))
        y = ops.matmul(ops.softmax(scores, -1), v)
        return self.o(y.swapaxes(1, 2).reshape(b, t, -1))


class T5Layer(nn.Cell):
    """That attention and a GeGLU, each after a normalisation and beside a residual."""

    def __init__(self, width: int, heads: int, hidden: int, eps: float = 1e-6, **attention):
        super().__init__()
        self.norm1 = RMSNorm(width, eps)
        self.attention = RelativeAttention(width, heads, **attention)
        self.norm2 = RMSNorm(width, eps)
        self.mlp = Gated(width, hidden, "gelu_tanh")

    def construct(self, x, attended):
        x = x + self.attention(self.norm1(x), attended)
        return x + self.mlp(self.norm2(x))


class BertLayer(nn.Cell):
    """Attention and a feed-forward network, each beside a residual and before a normalisation."""

    def __init__(self, width: int, heads: int, hidden: int, eps: float):
        super().__init__()
        self.num_heads, self.scale = heads, (width // heads) ** -0.5
        self.query = nn.Dense(width, width)
        self.key = nn.Dense(width, width)
        self.value = nn.Dense(width, width)
        self.dense = nn.Dense(width, width)
        self.norm1 = nn.LayerNorm((width,), epsilon=eps)
        self.linear1 = nn.Dense(width, hidden)
        self.linear2 = nn.Dense(hidden, width)
        self.norm2 = nn.LayerNorm((width,), epsilon=eps)

    def heads(self, x):
        """(B, T, width) -> (B, heads, T, size)."""
        b, t, _ = x.shape
        return x.reshape(b, t, self.num_heads, -1).swapaxes(1, 2)

    def attend(self, x, unseen):
        q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        scores = ops.matmul(q, k.swapaxes(2, 3)) * self.scale
        scores = ops.masked_fill(scores, unseen, float("-inf"))
        y = ops.matmul(ops.softmax(scores, -1), v)
        return self.dense(y.swapaxes(1, 2).reshape(x.shape))

    def construct(self, x, unseen):
        x = self.norm1(x + self.attend(x, unseen))
        # BERT's GELU is that of erf; nn.GELU() approximates it by tanh.
        y = ops.gelu(self.linear1(x), approximate="none")
        return self.norm2(x + self.linear2(y))


class Bert(nn.Cell):
    """(tokens, types, attended) -> what the last layer makes of each token, and of the first."""

    def __init__(
        self,
        vocabulary: int,
        width: int,
        heads: int,
        hidden: int,
        layers: int,
        positions: int = 16,
        types: int = 2,
        eps: float = 1e-12,
    ):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocabulary, width)
        self.position_embeddings = nn.Embedding(positions, width)
        self.token_type_embeddings = nn.Embedding(types, width)
        self.norm = nn.LayerNorm((width,), epsilon=eps)
        self.layers = nn.CellList([BertLayer(width, heads, hidden, eps) for _ in range(layers)])
        self.pooler = nn.Dense(width, width)

    def construct(self, tokens, types, attended):
        places = ops.arange(tokens.shape[1])
        x = self.word_embeddings(tokens) + self.position_embeddings(places)
        x = self.norm(x + self.token_type_embeddings(types))
        for layer in self.layers:
            x = layer(x, (attended == 0)[:, None, None])
        return {"last_hidden_state": x, "pooler_output": ops.tanh(self.pooler(x[:, 0]))}


class LoRA(nn.Cell):
    """A frozen projection, and beside it a learnt one of low rank."""

    def __init__(self, inputs: int, outputs: int, rank: int, alpha: float):
        super().__init__()
        self.scaling = alpha / rank
        self.base_layer = nn.Dense(inputs, outputs)
        for parameter in self.base_layer.get_parameters():
            parameter.requires_grad = False
        self.lora_A = dense(inputs, rank)
        self.lora_B = dense(rank, outputs)

    def construct(self, x):
        return self.base_layer(x) + self.lora_B(self.lora_A(x)) * self.scaling


class MergedLoRA(LoRA):
    """The same with both projections in one weight, as for inference."""

    def construct(self, x):
        weight = ops.matmul(self.lora_B.weight, self.lora_A.weight) * self.scaling
        weight = self.base_layer.weight + weight
        return ops.matmul(x, weight.T) + self.base_layer.bias


class Mamba(nn.Cell):
    """A selective state space: a state that decays and is fed as each token says, in its order.

    A graph has the steps of the scan one after another; a fused kernel would take their place.
    """

    def __init__(self, width: int, inner: int, state: int, rank: int, kernel: int = 4):
        super().__init__()
        self.state, self.rank = state, rank
        self.in_proj = dense(width, 2 * inner)
        # nn.Conv1d pads "same" and has no bias where neither is told.
        self.conv1d = nn.Conv1d(
            inner, inner, kernel, pad_mode="pad", padding=kernel - 1, group=inner, has_bias=True
        )
        self.x_proj = dense(inner, rank + 2 * state)
        self.dt_proj = nn.Dense(rank, inner)
        rates = np.log(np.arange(1, state + 1, dtype=np.float32))
        self.A_log = ms.Parameter(Tensor(np.tile(rates, (inner, 1))))
        self.D = ms.Parameter(ops.ones(inner, ms.float32))
        self.out_proj = dense(inner, width)

    def scan(self, x, step, enter, leave):
        """(B, T, inner) twice, (B, T, state) twice -> (B, T, inner)."""
        decay = ops.exp(step.expand_dims(-1) * -ops.exp(self.A_log))
        fed = (step * x).expand_dims(-1) * enter.expand_dims(2)
        state, found = ops.zeros_like(fed[:, 0]), ()
        for t in range(x.shape[1]):
            state = decay[:, t] * state + fed[:, t]
            found = (*found, (state * leave[:, t].expand_dims(1)).sum(-1))
        return ops.stack(found, 1) + x * self.D

    def construct(self, x):
        tokens = x.shape[1]
        x, gate = ops.chunk(self.in_proj(x), 2, axis=-1)
        x = ops.silu(self.conv1d(x.swapaxes(1, 2))[..., :tokens].swapaxes(1, 2))
        mixed = self.x_proj(x)
        step, enter = mixed[..., : self.rank], mixed[..., self.rank : self.rank + self.state]
        step = ops.softplus(self.dt_proj(step))
        y = self.scan(x, step, enter, mixed[..., self.rank + self.state :])
        return self.out_proj(y * ops.silu(gate))

"""Mixtures of experts, and attention to a compressed cache, as in Mixtral and DeepSeek."""

import mindspore as ms
from mindspore import nn, ops

from ms_models.llama import Gated, RMSNorm, Rotary, dense, hidden, places


class Router(nn.Cell):
    """Which experts a token is sent to, and with which weights: (N, width) -> (N, k) twice.

    scoring: "softmax" over all experts, or "sigmoid" of each. The k best are taken by their score
    and `e_score_correction_bias`, which only chooses; their weights are the scores themselves, made
    to sum to `scale`.
    """

    def __init__(
        self, width: int, experts: int, k: int, scoring: str = "softmax", scale: float = 1.0
    ):
        super().__init__()
        self.k, self.scoring, self.scale = k, scoring, scale
        self.weight = ms.Parameter(
            ms.common.initializer.initializer("xavier_uniform", (experts, width))
        )
        zeros = ops.zeros(experts, ms.float32)
        self.e_score_correction_bias = ms.Parameter(zeros, requires_grad=False)

    def construct(self, x):
        logits = ops.matmul(x.astype(ms.float32), self.weight.astype(ms.float32).T)
        scores = ops.softmax(logits, -1) if self.scoring == "softmax" else ops.sigmoid(logits)
        _, chosen = ops.topk(scores + self.e_score_correction_bias, self.k, -1)
        weights = ops.gather_elements(scores, 1, chosen)
        weights = weights / weights.sum(-1, keepdims=True) * self.scale
        return weights.astype(x.dtype), chosen, scores


def balance(scores, chosen):
    """The loss that keeps experts equally busy; 1 where they are.

    The share of the choices that an expert gets, times the mean of its score, summed over all.
    """
    experts = scores.shape[-1]
    share = ops.one_hot(chosen, experts).astype(scores.dtype).sum(1).mean(0) / chosen.shape[1]
    return experts * (share * scores.mean(0)).sum()


class Mixture(nn.Cell):
    """Experts behind a router, beside one that all tokens share; returns the balance, too.

    Every expert computes all tokens, and those that are not sent to it count nothing: how many an
    expert gets is known only when it runs, and a graph has fixed shapes.
    """

    def __init__(self, width: int, hidden: int, experts: int, k: int, **router):
        super().__init__()
        self.gate = Router(width, experts, k, **router)
        self.experts = nn.CellList([Gated(width, hidden) for _ in range(experts)])
        self.shared_experts = Gated(width, hidden)

    def construct(self, x):
        tokens = x.reshape(-1, x.shape[-1])
        weights, chosen, scores = self.gate(tokens)
        y = ops.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            share = (weights * (chosen == number).astype(x.dtype)).sum(-1, keepdims=True)
            y = y + expert(tokens) * share
        return self.shared_experts(x) + y.reshape(x.shape), balance(scores, chosen)


class LatentAttention(nn.Cell):
    """Attention whose keys and values are made from a short latent vector of each token.

    The rotary part of the keys, of `rope` elements, is one for all heads. The cache holds the
    latent vectors and those parts: (B, T, rank), (B, T, rope).
    """

    def __init__(
        self,
        width: int,
        heads: int,
        rank: int,
        nope: int,
        rope: int,
        values: int,
        q_rank: int,
        eps: float = 1e-6,
        theta: float = 10000.0,
    ):
        super().__init__()
        self.count, self.rank, self.nope, self.rope, self.values = heads, rank, nope, rope, values
        self.scale = (nope + rope) ** -0.5
        self.rotary = Rotary(rope, theta, style="interleaved")
        self.q_a_proj = dense(width, q_rank)
        self.q_a_layernorm = RMSNorm(q_rank, eps)
        self.q_b_proj = dense(q_rank, heads * (nope + rope))
        self.kv_a_proj_with_mqa = dense(width, rank + rope)
        self.kv_a_layernorm = RMSNorm(rank, eps)
        self.kv_b_proj = dense(rank, heads * (nope + values))
        self.o_proj = dense(heads * values, width)

    def heads(self, x):
        """(B, T, heads * size) -> (B, heads, T, size)."""
        b, t, _ = x.shape
        return x.reshape(b, t, self.count, -1).swapaxes(1, 2)

    def attend(self, plain, turned, latent, key, unseen):
        """The values that each head gathers: (B, heads, T, values)."""
        kv = self.heads(self.kv_b_proj(latent))
        k, v = kv[..., : self.nope], kv[..., self.nope :]
        # Two products for one of joined keys, so that the shared part is not copied to each head.
        scores = ops.matmul(plain, k.swapaxes(2, 3))
        scores = scores + ops.matmul(turned, key.expand_dims(1).swapaxes(2, 3))
        return ops.matmul(self.normalised(scores, unseen), v)

    def normalised(self, scores, unseen):
        """The weights of the keys, from scores that are not scaled yet."""
        wide = (scores * self.scale).astype(ms.float32)
        wide = ops.masked_fill(wide, unseen, float("-inf"))
        return ops.softmax(wide, -1).astype(scores.dtype)

    def construct(self, x, attended, past=None):
        b, t, _ = x.shape
        positions = places(attended)[:, -t:]
        q = self.heads(self.q_b_proj(self.q_a_layernorm(self.q_a_proj(x))))
        plain, turned = q[..., : self.nope], q[..., self.nope :]
        turned = self.rotary(turned, positions)
        compressed = self.kv_a_proj_with_mqa(x)
        latent = self.kv_a_layernorm(compressed[..., : self.rank])
        key = self.rotary(compressed[..., self.rank :].expand_dims(1), positions).squeeze(1)
        if past is not None:
            latent, key = ops.cat((past[0], latent), 1), ops.cat((past[1], key), 1)
        y = self.attend(plain, turned, latent, key, hidden(attended, t))
        return self.o_proj(y.swapaxes(1, 2).reshape(b, t, -1)), (latent, key)


class AbsorbedAttention(LatentAttention):
    """The same without keys and values: queries and results are projected instead, as in decoding.

    What a token adds to the cache is all that is read of it.
    """

    def attend(self, plain, turned, latent, key, unseen):
        weight = self.kv_b_proj.weight.reshape(self.count, -1, self.rank)
        keys, values = weight[:, : self.nope], weight[:, self.nope :]
        latent = latent.expand_dims(1)
        scores = ops.matmul(ops.matmul(plain, keys), latent.swapaxes(2, 3))
        scores = scores + ops.matmul(turned, key.expand_dims(1).swapaxes(2, 3))
        gathered = ops.matmul(self.normalised(scores, unseen), latent)
        return ops.matmul(gathered, values.swapaxes(1, 2))

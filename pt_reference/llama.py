"""A Llama: rotary positions, grouped queries, gated layers, a cache, its loss, greedy generation.

Names of weights are those of the checkpoints that are published for `transformers`.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pt_reference.optim import adamw
from pt_reference.steps import TrainStep

Cache = tuple[tuple[Tensor, Tensor], ...]

ACTIVATIONS = {
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
}


def frequencies(size: int, theta: float, scaling: tuple | None) -> Tensor:
    """The angles from one position to the next, of size / 2 planes, from fast to slow.

    scaling: None; ("linear", factor) to slow all down; ("llama3", factor, low, high, length) to
    slow down those that turn fewer than `low` times in `length` tokens, keep those that turn more
    than `high` times, and blend between.
    """
    fast = theta ** -(torch.arange(0, size, 2, dtype=torch.float32) / size)
    if scaling is None:
        return fast
    kind, factor, *rest = scaling
    if kind == "linear":
        return fast / factor
    low, high, length = rest
    turns = length * fast / (2 * math.pi)
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return (1 - kept) * fast / factor + kept * fast


class Rotary(nn.Module):
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
        self.register_buffer("frequencies", frequencies(size, theta, scaling), persistent=False)

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        angles = positions[:, None, :, None].float() * self.frequencies.float()
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        if self.interleaved:
            one, two = x[..., ::2], x[..., 1::2]
            return torch.stack((one * cos - two * sin, two * cos + one * sin), -1).flatten(-2)
        one, two = x.chunk(2, -1)
        return torch.cat((one * cos - two * sin, two * cos + one * sin), -1)


def visible(attended: Tensor, tokens: int) -> Tensor:
    """Which of all tokens the last `tokens` ones see: (B, all) -> (B, 1, tokens, all).

    attended: 1 for a token, 0 for padding. Each sees what is no padding and no later than itself,
    and padding sees itself, so that no row of a softmax is empty.
    """
    places = torch.arange(attended.shape[1], device=attended.device)
    own = places[-tokens:, None]
    seen = (places <= own) & attended.bool()[:, None, None]
    return seen | (places == own)


def places(attended: Tensor) -> Tensor:
    """The position of each token, from 0 at the first that is no padding: (B, T) -> (B, T)."""
    return (attended.cumsum(1) - 1).clamp(min=0)


class Attention(nn.Module):
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
        self.size = width // heads
        self.rotary = Rotary(self.size, theta, style, scaling)
        self.q_proj = nn.Linear(width, heads * self.size, bias=False)
        self.k_proj = nn.Linear(width, kv_heads * self.size, bias=False)
        self.v_proj = nn.Linear(width, kv_heads * self.size, bias=False)
        self.o_proj = nn.Linear(heads * self.size, width, bias=False)

    def heads(self, x: Tensor) -> Tensor:
        """(B, T, heads * size) -> (B, heads, T, size)."""
        return x.unflatten(-1, (-1, self.size)).transpose(1, 2)

    def forward(
        self, x: Tensor, attended: Tensor, past: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        tokens = x.shape[1]
        positions = places(attended)[:, -tokens:]
        q = self.rotary(self.heads(self.q_proj(x)), positions)
        k = self.rotary(self.heads(self.k_proj(x)), positions)
        v = self.heads(self.v_proj(x))
        if past is not None:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        seen = visible(attended, tokens)
        y = F.scaled_dot_product_attention(q, k, v, seen, enable_gqa=True)
        return self.o_proj(y.transpose(1, 2).flatten(2)), (k, v)


class Gated(nn.Module):
    """A gated layer: SwiGLU by "silu", GeGLU by "gelu" (erf) or "gelu_tanh"."""

    def __init__(self, width: int, hidden: int, activation: str = "silu"):
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(self.activation(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """Attention and a gated layer, each after a normalisation and beside a residual."""

    def __init__(self, width: int, hidden: int, eps: float, **attention):
        super().__init__()
        self.input_layernorm = nn.RMSNorm(width, eps)
        self.self_attn = Attention(width, **attention)
        self.post_attention_layernorm = nn.RMSNorm(width, eps)
        self.mlp = Gated(width, hidden)

    def forward(self, x, attended, past=None):
        y, cache = self.self_attn(self.input_layernorm(x), attended, past)
        x = x + y
        return x + self.mlp(self.post_attention_layernorm(x)), cache


class Llama(nn.Module):
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
        self.layers = nn.ModuleList(Layer(width, hidden, eps, **attention) for _ in range(layers))
        self.norm = nn.RMSNorm(width, eps)
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        if tied:
            self.lm_head.weight = self.embed_tokens.weight

    def forward(
        self, tokens: Tensor, attended: Tensor, past: Cache | None = None
    ) -> tuple[Tensor, Cache]:
        x, cache = self.embed_tokens(tokens), []
        for number, layer in enumerate(self.layers):
            x, kept = layer(x, attended, past[number] if past else None)
            cache.append(kept)
        return self.lm_head(self.norm(x)), tuple(cache)


class InPieces(nn.Module):
    """The logits of a Llama that is fed its tokens piece by piece, with a cache, and that cache."""

    def __init__(self, pieces: tuple[int, ...], **model):
        super().__init__()
        self.pieces = pieces
        self.model = Llama(**model)

    def forward(self, tokens: Tensor, attended: Tensor) -> tuple[Tensor, Cache]:
        found, past, start = [], None, 0
        for length in self.pieces:
            end = start + length
            logits, past = self.model(tokens[:, start:end], attended[:, :end], past)
            found.append(logits)
            start = end
        return torch.cat(found, 1), past


class AtOnce(InPieces):
    """The same of all tokens in one pass."""

    def __init__(self, pieces: tuple[int, ...], **model):
        super().__init__((sum(pieces),), **model)


class Greedy(nn.Module):
    """The tokens that follow a prompt, the likeliest one each time, and the logits of each."""

    def __init__(self, count: int, **model):
        super().__init__()
        self.count = count
        self.model = Llama(**model)

    def forward(self, tokens: Tensor, attended: Tensor) -> tuple[Tensor, Tensor]:
        past, new, chosen, found = None, tokens, [], []
        for _ in range(self.count):
            logits, past = self.model(new, attended, past)
            found.append(logits[:, -1])
            new = found[-1].argmax(-1, keepdim=True)
            chosen.append(new)
            attended = torch.cat((attended, torch.ones_like(attended[:, :1])), 1)
        return torch.cat(chosen, 1), torch.stack(found, 1)


class LanguageModel(nn.Module):
    """(tokens, attended, labels) -> the loss of each next token; a label of -100 does not count."""

    def __init__(self, **model):
        super().__init__()
        self.model = Llama(**model)

    def forward(self, tokens: Tensor, attended: Tensor, labels: Tensor) -> Tensor:
        logits, _ = self.model(tokens, attended)
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten().long())


def training_step(learning_rate: float, weight_decay: float, **model) -> nn.Module:
    """One update by AdamW, which decays matrices alone."""
    network = LanguageModel(**model)
    return TrainStep(network, adamw(network, learning_rate, weight_decay=weight_decay))

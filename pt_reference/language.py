"""Parts of language models: relative positions of T5, BERT, LoRA, the selective scan of Mamba."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pt_reference.llama import Gated, visible


class Buckets(nn.Module):
    """The bucket of each distance from a query to a key, as in T5.

    One half of the buckets are one distance each; the other half grow with the logarithm, up to
    `farthest`. bidirectional: keys behind the query have buckets of their own; else all are 0.
    """

    def __init__(self, count: int, farthest: int, bidirectional: bool):
        super().__init__()
        self.count, self.farthest, self.bidirectional = count, farthest, bidirectional

    def forward(self, distance: Tensor) -> Tensor:
        count, behind = self.count, torch.zeros_like(distance)
        if self.bidirectional:
            count //= 2
            behind = (distance > 0).long() * count
            distance = distance.abs()
        else:
            distance = -distance.clamp(max=0)
        exact = count // 2
        growth = torch.log(distance.clamp(min=1).float() / exact) / math.log(self.farthest / exact)
        far = exact + (growth * (count - exact)).long()
        return behind + torch.where(distance < exact, distance, far.clamp(max=count - 1))


class RelativeAttention(nn.Module):
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
        self.heads, self.bidirectional = heads, bidirectional
        self.buckets = Buckets(count, farthest, bidirectional)
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.relative_attention_bias = nn.Embedding(count, heads)

    def bias(self, tokens: int) -> Tensor:
        """(heads, tokens, tokens)."""
        places = torch.arange(tokens)
        found = self.buckets(places[None] - places[:, None])
        return self.relative_attention_bias(found).permute(2, 0, 1)

    def forward(self, x: Tensor, attended: Tensor) -> Tensor:
        tokens = x.shape[1]
        seen = attended.bool()[:, None, None]
        if not self.bidirectional:
            seen = visible(attended, tokens)
        q, k, v = (
            part(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in (self.q, self.k, self.v)
        )
        bias = self.bias(tokens).to(x.dtype).masked_fill(~seen, -torch.inf)
        y = F.scaled_dot_product_attention(q, k, v, bias, scale=1.0)
        return self.o(y.transpose(1, 2).flatten(2))


class T5Layer(nn.Module):
    """That attention and a GeGLU, each after a normalisation and beside a residual."""

    def __init__(self, width: int, heads: int, hidden: int, eps: float = 1e-6, **attention):
        super().__init__()
        self.norm1 = nn.RMSNorm(width, eps)
        self.attention = RelativeAttention(width, heads, **attention)
        self.norm2 = nn.RMSNorm(width, eps)
        self.mlp = Gated(width, hidden, "gelu_tanh")

    def forward(self, x: Tensor, attended: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x), attended)
        return x + self.mlp(self.norm2(x))


class Bert(nn.Module):
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
        self.norm = nn.LayerNorm(width, eps)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, heads, hidden, 0.0, "gelu", layer_norm_eps=eps, batch_first=True
            )
            for _ in range(layers)
        )
        self.pooler = nn.Linear(width, width)

    def forward(self, tokens: Tensor, types: Tensor, attended: Tensor) -> dict[str, Tensor]:
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.word_embeddings(tokens) + self.position_embeddings(places)
        x = self.norm(x + self.token_type_embeddings(types))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=attended == 0)
        return {"last_hidden_state": x, "pooler_output": torch.tanh(self.pooler(x[:, 0]))}


class LoRA(nn.Module):
    """A frozen projection, and beside it a learnt one of low rank."""

    def __init__(self, inputs: int, outputs: int, rank: int, alpha: float):
        super().__init__()
        self.scaling = alpha / rank
        self.base_layer = nn.Linear(inputs, outputs).requires_grad_(False)
        self.lora_A = nn.Linear(inputs, rank, bias=False)
        self.lora_B = nn.Linear(rank, outputs, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.base_layer(x) + self.lora_B(self.lora_A(x)) * self.scaling


class Mamba(nn.Module):
    """A selective state space: a state that decays and is fed as each token says, in its order."""

    def __init__(self, width: int, inner: int, state: int, rank: int, kernel: int = 4):
        super().__init__()
        self.state, self.rank = state, rank
        self.in_proj = nn.Linear(width, 2 * inner, bias=False)
        self.conv1d = nn.Conv1d(inner, inner, kernel, padding=kernel - 1, groups=inner)
        self.x_proj = nn.Linear(inner, rank + 2 * state, bias=False)
        self.dt_proj = nn.Linear(rank, inner)
        self.A_log = nn.Parameter(torch.log(torch.arange(1.0, state + 1)).repeat(inner, 1))
        self.D = nn.Parameter(torch.ones(inner))
        self.out_proj = nn.Linear(inner, width, bias=False)

    def scan(self, x: Tensor, step: Tensor, enter: Tensor, leave: Tensor) -> Tensor:
        """(B, T, inner) twice, (B, T, state) twice -> (B, T, inner)."""
        decay = torch.exp(step[..., None] * -torch.exp(self.A_log))
        fed = (step * x)[..., None] * enter[:, :, None]
        state, found = torch.zeros_like(fed[:, 0]), []
        for t in range(x.shape[1]):
            state = decay[:, t] * state + fed[:, t]
            found.append((state * leave[:, t, None]).sum(-1))
        return torch.stack(found, 1) + x * self.D

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.shape[1]
        x, gate = self.in_proj(x).chunk(2, -1)
        x = F.silu(self.conv1d(x.transpose(1, 2))[..., :tokens].transpose(1, 2))
        step, enter, leave = self.x_proj(x).split((self.rank, self.state, self.state), -1)
        y = self.scan(x, F.softplus(self.dt_proj(step)), enter, leave)
        return self.out_proj(y * F.silu(gate))

"""Mixtures of experts, and attention to a compressed cache, as in Mixtral and DeepSeek."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pt_reference.llama import Gated, Rotary, places, visible


class Router(nn.Module):
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
        self.weight = nn.Parameter(torch.empty(experts, width))
        self.e_score_correction_bias = nn.Parameter(torch.zeros(experts), requires_grad=False)
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        logits = F.linear(x.float(), self.weight.float())
        scores = logits.softmax(-1) if self.scoring == "softmax" else logits.sigmoid()
        chosen = (scores + self.e_score_correction_bias).topk(self.k, -1).indices
        weights = scores.gather(1, chosen)
        weights = weights / weights.sum(-1, keepdim=True) * self.scale
        return weights.to(x.dtype), chosen, scores


def balance(scores: Tensor, chosen: Tensor) -> Tensor:
    """The loss that keeps experts equally busy; 1 where they are.

    The share of the choices that an expert gets, times the mean of its score, summed over all.
    """
    experts = scores.shape[-1]
    share = F.one_hot(chosen, experts).to(scores.dtype).sum(1).mean(0) / chosen.shape[1]
    return experts * (share * scores.mean(0)).sum()


class Mixture(nn.Module):
    """Experts behind a router, beside one that all tokens share; returns the balance, too."""

    def __init__(self, width: int, hidden: int, experts: int, k: int, **router):
        super().__init__()
        self.gate = Router(width, experts, k, **router)
        self.experts = nn.ModuleList(Gated(width, hidden) for _ in range(experts))
        self.shared_experts = Gated(width, hidden)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        tokens = x.flatten(0, 1)
        weights, chosen, scores = self.gate(tokens)
        y = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            token, place = torch.where(chosen == number)
            y.index_add_(0, token, expert(tokens[token]) * weights[token, place, None])
        return self.shared_experts(x) + y.view_as(x), balance(scores, chosen)


class LatentAttention(nn.Module):
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
        self.rotary = Rotary(rope, theta, style="interleaved")
        self.q_a_proj = nn.Linear(width, q_rank, bias=False)
        self.q_a_layernorm = nn.RMSNorm(q_rank, eps)
        self.q_b_proj = nn.Linear(q_rank, heads * (nope + rope), bias=False)
        self.kv_a_proj_with_mqa = nn.Linear(width, rank + rope, bias=False)
        self.kv_a_layernorm = nn.RMSNorm(rank, eps)
        self.kv_b_proj = nn.Linear(rank, heads * (nope + values), bias=False)
        self.o_proj = nn.Linear(heads * values, width, bias=False)

    def forward(
        self, x: Tensor, attended: Tensor, past: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        tokens = x.shape[1]
        positions = places(attended)[:, -tokens:]
        q = self.q_b_proj(self.q_a_layernorm(self.q_a_proj(x)))
        q = q.unflatten(-1, (self.count, -1)).transpose(1, 2)
        plain, turned = q.split((self.nope, self.rope), -1)
        turned = self.rotary(turned, positions)
        latent, key = self.kv_a_proj_with_mqa(x).split((self.rank, self.rope), -1)
        latent = self.kv_a_layernorm(latent)
        key = self.rotary(key[:, None], positions)[:, 0]
        if past is not None:
            latent, key = torch.cat((past[0], latent), 1), torch.cat((past[1], key), 1)
        kv = self.kv_b_proj(latent).unflatten(-1, (self.count, -1)).transpose(1, 2)
        k, v = kv.split((self.nope, self.values), -1)
        k = torch.cat((k, key[:, None].expand(-1, self.count, -1, -1)), -1)
        q = torch.cat((plain, turned), -1)
        y = F.scaled_dot_product_attention(q, k, v, visible(attended, tokens))
        return self.o_proj(y.transpose(1, 2).flatten(2)), (latent, key)

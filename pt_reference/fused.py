"""What fused operators of transformers compute, spelled out."""

import torch
from torch import nn


class RMSNorm(nn.Module):
    """x over the root of its mean square, scaled."""

    def __init__(self, width: int, eps: float):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.rms_norm(x, self.weight.shape, self.weight, self.eps)


class AddRMSNorm(RMSNorm):
    """The norm of a sum, and the sum."""

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> tuple[torch.Tensor, ...]:
        added = x + residual
        return super().forward(added), added


class SwiGLU(nn.Module):
    """The first half through SiLU, times the second."""

    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, self.dim)
        return nn.functional.silu(first) * second


class Rotary(nn.Module):
    """Pairs of numbers turned: mode 0 pairs halves, mode 1 neighbours."""

    def __init__(self, mode: int):
        super().__init__()
        self.mode = mode

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        if self.mode == 0:
            first, second = x.chunk(2, -1)
            turned = torch.cat((-second, first), -1)
        else:
            turned = torch.stack((-x[..., 1::2], x[..., 0::2]), -1).flatten(-2)
        return x * cos + turned * sin


class Attention(nn.Module):
    """Attention in a layout of batch (B), heads (N), places (S), width (D) or both (H)."""

    def __init__(self, heads: int, layout: str, scale: float, causal: bool):
        super().__init__()
        self.heads, self.layout, self.scale, self.causal = heads, layout, scale, causal

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        attended = nn.functional.scaled_dot_product_attention(
            self._apart(query),
            self._apart(key),
            self._apart(value),
            attn_mask=None if mask is None else ~mask,
            is_causal=self.causal,
            scale=self.scale,
        )
        return self._together(attended)

    def _apart(self, x: torch.Tensor) -> torch.Tensor:
        """(B, N, S, D)."""
        if self.layout == "BNSD":
            return x
        if self.layout == "BSND":
            return x.transpose(1, 2)
        if self.layout == "SBH":
            x = x.transpose(0, 1)
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def _together(self, x: torch.Tensor) -> torch.Tensor:
        if self.layout == "BNSD":
            return x
        x = x.transpose(1, 2)
        if self.layout == "BSND":
            return x
        x = x.flatten(2)
        return x.transpose(0, 1) if self.layout == "SBH" else x

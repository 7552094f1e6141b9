"""Fused operators of transformers, which MindSpore has for an Ascend."""

from mindspore import Parameter, mint, nn, ops


class RMSNorm(nn.Cell):
    """`ops.rms_norm` with its scale."""

    def __init__(self, width: int, eps: float):
        super().__init__()
        self.weight, self.eps = Parameter(mint.ones(width)), eps

    def construct(self, x):
        return ops.rms_norm(x, self.weight, self.eps)[0]


class AddRMSNorm(RMSNorm):
    """`ops.add_rms_norm`: the norm of a sum, and the sum."""

    def construct(self, x, residual):
        normed, _, added = ops.add_rms_norm(x, residual, self.weight, self.eps)
        return normed, added


class SwiGLU(nn.Cell):
    """`ops.swiglu`."""

    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def construct(self, x):
        return ops.swiglu(x, self.dim)


class Rotary(nn.Cell):
    """`ops.rotary_position_embedding`."""

    def __init__(self, mode: int):
        super().__init__()
        self.mode = mode

    def construct(self, x, cos, sin):
        return ops.rotary_position_embedding(x, cos, sin, self.mode)


class Attention(nn.Cell):
    """`ops.flash_attention_score`; a mask has what is hidden."""

    def __init__(self, heads: int, layout: str, scale: float, causal: bool):
        super().__init__()
        self.heads, self.layout, self.scale = heads, layout, scale
        self.sparse_mode = 2 if causal else 0

    def construct(self, query, key, value, mask=None):
        if self.sparse_mode:
            mask = mint.triu(mint.ones((2048, 2048)), diagonal=1).bool()
        return ops.flash_attention_score(
            query,
            key,
            value,
            self.heads,
            attn_mask=mask,
            scalar_value=self.scale,
            input_layout=self.layout,
            sparse_mode=self.sparse_mode,
        )

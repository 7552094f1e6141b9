"""Networks of transformer layers."""

import torch
from torch import nn


def transformer_encoder(d_model: int, num_layers: int, **layer) -> nn.TransformerEncoder:
    """Equal layers, one after another, and a last normalisation: sequence, batch, d_model."""
    one = nn.TransformerEncoderLayer(d_model, **layer)
    norm = nn.LayerNorm(d_model)
    return nn.TransformerEncoder(one, num_layers, norm, enable_nested_tensor=False)


class MaskedSelfAttention(nn.Module):
    """Attention of a padded sequence to what is before: batch, sequence, embed_dim.

    `padding` is not zero where there is nothing, shape (batch, sequence).
    """

    def __init__(self, embed_dim: int, num_heads: int):
        super().__init__()
        self.attention = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)

    def forward(self, x: torch.Tensor, padding: torch.Tensor) -> torch.Tensor:
        length = x.shape[1]
        later = torch.ones(length, length).triu(1).bool()
        return self.attention(x, x, x, padding.bool(), need_weights=False, attn_mask=later)[0]

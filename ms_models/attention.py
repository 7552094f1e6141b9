"""Networks of transformer layers."""

import mindspore as ms
from mindspore import nn, ops


def transformer_encoder(d_model: int, num_layers: int, **layer) -> nn.TransformerEncoder:
    """Equal layers, one after another, and a last normalisation: sequence, batch, d_model.

    The epsilon of MindSpore's LayerNorm is 1e-7 where none is told; PyTorch's is 1e-5.
    """
    one = nn.TransformerEncoderLayer(d_model, **layer)
    return nn.TransformerEncoder(one, num_layers, nn.LayerNorm((d_model,), epsilon=1e-5))


class MaskedSelfAttention(nn.Cell):
    """Attention of a padded sequence to what is before: batch, sequence, embed_dim.

    `padding` is not zero where there is nothing, shape (batch, sequence).
    """

    def __init__(self, embed_dim: int, num_heads: int):
        super().__init__()
        self.attention = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)

    def construct(self, x, padding):
        length = x.shape[1]
        later = ops.ones((length, length), ms.float32).triu(1).bool()
        return self.attention(x, x, x, padding.bool(), need_weights=False, attn_mask=later)[0]

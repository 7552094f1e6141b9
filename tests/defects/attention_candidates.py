"""Masked attention with one mistake each."""

import mindspore as ms
from mindspore import ops

from ms_models.attention import MaskedSelfAttention


class Unpadded(MaskedSelfAttention):
    """Attends to the padding."""

    def construct(self, x, padding):
        return super().construct(x, ops.zeros_like(padding))


class Uncaused(MaskedSelfAttention):
    """Attends to what is later, too."""

    def construct(self, x, padding):
        return self.attention(x, x, x, padding.bool(), need_weights=False)[0]


class AddedMask(MaskedSelfAttention):
    """Adds the mask's ones to the scores, where minus infinity would be due."""

    def construct(self, x, padding):
        later = ops.ones((x.shape[1], x.shape[1]), ms.float32).triu(1)
        return self.attention(x, x, x, padding.bool(), need_weights=False, attn_mask=later)[0]

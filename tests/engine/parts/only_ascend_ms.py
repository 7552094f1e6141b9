"""Networks of MindSpore that call what has no kernel on a CPU."""

from mindspore import mint, nn, ops
from mindspore.ops.operations.nn_ops import FlashAttentionScore

F = mint.nn.functional


class Block(nn.Cell):
    """A block of a transformer, as it is written for an Ascend."""

    def __init__(self):
        super().__init__()
        self.norm = mint.nn.LayerNorm(8)
        self.up, self.down = mint.nn.Linear(8, 16), mint.nn.Linear(16, 8)

    def construct(self, x):
        heads = self.norm(x).reshape((2, 5, 2, 4)).swapaxes(1, 2)
        mask = mint.logical_not(mint.tril(mint.ones((5, 5)))).bool()
        read = ops.flash_attention_score(
            heads, heads, heads, 2, attn_mask=mask, scalar_value=0.5, input_layout="BNSD"
        )
        x = x + read.swapaxes(1, 2).reshape((2, 5, 8))
        return x + self.down(F.gelu(self.up(x)))


class Mistaken(Block):
    """The same, with the approximation of GELU that the original does not have."""

    def construct(self, x):
        heads = self.norm(x).reshape((2, 5, 2, 4)).swapaxes(1, 2)
        read = ops.flash_attention_score(
            heads, heads, heads, 2, scalar_value=0.5, input_layout="BNSD", sparse_mode=2
        )
        x = x + read.swapaxes(1, 2).reshape((2, 5, 8))
        return x + self.down(F.gelu(self.up(x), approximate="tanh"))


class Attention(nn.Cell):
    """A primitive with settings, of which a call leaves out what it may."""

    def __init__(self, scale=0.5):
        super().__init__()
        self.attend = FlashAttentionScore(2, scale_value=scale, input_layout="BNSD")

    def construct(self, q, k, v):
        return self.attend(q, k, v)[3]


class MadeAnew(nn.Cell):
    def construct(self, q, k, v):
        return FlashAttentionScore(2, 1.0, 0.5, input_layout="BNSD")(q, k, v, None)[3]


def other_scale():
    return Attention(0.6)


class Lacking(nn.Cell):
    """Calls an operator that no stand-in stands for."""

    def construct(self, x):
        return mint.cummin(x, 1)[0]

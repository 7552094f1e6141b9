"""A Conformer, as its paper has it but for absolute positions, under the CTC loss."""

from mindspore import nn, ops


def layer_norm(width: int) -> nn.LayerNorm:
    """PyTorch's epsilon; MindSpore's own is 1e-7."""
    return nn.LayerNorm((width,), epsilon=1e-5)


def feed_forward(width: int, hidden: int) -> nn.SequentialCell:
    """The half step at both ends of a block."""
    return nn.SequentialCell(
        layer_norm(width), nn.Dense(width, hidden), nn.SiLU(), nn.Dense(hidden, width)
    )


class Convolution(nn.Cell):
    """A gate and a depthwise convolution over time: N,T,width -> N,T,width.

    The weight of `nn.Conv1d` has four axes here: `rename={"x.weight": "x.weight.reshape()"}`.
    """

    def __init__(self, width: int, kernel_size: int):
        super().__init__()
        self.norm = layer_norm(width)
        self.pointwise1 = nn.Conv1d(width, 2 * width, 1, has_bias=True)
        self.depthwise = nn.Conv1d(
            width,
            width,
            kernel_size,
            pad_mode="pad",
            padding=kernel_size // 2,
            group=width,
        )
        self.batch_norm = nn.BatchNorm1d(width)
        self.pointwise2 = nn.Conv1d(width, width, 1, has_bias=True)

    def construct(self, x, padding):
        x = self.norm(x).swapaxes(1, 2)
        x, gate = ops.chunk(self.pointwise1(x), 2, axis=1)
        x = x * ops.sigmoid(gate)
        x = x.masked_fill(padding[:, None], 0.0)
        x = ops.silu(self.batch_norm(self.depthwise(x)))
        return self.pointwise2(x).swapaxes(1, 2)


class ConformerBlock(nn.Cell):
    """Half a step, attention, convolution, half a step: N,T,width and lengths -> N,T,width."""

    def __init__(self, width: int, num_heads: int, hidden: int, kernel_size: int):
        super().__init__()
        self.feed_forward1 = feed_forward(width, hidden)
        self.norm = layer_norm(width)
        self.attention = nn.MultiheadAttention(width, num_heads, batch_first=True)
        self.convolution = Convolution(width, kernel_size)
        self.feed_forward2 = feed_forward(width, hidden)
        self.last_norm = layer_norm(width)

    def construct(self, x, lengths):
        padding = ops.arange(x.shape[1])[None] >= lengths[:, None]
        x = x + 0.5 * self.feed_forward1(x)
        y = self.norm(x)
        y = self.attention(y, y, y, key_padding_mask=padding, need_weights=False)[0]
        x = x + y
        x = x + self.convolution(x, padding)
        x = x + 0.5 * self.feed_forward2(x)
        return self.last_norm(x)


class Recogniser(nn.Cell):
    """N,T,features with lengths, and labels with theirs -> the CTC loss; the blank is 0.

    Two frames are joined before the block, so that half the time is left.
    """

    def __init__(self, features: int, width: int, symbols: int, **block: int):
        super().__init__()
        self.join = nn.Dense(2 * features, width)
        self.block = ConformerBlock(width, **block)
        self.head = nn.Dense(width, symbols)

    def construct(self, frames, lengths, labels, label_lengths):
        n, time, features = frames.shape
        x = self.join(frames.reshape(n, time // 2, 2 * features))
        x = self.block(x, lengths // 2)
        logits = self.head(x).swapaxes(0, 1)
        return ops.ctc_loss(
            ops.log_softmax(logits, axis=-1),
            labels,
            lengths // 2,
            label_lengths,
            blank=0,
            zero_infinity=True,
        )[0]

"""The U-Net of latent diffusion: residual blocks with a time, transformers with a text."""

from mindspore import nn, ops


def convolution(inputs: int, outputs: int, size: int, stride: int = 1) -> nn.Conv2d:
    """A convolution with a bias that pads half of its kernel; nn.Conv2d has other defaults."""
    return nn.Conv2d(
        inputs, outputs, size, stride, pad_mode="pad", padding=size // 2, has_bias=True
    )


class ResnetBlock(nn.Cell):
    """GroupNorm, SiLU and convolution twice; between them the embedding of a time is added."""

    def __init__(self, inputs: int, outputs: int, time_width: int, groups: int):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, inputs)
        self.conv1 = convolution(inputs, outputs, 3)
        self.time_emb_proj = nn.Dense(time_width, outputs)
        self.norm2 = nn.GroupNorm(groups, outputs)
        self.conv2 = convolution(outputs, outputs, 3)
        self.conv_shortcut = convolution(inputs, outputs, 1) if inputs != outputs else None

    def construct(self, x, time):
        h = self.conv1(ops.silu(self.norm1(x)))
        h = h + self.time_emb_proj(ops.silu(time))[:, :, None, None]
        h = self.conv2(ops.silu(self.norm2(h)))
        if self.conv_shortcut is not None:
            x = self.conv_shortcut(x)
        return x + h


class Attention(nn.Cell):
    """Attention of tokens to a context; without one, to themselves."""

    def __init__(self, width: int, context_width: int, heads: int):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.to_q = nn.Dense(width, width, has_bias=False)
        self.to_k = nn.Dense(context_width, width, has_bias=False)
        self.to_v = nn.Dense(context_width, width, has_bias=False)
        self.to_out = nn.Dense(width, width)

    def split(self, x):
        """B,T,C -> B,H,T,D."""
        b, t, c = x.shape
        return x.reshape(b, t, self.heads, c // self.heads).swapaxes(1, 2)

    def construct(self, x, context=None):
        context = x if context is None else context
        q = self.split(self.to_q(x))
        k = self.split(self.to_k(context))
        v = self.split(self.to_v(context))
        scores = ops.matmul(q, k.swapaxes(2, 3)) * self.scale
        y = ops.matmul(ops.softmax(scores, -1), v)
        y = y.swapaxes(1, 2).reshape(x.shape)
        return self.to_out(y)


class GEGLU(nn.Cell):
    """A dense layer of twice the width: the first half, gated by the GELU of the second."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.proj = nn.Dense(width, 2 * hidden)

    def construct(self, x):
        value, gate = ops.chunk(self.proj(x), 2, axis=-1)
        return value * ops.gelu(gate, approximate="none")


class TransformerBlock(nn.Cell):
    """Attention to oneself, attention to a context, and a gated feed-forward layer."""

    def __init__(self, width: int, context_width: int, heads: int):
        super().__init__()
        self.norm1 = nn.LayerNorm((width,), epsilon=1e-5)
        self.attn1 = Attention(width, width, heads)
        self.norm2 = nn.LayerNorm((width,), epsilon=1e-5)
        self.attn2 = Attention(width, context_width, heads)
        self.norm3 = nn.LayerNorm((width,), epsilon=1e-5)
        self.ff = nn.SequentialCell(GEGLU(width, 4 * width), nn.Dense(4 * width, width))

    def construct(self, x, context):
        x = x + self.attn1(self.norm1(x))
        x = x + self.attn2(self.norm2(x), context)
        return x + self.ff(self.norm3(x))


class SpatialTransformer(nn.Cell):
    """The pixels of an image as tokens that attend to each other and to a context."""

    def __init__(self, width: int, context_width: int, heads: int, groups: int):
        super().__init__()
        self.norm = nn.GroupNorm(groups, width, eps=1e-6)
        self.proj_in = convolution(width, width, 1)
        self.block = TransformerBlock(width, context_width, heads)
        self.proj_out = convolution(width, width, 1)

    def construct(self, x, context):
        b, c, h, w = x.shape
        y = self.proj_in(self.norm(x))
        y = y.transpose(0, 2, 3, 1).reshape(b, h * w, c)
        y = self.block(y, context)
        y = y.reshape(b, h, w, c).transpose(0, 3, 1, 2)
        return x + self.proj_out(y)


class Downsample(nn.Cell):
    """Half of each side, by a convolution."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv = convolution(channels, channels, 3, stride=2)

    def construct(self, x):
        return self.conv(x)


class Upsample(nn.Cell):
    """Twice each side: every pixel four times, then a convolution."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv = convolution(channels, channels, 3)

    def construct(self, x):
        # ops.interpolate takes no scale_factor in this mode.
        h, w = x.shape[-2:]
        x = ops.interpolate(x, size=(2 * h, 2 * w), mode="nearest")
        return self.conv(x)


class UNet(nn.Cell):
    """A U-Net of one level: images, embeddings of times, contexts -> images."""

    def __init__(
        self,
        channels: int,
        width: int,
        time_width: int,
        context_width: int,
        heads: int,
        groups: int,
    ):
        super().__init__()
        self.conv_in = convolution(channels, width, 3)
        self.down = ResnetBlock(width, width, time_width, groups)
        self.downsample = Downsample(width)
        self.mid = ResnetBlock(width, 2 * width, time_width, groups)
        self.attention = SpatialTransformer(2 * width, context_width, heads, groups)
        self.upsample = Upsample(2 * width)
        self.up = ResnetBlock(3 * width, width, time_width, groups)
        self.norm_out = nn.GroupNorm(groups, width)
        self.conv_out = convolution(width, channels, 3)

    def construct(self, x, time, context):
        skipped = self.down(self.conv_in(x), time)
        h = self.mid(self.downsample(skipped), time)
        h = self.upsample(self.attention(h, context))
        h = self.up(ops.cat([h, skipped], 1), time)
        return self.conv_out(ops.silu(self.norm_out(h)))

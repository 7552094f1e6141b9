"""The U-Net of latent diffusion: residual blocks with a time, transformers with a text."""

import torch
import torch.nn.functional as F
from torch import nn


class ResnetBlock(nn.Module):
    """GroupNorm, SiLU and convolution twice; between them the embedding of a time is added."""

    def __init__(self, inputs: int, outputs: int, time_width: int, groups: int):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.time_emb_proj = nn.Linear(time_width, outputs)
        self.norm2 = nn.GroupNorm(groups, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else None

    def forward(self, x, time):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time_emb_proj(F.silu(time))[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        if self.conv_shortcut is not None:
            x = self.conv_shortcut(x)
        return x + h


class Attention(nn.Module):
    """Attention of tokens to a context; without one, to themselves."""

    def __init__(self, width: int, context_width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k = nn.Linear(context_width, width, bias=False)
        self.to_v = nn.Linear(context_width, width, bias=False)
        self.to_out = nn.Linear(width, width)

    def forward(self, x, context=None):
        context = x if context is None else context
        q, k, v = (
            each.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for each in (self.to_q(x), self.to_k(context), self.to_v(context))
        )
        y = F.scaled_dot_product_attention(q, k, v)
        return self.to_out(y.transpose(1, 2).flatten(2))


class GEGLU(nn.Module):
    """A linear layer of twice the width: the first half, gated by the GELU of the second."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.proj = nn.Linear(width, 2 * hidden)

    def forward(self, x):
        value, gate = self.proj(x).chunk(2, dim=-1)
        return value * F.gelu(gate)


class TransformerBlock(nn.Module):
    """Attention to oneself, attention to a context, and a gated feed-forward layer."""

    def __init__(self, width: int, context_width: int, heads: int):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attn1 = Attention(width, width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.attn2 = Attention(width, context_width, heads)
        self.norm3 = nn.LayerNorm(width)
        self.ff = nn.Sequential(GEGLU(width, 4 * width), nn.Linear(4 * width, width))

    def forward(self, x, context):
        x = x + self.attn1(self.norm1(x))
        x = x + self.attn2(self.norm2(x), context)
        return x + self.ff(self.norm3(x))


class SpatialTransformer(nn.Module):
    """The pixels of an image as tokens that attend to each other and to a context."""

    def __init__(self, width: int, context_width: int, heads: int, groups: int):
        super().__init__()
        self.norm = nn.GroupNorm(groups, width, eps=1e-6)
        self.proj_in = nn.Conv2d(width, width, 1)
        self.block = TransformerBlock(width, context_width, heads)
        self.proj_out = nn.Conv2d(width, width, 1)

    def forward(self, x, context):
        b, c, h, w = x.shape
        y = self.proj_in(self.norm(x)).permute(0, 2, 3, 1).reshape(b, h * w, c)
        y = self.block(y, context)
        y = y.reshape(b, h, w, c).permute(0, 3, 1, 2)
        return x + self.proj_out(y)


class Downsample(nn.Module):
    """Half of each side, by a convolution."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, stride=2, padding=1)

    def forward(self, x):
        return self.conv(x)


class Upsample(nn.Module):
    """Twice each side: every pixel four times, then a convolution."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return self.conv(F.interpolate(x, scale_factor=2.0, mode="nearest"))


class UNet(nn.Module):
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
        self.conv_in = nn.Conv2d(channels, width, 3, padding=1)
        self.down = ResnetBlock(width, width, time_width, groups)
        self.downsample = Downsample(width)
        self.mid = ResnetBlock(width, 2 * width, time_width, groups)
        self.attention = SpatialTransformer(2 * width, context_width, heads, groups)
        self.upsample = Upsample(2 * width)
        self.up = ResnetBlock(3 * width, width, time_width, groups)
        self.norm_out = nn.GroupNorm(groups, width)
        self.conv_out = nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, x, time, context):
        skipped = self.down(self.conv_in(x), time)
        h = self.mid(self.downsample(skipped), time)
        h = self.upsample(self.attention(h, context))
        h = self.up(torch.cat([h, skipped], dim=1), time)
        return self.conv_out(F.silu(self.norm_out(h)))

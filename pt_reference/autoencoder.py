"""Autoencoders of latent diffusion: of images with a KL term, and causal blocks of videos."""

import torch
import torch.nn.functional as F
from torch import nn

from pt_reference.diffusion_unet import Upsample


class PlainResnetBlock(nn.Module):
    """GroupNorm, SiLU and convolution twice."""

    def __init__(self, inputs: int, outputs: int, groups: int):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, inputs, eps=1e-6)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm2 = nn.GroupNorm(groups, outputs, eps=1e-6)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else None

    def forward(self, x):
        h = self.conv1(F.silu(self.norm1(x)))
        h = self.conv2(F.silu(self.norm2(h)))
        return (x if self.conv_shortcut is None else self.conv_shortcut(x)) + h


class PixelAttention(nn.Module):
    """Attention of all pixels to each other, of a single head."""

    def __init__(self, width: int, groups: int):
        super().__init__()
        self.group_norm = nn.GroupNorm(groups, width, eps=1e-6)
        self.to_q = nn.Linear(width, width)
        self.to_k = nn.Linear(width, width)
        self.to_v = nn.Linear(width, width)
        self.to_out = nn.Linear(width, width)

    def forward(self, x):
        tokens = self.group_norm(x).flatten(2).transpose(1, 2)
        q, k, v = self.to_q(tokens), self.to_k(tokens), self.to_v(tokens)
        tokens = F.scaled_dot_product_attention(q, k, v)
        return x + self.to_out(tokens).transpose(1, 2).reshape(x.shape)


class Middle(nn.Module):
    """A residual block, attention, and another residual block."""

    def __init__(self, width: int, groups: int):
        super().__init__()
        self.resnet1 = PlainResnetBlock(width, width, groups)
        self.attention = PixelAttention(width, groups)
        self.resnet2 = PlainResnetBlock(width, width, groups)

    def forward(self, x):
        return self.resnet2(self.attention(self.resnet1(x)))


class Encoder(nn.Module):
    """Images -> means and logarithms of variances, at half of each side."""

    def __init__(self, channels: int, width: int, latents: int, groups: int):
        super().__init__()
        self.conv_in = nn.Conv2d(channels, width, 3, padding=1)
        self.resnet = PlainResnetBlock(width, width, groups)
        self.downsample = nn.Conv2d(width, width, 3, stride=2)
        self.down = PlainResnetBlock(width, 2 * width, groups)
        self.mid = Middle(2 * width, groups)
        self.norm_out = nn.GroupNorm(groups, 2 * width, eps=1e-6)
        self.conv_out = nn.Conv2d(2 * width, 2 * latents, 3, padding=1)

    def forward(self, x):
        h = self.resnet(self.conv_in(x))
        # A row below and a column on the right, unlike in the U-Net.
        h = self.downsample(F.pad(h, (0, 1, 0, 1)))
        h = self.mid(self.down(h))
        return self.conv_out(F.silu(self.norm_out(h)))


class Decoder(nn.Module):
    """Latents -> images of twice each side."""

    def __init__(self, channels: int, width: int, latents: int, groups: int):
        super().__init__()
        self.conv_in = nn.Conv2d(latents, 2 * width, 3, padding=1)
        self.mid = Middle(2 * width, groups)
        self.upsample = Upsample(2 * width)
        self.up = PlainResnetBlock(2 * width, width, groups)
        self.norm_out = nn.GroupNorm(groups, width, eps=1e-6)
        self.conv_out = nn.Conv2d(width, channels, 3, padding=1)

    def forward(self, z):
        h = self.upsample(self.mid(self.conv_in(z)))
        return self.conv_out(F.silu(self.norm_out(self.up(h))))


class AutoencoderKL(nn.Module):
    """Images, noise -> reconstruction, scaled latents, and the KL divergence of each image.

    The latents are drawn by the noise that is given.
    """

    def __init__(self, channels: int, width: int, latents: int, groups: int, scaling_factor: float):
        super().__init__()
        self.scaling_factor = scaling_factor
        self.encoder = Encoder(channels, width, latents, groups)
        self.quant_conv = nn.Conv2d(2 * latents, 2 * latents, 1)
        self.post_quant_conv = nn.Conv2d(latents, latents, 1)
        self.decoder = Decoder(channels, width, latents, groups)

    def forward(self, x, noise):
        mean, logvar = self.quant_conv(self.encoder(x)).chunk(2, dim=1)
        logvar = logvar.clamp(-30.0, 20.0)
        kl = 0.5 * (mean.square() + logvar.exp() - 1.0 - logvar).sum(dim=(1, 2, 3))
        latents = (mean + torch.exp(0.5 * logvar) * noise) * self.scaling_factor
        image = self.decoder(self.post_quant_conv(latents / self.scaling_factor))
        return image, latents, kl


class CausalConv3d(nn.Module):
    """A convolution of videos that sees no later frame: B,C,T,H,W.

    In front of the first frame stands that frame again.
    """

    def __init__(self, inputs: int, outputs: int, size: int = 3, stride: int = 1, groups: int = 1):
        super().__init__()
        self.front, side = size - 1, size // 2
        self.conv = nn.Conv3d(
            inputs,
            outputs,
            size,
            stride=(stride, 1, 1),
            padding=(0, side, side),
            groups=groups,
        )

    def forward(self, x):
        return self.conv(F.pad(x, (0, 0, 0, 0, self.front, 0), mode="replicate"))


class CausalResnetBlock(nn.Module):
    """GroupNorm, SiLU and a causal convolution twice."""

    def __init__(self, inputs: int, outputs: int, groups: int):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, inputs, eps=1e-6)
        self.conv1 = CausalConv3d(inputs, outputs)
        self.norm2 = nn.GroupNorm(groups, outputs, eps=1e-6)
        self.conv2 = CausalConv3d(outputs, outputs)
        self.conv_shortcut = nn.Conv3d(inputs, outputs, 1)

    def forward(self, x):
        h = self.conv1(F.silu(self.norm1(x)))
        return self.conv_shortcut(x) + self.conv2(F.silu(self.norm2(h)))


class CausalUpsample(nn.Module):
    """Twice each side, and every frame twice but for the first: 1 + T frames -> 1 + 2 T."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv = CausalConv3d(channels, channels)

    def forward(self, x):
        first = F.interpolate(x[:, :, :1], scale_factor=(1.0, 2.0, 2.0), mode="nearest")
        rest = F.interpolate(x[:, :, 1:], scale_factor=2.0, mode="nearest")
        return self.conv(torch.cat([first, rest], dim=2))


class CausalAutoencoder(nn.Module):
    """Blocks of a video autoencoder, down and up: 1 + 2 T frames -> 1 + T -> 1 + 2 T."""

    def __init__(self, channels: int, width: int, groups: int):
        super().__init__()
        self.conv_in = CausalConv3d(channels, width)
        self.encode = CausalResnetBlock(width, width, groups)
        self.downsample = CausalConv3d(width, 2 * width, stride=2)
        self.pool = nn.AvgPool3d((1, 2, 2))
        self.upsample = CausalUpsample(2 * width)
        self.decode = CausalResnetBlock(2 * width, width, groups)
        self.conv_out = CausalConv3d(width, channels)

    def forward(self, x):
        latents = self.pool(self.downsample(self.encode(self.conv_in(x))))
        return self.conv_out(self.decode(self.upsample(latents)))

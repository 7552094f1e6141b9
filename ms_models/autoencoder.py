"""Autoencoders of latent diffusion: of images with a KL term, and causal blocks of videos."""

from mindspore import nn, ops

from ms_models.diffusion_unet import Upsample, convolution


class PlainResnetBlock(nn.Cell):
    """GroupNorm, SiLU and convolution twice."""

    def __init__(self, inputs: int, outputs: int, groups: int):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, inputs, eps=1e-6)
        self.conv1 = convolution(inputs, outputs, 3)
        self.norm2 = nn.GroupNorm(groups, outputs, eps=1e-6)
        self.conv2 = convolution(outputs, outputs, 3)
        self.conv_shortcut = convolution(inputs, outputs, 1) if inputs != outputs else None

    def construct(self, x):
        h = self.conv1(ops.silu(self.norm1(x)))
        h = self.conv2(ops.silu(self.norm2(h)))
        if self.conv_shortcut is not None:
            x = self.conv_shortcut(x)
        return x + h


class PixelAttention(nn.Cell):
    """Attention of all pixels to each other, of a single head."""

    def __init__(self, width: int, groups: int):
        super().__init__()
        self.scale = width**-0.5
        self.group_norm = nn.GroupNorm(groups, width, eps=1e-6)
        self.to_q = nn.Dense(width, width)
        self.to_k = nn.Dense(width, width)
        self.to_v = nn.Dense(width, width)
        self.to_out = nn.Dense(width, width)

    def construct(self, x):
        b, c, h, w = x.shape
        tokens = self.group_norm(x).reshape(b, c, h * w).swapaxes(1, 2)
        q, k, v = self.to_q(tokens), self.to_k(tokens), self.to_v(tokens)
        scores = ops.matmul(q, k.swapaxes(1, 2)) * self.scale
        tokens = ops.matmul(ops.softmax(scores, -1), v)
        tokens = self.to_out(tokens).swapaxes(1, 2)
        return x + tokens.reshape(b, c, h, w)


class Middle(nn.Cell):
    """A residual block, attention, and another residual block."""

    def __init__(self, width: int, groups: int):
        super().__init__()
        self.resnet1 = PlainResnetBlock(width, width, groups)
        self.attention = PixelAttention(width, groups)
        self.resnet2 = PlainResnetBlock(width, width, groups)

    def construct(self, x):
        return self.resnet2(self.attention(self.resnet1(x)))


class Encoder(nn.Cell):
    """Images -> means and logarithms of variances, at half of each side."""

    def __init__(self, channels: int, width: int, latents: int, groups: int):
        super().__init__()
        self.conv_in = convolution(channels, width, 3)
        self.resnet = PlainResnetBlock(width, width, groups)
        self.downsample = nn.Conv2d(width, width, 3, stride=2, pad_mode="valid", has_bias=True)
        self.down = PlainResnetBlock(width, 2 * width, groups)
        self.mid = Middle(2 * width, groups)
        self.norm_out = nn.GroupNorm(groups, 2 * width, eps=1e-6)
        self.conv_out = convolution(2 * width, 2 * latents, 3)

    def construct(self, x):
        h = self.resnet(self.conv_in(x))
        # A row below and a column on the right, unlike in the U-Net.
        h = ops.pad(h, (0, 1, 0, 1))
        h = self.downsample(h)
        h = self.mid(self.down(h))
        return self.conv_out(ops.silu(self.norm_out(h)))


class Decoder(nn.Cell):
    """Latents -> images of twice each side."""

    def __init__(self, channels: int, width: int, latents: int, groups: int):
        super().__init__()
        self.conv_in = convolution(latents, 2 * width, 3)
        self.mid = Middle(2 * width, groups)
        self.upsample = Upsample(2 * width)
        self.up = PlainResnetBlock(2 * width, width, groups)
        self.norm_out = nn.GroupNorm(groups, width, eps=1e-6)
        self.conv_out = convolution(width, channels, 3)

    def construct(self, z):
        h = self.upsample(self.mid(self.conv_in(z)))
        return self.conv_out(ops.silu(self.norm_out(self.up(h))))


class AutoencoderKL(nn.Cell):
    """Images, noise -> reconstruction, scaled latents, and the KL divergence of each image.

    The latents are drawn by the noise that is given.
    """

    def __init__(self, channels: int, width: int, latents: int, groups: int, scaling_factor: float):
        super().__init__()
        self.scaling_factor = scaling_factor
        self.encoder = Encoder(channels, width, latents, groups)
        self.quant_conv = convolution(2 * latents, 2 * latents, 1)
        self.post_quant_conv = convolution(latents, latents, 1)
        self.decoder = Decoder(channels, width, latents, groups)

    def construct(self, x, noise):
        mean, logvar = ops.chunk(self.quant_conv(self.encoder(x)), 2, axis=1)
        logvar = ops.clamp(logvar, -30.0, 20.0)
        kl = 0.5 * (ops.square(mean) + ops.exp(logvar) - 1.0 - logvar).sum((1, 2, 3))
        latents = mean + ops.exp(0.5 * logvar) * noise
        latents = latents * self.scaling_factor
        z = latents / self.scaling_factor
        return self.decoder(self.post_quant_conv(z)), latents, kl


class CausalConv3d(nn.Cell):
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
            pad_mode="pad",
            padding=(0, 0, side, side, side, side),
            group=groups,
            has_bias=True,
        )

    def construct(self, x):
        x = ops.cat([x[:, :, :1]] * self.front + [x], 2)
        return self.conv(x)


class CausalResnetBlock(nn.Cell):
    """GroupNorm, SiLU and a causal convolution twice."""

    def __init__(self, inputs: int, outputs: int, groups: int):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, inputs, eps=1e-6)
        self.conv1 = CausalConv3d(inputs, outputs)
        self.norm2 = nn.GroupNorm(groups, outputs, eps=1e-6)
        self.conv2 = CausalConv3d(outputs, outputs)
        self.conv_shortcut = nn.Conv3d(inputs, outputs, 1, has_bias=True)

    def construct(self, x):
        h = self.conv1(ops.silu(self.norm1(x)))
        h = self.conv2(ops.silu(self.norm2(h)))
        return self.conv_shortcut(x) + h


class CausalUpsample(nn.Cell):
    """Twice each side, and every frame twice but for the first: 1 + T frames -> 1 + 2 T."""

    def __init__(self, channels: int):
        super().__init__()
        self.conv = CausalConv3d(channels, channels)

    def construct(self, x):
        t, h, w = x.shape[2:]
        x = ops.interpolate(x, size=(2 * t, 2 * h, 2 * w), mode="nearest")
        return self.conv(x[:, :, 1:])


class CausalAutoencoder(nn.Cell):
    """Blocks of a video autoencoder, down and up: 1 + 2 T frames -> 1 + T -> 1 + 2 T."""

    def __init__(self, channels: int, width: int, groups: int):
        super().__init__()
        self.conv_in = CausalConv3d(channels, width)
        self.encode = CausalResnetBlock(width, width, groups)
        self.downsample = CausalConv3d(width, 2 * width, stride=2)
        self.pool = nn.AvgPool3d((1, 2, 2), stride=(1, 2, 2))
        self.upsample = CausalUpsample(2 * width)
        self.decode = CausalResnetBlock(2 * width, width, groups)
        self.conv_out = CausalConv3d(width, channels)

    def construct(self, x):
        latents = self.pool(self.downsample(self.encode(self.conv_in(x))))
        return self.conv_out(self.decode(self.upsample(latents)))

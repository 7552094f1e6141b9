"""Transformers, a U-Net, a detection head and a GAN, as users write them."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from benchmarks.catalogue.ms.training import AttentionNet, layer_norm
from ms_models.conv import conv2d
from ms_models.optim import CorrectedAdam


def encoder(layers: int, width: int, heads: int) -> nn.SequentialCell:
    """Pre-norm blocks of self-attention, with biases, and a classifier."""
    blocks = [Encoder(width, heads) for _ in range(layers)]
    return nn.SequentialCell(*blocks, layer_norm(width), nn.Dense(width, 1000))


class Encoder(AttentionNet):
    """A block of the encoder: the attention of `AttentionNet` without its classifier."""

    def __init__(self, width: int, heads: int):
        super().__init__(width, heads)
        del self.head

    def construct(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(ops.gelu(self.up(self.norm2(x)), approximate="none"))


class RMSNorm(nn.Cell):
    """Divided by the root mean square over the last axis."""

    def __init__(self, width: int):
        super().__init__()
        self.weight = ms.Parameter(ops.ones(width))

    def construct(self, x):
        return self.weight * x * ops.rsqrt((x * x).mean(-1, keep_dims=True) + 1e-6)


def hide_later(scores, mask: str):
    """The scores without those of later tokens; mask: as in the original."""
    tokens = ops.arange(scores.shape[-1])
    later = tokens > tokens[:, None]
    if mask == "filled":
        return scores.masked_fill(later, -1e9)
    lowest = ops.full(later.shape, float(np.finfo(np.float32).min), dtype=ms.float32)
    return scores + lowest * later


class Decoder(nn.Cell):
    """A block as in Llama: causal attention with rotated queries and keys, then SwiGLU."""

    def __init__(self, width: int, heads: int, mask: str):
        super().__init__()
        self.heads, self.half, self.mask = heads, width // heads // 2, mask
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.query, self.key, self.value, self.out = (
            nn.Dense(width, width, has_bias=False) for _ in range(4)
        )
        self.gate, self.up = (nn.Dense(width, 3 * width, has_bias=False) for _ in range(2))
        self.down = nn.Dense(3 * width, width, has_bias=False)

    def split(self, x):
        """batch, tokens, width -> batch, heads, tokens, width of a head."""
        batch, tokens, width = x.shape
        return x.reshape(batch, tokens, self.heads, width // self.heads).swapaxes(1, 2)

    def rotate(self, x):
        """Each pair of channels turned by an angle that grows with the position."""
        positions = ops.arange(x.shape[2]).astype(ms.float32)
        powers = ops.arange(self.half).astype(ms.float32) / self.half
        angles = positions[:, None] * ops.pow(10000.0, -powers)
        cos, sin = ops.cos(angles), ops.sin(angles)
        first, second = x[..., : self.half], x[..., self.half :]
        return ops.cat([first * cos - second * sin, second * cos + first * sin], -1)

    def construct(self, x):
        y = self.norm1(x)
        query, key = self.rotate(self.split(self.query(y))), self.rotate(self.split(self.key(y)))
        scores = ops.matmul(query, key.swapaxes(-1, -2)) * (2 * self.half) ** -0.5
        weights = ops.softmax(hide_later(scores, self.mask), -1)
        mixed = ops.matmul(weights, self.split(self.value(y)))
        x = x + self.out(mixed.swapaxes(1, 2).reshape(x.shape))
        y = self.norm2(x)
        return x + self.down(ops.silu(self.gate(y)) * self.up(y))


class LanguageModel(nn.Cell):
    """Tokens -> logits of the next token."""

    def __init__(self, layers: int, width: int, heads: int, vocabulary: int, mask: str):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.SequentialCell(*(Decoder(width, heads, mask) for _ in range(layers)))
        self.norm = RMSNorm(width)
        self.head = nn.Dense(width, vocabulary, has_bias=False)

    def construct(self, tokens):
        return self.head(self.norm(self.layers(self.embedding(tokens))))


def double(inputs: int, outputs: int) -> nn.SequentialCell:
    """Twice a convolution, BatchNorm and ReLU."""
    layers = []
    for channels in (inputs, outputs):
        layers += [conv2d(channels, outputs, 3), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.SequentialCell(*layers)


def transposed(
    inputs: int, outputs: int, kernel: int, stride: int = 1, padding: int = 0, bias: bool = True
) -> nn.Conv2dTranspose:
    """PyTorch's transposed convolution."""
    options = {"stride": stride, "pad_mode": "pad", "padding": padding, "has_bias": bias}
    return nn.Conv2dTranspose(inputs, outputs, kernel, **options)


class UNet(nn.Cell):
    """Three levels down by max pooling, and up by transposed convolutions; 16 to 128 channels."""

    def __init__(self, classes: int):
        super().__init__()
        self.down1, self.down2, self.down3 = double(3, 16), double(16, 32), double(32, 64)
        self.bottom = double(64, 128)
        self.up3, self.up2, self.up1 = (
            transposed(2 * width, width, 2, stride=2) for width in (64, 32, 16)
        )
        self.join3, self.join2, self.join1 = double(128, 64), double(64, 32), double(32, 16)
        self.head = conv2d(16, classes, 1, bias=True)
        self.pool = nn.MaxPool2d(2, 2)

    def construct(self, x):
        one = self.down1(x)
        two = self.down2(self.pool(one))
        three = self.down3(self.pool(two))
        x = self.bottom(self.pool(three))
        x = self.join3(ops.cat([three, self.up3(x)], 1))
        x = self.join2(ops.cat([two, self.up2(x)], 1))
        x = self.join1(ops.cat([one, self.up1(x)], 1))
        return self.head(x)


class DetectionLoss(nn.Cell):
    """A feature pyramid over two maps, and a RetinaNet head: focal loss and boxes in pixels."""

    def __init__(self, channels: int, classes: int):
        super().__init__()
        self.classes = classes
        self.fine, self.coarse = (
            conv2d(64, channels, 1, bias=True),
            conv2d(128, channels, 1, bias=True),
        )
        self.smooth = conv2d(channels, channels, 3, bias=True)
        self.tower = conv2d(channels, channels, 3, bias=True)
        self.logits = conv2d(channels, classes, 3, bias=True)
        self.boxes = conv2d(channels, 4, 3, bias=True)

    def decode(self, moves, stride):
        """batch, 4, rows, columns of predictions -> batch, anchors, corners in pixels."""
        batch, _, rows, columns = moves.shape
        y = ((ops.arange(rows) + 0.5) * stride).astype(ms.float32)[:, None]
        x = ((ops.arange(columns) + 0.5) * stride).astype(ms.float32)[None]
        side = 4.0 * stride
        x, y = x + moves[:, 0] * side, y + moves[:, 1] * side
        wide = ops.exp(ops.clamp(moves[:, 2], max=4.0)) * side
        high = ops.exp(ops.clamp(moves[:, 3], max=4.0)) * side
        corners = [x - wide / 2, y - high / 2, x + wide / 2, y + high / 2]
        return ops.stack(corners, -1).reshape(batch, rows * columns, 4)

    def construct(self, fine, coarse, targets):
        top = self.coarse(coarse)
        rows, columns = top.shape[2:]
        above = ops.interpolate(top, size=(2 * rows, 2 * columns), mode="nearest")
        maps = (self.smooth(self.fine(fine) + above), top)
        logits, boxes = [], []
        for features, stride in zip(maps, (8, 16)):  # noqa: B905 (graph mode knows no strict)
            features = ops.relu(self.tower(features))
            predicted = self.logits(features)
            logits.append(predicted.reshape(*predicted.shape[:2], -1).swapaxes(1, 2))
            boxes.append(self.decode(0.1 * self.boxes(features), stride))
        logits, boxes = ops.cat(logits, 1), ops.cat(boxes, 1)
        wanted = ops.one_hot(targets, self.classes, ms.Tensor(1.0), ms.Tensor(0.0))
        likely = ops.sigmoid(logits)
        missed = wanted * (1.0 - likely) + (1.0 - wanted) * likely
        weight = wanted * 0.25 + (1.0 - wanted) * 0.75
        ones = ops.ones_like(logits)
        entropy = ops.binary_cross_entropy_with_logits(logits, wanted, ones, ones, reduction="none")
        return (weight * missed**2 * entropy).sum() / targets.size, boxes


class Generator(nn.Cell):
    """DCGAN: noise -> pictures of 16 x 16 pixels."""

    def __init__(self):
        super().__init__()
        self.conv1 = transposed(32, 64, 4, bias=False)
        self.conv2 = transposed(64, 32, 4, stride=2, padding=1, bias=False)
        self.conv3 = transposed(32, 3, 4, stride=2, padding=1)
        self.bn1, self.bn2 = nn.BatchNorm2d(64), nn.BatchNorm2d(32)

    def construct(self, noise):
        x = ops.relu(self.bn1(self.conv1(noise)))
        return ops.tanh(self.conv3(ops.relu(self.bn2(self.conv2(x)))))


class Discriminator(nn.Cell):
    """DCGAN: pictures -> logits of being real."""

    def __init__(self):
        super().__init__()
        self.conv1 = conv2d(3, 32, 4, stride=2, padding=1, bias=True)
        self.conv2 = conv2d(32, 64, 4, stride=2, padding=1)
        self.bn2 = nn.BatchNorm2d(64)
        self.conv3 = conv2d(64, 1, 4, padding=0, bias=True)

    def construct(self, x):
        x = ops.leaky_relu(self.conv1(x), 0.2)
        x = ops.leaky_relu(self.bn2(self.conv2(x)), 0.2)
        return self.conv3(x).reshape(-1)


class Players(nn.Cell):
    """Both networks of a GAN and their losses."""

    def __init__(self):
        super().__init__()
        self.generator, self.discriminator = Generator(), Discriminator()

    def judged(self, real, noise):
        """The discriminator's loss."""
        fake = ops.stop_gradient(self.generator(noise))
        right, wrong = self.discriminator(real), self.discriminator(fake)
        return ops.softplus(-right).mean() + ops.softplus(wrong).mean()

    def construct(self, real, noise):  # noqa: ARG002
        """The generator's loss."""
        return ops.softplus(-self.discriminator(self.generator(noise))).mean()


def adam(part: nn.Cell) -> CorrectedAdam:
    """An Adam of its own for one of the players."""
    return CorrectedAdam(part.trainable_params(), 2e-4, 0.5, 0.999, 1e-8)


class GanStep(nn.Cell):
    """An update of the discriminator, then one of the generator, each by its own Adam."""

    def __init__(self):
        super().__init__(auto_prefix=False)
        self.network = Players()
        self.of_discriminator = adam(self.network.discriminator)
        self.of_generator = adam(self.network.generator)
        self.judge = ms.value_and_grad(self.network.judged, None, self.of_discriminator.parameters)
        self.fool = ms.value_and_grad(self.network, None, self.of_generator.parameters)

    def construct(self, real, noise):
        loss, gradients = self.judge(real, noise)
        loss = ops.depend(loss, self.of_discriminator(gradients))
        _, gradients = self.fool(real, ops.depend(noise, loss))
        return ops.depend(loss, self.of_generator(gradients))


class Clamp(nn.Cell):
    """A ReLU by hand."""

    def construct(self, x):
        return ops.clamp(x, min=0.0)


class Masked(nn.Cell):
    """A ReLU that is written with a comparison."""

    def construct(self, x):
        return x * (x > 0).astype(x.dtype)


class Chosen(nn.Cell):
    """A leaky ReLU that is written with a comparison."""

    def construct(self, x):
        return ops.where(x < 0, 0.1 * x, x)


class Scaled(nn.Cell):
    """A ReLU, times one factor for all channels, which the BatchNorm that follows takes away."""

    def __init__(self):
        super().__init__()
        self.alpha = ms.Parameter(ms.Tensor(1.0, ms.float32))

    def construct(self, x):
        return ops.relu(x) * self.alpha


ACTIVATIONS = {
    "chosen": lambda _: Chosen(),
    "clamp": lambda _: Clamp(),
    "hardswish": lambda _: nn.HSwish(),
    "leaky_relu": lambda _: nn.LeakyReLU(0.2),
    "masked": lambda _: Masked(),
    "prelu": nn.PReLU,
    "scaled": lambda _: Scaled(),
}
"""Kind -> an activation with kinks that is no plain ReLU, by the number of channels."""


class Plain(nn.Cell):
    """N,3,H,W -> N,10: ten layers of a convolution, a BatchNorm and an activation."""

    def __init__(self, kind: str, channels: int):
        super().__init__()
        layers = []
        for number in range(10):
            stride = 2 if number in (2, 4) else 1
            wide = channels if number else 3
            layers.append(conv2d(wide, channels, 3, stride, padding=1))
            layers += [nn.BatchNorm2d(channels), ACTIVATIONS[kind](channels)]
        self.features = nn.SequentialCell(*layers)
        self.classifier = nn.Dense(channels * 36, 10)

    def construct(self, x):
        return self.classifier(ops.avg_pool2d(self.features(x), 4, 4).flatten(start_dim=1))

"""Transformers, a U-Net, a detection head and a GAN, as users write them."""

import torch
from torch import nn
from torch.nn import functional

from benchmarks.catalogue.pt.training import AttentionNet


def encoder(layers: int, width: int, heads: int) -> nn.Sequential:
    """Pre-norm blocks of self-attention, with biases, and a classifier."""
    blocks = [Encoder(width, heads) for _ in range(layers)]
    return nn.Sequential(*blocks, nn.LayerNorm(width), nn.Linear(width, 1000))


class Encoder(AttentionNet):
    """A block of the encoder: the attention of `AttentionNet` without its classifier."""

    def __init__(self, width: int, heads: int):
        super().__init__(width, heads)
        del self.head

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.norm1(x))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class RMSNorm(nn.Module):
    """Divided by the root mean square over the last axis."""

    def __init__(self, width: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)


def hide_later(scores: torch.Tensor, mask: str) -> torch.Tensor:
    """The scores without those of later tokens.

    mask: "filled" with a large number, or "lowest": the lowest number times zeros and ones is
        added, as transformers does.
    """
    tokens = torch.arange(scores.shape[-1])
    later = tokens > tokens[:, None]
    if mask == "filled":
        return scores.masked_fill(later, -1e9)
    lowest = torch.full(later.shape, torch.finfo(scores.dtype).min)
    return scores + lowest * later


class Decoder(nn.Module):
    """A block as in Llama: causal attention with rotated queries and keys, then SwiGLU."""

    def __init__(self, width: int, heads: int, mask: str):
        super().__init__()
        self.heads, self.half, self.mask = heads, width // heads // 2, mask
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.query, self.key, self.value, self.out = (
            nn.Linear(width, width, bias=False) for _ in range(4)
        )
        self.gate, self.up = (nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * width, width, bias=False)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """batch, tokens, width -> batch, heads, tokens, width of a head."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def rotate(self, x: torch.Tensor) -> torch.Tensor:
        """Each pair of channels turned by an angle that grows with the position."""
        positions = torch.arange(x.shape[2], dtype=torch.float32)
        powers = torch.arange(self.half, dtype=torch.float32) / self.half
        angles = positions[:, None] * 10000.0**-powers
        cos, sin = torch.cos(angles).to(x.dtype), torch.sin(angles).to(x.dtype)
        first, second = x[..., : self.half], x[..., self.half :]
        return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm1(x)
        query, key = self.rotate(self.split(self.query(y))), self.rotate(self.split(self.key(y)))
        scores = query @ key.transpose(-1, -2) * (2 * self.half) ** -0.5
        mixed = hide_later(scores, self.mask).softmax(-1) @ self.split(self.value(y))
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class LanguageModel(nn.Module):
    """Tokens -> logits of the next token."""

    def __init__(self, layers: int, width: int, heads: int, vocabulary: int, mask: str):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.Sequential(*(Decoder(width, heads, mask) for _ in range(layers)))
        self.norm = RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.layers(self.embedding(tokens))))


def double(inputs: int, outputs: int) -> nn.Sequential:
    """Twice a convolution, BatchNorm and ReLU."""
    layers: list[nn.Module] = []
    for channels in (inputs, outputs):
        layers += [nn.Conv2d(channels, outputs, 3, padding=1, bias=False)]
        layers += [nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """Three levels down by max pooling, and up by transposed convolutions; 16 to 128 channels."""

    def __init__(self, classes: int):
        super().__init__()
        self.down1, self.down2, self.down3 = double(3, 16), double(16, 32), double(32, 64)
        self.bottom = double(64, 128)
        self.up3, self.up2, self.up1 = (
            nn.ConvTranspose2d(2 * width, width, 2, stride=2) for width in (64, 32, 16)
        )
        self.join3, self.join2, self.join1 = double(128, 64), double(64, 32), double(32, 16)
        self.head = nn.Conv2d(16, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        one = self.down1(x)
        two = self.down2(functional.max_pool2d(one, 2))
        three = self.down3(functional.max_pool2d(two, 2))
        x = self.bottom(functional.max_pool2d(three, 2))
        x = self.join3(torch.cat([three, self.up3(x)], 1))
        x = self.join2(torch.cat([two, self.up2(x)], 1))
        x = self.join1(torch.cat([one, self.up1(x)], 1))
        return self.head(x)


class DetectionLoss(nn.Module):
    """A feature pyramid over two maps, and a RetinaNet head: focal loss and boxes in pixels.

    Anchors are squares of four strides. A box is the anchor moved and scaled by the prediction.
    """

    def __init__(self, channels: int, classes: int):
        super().__init__()
        self.classes = classes
        self.fine, self.coarse = nn.Conv2d(64, channels, 1), nn.Conv2d(128, channels, 1)
        self.smooth = nn.Conv2d(channels, channels, 3, padding=1)
        self.tower = nn.Conv2d(channels, channels, 3, padding=1)
        self.logits = nn.Conv2d(channels, classes, 3, padding=1)
        self.boxes = nn.Conv2d(channels, 4, 3, padding=1)

    def decode(self, moves: torch.Tensor, stride: int) -> torch.Tensor:
        """batch, 4, rows, columns of predictions -> batch, anchors, corners in pixels."""
        rows, columns = moves.shape[2:]
        y = ((torch.arange(rows) + 0.5) * stride).to(moves.dtype)[:, None].expand(rows, columns)
        x = ((torch.arange(columns) + 0.5) * stride).to(moves.dtype)[None].expand(rows, columns)
        side = 4.0 * stride
        x, y = x + moves[:, 0] * side, y + moves[:, 1] * side
        wide, high = (
            moves[:, 2].clamp(max=4.0).exp() * side,
            moves[:, 3].clamp(max=4.0).exp() * side,
        )
        corners = [x - wide / 2, y - high / 2, x + wide / 2, y + high / 2]
        return torch.stack(corners, -1).flatten(1, 2)

    def forward(self, fine: torch.Tensor, coarse: torch.Tensor, targets: torch.Tensor):
        top = self.coarse(coarse)
        above = functional.interpolate(top, scale_factor=2.0, mode="nearest")
        maps = (self.smooth(self.fine(fine) + above), top)
        logits, boxes = [], []
        for features, stride in zip(maps, (8, 16), strict=True):
            features = functional.relu(self.tower(features))
            logits.append(self.logits(features).flatten(2).transpose(1, 2))
            boxes.append(self.decode(0.1 * self.boxes(features), stride))
        logits, boxes = torch.cat(logits, 1), torch.cat(boxes, 1)
        wanted = functional.one_hot(targets, self.classes).to(logits.dtype)
        likely = torch.sigmoid(logits)
        missed = wanted * (1.0 - likely) + (1.0 - wanted) * likely
        weight = wanted * 0.25 + (1.0 - wanted) * 0.75
        entropy = functional.binary_cross_entropy_with_logits(logits, wanted, reduction="none")
        return (weight * missed**2 * entropy).sum() / targets.numel(), boxes


class Generator(nn.Module):
    """DCGAN: noise -> pictures of 16 x 16 pixels."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.ConvTranspose2d(32, 64, 4, bias=False)
        self.conv2 = nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1, bias=False)
        self.conv3 = nn.ConvTranspose2d(32, 3, 4, stride=2, padding=1)
        self.bn1, self.bn2 = nn.BatchNorm2d(64), nn.BatchNorm2d(32)

    def forward(self, noise: torch.Tensor) -> torch.Tensor:
        x = functional.relu(self.bn1(self.conv1(noise)))
        return torch.tanh(self.conv3(functional.relu(self.bn2(self.conv2(x)))))


class Discriminator(nn.Module):
    """DCGAN: pictures -> logits of being real."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 4, stride=2, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 4, stride=2, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(64)
        self.conv3 = nn.Conv2d(64, 1, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.leaky_relu(self.conv1(x), 0.2)
        x = functional.leaky_relu(self.bn2(self.conv2(x)), 0.2)
        return self.conv3(x).flatten()


class Players(nn.Module):
    """Both networks of a GAN and their losses."""

    def __init__(self):
        super().__init__()
        self.generator, self.discriminator = Generator(), Discriminator()

    def judged(self, real: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        """The discriminator's loss."""
        fake = self.generator(noise).detach()
        right, wrong = self.discriminator(real), self.discriminator(fake)
        return functional.softplus(-right).mean() + functional.softplus(wrong).mean()

    def forward(self, real: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:  # noqa: ARG002
        """The generator's loss."""
        return functional.softplus(-self.discriminator(self.generator(noise))).mean()


class GanStep(nn.Module):
    """An update of the discriminator, then one of the generator, each by its own Adam."""

    def __init__(self):
        super().__init__()
        self.network = Players()
        self.of_discriminator, self.of_generator = (
            torch.optim.Adam(part.parameters(), 2e-4, (0.5, 0.999))
            for part in (self.network.discriminator, self.network.generator)
        )

    def forward(self, real: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        self.of_discriminator.zero_grad()
        loss = self.network.judged(real, noise)
        loss.backward()
        self.of_discriminator.step()
        self.of_generator.zero_grad()
        self.network(real, noise).backward()
        self.of_generator.step()
        return loss.detach()


class Clamp(nn.Module):
    """A ReLU by hand."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.clamp(min=0.0)


class Masked(nn.Module):
    """A ReLU that is written with a comparison."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * (x > 0)


class Chosen(nn.Module):
    """A leaky ReLU that is written with a comparison."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.where(x < 0, 0.1 * x, x)


class Scaled(nn.Module):
    """A ReLU, times one factor for all channels, which the BatchNorm that follows takes away."""

    def __init__(self):
        super().__init__()
        self.alpha = nn.Parameter(torch.tensor(1.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) * self.alpha


ACTIVATIONS = {
    "chosen": lambda _: Chosen(),
    "clamp": lambda _: Clamp(),
    "hardswish": lambda _: nn.Hardswish(inplace=True),
    "leaky_relu": lambda _: nn.LeakyReLU(0.2, inplace=True),
    "masked": lambda _: Masked(),
    "prelu": nn.PReLU,
    "scaled": lambda _: Scaled(),
}
"""Kind -> an activation with kinks that is no plain ReLU, by the number of channels."""


class Plain(nn.Module):
    """N,3,H,W -> N,10: ten layers of a convolution, a BatchNorm and an activation."""

    def __init__(self, kind: str, channels: int):
        super().__init__()
        layers: list[nn.Module] = []
        for number in range(10):
            stride = 2 if number in (2, 4) else 1
            wide = channels if number else 3
            layers.append(nn.Conv2d(wide, channels, 3, stride, padding=1, bias=False))
            layers += [nn.BatchNorm2d(channels), ACTIVATIONS[kind](channels)]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(channels * 36, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(functional.avg_pool2d(self.features(x), 4).flatten(1))

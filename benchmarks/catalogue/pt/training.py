"""Training steps on small networks, among them such as have gradients of zero in truth."""

import torch
from torch import nn
from torch.nn import functional
from torchvision.models.mobilenetv2 import InvertedResidual, mobilenet_v2

from pt_reference import optim
from pt_reference.steps import TrainStep, WithLoss


class ConvNormNet(nn.Module):
    """Two convolutions with BatchNorm and a classifier. `bias` makes gradients of zero in truth."""

    def __init__(self, bias: bool = False, classes: int = 10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1, bias=bias)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, stride=2, padding=1, bias=bias)
        self.bn2 = nn.BatchNorm2d(32)
        self.fc = nn.Linear(32, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = functional.relu(self.bn1(self.conv1(x)))
        x = functional.relu(self.bn2(self.conv2(x)))
        return self.fc(x.mean((2, 3)))


class AttentionNet(nn.Module):
    """A pre-norm block of self-attention and a classifier of the mean token.

    The gradient of the key's bias is zero in truth: a softmax ignores what all keys share.
    """

    def __init__(self, width: int = 32, heads: int = 4, classes: int = 10):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.head = nn.Linear(width, classes)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        """batch, tokens, width -> batch, heads, tokens, width of a head."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        """Self-attention."""
        query, key, value = map(self.split, (self.query(x), self.key(x), self.value(x)))
        scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
        mixed = scores.softmax(-1) @ value
        return self.out(mixed.transpose(1, 2).flatten(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.norm1(x))
        x = x + self.down(functional.gelu(self.up(self.norm2(x))))
        return self.head(x.mean(1))


class InvertedNet(nn.Module):
    """One inverted residual block and a classifier."""

    def __init__(self, classes: int = 10):
        super().__init__()
        self.block = InvertedResidual(16, 16, 1, 6)
        self.fc = nn.Linear(16, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.block(x).mean((2, 3)))


def mobilenet_features(depth: int) -> nn.Sequential:
    """MobileNetV2's stem and its first `depth` inverted residual blocks."""
    return mobilenet_v2().features[: depth + 1]


class MobileNet(nn.Module):
    """MobileNetV2 without its dropout."""

    def __init__(self, classes: int = 10):
        super().__init__()
        self.features = mobilenet_v2().features
        self.fc = nn.Linear(1280, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.features(x).mean((2, 3)))


NETWORKS = {
    "cnn": ConvNormNet,
    "attention": AttentionNet,
    "inverted": InvertedNet,
    "mobilenet": MobileNet,
}

OPTIMISERS = {
    "sgd": lambda network: optim.sgd(network, 0.1, momentum=0.9),
    "adam": lambda network: optim.adam(network, 1e-3),
    "adamw": lambda network: optim.adamw(network, 1e-3, weight_decay=0.05),
}


def step(network: str, optimiser: str, **arguments) -> TrainStep:
    """A training step on the cross entropy of a network."""
    trained = WithLoss(NETWORKS[network](**arguments), nn.CrossEntropyLoss())
    return TrainStep(trained, OPTIMISERS[optimiser](trained))

"""Training steps on small networks, among them such as have gradients of zero in truth."""

from mindspore import nn, ops

from ms_models import optim
from ms_models.conv import conv2d
from ms_models.steps import TrainStep, WithLoss


class ConvNormNet(nn.Cell):
    """Two convolutions with BatchNorm and a classifier. `bias` makes gradients of zero in truth."""

    def __init__(self, bias: bool = False, classes: int = 10):
        super().__init__()
        self.conv1 = conv2d(3, 16, 3, bias=bias)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = conv2d(16, 32, 3, stride=2, bias=bias)
        self.bn2 = nn.BatchNorm2d(32)
        self.fc = nn.Dense(32, classes)

    def construct(self, x):
        x = ops.relu(self.bn1(self.conv1(x)))
        x = ops.relu(self.bn2(self.conv2(x)))
        return self.fc(x.mean((2, 3)))


def layer_norm(width: int) -> nn.LayerNorm:
    """PyTorch's LayerNorm over the last axis; MindSpore's default epsilon is 1e-7."""
    return nn.LayerNorm((width,), epsilon=1e-5)


class AttentionNet(nn.Cell):
    """A pre-norm block of self-attention and a classifier of the mean token."""

    def __init__(self, width: int = 32, heads: int = 4, classes: int = 10):
        super().__init__()
        self.heads, self.scale = heads, (width // heads) ** -0.5
        self.norm1, self.norm2 = layer_norm(width), layer_norm(width)
        self.query, self.key = nn.Dense(width, width), nn.Dense(width, width)
        self.value, self.out = nn.Dense(width, width), nn.Dense(width, width)
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)
        self.head = nn.Dense(width, classes)

    def split(self, x):
        """batch, tokens, width -> batch, heads, tokens, width of a head."""
        batch, tokens, width = x.shape
        return x.reshape(batch, tokens, self.heads, width // self.heads).swapaxes(1, 2)

    def attend(self, x):
        """Self-attention."""
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.value(x)
        scores = ops.matmul(query, key.swapaxes(-1, -2)) * self.scale
        mixed = ops.matmul(ops.softmax(scores, -1), self.split(value))
        return self.out(mixed.swapaxes(1, 2).reshape(x.shape))

    def construct(self, x):
        x = x + self.attend(self.norm1(x))
        x = x + self.down(ops.gelu(self.up(self.norm2(x)), approximate="none"))
        return self.head(x.mean(1))


def conv_norm_relu6(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1):
    """A convolution that keeps the size at stride 1, its BatchNorm and ReLU6."""
    convolution = conv2d(inputs, outputs, kernel, stride=stride, groups=groups)
    return nn.SequentialCell(convolution, nn.BatchNorm2d(outputs), nn.ReLU6())


class InvertedResidual(nn.Cell):
    """Up, a depthwise convolution, down, and the shortcut where the shape stays."""

    def __init__(self, inputs: int, outputs: int, stride: int, expand: int):
        super().__init__()
        wide = inputs * expand
        layers = [conv_norm_relu6(inputs, wide, 1)] if expand != 1 else []
        layers.append(conv_norm_relu6(wide, wide, 3, stride, groups=wide))
        layers += [conv2d(wide, outputs, 1), nn.BatchNorm2d(outputs)]
        self.conv = nn.SequentialCell(layers)
        self.shortcut = stride == 1 and inputs == outputs

    def construct(self, x):
        return x + self.conv(x) if self.shortcut else self.conv(x)


class InvertedNet(nn.Cell):
    """One inverted residual block and a classifier."""

    def __init__(self, classes: int = 10):
        super().__init__()
        self.block = InvertedResidual(16, 16, 1, 6)
        self.fc = nn.Dense(16, classes)

    def construct(self, x):
        return self.fc(self.block(x).mean((2, 3)))


STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
"""Of MobileNetV2: expansion, channels, blocks, and the stride of the first block."""


def mobilenet_layers() -> list[nn.Cell]:
    """MobileNetV2's stem, its 17 blocks, and its last convolution."""
    layers, channels = [conv_norm_relu6(3, 32, 3, 2)], 32
    for expand, outputs, blocks, stride in STAGES:
        for block in range(blocks):
            step = stride if block == 0 else 1
            layers.append(InvertedResidual(channels, outputs, step, expand))
            channels = outputs
    return [*layers, conv_norm_relu6(channels, 1280, 1)]


def mobilenet_features(depth: int) -> nn.SequentialCell:
    """MobileNetV2's stem and its first `depth` inverted residual blocks."""
    return nn.SequentialCell(mobilenet_layers()[: depth + 1])


class MobileNet(nn.Cell):
    """MobileNetV2 without its dropout."""

    def __init__(self, classes: int = 10):
        super().__init__()
        self.features = nn.SequentialCell(mobilenet_layers())
        self.fc = nn.Dense(1280, classes)

    def construct(self, x):
        return self.fc(self.features(x).mean((2, 3)))


NETWORKS = {
    "cnn": ConvNormNet,
    "attention": AttentionNet,
    "inverted": InvertedNet,
    "mobilenet": MobileNet,
}

OPTIMISERS = {
    "sgd": lambda network: optim.sgd(network, 0.1, momentum=0.9),
    "adam": lambda network: optim.corrected_adam(network, 1e-3),
    "adamw": lambda network: optim.adamw(network, 1e-3, weight_decay=0.05),
}


def step(network: str, optimiser: str, **arguments) -> TrainStep:
    """A training step on the cross entropy of a network."""
    trained = WithLoss(NETWORKS[network](**arguments), nn.CrossEntropyLoss())
    return TrainStep(trained, OPTIMISERS[optimiser](trained))

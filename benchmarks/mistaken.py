"""Ports with one mistake each in code of their own, for the benchmark of the diagnosis."""

from mindspore import nn, ops

from benchmarks.catalogue.ms import networks, training
from ms_models import optim, resnet
from ms_models.steps import TrainStep, WithLoss


class ResNet(resnet.ResNet):
    """A ResNet without its first activation."""

    def construct(self, x):
        x = self.maxpool(self.bn1(self.conv1(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.flatten(self.avgpool(x, (2, 3))))


def resnet50() -> nn.Cell:
    """ResNet 50."""
    return ResNet(*resnet.DEPTHS[50])


class Encoder(networks.Encoder):
    """A block with another GELU."""

    def construct(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(ops.gelu(self.up(self.norm2(x)), approximate="tanh"))


def encoder(layers: int, width: int, heads: int) -> nn.SequentialCell:
    """The encoder of the catalogue, with such blocks."""
    blocks = [Encoder(width, heads) for _ in range(layers)]
    return nn.SequentialCell(*blocks, networks.layer_norm(width), nn.Dense(width, 1000))


def step(network: str, **_) -> TrainStep:
    """A training step with another momentum."""
    trained = WithLoss(training.NETWORKS[network](), nn.CrossEntropyLoss())
    return TrainStep(trained, optim.sgd(trained, 0.1, momentum=0.8))


def bottleneck(**config: int) -> resnet.Bottleneck:
    """A block whose first norm has another eps."""
    block = resnet.Bottleneck(**config)
    block.bn1 = nn.BatchNorm2d(config["planes"], eps=1e-3, momentum=0.9)
    return block

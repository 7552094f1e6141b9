"""Levels and scalers of `mindspore.amp` that leave a network in float32."""

import mindspore as ms
from mindspore import amp, nn

from ms_models.optim import momentum
from ms_models.small import SmallNetwork
from ms_models.steps import TrainStep, WithLoss


def plain(level: str) -> nn.Cell:
    """The small network under the level O0, which casts nothing."""
    return amp.auto_mixed_precision(SmallNetwork(), level)


class StaticScaleStep(TrainStep):
    """A step whose loss and gradients a `StaticLossScaler` scales and unscales."""

    def __init__(self, network: nn.Cell, optimizer: nn.Cell, loss_scale: float):
        super().__init__(network, optimizer, loss_scale=loss_scale)
        self.scaler = amp.StaticLossScaler(loss_scale)
        self.gradients = ms.value_and_grad(self.scaled_loss, None, optimizer.parameters, True)

    def scaled_loss(self, *batch):
        loss = self.network(*batch)
        return self.scaler.scale(loss), loss

    def construct(self, *batch):
        (_, loss), gradients = self.gradients(*batch)
        self.optimizer(self.scaler.unscale(gradients))
        return loss


def static_scale(learning_rate: float, loss_scale: float) -> nn.Cell:
    """A step of the small network whose loss scale never changes."""
    network = WithLoss(SmallNetwork(), nn.CrossEntropyLoss())
    optimizer = momentum(network, learning_rate, 0.9, 0.0)
    return StaticScaleStep(network, optimizer, loss_scale)

"""Training steps that keep more than their network: averages, the scale of a loss, gradients."""

import torch
from torch import amp, nn, optim

from pt_reference.given import GivenGradients
from pt_reference.steps import TrainStep


class AveragingStep(TrainStep):
    """A step that keeps an exponential moving average of all weights, updated after them."""

    def __init__(self, network: nn.Module, optimizer: optim.Optimizer, decay: float):
        super().__init__(network, optimizer)
        self.decay = decay
        self.average = {name: p.detach().clone() for name, p in network.named_parameters()}

    @torch.no_grad()
    def descend(self) -> None:
        """Let the optimiser use the gradients, then the average the new weights."""
        super().descend()
        for name, parameter in self.network.named_parameters():
            self.average[name].mul_(self.decay).add_(parameter, alpha=1.0 - self.decay)


class ScaledStep(TrainStep):
    """A step whose loss is scaled by a `GradScaler`."""

    def __init__(
        self, network: nn.Module, optimizer: optim.Optimizer, loss_scale: float, window: int
    ):
        super().__init__(network, optimizer, loss_scale=loss_scale)
        self.scaler = amp.GradScaler("cpu", init_scale=loss_scale, growth_interval=window)

    def forward(self, *batch: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.network(*batch)
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.detach()


class MicroBatchStep(TrainStep):
    """Each call adds the gradients of a micro-batch; every few calls, their mean is used."""

    def __init__(self, network: nn.Module, optimizer: optim.Optimizer, every: int):
        super().__init__(network, optimizer)
        self.every, self.calls = every, 0
        self.accumulated = [torch.zeros_like(parameter) for parameter in self.trained()]

    @torch.no_grad()
    def update(self) -> None:
        """Add the gradients, and use them if they are complete."""
        for total, parameter in zip(self.accumulated, self.trained(), strict=True):
            total += parameter.grad
        self.calls += 1
        if self.calls % self.every == 0:
            for total, parameter in zip(self.accumulated, self.trained(), strict=True):
                parameter.grad = total / self.every
                total.zero_()
            self.descend()


def _network(learning_rate: float = 0.1) -> tuple[nn.Module, optim.Optimizer]:
    network = GivenGradients()
    return network, optim.SGD(network.parameters(), learning_rate, 0.875)


def averaging(decay: float) -> TrainStep:
    """Momentum, with an average of the weights."""
    return AveragingStep(*_network(), decay)


def scaled(loss_scale: float, window: int) -> TrainStep:
    """Momentum under a dynamic loss scale."""
    return ScaledStep(*_network(), loss_scale, window)


def in_micro_batches(every: int) -> TrainStep:
    """Momentum by gradients that are added over several calls."""
    return MicroBatchStep(*_network(), every)

"""Training steps: each makes one update (or an epoch of them) when called with a batch.

Every step is a module with the trained module, loss included, as `network`; its forward pass
returns the loss before the update, detached.
"""

from collections.abc import Callable, Iterable

import torch
from torch import nn, optim
from torch.optim.lr_scheduler import LRScheduler

from pt_reference.optim import adam, momentum
from pt_reference.schedules import Every, Schedule, warmup_cosine

Clip = Callable[[Iterable[nn.Parameter]], object]

FLOAT32_MAX = torch.finfo(torch.float32).max


class WithLoss(nn.Module):
    """(inputs, labels) -> the loss of what `backbone` makes of the inputs."""

    def __init__(self, backbone: nn.Module, loss: nn.Module):
        super().__init__()
        self.backbone, self.loss = backbone, loss

    def forward(self, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return self.loss(self.backbone(inputs), labels)


class TrainStep(nn.Module):
    """One update: gradients of the loss, `clip` on the parameters that hold them, the optimiser.

    A scheduler is stepped after every update. The loss is multiplied by `loss_scale` before the
    backward pass and the gradients are divided by it after it.
    """

    def __init__(
        self,
        network: nn.Module,
        optimizer: optim.Optimizer,
        scheduler: LRScheduler | Every | None = None,
        clip: Clip | None = None,
        loss_scale: float = 1.0,
    ):
        super().__init__()
        self.network = network
        self.optimizer, self.scheduler = optimizer, scheduler
        self.clip, self.loss_scale = clip, loss_scale

    def trained(self) -> list[nn.Parameter]:
        """The parameters of the optimiser."""
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def forward(self, *batch: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.network(*batch)
        (loss * self.loss_scale).backward()
        self.update()
        return loss.detach()

    def update(self) -> None:
        """From the gradients of the scaled loss to new weights."""
        self.divide_gradients(self.loss_scale)
        self.descend()

    def divide_gradients(self, divisor: float) -> None:
        """Divide every gradient."""
        for parameter in self.trained():
            parameter.grad /= divisor

    def descend(self) -> None:
        """Clip the gradients, and let the optimiser use them."""
        if self.clip is not None:
            self.clip(self.trained())
        self.optimizer.step()
        if self.scheduler is not None:
            self.scheduler.step()


class DynamicLossScaleStep(TrainStep):
    """A step whose loss scale is halved, and the update skipped, where a gradient overflows.

    After `window` updates in a row the scale is doubled. It is single precision that overflows,
    whatever the dtype of the gradients: `torch.amp.GradScaler` on float32, spelled out.
    """

    def __init__(
        self, network: nn.Module, optimizer: optim.Optimizer, loss_scale: float, window: int
    ):
        super().__init__(network, optimizer, loss_scale=loss_scale)
        self.window, self.finite_steps = window, 0

    def update(self) -> None:
        gradients = [parameter.grad for parameter in self.trained()]
        if all(bool((g.abs() <= FLOAT32_MAX).all()) for g in gradients):
            super().update()
            self.finite_steps += 1
            if self.finite_steps == self.window:
                self.loss_scale, self.finite_steps = self.loss_scale * 2.0, 0
        else:
            self.loss_scale, self.finite_steps = self.loss_scale / 2.0, 0


class AccumulatingStep(TrainStep):
    """An epoch of updates, each by the mean gradient of `every` micro-batches.

    The batch is cut along axis 0 into micro-batches of `size` rows, the last of them perhaps of
    fewer. What is left after the last complete set of `every` makes one more update, by the mean
    over as many as there are. Returns the mean loss of the micro-batches.
    """

    def __init__(
        self,
        network: nn.Module,
        optimizer: optim.Optimizer,
        size: int,
        every: int,
        clip: Clip | None = None,
    ):
        super().__init__(network, optimizer, clip=clip)
        self.size, self.every = size, every

    def forward(self, *batch: torch.Tensor) -> torch.Tensor:
        micro_batches = list(zip(*(values.split(self.size) for values in batch), strict=True))
        losses = []
        for first in range(0, len(micro_batches), self.every):
            together = micro_batches[first : first + self.every]
            self.optimizer.zero_grad()
            for micro_batch in together:
                loss = self.network(*micro_batch)
                loss.backward()
                losses.append(loss.detach())
            self.divide_gradients(len(together))
            self.descend()
        return torch.stack(losses).mean()


def clip_norm(limit: float) -> Clip:
    """Scale all gradients by one factor where their common norm is above `limit`."""
    return lambda parameters: nn.utils.clip_grad_norm_(parameters, limit)


def clip_value(limit: float) -> Clip:
    """Clip every element of every gradient to [-limit, limit]."""
    return lambda parameters: nn.utils.clip_grad_value_(parameters, limit)


def imagenet_step(
    network: nn.Module,
    warmup_steps: int,
    total_steps: int,
    learning_rate: float = 0.256,
    weight_decay: float = 1 / 32768,
    label_smoothing: float = 0.1,
) -> TrainStep:
    """The ResNet50 recipe of ImageNet around `network`: images -> logits.

    Label smoothing over all classes, momentum 0.875, no decay of gamma, beta and bias, a cosine
    with linear warm-up that changes the rate in every step.
    """
    trained = WithLoss(network, nn.CrossEntropyLoss(label_smoothing=label_smoothing))
    optimizer = momentum(trained, learning_rate, 0.875, weight_decay)
    schedule: Schedule = warmup_cosine(warmup_steps, total_steps)
    return TrainStep(trained, optimizer, schedule(optimizer))


def cifar10_step(
    network: nn.Module, learning_rate: float = 1e-3, weight_decay: float = 1e-5
) -> TrainStep:
    """The ResNet50 recipe of CIFAR-10 around `network`: Adam, its L2 penalty on every weight."""
    trained = WithLoss(network, nn.CrossEntropyLoss())
    return TrainStep(trained, adam(trained, learning_rate, weight_decay=weight_decay))

"""How YOLOX is trained: groups of weights, the rate of each step, the average of the weights."""

import copy
import math

import torch
from torch import nn, optim
from torch.optim import lr_scheduler

from pt_reference.given import GivenGradients
from pt_reference.schedules import Rates, Schedule
from pt_reference.steps import TrainStep
from pt_reference.yolox import YOLOX
from pt_reference.yolox_loss import Trained, YOLOXLoss


def weight_groups(network: nn.Module, weight_decay: float) -> list[dict]:
    """Three groups: scales of norms, kernels, biases. The kernels alone decay."""
    norms, kernels, biases = [], [], []
    for module in network.modules():
        if isinstance(bias := getattr(module, "bias", None), nn.Parameter):
            biases.append(bias)
        if isinstance(weight := getattr(module, "weight", None), nn.Parameter):
            scale = isinstance(module, nn.BatchNorm2d | nn.GroupNorm)
            (norms if scale else kernels).append(weight)
    return [
        {"params": norms},
        {"params": kernels, "weight_decay": weight_decay},
        {"params": biases},
    ]


def warm_cosine(
    warmup_steps: int, total_steps: int, last_steps: int, least: float = 0.05
) -> Schedule:
    """A parabola up to the rate, half a cosine, and `least` of the rate in the last steps.

    The first step has a rate of zero.
    """

    def share(step: int) -> float:
        if step <= warmup_steps:
            return (step / warmup_steps) ** 2
        if step >= total_steps - last_steps:
            return least
        done = (step - warmup_steps) / (total_steps - warmup_steps - last_steps)
        return least + (1 - least) * (1 + math.cos(math.pi * done)) / 2

    return lambda optimizer: lr_scheduler.LambdaLR(optimizer, share)


def warm_cosine_rates(**settings) -> nn.Module:
    """The rates of any steps at once."""
    return Rates(warm_cosine(**settings), settings["total_steps"])


class AveragingStep(TrainStep):
    """A step that keeps an average of the weights and statistics, which follows fast at first.

    After n updates the old average has a share of decay * (1 - exp(-n / ramp)).
    """

    def __init__(
        self,
        network: nn.Module,
        optimizer: optim.Optimizer,
        schedule: Schedule,
        decay: float,
        ramp: int,
    ):
        super().__init__(network, optimizer, schedule(optimizer))
        self.ema = copy.deepcopy(network).eval().requires_grad_(False)
        self.decay, self.ramp, self.updates = decay, ramp, 0

    @torch.no_grad()
    def descend(self) -> None:
        """Let the optimiser use the gradients, then move the average."""
        super().descend()
        self.updates += 1
        share = self.decay * (1 - math.exp(-self.updates / self.ramp))
        now = self.network.state_dict()
        for name, average in self.ema.state_dict().items():
            if average.is_floating_point():
                average.mul_(share).add_(now[name], alpha=1 - share)


def training_step(
    network: nn.Module,
    learning_rate: float,
    weight_decay: float,
    decay: float,
    ramp: int,
    **schedule,
) -> TrainStep:
    """SGD with Nesterov's momentum under the rates of `warm_cosine`, and an average."""
    groups = weight_groups(network, weight_decay)
    optimizer = optim.SGD(groups, learning_rate, momentum=0.9, nesterov=True)
    return AveragingStep(network, optimizer, warm_cosine(**schedule), decay, ramp)


def given(**settings) -> TrainStep:
    """The step whose batch is the gradient."""
    return training_step(GivenGradients(), **settings)


def detector(num_classes: int, depth: float, width: float, l1: bool, **settings) -> TrainStep:
    """The step of a whole detector: images, classes, boxes, counts."""
    network = YOLOX(num_classes, depth, width)
    return training_step(Trained(network, YOLOXLoss(l1=l1)), **settings)

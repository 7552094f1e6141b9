"""How YOLOX is trained: groups of weights, the rate of each step, the average of the weights."""

import math

import mindspore as ms
from mindspore import nn, ops

from ms_models.given import GivenGradients
from ms_models.schedules import Listed
from ms_models.steps import TrainStep
from ms_models.yolox import YOLOX
from ms_models.yolox_loss import Trained, YOLOXLoss


def weight_groups(network: nn.Cell, weight_decay: float) -> list[dict]:
    """Three groups: scales of norms, kernels, biases with the shifts. The kernels alone decay."""
    trained = network.trainable_params()
    kinds = {"gamma": "norms", "beta": "biases", "bias": "biases"}
    groups = {"norms": [], "kernels": [], "biases": []}
    for parameter in trained:
        groups[kinds.get(parameter.name.rpartition(".")[2], "kernels")].append(parameter)
    return [
        {"params": groups["norms"], "weight_decay": 0.0},
        {"params": groups["kernels"], "weight_decay": weight_decay},
        {"params": groups["biases"], "weight_decay": 0.0},
        {"order_params": trained},
    ]


def warm_cosine(
    learning_rate: float, warmup_steps: int, total_steps: int, last_steps: int, least: float = 0.05
) -> list[float]:
    """A parabola up to the rate, half a cosine, and `least` of the rate in the last steps.

    The first step has a rate of zero.
    """
    rates = [learning_rate * (step / warmup_steps) ** 2 for step in range(warmup_steps + 1)]
    falling = total_steps - last_steps - warmup_steps
    for step in range(1, falling):
        cosine = (1 + math.cos(math.pi * step / falling)) / 2
        rates.append(learning_rate * (least + (1 - least) * cosine))
    return rates + [learning_rate * least] * last_steps


def warm_cosine_rates(**settings) -> nn.Cell:
    """The rates of any steps at once."""
    return Listed(warm_cosine(1.0, **settings))


def moved(share, average, weight):
    """An average, moved towards a weight."""
    return ops.assign(average, share * average + (1.0 - share) * weight)


class AveragingStep(TrainStep):
    """A step that keeps an average of the weights and statistics, which follows fast at first.

    After n updates the old average has a share of decay * (1 - exp(-n / ramp)).
    """

    def __init__(self, network: nn.Cell, optimizer: nn.Cell, decay: float, ramp: int):
        super().__init__(network, optimizer)
        self.followed = ms.ParameterTuple(network.get_parameters())
        averages = self.followed.clone(prefix="ema", init="same")
        for average in averages:
            average.requires_grad = False
        # By the weights' names, to be saved and compared; in their order, for the graph.
        self.ema = {w.name: each for w, each in zip(self.followed, averages, strict=True)}
        self.averages = averages
        self.decay, self.ramp = decay, ramp
        self.updates = ms.Parameter(ms.Tensor(0.0, ms.float32), name="updates", requires_grad=False)

    def averaged(self):
        """Move the average to the weights."""
        updates = ops.assign_add(self.updates, ms.Tensor(1.0, ms.float32))
        # 1 - exp(-n / ramp) by way of expm1: at first, little is left of the difference.
        share = self.decay * -ops.expm1(-updates / self.ramp)
        return self.map(ops.partial(moved, share), self.averages, self.followed)

    def construct(self, *batch):
        loss = super().construct(*batch)
        return ops.depend(loss, ops.depend(self.averaged(), loss))


def training_step(
    network: nn.Cell,
    learning_rate: float,
    weight_decay: float,
    decay: float,
    ramp: int,
    **schedule,
) -> nn.Cell:
    """`nn.SGD` with Nesterov's momentum under the rates of `warm_cosine`, and an average.

    On a CPU `nn.Momentum` takes no notice of use_nesterov.
    """
    groups = weight_groups(network, weight_decay)
    rates = warm_cosine(learning_rate, **schedule)
    optimizer = nn.SGD(groups, rates, momentum=0.9, nesterov=True)
    return AveragingStep(network, optimizer, decay, ramp)


def given(**settings) -> nn.Cell:
    """The step whose batch is the gradient."""
    return training_step(GivenGradients(), **settings)


def detector(num_classes: int, depth: float, width: float, l1: bool, **settings) -> nn.Cell:
    """The step of a whole detector: images, classes, boxes, counts."""
    network = YOLOX(num_classes, depth, width)
    return training_step(Trained(network, YOLOXLoss(l1=l1)), **settings)

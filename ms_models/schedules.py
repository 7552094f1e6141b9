"""Learning rates by step, in MindSpore's two forms: a list, and a cell of the global step.

Optimisers take either. The networks built here tell the rates of any steps at once: a list is
looked up in, a cell computes.
"""

from collections.abc import Sequence

import mindspore as ms
from mindspore import nn, ops
from mindspore.nn.learning_rate_schedule import LearningRateSchedule


def warmup_cosine(
    learning_rate: float, warmup_steps: int, total_steps: int, end: float = 0.0, first: int = 1
) -> list[float]:
    """A line up to the rate, then half a cosine from the rate down to `end`, changed every step.

    Step i has (i + first) / warmup_steps of the rate during the warm-up, so that with `first` 0
    the first update is none. The cosine would reach `end` at step `total_steps`.
    """
    line = [learning_rate * (step + first) / warmup_steps for step in range(warmup_steps)]
    return line + cosine(learning_rate, total_steps - warmup_steps, end)


def cosine(learning_rate: float, total_steps: int, end: float = 0.0, each: int = 1) -> list[float]:
    """Half a cosine from the rate to `end`, changed after every `each` steps."""
    return nn.cosine_decay_lr(end, learning_rate, total_steps, each, total_steps // each)


def step_decay(learning_rate: float, every: int, factor: float, total_steps: int) -> list[float]:
    """The rate times `factor` after every `every` steps."""
    return nn.exponential_decay_lr(learning_rate, factor, total_steps, every, 1, is_stair=True)


def milestones(
    learning_rate: float, steps: tuple[int, ...], factor: float, total_steps: int
) -> list[float]:
    """The rate times `factor` from each of the steps on."""
    values = [learning_rate * factor**drops for drops in range(len(steps) + 1)]
    return nn.piecewise_constant_lr([*steps, total_steps], values)


class WarmUpCosine(LearningRateSchedule):
    """`warmup_cosine` as a cell: global step -> rate."""

    def __init__(
        self,
        learning_rate: float,
        warmup_steps: int,
        total_steps: int,
        end: float = 0.0,
        first: int = 1,
    ):
        super().__init__()
        self.warmup_steps, self.first = warmup_steps, first
        self.line = nn.WarmUpLR(learning_rate, warmup_steps)
        self.curve = nn.CosineDecayLR(end, learning_rate, total_steps - warmup_steps)

    def construct(self, global_step):
        rising = self.line(global_step + self.first)
        falling = self.curve(ops.maximum(global_step - self.warmup_steps, 0))
        return ops.where(global_step < self.warmup_steps, rising, falling)


class Listed(nn.Cell):
    """(steps, peak) -> the rates of those steps, looked up in a list of shares of the peak."""

    def __init__(self, shares: Sequence[float]):
        super().__init__()
        self.shares = ms.Tensor(shares, ms.float32)

    def construct(self, steps, peak):
        return peak * ops.gather(self.shares, steps, 0)


class Computed(nn.Cell):
    """(steps, peak) -> the rates of those steps, computed by a schedule of shares of the peak."""

    def __init__(self, schedule: LearningRateSchedule):
        super().__init__()
        self.schedule = schedule

    def construct(self, steps, peak):
        return peak * self.schedule(steps)


def warmup_cosine_rates(
    warmup_steps: int, total_steps: int, end: float = 0.0, first: int = 1
) -> nn.Cell:
    """`warmup_cosine`, looked up; `end` is a share of the peak."""
    return Listed(warmup_cosine(1.0, warmup_steps, total_steps, end, first))


def computed_warmup_cosine_rates(
    warmup_steps: int, total_steps: int, end: float = 0.0, first: int = 1
) -> nn.Cell:
    """`WarmUpCosine`, computed."""
    return Computed(WarmUpCosine(1.0, warmup_steps, total_steps, end, first))


def cosine_rates(total_steps: int, end: float = 0.0, each: int = 1) -> nn.Cell:
    """`cosine`, looked up."""
    return Listed(cosine(1.0, total_steps, end, each))


def computed_cosine_rates(total_steps: int, end: float = 0.0) -> nn.Cell:
    """`nn.CosineDecayLR`, computed."""
    return Computed(nn.CosineDecayLR(end, 1.0, total_steps))


def step_decay_rates(every: int, factor: float, total_steps: int) -> nn.Cell:
    """`step_decay`, looked up."""
    return Listed(step_decay(1.0, every, factor, total_steps))


def computed_step_decay_rates(every: int, factor: float, total_steps: int) -> nn.Cell:  # noqa: ARG001
    """`nn.ExponentialDecayLR` in stairs, computed."""
    return Computed(nn.ExponentialDecayLR(1.0, factor, every, is_stair=True))


def milestone_rates(steps: tuple[int, ...], factor: float, total_steps: int) -> nn.Cell:
    """`milestones`, looked up."""
    return Listed(milestones(1.0, steps, factor, total_steps))


def cosine_rates_by_epoch(total_steps: int, end: float = 0.0) -> nn.Cell:
    """The mistake: `nn.cosine_decay_lr` with five steps to an epoch, where every step counts."""
    return cosine_rates(total_steps, end, each=5)


def cosine_rates_of_the_warmup(total_steps: int, end: float = 0.0) -> nn.Cell:
    """The mistake: the guide's call, whose last argument is the length of a warm-up.

    It is that of the decay, in epochs: the rate is at its end for the rest of the run.
    """
    return Listed(nn.cosine_decay_lr(end, 1.0, total_steps, 5, 5))


def rates_from_zero(
    warmup_steps: int, total_steps: int, end: float = 0.0, first: int = 1
) -> nn.Cell:
    """The mistake: `nn.WarmUpLR` by the global step, so that the first update is none."""
    return computed_warmup_cosine_rates(warmup_steps, total_steps, end, first - 1)

"""One rank of a data parallel training in MindSpore."""

from typing import Any

import mindspore as ms
from mindspore import communication, nn

from equivalence.distributed.rank import RankJob, RankSample, demand_step
from equivalence.host.devices import CPU
from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_cells import array
from equivalence.sides.mindspore_training import MindSporeTraining
from equivalence.structure import weights
from equivalence.structure.weights import Slot


def communicate() -> None:
    """Join the other ranks; the scheduler serves them here until they leave."""
    communication.init()


def leave() -> None:
    """Leave the other ranks."""
    communication.release()


def train(job: RankJob, sample: RankSample) -> Trace:
    """The trace of this rank, by the reference's names."""
    training = RankTraining(job.target, job.arguments, job.execution, CPU, job.steps)
    slots = {name: Slot(tuple(shape), kind) for name, (shape, kind) in job.slots.items()}
    partners = weights.pair(slots, training.slots(), job.rename)
    names = ("network", "optimizer", "averaged", "batches")
    demand_step(job.target, training.cell_of_step, names)
    sample.loader = training.cell_of_step.batches
    return training.run(Feed(sample, partners, "train"))


class RankTraining(MindSporeTraining):
    """A training whose trace also has the gradients of its first update.

    Its step keeps the gradients of the latest update as `averaged`, in the order of
    `optimizer.parameters`.
    """

    @property
    def cell_of_step(self) -> nn.Cell:
        """The training step."""
        return self._step

    def _held(self) -> dict[str, ms.Tensor]:
        return {}  # not compared, see `rank_torch`

    def _run(self, feed: Feed) -> Trace:
        step = self._step
        self._step = watched = FirstGradients(step)
        trace = super()._run(feed)
        names = {id(parameter): name for name, parameter in self.parameters.items()}
        own = {
            names[id(parameter)]: values
            for parameter, values in zip(step.optimizer.parameters, watched.first, strict=True)
        }
        gradients = feed.partners.restored(own)
        return {tensors.parameter_gradient(n): values for n, values in gradients.items()} | trace


class FirstGradients:
    """Calls a training step, and keeps the gradients of its first update as `first`."""

    def __init__(self, step: nn.Cell):
        self.step = step
        self.first: list[Any] = []

    def __call__(self, *batch: Any) -> Any:
        result = self.step(*batch)
        self.first = self.first or [array(gradient) for gradient in self.step.averaged]
        return result

    def set_train(self, mode: bool) -> None:
        """Set the step's training flag."""
        self.step.set_train(mode)

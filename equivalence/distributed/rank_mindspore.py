"""Data parallel training in MindSpore: one rank of it."""

from typing import Any

from mindspore import communication, nn

from equivalence.distributed.rank import Job, RankSample
from equivalence.host.devices import CPU
from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.sides import weights
from equivalence.sides.mindspore_network import MindSporeTraining, _array
from equivalence.sides.weights import Slot


def communicate() -> None:
    """Join the other ranks; of the scheduler, serve them until they part."""
    communication.init()


def leave() -> None:
    """Part from the other ranks."""
    communication.release()


def train(job: Job, sample: RankSample) -> Trace:
    """The trace of this rank, by the reference's names."""
    training = RankTraining(job.target, job.arguments, job.execution, CPU, job.steps)
    slots = {name: Slot(tuple(shape), kind) for name, (shape, kind) in job.slots.items()}
    partners = weights.pair(slots, training.slots(), job.rename)
    sample.loader = training.cell_of_step.batches
    return training.run(sample, partners, "train", {})


class RankTraining(MindSporeTraining):
    """A training whose trace has the gradients of its first update, too.

    Its step keeps those of the latest update as `averaged`, in the order of
    `optimizer.parameters`.
    """

    @property
    def cell_of_step(self) -> nn.Cell:
        """The training step."""
        return self._step

    def _run(self, sample, partners, phase, outputs) -> Trace:
        step = self._step
        self._step = watched = FirstGradients(step)
        recorded = super()._run(sample, partners, phase, outputs)
        names = {id(parameter): partners[name] for name, parameter in self.parameters.items()}
        gradients = {
            tensors.parameter_gradient(names[id(parameter)]): values
            for parameter, values in zip(step.optimizer.parameters, watched.first, strict=True)
        }
        return gradients | recorded


class FirstGradients:
    """A training step that is called, and the gradients of its first update."""

    def __init__(self, step: nn.Cell):
        self.step, self.first = step, []

    def __call__(self, *batch: Any) -> Any:
        result = self.step(*batch)
        self.first = self.first or [_array(gradient) for gradient in self.step.averaged]
        return result

    def set_train(self, mode: bool) -> None:
        """Of the step."""
        self.step.set_train(mode)

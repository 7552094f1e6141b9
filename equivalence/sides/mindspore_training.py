"""MindSpore's training steps behind the verbs of `mindspore_network`."""

import weakref
from collections.abc import Collection, Mapping
from typing import Any

import mindspore as ms
from mindspore import nn

from equivalence import nesting
from equivalence.errors import DeclarationError
from equivalence.host.devices import Place
from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.randomness.mindspore_draws import MindSporeDraws
from equivalence.sample import Sample, moved
from equivalence.sides.mindspore_cells import discard_graphs, empty
from equivalence.sides.mindspore_network import MindSporeNetwork, _array
from equivalence.sides.mindspore_pullback import called
from equivalence.structure.weights import Partners
from equivalence.targets import build


class MindSporeTraining(MindSporeNetwork):
    """A MindSpore training step and its network. The step is built anew for every run.

    steps: how many times the step is called.
    noted: the steps, from 1, after which the trace gets the updates of all weights.
    step: the training step, a cell; `cell` is its network.
    """

    def __init__(
        self,
        target: str,
        arguments: Mapping[str, Any],
        execution: str,
        place: Place,
        steps: int,
    ):
        self.execution, self.steps = execution, steps
        self.draws = MindSporeDraws()
        self.noted: Collection[int] = (1, steps)
        self._built = target, arguments
        self._release: list[weakref.finalize] = []
        self._settle(place)
        self._renew()

    def _renew(self) -> None:
        for release in self._release:
            release()
        target, arguments = self._built
        step = build(target, arguments)
        network = getattr(step, "network", None)
        if not isinstance(step, nn.Cell) or not isinstance(network, nn.Cell):
            raise DeclarationError(
                f"{target!r} builds a {type(step).__name__}, not a training step: a cell that "
                "makes one update when called, with the trained cell as `network`"
            )
        self._take(network)
        self.step = self._step = step
        self._spent = False
        self._release = [
            weakref.finalize(self, empty, list(step.get_parameters())),
            weakref.finalize(self, discard_graphs, step),
        ]
        for release in self._release:
            release.atexit = False

    def _load(self, sample: Sample, partners: Partners) -> None:
        if self._spent:
            # An optimizer that has run keeps its state, also where its parameters get new values:
            # MindSpore compiles it, in PyNative mode too.
            self._renew()
        super()._load(sample, partners)

    def _run(self, sample, partners, phase, _outputs) -> Trace:
        self._spent = True
        self._set_phase(phase)
        call = called(self._step, sample.arguments)
        trace: Trace = {}
        for step in range(1, self.steps + 1):
            result = call(*(ms.Tensor(values) for values in sample.inputs(step)))
            loss, *_ = nesting.named(result).values()
            trace[tensors.loss(step)] = _array(loss)
            if step in self.noted:
                trained = {n: p.asnumpy() for n, p in self.parameters.items() if p.requires_grad}
                for name, values in partners.restored(trained).items():
                    trace[tensors.update(step, name)] = moved(values, sample, name)
        if call is not self._step:
            discard_graphs(call)
        return trace | self._buffers(partners)

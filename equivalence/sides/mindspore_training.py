"""MindSpore's training steps behind the verbs of `mindspore_network`."""

import contextlib
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.experimental import optim

from equivalence import held, nesting
from equivalence.declare.renames import JOIN, has_run
from equivalence.errors import DeclarationError, WeightError
from equivalence.handed import HandedGradients
from equivalence.held import TensorGroup
from equivalence.host.devices import Place
from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.randomness.mindspore_draws import MindSporeDraws
from equivalence.sample import moved
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_cells import array, empty, tensor
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.sides.mindspore_pullback import called
from equivalence.stream.mindspore_stream import calling, discard_graphs
from equivalence.structure import mindspore_steps
from equivalence.structure.weights import (
    Partners,
    comparable,
    plain,
    reference_name,
    renamed,
)
from equivalence.targets import build
from equivalence.words import nearest

OPTIMIZERS = (nn.Optimizer, optim.Optimizer)


class MindSporeTraining(MindSporeNetwork):
    """A MindSpore training step and its network. The step is built anew for every run.

    steps: how many times the step is called.
    noted: the steps, from 1, after which the trace gets the updates of all weights.
    step: the training step, a cell; `cell` is its network.
    begun: the rates of its optimisers before the first call.
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
        self.noted = (1, steps)
        self._built = target, arguments
        self._release: list[weakref.finalize] = []
        self._settle(place)
        self._renew()

    def _renew(self) -> None:
        for release in self._release:
            release()
        target, arguments = self._built
        step = self._with_kernels(lambda: build(target, arguments, stays=True))
        network = getattr(step, "network", None)
        if not isinstance(step, nn.Cell) or not isinstance(network, nn.Cell):
            raise DeclarationError(
                f"{target!r} builds a {type(step).__name__}, not a training step: a cell that "
                "makes one update when called, with the trained cell as `network`"
            )
        self._take(network)
        self.step = self._step = step
        self._spent, self.begun = False, mindspore_steps.rates(step)
        self._copies = self._copied()
        self._release = [
            weakref.finalize(self, empty, list(step.get_parameters())),
            weakref.finalize(self, discard_graphs, step),
        ]
        for release in self._release:
            release.atexit = False

    def _forget(self) -> None:
        """Nothing to do: a step that has run is built anew."""

    @property
    def root(self) -> nn.Cell:
        """The cell that is asked for a mode."""
        return self.step

    def _ask(self, training: bool) -> None:
        """Ask the step for a mode; one that has no `set_train` of its own asks no network."""
        super()._ask(training)
        if type(self.step).set_train is nn.Cell.set_train:
            self.cell.set_train(training)

    def _load(self, feed: Feed) -> None:
        if self._spent:
            # An optimizer that has run keeps its state, also where its parameters get new values:
            # MindSpore compiles it, in PyNative mode too.
            self._renew()
        super()._load(feed)
        kept, weights = self._held(), self._all()
        _demand_used(feed.partners.rename, (*weights, *kept))
        for group in self._copies:
            for name, weight in group.weights.items():
                kept[name].assign_value(ms.Tensor(array(weights[weight])))

    def _run(self, feed: Feed) -> Trace:
        sample, partners = feed.sample, feed.partners
        self._spent = True
        self._set_phase(feed.phase)
        call = called(self._step, sample.arguments)
        if self._attributes is not None:
            self._attributes.begin()
        trace: Trace = {}
        handed = HandedGradients(sum(p.size for p in self.parameters.values() if p.requires_grad))
        for step in range(1, (self.steps or 0) + 1):
            with self._watched(), self._handing(handed):
                result = call(*(tensor(values) for values in sample.inputs(step)))
            loss, *_ = nesting.named(result).values()
            trace[tensors.loss(step)] = array(loss)
            if step in self.noted:
                trained = {n: array(p) for n, p in self.parameters.items() if p.requires_grad}
                for name, values in partners.restored(trained).items():
                    trace[tensors.update(step, name)] = moved(values, sample, name)
        if call is not self._step:
            discard_graphs(call)
        state = self._state(partners) | self._written(partners) | handed.trace(partners.restored)
        return trace | self._buffers(partners) | state

    @contextlib.contextmanager
    def _handing(self, handed: HandedGradients) -> Iterator[None]:
        """A context in which it is noted what optimisers of MindSpore get in PyNative mode.

        One that was told of a loss scale divides by it.
        """
        names = {id(each): name for name, each in self.parameters.items()}

        def look(cell: nn.Cell, args: tuple) -> None:
            ours = type(cell).__module__.startswith("mindspore.")
            if isinstance(cell, OPTIMIZERS) and ours and not _centralises(cell):
                scale = np.float32(getattr(cell, "loss_scale", 1.0))
                given = [each for _, each in nesting.leaves(args)]
                pairs = zip(cell.parameters, given, strict=False)
                handed.note(
                    {
                        names[id(weight)]: array(gradient) / scale
                        for weight, gradient in pairs
                        if isinstance(gradient, ms.Tensor) and id(weight) in names
                    }
                )

        if self.execution != "pynative":
            yield
            return
        with calling(look):
            yield

    def _all(self) -> dict[str, ms.Tensor]:
        """All parameters and buffers of the network, by path."""
        return {**self.parameters, **dict(self.cell.named_buffers())}

    def _held(self) -> dict[str, ms.Tensor]:
        """Path -> tensor of what the step keeps beside its network and its optimisers."""
        trained = {n: tuple(p.shape) for n, p in self.parameters.items() if p.requires_grad}
        return held.tensors(self.step, look, [self.cell, *self._all().values()], trained)

    def _groups(self) -> list[TensorGroup]:
        shapes = {name: tuple(values.shape) for name, values in self._all().items()}
        return held.groups(self._held(), shapes)

    def _copied(self) -> list[TensorGroup]:
        """The groups of tensors of the step that are copies of weights when it is built."""
        groups = self._groups()
        sides = (self._held(), self._all()) if groups else ()
        arrays = [{n: array(v) for n, v in each.items()} for each in sides]
        return [group for group in groups if group.copied(*arrays)]

    def _state(self, partners: Partners) -> Trace:
        """What the step keeps, by the reference's names and in its shapes."""
        rename = plain(partners.rename)
        values = {name: comparable(array(v)) for name, v in self._held().items()}
        trace = {tensors.state(reference_name(n, partners.rename)): v for n, v in values.items()}
        for group in self._groups():
            part = renamed(group.part, rename)
            like = {weight: values[name] for name, weight in group.weights.items()}
            for name, restored in partners.restored(like).items():
                path = f"{renamed(group.path, rename)}.{name.removeprefix(part)}"
                trace[tensors.state(path)] = restored
        return trace


def _centralises(optimizer: nn.Cell) -> bool:
    """Whether an optimiser takes the mean of a gradient out of it before it uses it."""
    flags = getattr(optimizer, "group_grad_centralization", [])
    return bool(getattr(optimizer, "grad_centralization", False) or any(flags))


def _demand_used(rename: Mapping[str, str], names: Iterable[str]) -> None:
    """Raise WeightError where a rename finds nothing, neither in the network nor in the step."""
    for old in rename:
        for run in old.split(JOIN):
            if not any(has_run(name, run) for name in names):
                near = nearest(run, {part for name in names for part in name.split(".")})
                raise WeightError(f"rename {old!r} matches no candidate name{near}")


def look(value: object) -> object:
    """What is inside of a value that a step holds, see `held.Look`."""
    if isinstance(value, ms.Tensor):
        return value
    if isinstance(value, nn.Optimizer | optim.Optimizer):
        return None
    if isinstance(value, ms.amp.DynamicLossScaler):  # in PyTorch's words for them
        return {"scale": value.scale_value, "growth_tracker": value.counter}
    if isinstance(value, nn.Cell):
        own = {n: v for n, v in vars(value).items() if n not in _OF_EVERY_CELL}
        return own | dict(value._cells) | dict(value._params) | dict(value._buffers)
    return held.attributes(value)


_OF_EVERY_CELL = frozenset(vars(nn.Cell()))

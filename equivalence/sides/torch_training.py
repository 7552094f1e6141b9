"""PyTorch's training steps behind the verbs of `torch_network`."""

import contextlib
import functools
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import amp, nn, optim
from torch.optim.optimizer import register_optimizer_step_pre_hook

from equivalence import held, nesting
from equivalence.errors import DeclarationError
from equivalence.handed import HandedGradients
from equivalence.held import TensorGroup
from equivalence.host.devices import CPU, Place
from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.randomness.torch_draws import TorchDraws
from equivalence.sample import INTEGER_BUFFERS, AnySample, moved
from equivalence.sides.protocols import Watch
from equivalence.sides.torch_constants import Constants, numbers
from equivalence.sides.torch_modes import SkipInitialisation, on
from equivalence.sides.torch_network import (
    TorchNetwork,
    _array,
    beside,
)
from equivalence.stream.torch_devices import AbsentCuda
from equivalence.structure import torch_steps
from equivalence.structure.weights import comparable
from equivalence.targets import build


class TorchTraining(TorchNetwork):
    """A PyTorch training step and its network. The step is built anew for every run.

    steps: how many times the step is called.
    noted: the steps, from 1, after which the trace gets the updates of all weights.
    step: the training step, a module; `module` is its network.
    """

    def __init__(self, target: str, arguments: Mapping[str, Any], steps: int, place: Place = CPU):
        self.place, self.device = place, beside(place)
        self.draws, self.steps = TorchDraws(), steps
        # In later steps other kinks matter: flips there are part of the training's sensitivity.
        self.settles = steps == 1
        self.noted = (1, steps)
        self.cuda = AbsentCuda()
        self._make = functools.partial(self.cuda.building, lambda: build(target, arguments))
        self._built = target, arguments
        self.renew()
        self.constants = Constants(lambda: self._make().network, self.module)
        self.modes = self._modes()
        self._copies = self._copied()
        self.attributes = self._written()

    def renew(self) -> None:
        """Build the step anew, without the state of a run."""
        with on(self.device), SkipInitialisation():
            self.step = self._make()
        self.module = getattr(self.step, "network", None)
        if not isinstance(self.step, nn.Module) or not isinstance(self.module, nn.Module):
            target, built = self._built[0], type(self.step).__name__
            raise DeclarationError(
                f"{target!r} builds a {built}, not a training step: a module that makes one update "
                "when called, with the trained module as `network`"
            )

    def _ask(self, training: bool) -> None:
        self.step.train(training)
        if all(module is not self.module for module in self.step.modules()):
            self.module.train(training)

    def run(self, sample: AnySample, phase: str, dtype: str, watch: Watch | None = None) -> Trace:
        """Load the sample's weights, and run all steps in `dtype`. watch: a context around them."""
        self._note_precisions(sample, phase)
        self.step.to(self.device, getattr(torch, dtype))
        self._load(sample, phase, dtype)
        before = self._load_held(dtype)
        self._begin()
        trace: Trace = {}
        with (
            self._computing(sample, dtype),
            self.draws.running(self.root),
            self._noting(phase),
            watch or contextlib.nullcontext(),
            self._handed() as handed,
        ):
            for step in range(1, (self.steps or 0) + 1):
                inputs = self._inputs(sample, dtype, step)
                arguments, keywords = sample.arguments.filled(inputs)
                loss, *_ = nesting.named(self.step(*arguments, **keywords)).values()
                trace[tensors.loss(step)] = _array(loss)
                if step in self.noted:
                    for name, parameter in self._trained().items():
                        values = moved(numbers(parameter), sample, name)
                        trace[tensors.update(step, name)] = values
        trace |= self._buffers() | self._state(before) | self._attributes() | handed.trace()
        self.moved = torch_steps.progress(self.step, self.steps or 0)
        self.renew()  # the state of the optimizer must not reach another run
        return trace

    @contextlib.contextmanager
    def _handed(self) -> Iterator[HandedGradients]:
        """A context in which it is noted what optimisers of PyTorch get."""
        trained = self._trained()
        names = {id(parameter): name for name, parameter in trained.items()}
        handed = HandedGradients(sum(each.numel() for each in trained.values()))

        def look(optimizer: optim.Optimizer, *_: object) -> None:
            groups = optimizer.param_groups
            if not type(optimizer).__module__.startswith(optim.__name__) or any(
                group.get("maximize") for group in groups
            ):
                return
            weights = [each for group in groups for each in group["params"]]
            handed.note(
                {
                    names[id(each)]: _array(each.grad)
                    for each in weights
                    if each.grad is not None and not each.grad.is_sparse and id(each) in names
                }
            )

        handle = register_optimizer_step_pre_hook(look)
        try:
            yield handed
        finally:
            handle.remove()

    def _weights(self) -> dict[str, torch.Tensor]:
        """All parameters and buffers of the network, by name."""
        return dict(self.module.named_parameters()) | dict(self.module.named_buffers())

    def _held(self) -> dict[str, torch.Tensor]:
        """Path -> tensor of what the step keeps beside its network and its optimisers."""
        known = [self.module, *self._weights().values()]
        return held.tensors(self.step, look, known, _shapes(self._trained()))

    def _copied(self) -> list[TensorGroup]:
        """The groups of tensors of the step that are copies of weights when it is built."""
        if not held.groups(self._held(), _shapes(self._weights())):
            return []
        with torch.random.fork_rng(), on(self.device):
            self.step = self._make()  # with initial values, which tell a copy from zeros
        self.module = self.step.network
        kept, weights = self._held(), self._weights()
        arrays = [{n: numbers(v) for n, v in each.items()} for each in (kept, weights)]
        groups = held.groups(kept, _shapes(weights))
        self.renew()
        return [group for group in groups if group.copied(*arrays)]

    def _load_held(self, dtype: str) -> dict[str, "_Before"]:
        """Put the tensors of the step into `dtype`, and the weights into copies of them.

        Returns what all of them are now, but for the copies.
        """
        kept = self._held()
        for tensor in kept.values():
            if tensor.is_floating_point():
                tensor.data = tensor.data.to(getattr(torch, dtype))
        weights = self._weights()
        with torch.no_grad():
            for group in self._copies:
                for name, weight in group.weights.items():
                    kept.pop(name).copy_(weights[weight])
        return {name: (tensor, tensor._version, tensor.clone()) for name, tensor in kept.items()}

    def _state(self, before: Mapping[str, "_Before"]) -> Trace:
        """What the step has written; of copies of the network, what is compared of the network."""
        alone = {
            name
            for group in self._copies
            for name, weight in group.weights.items()
            if weight in self.constants or weight.rpartition(".")[2] in INTEGER_BUFFERS
        }
        return {
            tensors.state(name): comparable(_array(values))
            for name, values in self._held().items()
            if name not in alone and not (name in before and _is_still(values, *before[name]))
        }


_Before = tuple[torch.Tensor, int, torch.Tensor]
"""A tensor of a step before a run: itself, how often it was written, and its values."""


def _is_still(now: torch.Tensor, then: torch.Tensor, version: int, values: torch.Tensor) -> bool:
    """Whether a tensor is the one that it was, and nothing has been written into it."""
    return now is then and now._version == version and torch.equal(now, values)


def _shapes(weights: Mapping[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(values.shape) for name, values in weights.items()}


def look(value: object) -> object:
    """What is inside of a value that a step holds, see `held.Look`."""
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, optim.Optimizer | optim.lr_scheduler.LRScheduler):
        return None
    if isinstance(value, amp.GradScaler) and not value.is_enabled():
        return None
    if isinstance(value, amp.GradScaler):  # in MindSpore's words for them, see `torch_steps`
        return {"scale": value._scale, "growth_tracker": value._growth_tracker}
    if isinstance(value, nn.Module):
        own = {n: v for n, v in vars(value).items() if n not in _OF_EVERY_MODULE}
        return own | value._modules | value._parameters | value._buffers
    return held.attributes(value)


_OF_EVERY_MODULE = frozenset(vars(nn.Module()))

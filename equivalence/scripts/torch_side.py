"""What a PyTorch training shows: calls, losses, backward passes, optimisers. Loads torch."""

import contextlib
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import amp, nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn import functional as F
from torch.optim import Optimizer
from torch.optim import optimizer as hooks

from equivalence.distributed import alone
from equivalence.dumps import torch_hooks
from equivalence.errors import of_models
from equivalence.loaders import torch_epochs
from equivalence.nesting import of_kind
from equivalence.randomness import host_draws
from equivalence.randomness.torch_draws import Pinned
from equivalence.scripts import places
from equivalence.scripts.overflow import Overflow, OverflowSeen, inspect
from equivalence.scripts.recording import RunRecorder
from equivalence.scripts.steps import ScriptNetwork
from equivalence.sides.torch_modes import MOVES, as_written
from equivalence.sides.torch_training import look
from equivalence.stream.observer import installed
from equivalence.stream.patches import patched
from equivalence.stream.torch_devices import on_cpu
from equivalence.stream.torch_stream import (
    LOSS,
    Call,
    Observer,
    in_backward,
    traced,
    unseen,
    without_functions,
)
from equivalence.structure.layers import Layer, below
from equivalence.structure.looked_up import reads
from equivalence.structure.settings import in_modes
from equivalence.structure.slots import CONSTANT, STATISTICS, UNSAVED, Slot
from equivalence.structure.torch_settings import settings
from equivalence.structure.torch_steps import of_optimizers
from equivalence.structure.weights import REFERENCE_ONLY

LOSSES = tuple(
    name
    for name in dir(F)
    if not name.startswith("_")
    and (name.endswith("_loss") or "cross_entropy" in name or name == "kl_div")
)
"""Functions of a prediction and a target."""

DRAWS = {
    *(torch.randn, torch.rand, torch.randint, torch.normal, torch.bernoulli, torch.poisson),
    *(torch.randn_like, torch.rand_like, torch.randint_like, torch.multinomial),
    *(torch.Tensor.normal_, torch.Tensor.uniform_, torch.Tensor.bernoulli_),
    *(torch.Tensor.random_, torch.Tensor.exponential_, torch.Tensor.multinomial),
}
"""Functions that draw; what is made of their results is drawn, too."""

ORDERS = {torch.randperm}
"""Functions that draw the order of what is there."""

WRAPPING = ("module", "_orig_mod")
"""Attributes by which a wrapper holds its network."""


class TorchSide:
    """A PyTorch training that is watched.

    own_gradients: whether the gradients of a backward pass are those that it computes, before they
        are averaged over ranks; else those that weights have after it.
    """

    def __init__(self, own_gradients: bool = False) -> None:
        self.own_gradients = own_gradients
        self._updating = 0
        self._inside = self._in_loss = 0
        self._asking = False
        self._roots: dict[int, nn.Module] = {}
        self._paths: dict[int, str] = {}
        self._drawn: set[StorageWeakRef] = set()
        self._initial: set[StorageWeakRef] = set()
        self._computed: set[StorageWeakRef] = set()

    @contextlib.contextmanager
    def watching(self, recorder: RunRecorder, *observers: Any) -> Iterator[None]:
        """A context in which the recorder is told of all that a script does.

        observers: further observers of the run, such as noise.
        """
        self.drawing = Drawing(self._drawn, self._initial, recorder)
        handles = [
            hooks.register_optimizer_step_pre_hook(_before(self, recorder)),
            hooks.register_optimizer_step_post_hook(lambda *_: self._after(recorder)),
        ]
        losses = {name: self._loss(recorder, getattr(F, name)) for name in LOSSES}
        with contextlib.ExitStack() as stack:
            for handle in handles:
                stack.callback(handle.remove)
            stack.enter_context(patched(nn.Module, __call__=self._call(recorder)))
            stack.enter_context(patched(F, **losses))
            given = {"backward": self._backward(recorder), "grad": self._grad(recorder)}
            stack.enter_context(patched(torch.autograd, **given))
            stack.enter_context(patched(amp.GradScaler, scale=_scaling(recorder)))
            stack.enter_context(patched(Optimizer, __init__=places.noting(Optimizer.__init__)))
            stack.enter_context(host_draws.noted(places.but_in(nn.Module, recorder.drawn)))
            stack.enter_context(torch_epochs.noted(recorder.epoch))
            stack.enter_context(torch_epochs.read(recorder.reads))
            stack.enter_context(alone.of_torch(torch.distributed, recorder.note))
            stack.enter_context(as_written())
            stack.enter_context(installed(*self._observers(observers)))
            try:
                yield
            finally:
                recorder.run.pinned = self.drawing.pinned

    def _observers(self, others: tuple) -> tuple:
        """What sees each operator of a run."""
        return (self.drawing, *on_cpu(), *others)

    # What a recorder asks.

    def array(self, value: Any) -> Any:
        """A copy of a tensor; None for what is no tensor."""
        if not isinstance(value, torch.Tensor):
            return None
        with without_functions(), unseen():
            return torch_hooks.array(value)

    def like(self, values: np.ndarray, value: torch.Tensor) -> torch.Tensor:
        """A tensor of these values, with the dtype of another."""
        return torch.from_numpy(np.array(values)).to(value.device, value.dtype)

    def put(self, weight: torch.Tensor, values: np.ndarray) -> None:
        """Set a weight."""
        with torch.no_grad(), without_functions(), unseen():
            weight.data.copy_(torch.from_numpy(np.array(values)))

    def weights(self, network: nn.Module) -> dict[str, torch.Tensor]:
        """Name -> tensor of all parameters and buffers, but for what counts steps."""
        found = dict(network.named_parameters()) | dict(network.named_buffers())
        return {n: w for n, w in found.items() if n.rpartition(".")[2] not in REFERENCE_ONLY}

    def network(self, network: nn.Module) -> ScriptNetwork:
        """What a network is."""
        saved = network.state_dict(keep_vars=True)
        slots = {}
        for name, weight in self.weights(network).items():
            if isinstance(weight, nn.Parameter):
                kind = "parameter" if weight.requires_grad else "buffer"
            elif name.rpartition(".")[2] in STATISTICS:
                kind = "buffer"
            else:
                kind = CONSTANT if name in saved else UNSAVED
            slots[name] = Slot(tuple(weight.shape), kind)
        names = [name for name, slot in slots.items() if not slot.is_constant]
        layers = [
            Layer.of(
                path,
                in_modes(settings(module), ((module.training,), (False,))),
                below(path, names),
            )
            for path, module in network.named_modules()
        ]
        by_mode = reads({type(each) for each in network.modules()}, "training", nn.Module)
        random = self._drawn | self._initial
        drawn = frozenset(n for n, b in network.named_buffers() if _storage(b) in random)
        name = type(network).__name__
        return ScriptNetwork(name, slots, {}, layers, reads_mode=by_mode, drawn=drawn)

    def look(self, value: Any) -> Any:
        """What is inside of a value, see `held.Look`."""
        return look(value)

    def is_drawn(self, value: torch.Tensor) -> bool:
        """Whether the script has drawn a tensor, or made it of what it has drawn."""
        return _storage(value) in self._drawn

    def is_computed(self, value: torch.Tensor) -> bool:
        """Whether a network has computed a tensor."""
        return value.requires_grad or _storage(value) in self._computed

    # What stands for functions of PyTorch.

    def is_within(self) -> bool:
        """An optimiser begins to update; whether another one has called it, as one of parts."""
        self._updating += 1
        return self._updating > 1

    def _after(self, recorder: RunRecorder) -> None:
        self._updating -= 1
        if not self._updating:
            recorder.updated()

    def _call(self, recorder: RunRecorder) -> Callable[..., Any]:
        call = nn.Module.__call__

        def __call__(module: nn.Module, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if not self._is_root(module) or in_backward():
                path = self._paths.get(id(module))
                if path is None or in_backward():
                    return call(module, *args, **kwargs)
                return recorder.layer(path, (args, kwargs), lambda: call(module, *args, **kwargs))
            (args, kwargs), noted = recorder.enter(
                module, (args, kwargs), torch.is_grad_enabled(), module.training
            )
            self._inside += 1
            if recorder.looked_into:
                self._paths = {id(each): path for path, each in module.named_modules() if path}
            try:
                outputs = recorder.answer(
                    module, (args, kwargs), lambda: call(module, *args, **kwargs)
                )
            finally:
                self._inside -= 1
            for value in of_kind(outputs, torch.Tensor):
                self._computed.add(_storage(value))
            if noted:
                with without_functions():
                    recorder.leave(noted, outputs)
            return outputs

        return __call__

    def _is_root(self, module: nn.Module) -> bool:
        """Whether a module is a network that the script calls."""
        if self._inside:
            return False
        if id(module) in self._roots:
            return True
        if next(module.parameters(), None) is None:
            return False
        children = dict(module.named_children())
        if next(module.parameters(recurse=False), None) is None:
            inner = [
                each for each in children.values() if next(each.parameters(), None) is not None
            ]
            wraps = any(isinstance(each, LOSS) for each in children.values())
            if len(inner) == 1 and (wraps or {*children} <= {*WRAPPING}):
                return False  # it is the network within that is called next
        self._roots[id(module)] = module
        return True

    def _loss(self, recorder: RunRecorder, function: Callable[..., Any]) -> Callable[..., Any]:
        def loss(input: Any, target: Any = None, *args: Any, **kwargs: Any) -> Any:
            if self._in_loss or self._inside or target is None or not _is_trained(input):
                return function(input, target, *args, **kwargs)
            target = recorder.target(target)
            self._in_loss += 1
            try:
                return function(input, target, *args, **kwargs)
            finally:
                self._in_loss -= 1

        return loss

    def _backward(self, recorder: RunRecorder) -> Callable[..., Any]:
        backward = torch.autograd.backward

        def standing(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            if self._asking:
                return backward(tensors, *args, **kwargs)
            for value in of_kind(tensors, torch.Tensor):
                recorder.loss(self.array(value) if recorder.multiplied is None else None)
            if self.own_gradients:
                with self._own() as found, self._once():
                    result = backward(tensors, *args, **kwargs)
                recorder.gradients(found, accumulate=True)
                return result
            with self._once():
                result = backward(tensors, *args, **kwargs)
            recorder.gradients(self._of_weights(), accumulate=False)
            return result

        return standing

    def _grad(self, recorder: RunRecorder) -> Callable[..., Any]:
        grad = torch.autograd.grad

        def standing(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            if self._asking:
                return grad(outputs, inputs, *args, **kwargs)
            with self._once():
                found = grad(outputs, inputs, *args, **kwargs)
            asked = [inputs] if isinstance(inputs, torch.Tensor) else [*inputs]
            if all(isinstance(each, nn.Parameter) for each in asked):
                for value in of_kind(outputs, torch.Tensor):
                    recorder.loss(self.array(value))
                pairs = zip(asked, found, strict=True)
                arrays = {id(w): self.array(g) for w, g in pairs if g is not None}
                recorder.gradients(arrays, accumulate=True)
            return found

        return standing

    @contextlib.contextmanager
    def _once(self) -> Iterator[None]:
        """A context for a call that PyTorch hands to each mode, which calls the function anew."""
        self._asking = True
        try:
            yield
        finally:
            self._asking = False

    @contextlib.contextmanager
    def _own(self) -> Iterator[dict[int, np.ndarray]]:
        """A context that gives the gradients that a backward pass computes for each weight."""
        found: dict[int, np.ndarray] = {}

        def keep(weight: nn.Parameter) -> Callable[[torch.Tensor], None]:
            def kept(gradient: torch.Tensor) -> None:
                found[id(weight)] = self.array(gradient)

            return kept

        weights = {id(w): w for each in self._roots.values() for w in each.parameters()}
        handles = [w.register_hook(keep(w)) for w in weights.values() if w.requires_grad]
        try:
            yield found
        finally:
            for handle in handles:
                handle.remove()

    def _of_weights(self) -> dict[int, np.ndarray]:
        return {
            id(weight): self.array(weight.grad)
            for network in self._roots.values()
            for weight in network.parameters()
            if weight.grad is not None
        }


class Drawing(Pinned):
    """Pins dropouts, and notes which tensors a script draws.

    drawn: the storages of these. initial: of those that a layer of its own is made with.
    pinned: how many draws of a dropout keep everything.
    """

    def __init__(
        self,
        drawn: set[StorageWeakRef],
        initial: set[StorageWeakRef],
        recorder: RunRecorder,
    ):
        self.pinned = 0
        super().__init__(self._note)
        self.drawn, self.initial, self.recorder = drawn, initial, recorder

    def _note(self, *_: Any) -> None:
        self.pinned += 1

    def after(self, call: Call, result: Any) -> Any:
        """Note what is drawn, and what is made of it; a weight that is initialised is none."""
        order = call.function in ORDERS
        drawing = (order or call.function in DRAWS) and not host_draws.by_loader(sys._getframe(1))
        within = (drawing or _holds(self.initial, call)) and places.constructs(nn.Module)
        if within:
            _add(self.initial, result)
        told = drawing and not within
        if told and isinstance(result, torch.Tensor) and not isinstance(result, nn.Parameter):
            handed = self.recorder.drawn(call.function.__name__, result)
            if handed is not result:
                with torch.no_grad(), without_functions(), unseen():
                    result.copy_(handed)
        if (told and not order) or _holds(self.drawn, call):
            _add(self.drawn, result)
        return result


def _holds(storages: set[StorageWeakRef], call: Call) -> bool:
    """Whether any of the tensors that a call gets is in these."""
    given = of_kind((call.args, call.kwargs), torch.Tensor) if storages else []
    return any(_storage(each) in storages for each in given)


def _add(storages: set[StorageWeakRef], result: Any) -> None:
    """Add the storages of what a call gives, but for weights and what is made of these."""
    storages.update(
        _storage(each)
        for each in of_kind(result, torch.Tensor)
        if not isinstance(each, nn.Parameter) and not each.requires_grad
    )


class StepWatch(Observer):
    """Looks at the operators of a step, see `OverflowSeen`."""

    slot = "calls"

    def __init__(self, recorder: RunRecorder, overflow: OverflowSeen):
        self.recorder, self.found = recorder, overflow

    def open(self) -> contextlib.AbstractContextManager:
        """The mode that tells of operators; autograd then keeps the lines of the forward pass."""
        stack = contextlib.ExitStack()
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(torch.autograd.set_detect_anomaly(True, check_nan=False))
        stack.enter_context(super().open())
        return stack

    def after(self, call: Call, result: Any) -> Any:
        """Look at what an operator gives; what only moves numbers makes none."""
        found, layer = self.found, self.recorder.layer_now
        if not self.recorder.is_looked_into or call.name.rstrip("_") in MOVES:
            return result
        with unseen(), without_functions():
            if not in_backward():
                found.note(layer, result, _states)
            if found.first:
                return result
            told = inspect(call.name, (call.args, call.kwargs), result, _states)
        if told and in_backward():
            found.first = Overflow(f"{told} in the backward pass", _forward_line())
        elif told:
            found.first = Overflow(told + (f" in {layer}" if layer else ""), places.here())
        return result


def _states(values: Any) -> Iterator[tuple[str, bool, bool]]:
    for value in of_kind(values, torch.Tensor):
        if value.is_floating_point() and value.layout == torch.strided:
            name = str(value.dtype).removeprefix("torch.")
            yield name, bool(value.isnan().any()), bool(value.isinf().any())


def _forward_line() -> str:
    """The line of the script whose gradient is computed; that of the backward pass otherwise."""
    for told in reversed(traced()):
        if (found := _TRACED.search(told)) and of_models(found[1]):
            return places.line(found[1], int(found[2]))
    return places.here()


_TRACED = re.compile(r'File "([^"]+)", line (\d+)')


def _before(side: TorchSide, recorder: RunRecorder) -> Callable[..., Any]:
    def note(optimizer: Optimizer) -> None:
        weights = (weight for group in optimizer.param_groups for weight in group["params"])
        recorder.update(
            optimizer,
            {id(each): side.array(each.grad) for each in weights if each.grad is not None},
            lambda names: of_optimizers([optimizer], names),
        )

    def before(optimizer: Optimizer, args: tuple, kwargs: dict) -> Any:
        if side.is_within():
            return None
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if closure is None:
            note(optimizer)
            return None
        calls: list[None] = []

        def noted() -> Any:
            """The closure, whose gradients are those that the optimiser gets."""
            loss = closure()
            calls.append(None)
            if len(calls) == 1:
                note(optimizer)
            return loss

        return (args[0], noted, *args[2:]), {n: v for n, v in kwargs.items() if n != "closure"}

    return before


def _scaling(recorder: RunRecorder) -> Callable[..., Any]:
    scale = amp.GradScaler.scale

    def scaled(self: amp.GradScaler, outputs: Any) -> Any:
        found = scale(self, outputs)
        for value in of_kind(outputs, torch.Tensor):
            recorder.loss(torch_hooks.array(value))
        recorder.scaled(float(self.get_scale()))
        return found

    return scaled


def _is_trained(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _storage(value: torch.Tensor) -> Any:
    """What tensors share that are views of one; of a sparse one, what no other has."""
    dense = value.layout == torch.strided and value.device.type != "meta"
    return StorageWeakRef(value.untyped_storage()) if dense else object()

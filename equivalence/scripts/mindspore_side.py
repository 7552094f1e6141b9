"""What a MindSpore training shows: calls, losses, gradients, optimisers. Loads MindSpore.

In PyNative mode Python calls every cell, and all of a step is seen, also within `TrainOneStepCell`
and `Model.train`. Of a step that is compiled, what goes in and comes out, and the weights.
"""

import contextlib
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import mint, nn, ops
from mindspore.experimental import optim
from mindspore.ops import function
from mindspore.ops.function import nn_func
from mindspore.train import amp

from equivalence.distributed import alone
from equivalence.host import environment
from equivalence.loaders import mindspore_epochs
from equivalence.nesting import of_kind
from equivalence.randomness import host_draws
from equivalence.randomness.mindspore_draws import Pinned
from equivalence.scripts import places
from equivalence.scripts.overflow import Overflow, OverflowSeen, inspect
from equivalence.scripts.recording import RunRecorder
from equivalence.scripts.steps import SET, ScriptNetwork
from equivalence.sides.mindspore_cells import array
from equivalence.sides.mindspore_training import look
from equivalence.stand_ins import loss_scales
from equivalence.stream import mindspore_stream
from equivalence.stream.mindspore_stream import (
    CAST_TO_HALF,
    Call,
    Observer,
    differentiating,
    requires_gradients,
)
from equivalence.stream.observer import installed
from equivalence.stream.patches import patched
from equivalence.structure.layers import Layer
from equivalence.structure.looked_up import reads
from equivalence.structure.mindspore_settings import made_by, settings, wrapped
from equivalence.structure.mindspore_steps import of_optimizer
from equivalence.structure.settings import in_modes, plain
from equivalence.structure.slots import CONSTANT, Slot

GRAPH = (
    "graph mode: of a compiled step only its loss and the weights after it are seen, not its "
    "outputs and gradients; --execution pynative shows all"
)

OPTIMIZERS = (nn.Optimizer, optim.Optimizer)

SCALERS = (ms.amp.DynamicLossScaler, ms.amp.StaticLossScaler)


class MindSporeSide:
    """A MindSpore training that is watched.

    eager: whether graph mode and `jit` are left out, so that all of a step is seen.
    single: the paths of cells that compute in float32, whatever the script asks for.
    """

    def __init__(self, eager: bool = False, single: Collection[str] = ()) -> None:
        self.eager, self.single = eager, single
        self._inside = self._in_loss = self._forward = self._updating = 0
        self._drawing = False
        self._cells: list[nn.Cell] = []
        self._roots: dict[int, nn.Cell] = {}
        self._paths: dict[int, str] = {}
        self._computed: dict[int, ms.Tensor] = {}
        self._set: dict[int, str] = {}

    @contextlib.contextmanager
    def watching(self, recorder: RunRecorder, *observers: Any) -> Iterator[None]:
        """A context in which the recorder is told of all that a script does.

        observers: further observers of the run.
        """
        self.recorder = recorder
        pinning = Pinning()
        owners = (ops, function, nn_func, mint, mint.nn.functional)
        with contextlib.ExitStack() as stack:
            stack.callback(mindspore_stream.clear)
            environment.launch_synchronously()
            stack.enter_context(patched(nn.Cell, __call__=self._call(recorder)))
            stack.enter_context(patched(ms.Parameter, set_data=self._setting()))
            for owner in owners:
                losses = {n: self._loss(recorder, getattr(owner, n)) for n in _losses(owner)}
                stack.enter_context(patched(owner, **losses))
                draws = {n: self._draw(recorder, n, getattr(owner, n)) for n in _draws(owner)}
                stack.enter_context(patched(owner, **draws))
            for scaler in SCALERS:
                stack.enter_context(patched(scaler, scale=_scaling(recorder, scaler.scale)))
            for owner in (ms.amp, amp) if self.single else ():
                levelled = self._levelled(owner.auto_mixed_precision)
                stack.enter_context(patched(owner, auto_mixed_precision=levelled))
            for base in OPTIMIZERS:
                stack.enter_context(patched(base, __init__=places.noting(base.__init__)))
            stack.enter_context(host_draws.noted(places.but_in(nn.Cell, recorder.drawn)))
            stack.enter_context(self._differentiating(recorder))
            stack.enter_context(mindspore_epochs.handed(recorder))
            stack.enter_context(alone.of_mindspore(ms.communication, recorder.note))
            stack.enter_context(loss_scales.checking())
            if self.eager:
                stack.enter_context(_without_graphs())
            stack.enter_context(installed(*self._observers((pinning, *observers))))
            try:
                yield
            finally:
                recorder.run.pinned = pinning.pinned

    def _observers(self, wanted: tuple) -> tuple:
        """What sees each operator of a run."""
        return wanted

    # What a recorder asks.

    def array(self, value: Any) -> Any:
        """A copy of a tensor; None for what is no tensor."""
        return array(value) if isinstance(value, ms.Tensor) else None

    def like(self, values: np.ndarray, value: ms.Tensor) -> ms.Tensor:
        """A tensor of these values in the place of another, with its dtype."""
        return ms.Tensor(np.array(values), value.dtype)

    def put(self, weight: ms.Tensor, values: np.ndarray) -> None:
        """Set a weight."""
        weight.assign_value(ms.Tensor(np.array(values), weight.dtype))

    def weights(self, network: nn.Cell) -> dict[str, ms.Tensor]:
        """Name -> tensor of all parameters and buffers, by their places in the network."""
        return dict(network.parameters_and_names()) | dict(network.named_buffers())

    def slots(self, network: nn.Cell) -> dict[str, Slot]:
        """The weights of a network, by their places in it."""
        slots = {
            name: Slot(tuple(w.shape), "parameter" if w.requires_grad else "buffer")
            for name, w in network.parameters_and_names()
        }
        return slots | {n: Slot(tuple(b.shape), CONSTANT) for n, b in network.named_buffers()}

    def network(self, network: nn.Cell) -> ScriptNetwork:
        """What a network is."""
        slots = self.slots(network)
        layers = [
            Layer.of(
                path,
                in_modes(settings(cell), ((wrapped(cell).training,), (False,))),
                frozenset(
                    n
                    for n, s in slots.items()
                    if n.startswith(f"{path}." if path else "") and not s.is_constant
                ),
                made_by(cell),
            )
            for path, cell in network.cells_and_names()
        ]
        kinds = {type(cell) for _, cell in network.cells_and_names()}
        by_mode = reads(kinds, "training", nn.Cell)
        return ScriptNetwork(type(network).__name__, slots, {}, layers, reads_mode=by_mode)

    def look(self, value: Any) -> Any:
        """What is inside of a value, see `held.Look`."""
        return look(value)

    def is_drawn(self, value: ms.Tensor) -> bool:  # noqa: ARG002
        """False: it is the reference's script that tells what is drawn."""
        return False

    def is_computed(self, value: ms.Tensor) -> bool:
        """Whether a network has computed a tensor."""
        return id(value) in self._computed

    # What stands for functions of MindSpore.

    def _call(self, recorder: RunRecorder) -> Callable[..., Any]:
        call = nn.Cell.__call__

        def __call__(cell: nn.Cell, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if isinstance(cell, OPTIMIZERS):
                self._updating += 1
                try:
                    return self._update(recorder, cell, call, args, kwargs)
                finally:
                    self._updating -= 1
            if isinstance(cell, nn.LossBase) and not self._inside and not self._in_loss:
                return self._loss(recorder, lambda *a, **k: call(cell, *a, **k))(*args, **kwargs)
            if not self._cells and _is_step(cell) and (scale := _scale_of(cell)):
                recorder.scaled(scale, multiplied=False)
                if isinstance(cell, nn.TrainOneStepWithLossScaleCell):
                    loss_scales.note(recorder.note)
            if not self._cells and _is_step(cell) and _is_graph():
                return self._compiled(recorder, cell, call, args, kwargs)
            if not self._cells and _is_step(cell):
                # What PyNative mode has recorded of a network, it finds again by what it was given.
                args, kwargs = recorder.hand((args, kwargs))
            self._cells.append(cell)
            try:
                if not self._is_root(cell, args):
                    path = self._paths.get(id(cell))
                    if path is None:
                        return call(cell, *args, **kwargs)
                    return recorder.layer(path, (args, kwargs), lambda: call(cell, *args, **kwargs))
                return self._of_root(recorder, cell, call, args, kwargs)
            finally:
                self._cells.pop()

        return __call__

    def _of_root(
        self,
        recorder: RunRecorder,
        cell: nn.Cell,
        call: Callable[..., Any],
        args: tuple,
        kwargs: dict,
    ) -> Any:
        """The call of a network."""
        asked = any(each.requires_grad for each in self._cells)
        differentiated = bool(self._forward or asked or requires_gradients())
        (args, kwargs), noted = recorder.enter(cell, (args, kwargs), differentiated, cell.training)
        self._inside += 1
        if recorder.looked_into:
            self._paths = {id(each): path for path, each in cell.cells_and_names() if path}
        try:
            outputs = recorder.answer(cell, (args, kwargs), lambda: call(cell, *args, **kwargs))
        finally:
            self._inside -= 1
        for value in of_kind(outputs, ms.Tensor):
            self._computed[id(value)] = value
        if noted:
            recorder.leave(noted, outputs)
        return outputs

    def _is_root(self, cell: nn.Cell, args: tuple) -> bool:
        """Whether a cell is a network that the script calls; a rate is a cell, too."""
        if self._inside or self._in_loss or self._updating:
            return False
        if id(cell) not in self._roots and self._is_network(cell, args):
            self._roots[id(cell)] = cell
            self._keep_single(cell)
        return id(cell) in self._roots

    def _keep_single(self, network: nn.Cell) -> None:
        """Let the cells that are asked for compute in float32."""
        for path, cell in network.cells_and_names() if self.single else ():
            if path in self.single:
                cell.add_flags(fp16=False, bf16=False, fp32=True)
                if isinstance(cell, CAST_TO_HALF):
                    cell.dtype = ms.float32

    def _levelled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`auto_mixed_precision`, which keeps what is in float32 before it at some levels."""

        def auto_mixed_precision(network: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(network, nn.Cell):
                self._keep_single(network)
            return function(network, *args, **kwargs)

        return auto_mixed_precision

    def _is_network(self, cell: nn.Cell, args: tuple) -> bool:
        """Whether a cell is a network, and not what holds one with its loss or its optimiser."""
        if _is_step(cell) or not _has_weights(cell):
            return False
        children = list(cell.name_cells().values())
        inner = [each for each in children if _has_weights(each)]
        if len(inner) != 1:
            return True
        within = {id(each) for each in inner[0].get_parameters()}
        if any(id(each) not in within for each in cell.get_parameters(expand=False)):
            return True
        wraps = any(isinstance(each, nn.LossBase) for each in children)
        library = type(cell).__module__.startswith("mindspore.") and not isinstance(
            cell, nn.SequentialCell
        )
        if wraps or library or len(of_kind(args, ms.Tensor)) > self._most_inputs():
            return False
        fits = self.recorder.fits
        return fits(self.slots(cell)) or not fits(self.slots(inner[0]))

    def _compiled(
        self,
        recorder: RunRecorder,
        cell: nn.Cell,
        call: Callable[..., Any],
        args: tuple,
        kwargs: dict,
    ) -> Any:
        """A whole step that is compiled: what goes in and comes out, and the weights after it."""
        children = cell.name_cells().values()
        optimizer = next(each for each in children if isinstance(each, OPTIMIZERS))
        network = cell
        while not self._is_network(network, args):
            inner = [each for each in network.name_cells().values() if _has_weights(each)]
            if len(inner) != 1:
                return call(cell, *args, **kwargs)
            network = inner[0]
        if GRAPH not in recorder.run.notes:
            recorder.run.notes.append(GRAPH)
        args, kwargs = recorder.compiled(network, (args, kwargs), network.training)
        recorder.update(optimizer, {}, lambda names: settings_now(optimizer, names))
        outputs = call(cell, *args, **kwargs)
        recorder.loss(array(of_kind(outputs, ms.Tensor)[0]))
        if loss_scales.has_skipped(cell, outputs):
            recorder.skipped()
        else:
            recorder.updated()
        return outputs

    def _most_inputs(self) -> int:
        """How many tensors the reference's networks get at most."""
        given = self.recorder.given
        calls = given.steps[0].calls if given and given.steps else []
        return max((len(call.inputs) for call in calls), default=1 << 30)

    def _loss(self, recorder: RunRecorder, function: Callable[..., Any]) -> Callable[..., Any]:
        def loss(prediction: Any, target: Any = None, *args: Any, **kwargs: Any) -> Any:
            named = next((n for n in ("target", "labels", "label") if n in kwargs), None)
            seen = self._in_loss or self._inside or not self._is_in_training()
            if seen or (target is None and named is None):
                given = (prediction,) if target is None else (prediction, target)
                return function(*given, *args, **kwargs)
            self._in_loss += 1
            try:
                if named:
                    kwargs[named] = recorder.target(kwargs[named])
                    return function(prediction, *args, **kwargs)
                return function(prediction, recorder.target(target), *args, **kwargs)
            finally:
                self._in_loss -= 1

        vars(loss)["watched"] = function
        return loss

    def _draw(self, recorder: RunRecorder, name: str, function: Callable[..., Any]) -> Any:
        def draw(*args: Any, **kwargs: Any) -> Any:
            if self._drawing:
                return function(*args, **kwargs)
            self._drawing = True
            try:
                value = function(*args, **kwargs)
            finally:
                self._drawing = False
            if not isinstance(value, ms.Tensor) or places.constructs(nn.Cell):
                return value
            return recorder.drawn(name, value)

        vars(draw)["watched"] = function
        return draw

    def _is_in_training(self) -> bool:
        return bool(self._forward or any(each.requires_grad for each in self._cells))

    @property
    def is_forward(self) -> bool:
        """Whether what runs now belongs to a forward pass."""
        return bool(self._forward or self._inside)

    def _differentiated(self, run: Callable[[], Any]) -> Any:
        """What is differentiated runs."""
        self._forward += 1
        try:
            arguments, outputs = run()
        finally:
            self._forward -= 1
        losses = of_kind(outputs, ms.Tensor)
        if losses and not self._forward and self.recorder.multiplied is None:
            self.recorder.loss(array(losses[0]))
        return arguments, outputs

    def _differentiating(self, recorder: RunRecorder) -> contextlib.AbstractContextManager:
        """A context in which the recorder is told of all that asks for gradients."""
        return differentiating(self._differentiated, self._gradients(recorder))

    def _gradients(self, recorder: RunRecorder) -> Callable[[Any, float, Any], None]:
        def told(weights: Any, cotangent: float, gradients: Any) -> None:
            weights = [weights] if isinstance(weights, ms.Parameter) else [*weights]
            pairs = zip(weights, of_kind(gradients, ms.Tensor), strict=False)
            arrays = {
                id(weight): array(gradient) / np.float32(cotangent) for weight, gradient in pairs
            }
            recorder.gradients(arrays, accumulate=True)

        return told

    def _update(
        self,
        recorder: RunRecorder,
        cell: Any,
        call: Callable[..., Any],
        args: tuple,
        kwargs: dict,
    ) -> Any:
        """An optimiser is called with gradients."""
        gradients = of_kind(args, ms.Tensor)
        scale = np.float32(getattr(cell, "loss_scale", 1.0))
        pairs = zip(cell.parameters, gradients, strict=False)
        arrays = {id(weight): array(gradient) / scale for weight, gradient in pairs}
        recorder.update(cell, arrays, lambda names: settings_now(cell, names))
        reached = self._set.keys() & {each for each, values in arrays.items() if values.any()}
        moved = [each for each in cell.parameters if id(each) in reached]
        before = [array(weight) for weight in moved]
        result = call(cell, *args, **kwargs)
        for weight, values in zip(moved, before, strict=True):
            if np.array_equal(array(weight), values):
                recorder.step.lines[SET] = self._set[id(weight)]
        recorder.updated()
        return result

    def _setting(self) -> Callable[..., Any]:
        """`Parameter.set_data`, whose lines are noted after the first update."""
        set_data = ms.Parameter.set_data

        def standing(weight: ms.Parameter, *args: Any, **kwargs: Any) -> Any:
            if self.recorder.run.steps:
                self._set[id(weight)] = places.here()
            return set_data(weight, *args, **kwargs)

        vars(standing)["watched"] = set_data
        return standing


class Pinning(Pinned):
    """Pins dropouts, and counts their draws."""

    def __init__(self) -> None:
        self.pinned = 0

    def compiled(self, value: Any) -> Any:
        """What the compiler gets: a function itself, and not what watches it."""
        return super().compiled(getattr(value, "watched", value))

    def before(self, call: Call) -> None:
        """Let a dropout keep everything."""
        arguments = call.args
        super().before(call)
        self.pinned += call.args is not arguments


class StepWatch(Observer):
    """Looks at the operators of a step, see `OverflowSeen`.

    MindSpore shows the operators of a forward pass, and few of a backward pass.
    """

    slot = "calls"

    def __init__(self, side: MindSporeSide, recorder: RunRecorder, overflow: OverflowSeen):
        self.side, self.recorder, self.found = side, recorder, overflow

    def after(self, call: Call, result: Any) -> Any:
        """Look at what an operator gives; what only moves numbers makes none."""
        found, layer = self.found, self.recorder.layer_now
        if not self.recorder.is_looked_into:
            return result
        if self.side.is_forward:
            found.note(layer, result, _states)
        if call.name in MOVES or found.first or (found.later and not self.side.is_forward):
            return result
        made = result[:1] if call.name in WITH_RESERVES and isinstance(result, tuple) else result
        told = inspect(call.name, call.args, made, _states)
        if told and self.side.is_forward:
            found.first = Overflow(told + (f" in {layer}" if layer else ""), places.here())
        elif told:
            found.later = Overflow(told, places.here())
        return result


MOVES = {
    *("Cast", "Select", "MaskedFill", "Reshape", "Transpose", "Concat", "Tile", "BroadcastTo"),
    *("Fill", "FillScalar", "FillTensor", "FillV2", "Full", "FullLike", "Identity", "Contiguous"),
}
"""Operators that make no number of their own; a cast that overflows is found by what it gets."""


WITH_RESERVES = ("BatchNorm", "LSTM")
"""Operators that give memory besides, for their backward pass, which nothing may have written."""


def _states(values: Any) -> Iterator[tuple[str, bool, bool]]:
    for value in of_kind(values, ms.Tensor):
        numbers = array(value)
        if numbers.dtype.kind == "f":
            name = str(value.dtype).lower()
            yield name, bool(np.isnan(numbers).any()), bool(np.isinf(numbers).any())


def settings_now(cell: Any, names: Mapping[int, Sequence[str]]) -> dict[str, dict[str, object]]:
    """Setting -> name of a weight -> its value in this step."""
    found: dict[str, dict[str, object]] = {}
    at = int(cell.global_step.asnumpy().reshape(-1)[0]) if hasattr(cell, "global_step") else 0
    for parameter, told in of_optimizer(cell):
        for setting, value in plain(told).items():
            if isinstance(value, np.ndarray):
                value = float(value[min(at, len(value) - 1)])
            for name in names.get(id(parameter), ()):
                found.setdefault(setting, {})[name] = value
    return found


def _losses(owner: Any) -> list[str]:
    """The names of the losses of a module: functions of a prediction and a target."""
    return [
        name
        for name in dir(owner)
        if not name.startswith("_")
        and (name.endswith("_loss") or "cross_entropy" in name or name == "kl_div")
        and callable(getattr(owner, name))
        and not isinstance(getattr(owner, name), type)
    ]


DRAWS = (
    *("randn", "randn_like", "rand", "rand_like", "randint", "randint_like", "normal"),
    *("standard_normal", "uniform", "bernoulli", "multinomial", "randperm"),
)
"""Functions that draw; those that a script calls itself get what the reference's has drawn."""


def _draws(owner: Any) -> list[str]:
    return [name for name in DRAWS if callable(getattr(owner, name, None))]


def _is_graph() -> bool:
    return ms.get_context("mode") == ms.GRAPH_MODE


def _is_step(cell: nn.Cell) -> bool:
    """Whether a cell makes a training step: it holds an optimiser."""
    return any(isinstance(each, OPTIMIZERS) for each in cell.name_cells().values())


def _scale_of(step: nn.Cell) -> float | None:
    """The scale of the loss by which a step of MindSpore differentiates; None without one."""
    held = getattr(step, "scale_sense", None)
    if isinstance(step, nn.TrainOneStepWithLossScaleCell) and isinstance(held, ms.Tensor):
        return float(array(held).reshape(-1)[0])
    given = getattr(step, "sens", None) if isinstance(step, nn.TrainOneStepCell) else None
    return None if given in (None, 1.0) else float(given)


def _has_weights(cell: nn.Cell) -> bool:
    if isinstance(cell, (*OPTIMIZERS, nn.DynamicLossScaleUpdateCell)):
        return False
    return next(iter(cell.get_parameters()), None) is not None


def _scaling(recorder: RunRecorder, scale: Callable[..., Any]) -> Callable[..., Any]:
    def scaled(self: Any, inputs: Any) -> Any:
        for value in of_kind(inputs, ms.Tensor):
            recorder.loss(array(value))
        recorder.scaled(float(self.scale_value.asnumpy()))
        return scale(self, inputs)

    return scaled


@contextlib.contextmanager
def _without_graphs() -> Iterator[None]:
    """A context in which nothing is compiled, whatever a script asks for."""
    plain_context = ms.set_context

    def set_context(**keywords: Any) -> Any:
        keywords.pop("mode", None)
        return plain_context(**keywords) if keywords else None

    os.environ["MS_JIT"] = "0"  # the run puts it back
    plain_context(mode=ms.PYNATIVE_MODE)
    with patched(ms, set_context=set_context), patched(ms.context, set_context=set_context):
        yield

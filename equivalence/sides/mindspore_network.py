"""MindSpore networks: build them, load weights, run them forward and backward.

A network is built anew for every case: a compiled cell keeps its graph when the phase changes, and
so do the functions that `value_and_grad` makes from it.
"""

import contextlib
import weakref
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import mindspore as ms
import numpy as np
from mindspore import nn

from equivalence import dtypes
from equivalence.errors import DeclarationError, WeightError
from equivalence.host.devices import CPU, Place
from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import PulledBack
from equivalence.nesting import Arguments
from equivalence.randomness import mindspore_draws
from equivalence.randomness.layers import RandomLayer
from equivalence.randomness.mindspore_draws import MindSporeDraws
from equivalence.sample import INTEGER_BUFFERS
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_cells import (
    OfArrays,
    array,
    build_cell,
    changes_of_mode,
    empty,
    narrow,
    tensor,
    unheld,
)
from equivalence.sides.mindspore_pullback import (
    OddOutputsError,
    called,
    flatten,
    named,
    observed,
    pullback,
)
from equivalence.sides.modes import PHASES, Given, Modes
from equivalence.sides.rehearsal import Rehearsal
from equivalence.stand_ins.context import StandIns
from equivalence.stream import mindspore_stream
from equivalence.stream.borrowing import without_torch
from equivalence.structure.layers import Layer, Sink, below
from equivalence.structure.looked_up import LookedUp, looked_up
from equivalence.structure.mindspore_settings import made_by, settings
from equivalence.structure.settings import in_modes
from equivalence.structure.tables import Tables
from equivalence.structure.weights import CONSTANT, Partners, Slot, Unseen, comparable
from equivalence.written import PER_CALL, Attributes

T = TypeVar("T")

MADE_LATER = ("_func_graph_flags", "fp16", "fp32", "bf16", "output_recompute")
"""Attributes that a cell gets from MindSpore after its constructor."""

MODES = {"pynative": ms.PYNATIVE_MODE, "graph": ms.GRAPH_MODE}
"""Execution -> MindSpore's mode."""


class MindSporeNetwork:
    """A MindSpore cell for one case: one phase, one set of shapes, any number of samples.

    In float16 the cell computes in half precision (`to_float`), and keeps weights and statistics in
    float32: its BatchNorm does not update statistics in float16. In bfloat16 the weights are in it,
    too, as those of large models are: `to_float` would undo what a cell computes in float32.

    execution: "pynative" or "graph".
    place: the device and compute mode.
    declared: the shapes of the inputs, with None for each dimension that the compiler does not
    know. Such a cell is compiled once and runs samples of several sizes. None: all are known.
    cell: the MindSpore cell.
    parameters: its parameters by path, also those without a gradient, but none that counts steps.
    draws: what its runs draw, and what of it is pinned.
    modes: which of its cells train.
    stand_ins: what stands for operators without a kernel, for all of them once MindSpore has lacked
    one on a CPU.
    """

    declared: Sequence[tuple[int | None, ...]] | None = None
    arguments: Arguments | None = None
    """How the cell is called with the arrays of a sample; None: as the sample says."""
    _step: Any = None  # a cell; None: made in the next run
    _backward = True
    _odd = False

    steps: int | None = None
    """How many times a training step is called; None for a network that is no training."""

    noted: Collection[int] = ()
    """The steps after which the trace of a training gets the updates of all weights."""

    step: Any = None
    """The training step, a cell; None for a network that is no training."""

    begun: Any = None
    """The rates of a training's optimisers before the first call."""

    whole: "MindSporeNetwork | None" = None
    """The network of which it is a part; it keeps the parameters and the modes."""

    _attributes: Attributes | None = None
    """What its runs write into attributes; None in a graph, which writes none, and for a part."""

    as_written = False
    """Whether in float16 the network's own code keeps its casts, see `narrow`."""
    _looked_up: Mapping[str, LookedUp] = MappingProxyType({})
    """The tables that its code looks up; none for a part."""

    def __init__(
        self,
        target: str,
        arguments: Mapping[str, Any],
        execution: str,
        place: Place = CPU,
        declared: Sequence[tuple[int | None, ...]] | None = None,
    ):
        self.execution, self.declared = execution, declared
        self.draws = MindSporeDraws()
        self._settle(place)
        self._take(self._with_kernels(lambda: build_cell(target, arguments)))
        weakref.finalize(self, empty, list(self.parameters.values())).atexit = False

    def _take(self, cell: nn.Cell) -> None:
        self.cell = cell
        every = dict(cell.parameters_and_names())
        counting = [name for name in every if name.rpartition(".")[2] in INTEGER_BUFFERS]
        self._counts = [every.pop(name) for name in counting]
        self.parameters = every
        self._made: dict[Hashable, np.ndarray] = {}
        self._step = None
        self.modes = self._modes()
        if self.whole is None:
            cells = cell.cells_and_names()
            self._looked_up = looked_up(cells, "construct", _table, nn.Cell)
        self._changed: list[nn.Cell] = []
        if self.execution == "pynative" and self.whole is None:
            own = weakref.proxy(self)
            names = (*vars(nn.Cell()), *dir(nn.Cell), *MADE_LATER)
            self._attributes = Attributes(
                lambda: own.cell.cells_and_names(), names, _is_value, _copied
            )

    def _modes(self, given: Given | None = None) -> Modes:
        """The modes of this network. given: those of the larger one of which it is a part."""
        own = weakref.proxy(self)
        return Modes(lambda on: own._ask(on), lambda: own.cell.cells_and_names(), _put, given)

    def _ask(self, training: bool) -> None:
        self.root.set_train(training)

    @property
    def built(self) -> "MindSporeNetwork":
        """This network: it runs here, see `protocols.CandidateSide`."""
        return self

    @property
    def root(self) -> nn.Cell:
        """The cell that is asked for a mode."""
        return self.cell

    def part(self, path: str, execution: str) -> "MindSporeNetwork":
        """The cell at a path as a network of its own, with the same parameters."""
        network = object.__new__(MindSporeNetwork)
        network.execution = execution
        network.place, network.rehearsal = self.place, self.rehearsal
        network.stand_ins = self.stand_ins
        network.whole = self
        network.draws = self.draws.of_part(path)
        network._take(self.cell_at(path))
        network._made = self._made
        network.modes = network._modes(self.modes.below(path))
        return network

    def cell_at(self, path: str) -> nn.Cell:
        """The cell at a path; "" is the path of the network."""
        return dict(self.cell.cells_and_names())[path]

    def _settle(self, place: Place) -> None:
        """Set the place where this network computes."""
        self.place, self.stand_ins = place, StandIns(every=False)
        self.rehearsal = None
        if place.rehearsed:
            self.rehearsal = Rehearsal(place.mode)
        self._enter()

    def _enter(self) -> None:
        """Set the device, compute mode and execution of this network for the process."""
        self.place.enter()
        # On a CPU, asynchronous launches take as long as the kernels of a small network, and an
        # error is raised late, or not in every run, or not at all.
        synchronous = self.place.runs_on == "cpu"
        ms.set_context(mode=MODES[self.execution], pynative_synchronize=synchronous)

    def _with_kernels(self, call: Callable[[], T]) -> T:
        """What a call gives, with stand-ins where MindSpore lacks a kernel."""
        return self.stand_ins.running(call, self._forget)

    def _arithmetic(self) -> contextlib.AbstractContextManager[Any]:
        """A context in which runs compute with the arithmetic of the place.

        Raises DeclarationError where a rehearsal cannot round the products of a cell.
        """
        if self.rehearsal is None:
            return contextlib.nullcontext()
        for path, cell in self.cell.cells_and_names():
            # Inside such a cell, MindSpore would cast the values of the rehearsal, too.
            if getattr(cell, "fp16", False):
                raise DeclarationError(
                    f"{path or 'the network'} is a {type(cell).__name__} with to_float(float16), "
                    "which no rehearsal can look into: declare the twin with computes='float16'"
                )
        return self.rehearsal

    @property
    def classes(self) -> list[type]:
        """The classes of its cells, and of a training step's."""
        return [type(each) for _, each in self.root.cells_and_names()]

    @property
    def unseen(self) -> str:
        """What it is, in words, where its layers and code cannot be seen; else ""."""
        kinds = {OfArrays: "a function of arrays", nn.GraphCell: "an exported graph"}
        return next((told for kind, told in kinds.items() if isinstance(self.cell, kind)), "")

    @property
    def products(self) -> int | None:
        """The number of convolutions and matrix products rounded so far; None: no rehearsal."""
        return self.rehearsal.products if self.rehearsal else None

    def slots(self) -> dict[str, Slot]:
        """All parameters and buffers (parameters without a gradient) by path.

        What `register_buffer` has made is a constant, since a graph holds its values.
        """
        names: dict[int, list[str]] = {}
        for path, cell in self.cell.cells_and_names():
            for leaf, parameter in cell._params.items():
                names.setdefault(id(parameter), []).append(f"{path}.{leaf}" if path else leaf)
        slots = {
            name: Slot(
                tuple(p.shape),
                "parameter" if p.requires_grad else "buffer",
                tuple(other for other in names.get(id(p), ()) if other != name),
            )
            for name, p in self.parameters.items()
        }
        slots |= {n: Slot(tuple(b.shape), CONSTANT) for n, b in self.cell.named_buffers()}
        return Unseen(slots) if isinstance(self.cell, OfArrays) else slots

    def unheld(self) -> list[str]:
        """The attributes that hold cells without making them cells of the network."""
        return unheld(self.cell)

    def layers(self, partners: Partners) -> list[Layer]:
        """All cells, a parent before its children.

        partners: path of a weight -> the reference's name; the layers have the reference's names.
        """
        modes = self.modes.each()
        return [
            Layer.of(
                path,
                in_modes(settings(cell), modes[path]),
                partners.held(below(path, self.parameters)),
                made_by(cell),
            )
            for path, cell in self.cell.cells_and_names()
        ]

    def observed(
        self, names: Mapping[str, str], sink: Sink
    ) -> contextlib.AbstractContextManager[None]:
        """A context in which `sink` gets the outputs and cotangents of cells in PyNative runs.

        names: path of a cell -> path of the reference's layer; other cells are not observed.
        """
        return observed(self.cell, names, sink)

    def dropouts(self) -> list[str]:
        """The paths of the cells of MindSpore that draw while the network trains."""
        return self.modes.train(mindspore_draws.dropouts(self.cell))

    def drawn_by(self, note: Callable[[], list[RandomLayer]]) -> list[RandomLayer]:
        """The draws that `note` finds in a run."""
        return note()

    def random_layers(self, feed: Feed) -> list[RandomLayer]:
        """Every draw of random numbers in a PyNative run, in order, also what is pinned."""
        notes = mindspore_draws.Notes(self.cell, self.draws.own(self.cell.cells_and_names()))
        with self.draws.noting(notes):
            self.run(feed)
        return notes.layers

    def run(self, feed: Feed) -> Trace:
        """Run forward and backward in the sample's dtype; the trace has the reference's names.

        A second run reuses the compiled graph. Raises WeightError where the cell does not hold the
        weights that were loaded.
        """
        self._enter()
        return self._with_kernels(lambda: self._run_anew(feed))

    def _run_anew(self, feed: Feed) -> Trace:
        # State of earlier cases changes gradients: after a softmax over an axis of size one, the
        # gradient of every later softmax of that rank and axis lacks its sum.
        mindspore_stream.clear()
        try:
            self._load(feed)
            with without_torch(), self._arithmetic(), self.draws.running(self.root):
                return self._run_noted(feed)
        except OddOutputsError:
            self._odd = True
            self._forget()
        except BaseException:
            # An error under grad leaves the executor in the middle of a graph; indexing then fails
            # in every later case of the process.
            mindspore_stream.clear()
            raise
        return self._run_anew(feed)

    def _run_noted(self, feed: Feed) -> Trace:
        """A run; another one notes the modes of the cells where the first has changed some.

        Only PyNative mode can change any. A cell with hooks is not what is judged.
        """
        self._changed.clear()
        trace = self._run(feed)
        if self.modes.hold(self._changed):
            self.modes.moved = True
            self._load(feed)
            with self.modes.noting(feed.phase, self._pinned()), self.draws.apart():
                self._run(feed)
        return trace

    def _watched(self) -> contextlib.AbstractContextManager[None]:
        """A context of the run alone, which sees the changes of modes that its code makes."""
        if self.execution == "pynative" and not self.draws.notes:  # which change some themselves
            return changes_of_mode(self._changed)
        return contextlib.nullcontext()

    def _forget(self) -> None:
        """Compile anew in the next run."""
        if self._step is not None:
            mindspore_stream.discard_graphs(self._step)
            self._step = None

    def call_before(self, feed: Feed, both: bool) -> None:
        """Run with the values of another sample, so that what is kept of them shows in `run`.

        both: whether to go forward in the other phase, too; a compiled cell keeps the phase of its
        first call.
        """
        self.run(feed)
        if both and self.execution == "pynative":
            self.modes.set(next(other for other in PHASES if other != feed.phase))
            with self.stand_ins(), self._arithmetic(), self.draws.running(self.root):
                arrays = [tensor(values) for values in feed.sample.inputs()]
                arguments, keywords = (self.arguments or feed.sample.arguments).filled(arrays)
                try:
                    self.cell(*arguments, **keywords)
                except Exception:  # the cases of that phase tell of it
                    mindspore_stream.clear()

    @property
    def filled(self) -> list[str]:
        """The paths of the parameters that have values."""
        return [path for path, each in self.parameters.items() if not each.has_init]

    def loaded(self, feed: Feed) -> nn.Cell:
        """The cell, ready to be called in PyNative mode: with the sample's weights, in a phase."""
        self._load(feed)
        self._step = self.cell
        self._set_phase(feed.phase)
        return self.cell

    def _load(self, feed: Feed) -> None:
        sample, partners = feed.sample, feed.partners
        # A cell without weights has no float32 values that could be cast.
        if sample.dtype != "float32" and self._step is None and self.parameters:
            narrow(self.cell, sample.dtype, self.as_written)
        weight, begun, forgets = sample.weight, sample.begun, sample.forgets
        for path, cell in self.cell.cells_and_names():
            for name, values in cell._buffers.items():
                if values is not None:
                    full = f"{path}.{name}" if path else name
                    begins = partners.drawn(full, tuple(values.shape), weight, begun)
                    if begins is None:
                        begins = self._as_made((id(cell), name), values)
                        if not (forgets or partners.sources(full)):
                            continue
                    cell._buffers[name] = ms.Tensor(begins, values.dtype)
        for count in self._counts:
            count.set_data(ms.Tensor(0, count.dtype))
        drawn = {}
        for name, parameter in self.parameters.items():
            values = partners.drawn(name, tuple(parameter.shape), weight, begun)
            if values is None:
                values = self._as_made(id(parameter), parameter)
                if not (forgets or partners.sources(name)):
                    continue
            else:
                drawn[name] = values
            parameter.set_data(ms.Tensor(values, parameter.dtype))
        for name, values in drawn.items():
            parameter = self.parameters[name]
            if not np.array_equal(array(parameter), values):
                held, cure = str(parameter.dtype).lower(), ""
                if held != values.dtype.name:
                    cure = f", since it is {held}; build it in {values.dtype}, or compare in {held}"
                raise WeightError(f"candidate {name} does not hold what was loaded into it{cure}")

    def written_alone(self, partners: Partners) -> list[str]:
        """The paths of what it alone has, neither drawn nor compared, and has written in its runs.

        partners: path of a weight -> the reference's name.
        """
        return [
            path
            for path, key, values in self._alone(partners)
            if key in self._made
            and not np.array_equal(array(values), self._made[key], equal_nan=True)
        ]

    def tables(self, partners: Partners) -> Tables:
        """The constants that it alone has, in attributes of its own cells or looked up by its code.

        partners: path of a weight -> the reference's name.
        """
        found = {path: self._as_made(key, each) for path, key, each in self._alone(partners)}
        for path, cell in self.cell.cells_and_names():
            if type(cell).__module__.startswith("mindspore."):
                continue
            for name, value in vars(cell).items():
                if isinstance(value, ms.Tensor) and not isinstance(value, ms.Parameter):
                    value = array(value)
                if isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.ndim:
                    found[f"{path}.{name}" if path else name] = value
        kept = Tables({path: comparable(values) for path, values in found.items()})
        return kept.beside(self._looked_up)

    def _alone(self, partners: Partners) -> list[tuple[str, Hashable, ms.Tensor]]:
        """Path, key in `_made` and tensor of the parameters and buffers that it alone has."""
        found: list[tuple[str, Hashable, ms.Tensor]] = [
            (path, id(each), each)
            for path, each in self.parameters.items()
            if not each.requires_grad
        ]
        for path, cell in self.cell.cells_and_names():
            for name, values in cell._buffers.items():
                if values is not None:
                    found.append((f"{path}.{name}" if path else name, (id(cell), name), values))
        return [each for each in found if not partners.sources(each[0])]

    def _as_made(self, key: Hashable, values: ms.Tensor) -> np.ndarray:
        """The values that the constructor gave to a tensor; they are kept when first asked for."""
        if key not in self._made:
            if values.has_init:
                values.init_data()  # `no_init_parameters` has put it off
            self._made[key] = array(values)
        return self._made[key]

    def _run(self, feed: Feed) -> Trace:
        sample, outputs = feed.sample, feed.outputs
        trained = {n: p for n, p in self.parameters.items() if p.requires_grad}
        positions = tuple(sample.differentiable)
        inputs = [tensor(values) for values in sample.inputs()]
        arguments = inputs
        backward = bool(outputs and (positions or trained))
        if backward:
            cotangents = [sample.cotangent(name, shape) for name, shape in outputs.items()]
            arguments = [*inputs, *(ms.Tensor(values) for values in cotangents)]
        if self._backward != backward:  # a truth without gradients after one with them
            self._forget()
        if self._step is None:
            self._backward = backward
            self._step = called(self.cell, self.arguments or sample.arguments)
            if backward:
                every = outputs.every if isinstance(outputs, PulledBack) else tuple(outputs)
                how = len(inputs), positions, tuple(trained.values()), tuple(outputs), every
                numbered = not self._odd and self.declared is None
                self._step = pullback(self._step, *how, self.execution == "graph", numbered)
            weakref.finalize(self, mindspore_stream.discard_graphs, self._step).atexit = False
            if self.declared is not None:
                self._step.set_inputs(*self._unknown(arguments))
        self._set_phase(feed.phase)
        if self._attributes is not None:
            self._attributes.begin()
        with self._watched():
            result, names, gradients = self._step(*arguments), [], ()
        if self.declared is not None and len(self._step.compile_cache) > 1:
            raise RuntimeError(
                f"compiled {len(self._step.compile_cache)} times; with unknown dimensions one "
                "graph must serve all sizes"
            )
        if backward:
            (_, result), gradients = result
            names += [tensors.input_gradient(sample.arguments.names[i]) for i in positions]
        trace: Trace = {}
        for name, out in named(result).items():
            is_tensor = isinstance(out, ms.Tensor)
            values = array(out) if is_tensor else tensors.constant("candidate", name, out)
            trace[tensors.output(name)] = dtypes.paired(values)
        arrays = [array(gradient) for gradient in flatten(gradients)]
        trace |= zip(names, arrays, strict=False)
        of_weights = dict(zip(trained, arrays[len(names) :], strict=backward))
        for name, gradient in feed.partners.restored(of_weights).items():
            trace[tensors.parameter_gradient(name)] = gradient
        return trace | self._buffers(feed.partners) | self._written(feed.partners)

    def _written(self, partners: Partners) -> Trace:
        """What this run, or one before it, has written into attributes, by the reference's paths.

        A port keeps what a graph is to write in a parameter: one that the reference does not have
        counts as an attribute where a run changes it.
        """
        found = self._attributes.end() if self._attributes is not None else {}
        for name, parameter in self.parameters.items() if self.whole is None else ():
            made = self._made.get(id(parameter))
            if partners.sources(name) or parameter.requires_grad or made is None:
                continue
            values = comparable(array(parameter))
            if not np.array_equal(values, comparable(made)):
                found[name] = values
                if values.dtype.kind in "iu":
                    found[name + PER_CALL] = np.asarray(values - comparable(made))
        return {tensors.attribute(partners.place(name)): values for name, values in found.items()}

    def _unknown(self, arguments: list[ms.Tensor]) -> list[ms.Tensor]:
        """The arguments as `set_inputs` takes them; cotangents have no known dimension."""
        shapes = list(self.declared or ())
        shapes += [(None,) * argument.ndim for argument in arguments[len(shapes) :]]
        return [
            ms.Tensor(shape=shape, dtype=argument.dtype) if None in shape else argument
            for shape, argument in zip(shapes, arguments, strict=True)
        ]

    def _set_phase(self, phase: str) -> None:
        if self._step is not self.root:
            self._step.set_train(phase == "train")
        self.modes.set(phase)
        for path in self._pinned():
            self.cell_at(path).set_train(False)

    def _pinned(self) -> tuple[str, ...]:
        """The paths of the cells that are held in evaluation since they draw."""
        if not self.draws.pins:
            return ()
        own = self.draws.own(self.cell.cells_and_names())
        return (*mindspore_draws.dropouts(self.cell), *own)

    def _buffers(self, partners: Partners) -> Trace:
        untrained = {n: p for n, p in self.parameters.items() if not p.requires_grad}
        untrained |= dict(self.cell.named_buffers())
        values = {name: comparable(array(values)) for name, values in untrained.items()}
        return {tensors.buffer(name): v for name, v in partners.restored(values).items()}


def _is_value(value: Any) -> bool:
    """Whether a value is a tensor, and no weight."""
    return isinstance(value, ms.Tensor) and not isinstance(value, ms.Parameter)


def _table(value: object) -> np.ndarray | None:
    """The numbers of a tensor that is no weight; None of anything else."""
    return array(value) if isinstance(value, ms.Tensor) and _is_value(value) else None


def _copied(value: ms.Tensor) -> np.ndarray:
    return dtypes.paired(array(value))


def _put(cell: nn.Cell, training: bool) -> None:
    cell.add_flags(training=training)

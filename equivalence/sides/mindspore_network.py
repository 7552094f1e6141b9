"""MindSpore behind the verbs of the engine: build, load, run.

A network is built anew for every case: a cell that was compiled once keeps its graph when the
phase changes, and so do functions made over it.
"""

import contextlib
import weakref
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import mint, nn, ops
from mindspore.common.api import _cell_graph_executor, _pynative_executor
from mindspore.nn.utils import no_init_parameters

from equivalence.errors import DeclarationError, WeightError
from equivalence.host.devices import CPU, Place
from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.sample import Sample
from equivalence.sides.layers import Layer, Sink, Site, below
from equivalence.sides.weights import Slot
from equivalence.targets import build

MODES = {"pynative": ms.PYNATIVE_MODE, "graph": ms.GRAPH_MODE}
RANDOM_LAYERS = (
    *(nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.RReLU),
    *(mint.nn.Dropout, mint.nn.Dropout2d),
)


class Function(nn.Cell):
    """A plain callable as a cell without weights."""

    def __init__(self, call):
        super().__init__()
        self.call = call

    def construct(self, *inputs):
        return self.call(*inputs)


class Pullback(nn.Cell):
    """(inputs..., cotangents...) -> outputs and gradients along the cotangents.

    The scalar that is differentiated is the sum of output times cotangent, whose derivative with
    respect to each output is its cotangent, exactly.
    """

    def __init__(self, network: nn.Cell, inputs: int, positions: tuple[int, ...], weights: tuple):
        super().__init__(auto_prefix=False)
        self.network = network
        self.inputs = inputs
        self.gradients = ms.value_and_grad(
            self.project,
            grad_position=positions or None,
            weights=ms.ParameterTuple(weights) if weights else None,
            has_aux=True,
        )

    def project(self, *arguments):
        outputs = self.network(*arguments[: self.inputs])
        cotangents = arguments[self.inputs :]
        total = ops.zeros((), ms.float32)
        position = 0
        for output in flatten(outputs):
            if output.dtype in (ms.float32, ms.float16, ms.float64):
                # A missing or misshapen output is for the judge to report.
                if position < len(cotangents) and output.shape == cotangents[position].shape:
                    total = total + (output * cotangents[position]).sum()
                position = position + 1
        return total, outputs

    def construct(self, *arguments):
        return self.gradients(*arguments)


class MindSporeNetwork:
    """A MindSpore cell for one case: one phase, one set of shapes, any number of samples.

    In half precision the cell computes in float16 and keeps its weights and statistics in
    float32 (`to_float`): its BatchNorm does not update statistics held in float16.

    declared: the shapes of the inputs, None for each dimension that is not known when the cell is
    compiled. Such a cell runs samples of several sizes, and is compiled once for all of them.
    """

    declared: Sequence[tuple[int | None, ...]] | None = None

    def __init__(
        self,
        target: str,
        arguments: Mapping[str, Any],
        execution: str,
        place: Place = CPU,
        declared: Sequence[tuple[int | None, ...]] | None = None,
    ):
        self.execution, self.declared = execution, declared
        self._settle(place)
        with no_init_parameters():  # the sample sets every weight before any use
            network = build(target, arguments)
        self._take(network if isinstance(network, nn.Cell) else Function(network))
        weakref.finalize(self, _empty, list(self.parameters.values())).atexit = False

    def _take(self, cell: nn.Cell) -> None:
        self.cell = cell
        self.parameters = dict(cell.parameters_and_names())
        self._step: nn.Cell | None = None

    def part(self, path: str, execution: str) -> "MindSporeNetwork":
        """The cell at that path as a network of its own; it shares this one's parameters."""
        network = object.__new__(MindSporeNetwork)
        network.execution = execution
        network.place, network.rehearsal = self.place, self.rehearsal
        network.whole = self  # keeps the parameters
        network._take(self.cell_at(path))
        return network

    def cell_at(self, path: str) -> nn.Cell:
        """The cell at a path; "" is the network."""
        return dict(self.cell.cells_and_names())[path]

    def _settle(self, place: Place) -> None:
        """Take the place that this network computes at."""
        self.place = place
        self.rehearsal = None
        if place.rehearsed:
            from equivalence.sides.rehearsal import Rehearsal

            self.rehearsal = Rehearsal(place.mode)
        self._enter()

    def _enter(self) -> None:
        """Make the device, its compute mode and the execution of this network the process's."""
        self.place.enter()
        # On a CPU, threads that launch kernels for each other take as long as the kernels of a
        # small network; and what fails is raised later, or now and then, or not at all.
        synchronous = self.place.runs_on == "cpu"
        ms.set_context(mode=MODES[self.execution], pynative_synchronize=synchronous)

    def _arithmetic(self) -> contextlib.AbstractContextManager[None]:
        """Runs within compute as the place does."""
        if self.rehearsal is None:
            return contextlib.nullcontext()
        for path, cell in self.cell.cells_and_names():
            # MindSpore casts what a rehearsal computes with inside such a cell, too.
            if getattr(cell, "fp16", False):
                raise DeclarationError(
                    f"{path or 'the network'} is a {type(cell).__name__} with to_float(float16), "
                    "which no rehearsal can look into: declare the twin with computes='float16'"
                )
        return self.rehearsal()

    @property
    def products(self) -> int | None:
        """How many convolutions and matrix products were rounded; None where none is to be."""
        return self.rehearsal.products if self.rehearsal else None

    def slots(self) -> dict[str, Slot]:
        """Every parameter and buffer (a parameter without gradient) by its path."""
        return {
            name: Slot(tuple(p.shape), "parameter" if p.requires_grad else "buffer")
            for name, p in self.parameters.items()
        }

    def layers(self, partners: Mapping[str, str]) -> list[Layer]:
        """Every cell, a parent before its children, its weights under the reference's names."""
        from equivalence.sides.mindspore_settings import settings

        return [
            Layer(
                path,
                str(settings(cell)["kind"]),
                frozenset(map(partners.get, below(path, partners))),
            )
            for path, cell in self.cell.cells_and_names()
        ]

    @contextlib.contextmanager
    def observed(self, names: Mapping[str, str], sink: Sink) -> Iterator[None]:
        """Runs within show the outputs and cotangents of cells to `sink`; graphs show none.

        names: path of a cell -> path of the reference's layer, for the cells that are shown.
        """
        calls: dict[str, int] = {}
        pulled: list[tuple[str, list]] = []

        def after(path: str):
            def hook(_, __, outputs):
                call = calls[path] = calls.get(path, -1) + 1
                for i, out in enumerate(flatten(outputs)):
                    sink(Site(path, call, "output", i), _array(out))

            return hook

        def back(path: str):
            def hook(_, gradients):
                pulled.append((path, [g if g is None else _array(g) for g in flatten(gradients)]))

            return hook

        handles = []
        for name, cell in self.cell.cells_and_names():
            if name in names:
                handles.append(cell.register_forward_hook(after(names[name])))
                handles.append(cell.register_backward_pre_hook(back(names[name])))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()
        reached = Counter(path for path, _ in pulled)
        for path, gradients in pulled:  # the last call is pulled back first
            if reached[path] <= calls[path]:
                continue  # nothing came back to one of its calls, and which is not known
            for i, gradient in enumerate(gradients):
                if gradient is not None:
                    sink(Site(path, reached[path] - 1, "cotangent", i), gradient)
            reached[path] -= 1
            calls[path] -= 1

    def random_layers(self) -> list[str]:
        """Names of the layers that draw random numbers while training: no dropout of nothing."""
        return [
            name
            for name, cell in self.cell.cells_and_names()
            if isinstance(cell, RANDOM_LAYERS) and getattr(cell, "p", None) != 0
        ]

    def run(
        self,
        sample: Sample,
        partners: Mapping[str, str],
        phase: str,
        outputs: Mapping[int, tuple[int, ...]],
    ) -> Trace:
        """Forward and backward in the sample's dtype; the trace carries reference names.

        `partners` maps this cell's weight names to the reference's; `outputs` gives the shapes
        of the floating outputs that are pulled back, by position. A second run reuses what the
        first one compiled.
        """
        self._enter()
        # What earlier cases left behind changes gradients: one of a softmax over an axis of size
        # one drops the sum from every later one of that rank and axis.
        _pynative_executor.clear_res()
        try:
            self._load(sample, partners)
            with self._arithmetic():
                return self._run(sample, partners, phase, outputs)
        except BaseException:
            # A failure under grad leaves the executor half way through a graph; indexing then
            # breaks in every later case of the process.
            _pynative_executor.clear_res()
            raise

    def _load(self, sample: Sample, partners: Mapping[str, str]) -> None:
        # Without weights there is nothing in single precision that inputs could be cast to.
        if sample.dtype != "float32" and self._step is None and self.parameters:
            self.cell.to_float(getattr(ms, sample.dtype))
        for name, parameter in self.parameters.items():
            values = sample.weight(partners[name], tuple(parameter.shape))
            parameter.set_data(ms.Tensor(values, parameter.dtype))
        for name, parameter in self.parameters.items():
            values = sample.weight(partners[name], tuple(parameter.shape))
            if not np.array_equal(parameter.asnumpy(), values):
                raise WeightError(f"candidate {name} does not hold what was loaded into it")

    def _run(self, sample, partners, phase, outputs) -> Trace:
        trained = {n: p for n, p in self.parameters.items() if p.requires_grad}
        positions = tuple(sample.differentiable)
        inputs = [ms.Tensor(values) for values in sample.inputs()]
        arguments = inputs
        pulled = bool(outputs and (positions or trained))
        if pulled:
            cotangents = [sample.cotangent(i, shape) for i, shape in outputs.items()]
            arguments = [*inputs, *(ms.Tensor(values) for values in cotangents)]
        if self._step is None:
            self._step = self.cell
            if pulled:
                weights = tuple(trained.values())
                self._step = Pullback(self.cell, len(inputs), positions, weights)
            weakref.finalize(self, _discard_graphs, self._step).atexit = False
            self._set_phase(phase)
            if self.declared is not None:
                self._step.set_inputs(*self._unknown(arguments))
        result, names, gradients = self._step(*arguments), [], ()
        if self.declared is not None and len(self._step.compile_cache) > 1:
            raise RuntimeError(
                f"compiled {len(self._step.compile_cache)} times; with unknown dimensions one "
                "graph must serve all sizes"
            )
        if pulled:
            (_, result), gradients = result
            names += [tensors.input_gradient(i) for i in positions]
            names += [tensors.parameter_gradient(partners[name]) for name in trained]
        recorded: Trace = {}
        for i, out in enumerate(flatten(result)):
            recorded[tensors.output(i)] = _array(out)
        for name, gradient in zip(names, flatten(gradients), strict=True):
            recorded[name] = _array(gradient)
        return recorded | self._buffers(partners)

    def _unknown(self, arguments: list[ms.Tensor]) -> list[ms.Tensor]:
        """The declaration of all arguments; of cotangents, only the rank is known."""
        shapes = list(self.declared or ())
        shapes += [(None,) * argument.ndim for argument in arguments[len(shapes) :]]
        return [
            ms.Tensor(shape=shape, dtype=argument.dtype) if None in shape else argument
            for shape, argument in zip(shapes, arguments, strict=True)
        ]

    def _set_phase(self, phase: str) -> None:
        self._step.set_train(phase == "train")
        for name in self.random_layers():
            self.cell_at(name).set_train(False)

    def _buffers(self, partners: Mapping[str, str]) -> Trace:
        return {
            tensors.buffer(partners[name]): _array(parameter)
            for name, parameter in self.parameters.items()
            if not parameter.requires_grad
        }


class MindSporeTraining(MindSporeNetwork):
    """The network of a MindSpore training step, and the step, which is made anew for every run.

    steps: how often the step is called. recorded: the steps after which updates are.
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
        self.recorded: Collection[int] = (1, steps)
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
        self._step, self._spent = step, False
        self._release = [
            weakref.finalize(self, _empty, list(step.get_parameters())),
            weakref.finalize(self, _discard_graphs, step),
        ]
        for release in self._release:
            release.atexit = False

    def _load(self, sample: Sample, partners: Mapping[str, str]) -> None:
        if self._spent:
            # An optimizer that has run keeps to the state it has, whatever its parameters are set
            # to: MindSpore compiles it, in PyNative mode too.
            self._renew()
        super()._load(sample, partners)

    def _run(self, sample, partners, phase, _outputs) -> Trace:
        self._spent = True
        self._set_phase(phase)
        recorded: Trace = {}
        for step in range(1, self.steps + 1):
            result = self._step(*(ms.Tensor(values) for values in sample.inputs(step)))
            recorded[tensors.loss(step)] = _array(flatten(result)[0])
            if step in self.recorded:
                for name, parameter in self.parameters.items():
                    if parameter.requires_grad:
                        moved = tensors.moved(parameter.asnumpy(), sample, partners[name])
                        recorded[tensors.update(step, partners[name])] = moved
        return recorded | self._buffers(partners)


# MindSpore's executor refers to every cell that it compiled for ever, and with it to the graph and
# the weights: 170 MB for a step of ResNet18.


def _discard_graphs(step: nn.Cell) -> None:
    _cell_graph_executor.del_net_res(step, step.compile_cache)
    step.compile_cache.clear()


def _empty(parameters: list[ms.Parameter]) -> None:
    for parameter in parameters:
        parameter.set_data(ms.Tensor(0, parameter.dtype), slice_shape=True)


def flatten(outputs: Any) -> tuple:
    """The tensors of an output, depth first; graph mode compiles this too."""
    if isinstance(outputs, (tuple, list)):
        leaves = ()
        for item in outputs:
            leaves = leaves + flatten(item)
        return leaves
    return (outputs,)


def _array(tensor: Any) -> np.ndarray:
    """A copy in NumPy: `asnumpy` may share storage with a parameter."""
    return np.array(tensor.asnumpy() if isinstance(tensor, ms.Tensor) else tensor)

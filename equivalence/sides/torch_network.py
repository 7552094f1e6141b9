"""PyTorch networks: build them, load weights, run them forward and backward; also trainings."""

import contextlib
import functools
import itertools
import weakref
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import nn

from equivalence import nesting, torchvision_schemas
from equivalence.errors import EquivalenceError
from equivalence.host.devices import CPU, Place
from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.kinks.settler import Settler
from equivalence.kinks.watch import KinkWatch, Margins, few, margins_of
from equivalence.nesting import Arguments, Position
from equivalence.randomness import torch_draws
from equivalence.randomness.layers import RandomLayer
from equivalence.sample import INTEGER_BUFFERS, AnySample, Perturbed, Sample
from equivalence.sides.modes import Given, Modes
from equivalence.sides.protocols import Watch
from equivalence.sides.torch_constants import Constants, as_pairs, numbers
from equivalence.sides.torch_modes import (
    SkipInitialisation,
    Widened,
    as_written,
    changes_of_mode,
    computing_on,
    on,
    without_values,
)
from equivalence.sides.torch_noise import Noise, Precisions, ProductFunctions, WatchedPrecision
from equivalence.stream.observer import installed
from equivalence.stream.torch_devices import AbsentCuda
from equivalence.stream.torch_stream import MAX_POOLINGS, Observer
from equivalence.structure.layers import Called, Layer, Sink, Site, below
from equivalence.structure.looked_up import LookedUp, looked_up
from equivalence.structure.settings import in_modes
from equivalence.structure.tables import Tables
from equivalence.structure.torch_settings import settings
from equivalence.structure.weights import Slot
from equivalence.targets import Plain, build, demand_network
from equivalence.written import Attributes

torchvision_schemas.declare_missing()

TIE_BREAKS = 4
"""How many times kernels are drawn again because of ties; ties that remain after that are kept."""


class Function(nn.Module):
    """A plain callable as a module, with the networks that it is given as its parts."""

    def __init__(self, call: Any):
        super().__init__()
        self.plain = Plain.of(call)
        for name, network in self.plain.networks.items():
            self.add_module(name, network)

    def forward(self, *inputs, **keywords):
        return self.plain(*inputs, **keywords)


class TorchNetwork:
    """A PyTorch module that can run many times, in any dtype, from any sample.

    empty: whether it is built without the values of its parameters; only parts of it can run then.
    place: the place of the candidate. For a candidate on a GPU the module runs on CUDA, if torch
    has CUDA, with TF32 on or off as at the place; otherwise it runs on the CPU.
    device: the torch device of the module.
    module: the PyTorch module.
    constants: its buffers that are not drawn.
    draws: what its runs draw, and what of it is pinned.
    modes: which of its layers train.
    """

    steps: int | None = None
    """How many times a training step is called; None for a network that is no training."""

    noted: Collection[int] = ()
    """The steps after which the trace of a training gets the updates of all weights."""

    step: Any = None
    """The training step, a module; None for a network that is no training."""

    moved: Any = None
    """The `torch_steps.progress` of a training step after its run."""

    settles = True
    """Whether a sample can be moved away from the kinks of this network."""

    mixed = False
    """Whether a float64 run has asked for a precision shorter than float32."""

    _ungraded = False
    """Whether a part of its last float64 run was without gradients, as under `torch.no_grad`."""

    forward_only = False
    """Whether its last run gave no gradients at all, for that reason."""

    backward = True
    """Whether its runs are asked for gradients."""

    _differentiates = False
    """Whether its forward pass asks for gradients, as that of a physics-informed network."""

    made_in: Mapping[str, int] = MappingProxyType({})
    """How many of its parameters are built in each dtype; all are then put into that of a run."""

    precisions: Precisions | None = None
    """The precision of each operator of its own run, where some are shorter than float32."""

    whole: "TorchNetwork | None" = None
    """The network of which it is a part; it may then return nothing, as a layer does."""

    place, device = CPU, torch.device("cpu")

    cuda = AbsentCuda()
    """What lets it run where torch has not the CUDA that it asks for."""

    leave: Collection[str] = ()
    """The attributes that a run finds as the one before has left them, made by a constructor."""

    attributes: Attributes | None = None
    """What its runs write into attributes; None for a part."""

    _looked_up: Mapping[str, LookedUp] = MappingProxyType({})
    """The tables that its code looks up; none for a part."""

    def __init__(
        self, target: str, arguments: Mapping[str, Any], place: Place = CPU, empty: bool = False
    ):
        self.place, self.device = place, beside(place)
        self.draws = torch_draws.TorchDraws()
        self.cuda = AbsentCuda()
        make = functools.partial(build, target, arguments, or_plain=True)
        make = functools.partial(without_values, make) if empty else make
        make = functools.partial(self.cuda.building, make)
        with on(self.device), SkipInitialisation():
            network = make()
        demand_network(target, network, "PyTorch")
        self.module = network if isinstance(network, nn.Module) else Function(network)
        floats = [each.dtype for each in self.module.parameters() if each.is_floating_point()]
        self.made_in = Counter(str(dtype).removeprefix("torch.") for dtype in floats)
        self.constants = Constants(make, self.module)
        self.modes = self._modes()
        self.attributes = self._written()
        layers = [*self.module.named_modules()]
        self._looked_up = looked_up(layers, "forward", _table, nn.Module)

    def _modes(self, given: Given | None = None) -> Modes:
        """The modes of this network. given: those of the larger one of which it is a part."""
        own = weakref.proxy(self)
        return Modes(lambda on: own._ask(on), lambda: own.module.named_modules(), _put, given)

    def _ask(self, training: bool) -> None:
        self.module.train(training)

    def _written(self) -> Attributes:
        own = weakref.proxy(self)
        return Attributes(lambda: own.module.named_modules(), _OF_EVERY_MODULE, _is_value, _array)

    def _begin(self) -> None:
        """A run begins: note what it may write."""
        if self.attributes is not None:
            self.attributes.begin()

    def _attributes(self) -> Trace:
        """What this run, or one before it, has written into attributes."""
        written = self.attributes.end() if self.attributes is not None else {}
        return {tensors.attribute(name): values for name, values in written.items()}

    @property
    def root(self) -> nn.Module:
        """The module that runs: the training step, or the network."""
        return self.module if self.step is None else self.step

    def renew(self) -> None:
        """Nothing to do: a network keeps no state of a run."""

    def part(self, path: str) -> "TorchNetwork":
        """The module at a path as a network of its own, with the same tensors."""
        network = object.__new__(TorchNetwork)
        network.place, network.device = self.place, self.device
        network.module = self.module.get_submodule(path)
        network.constants = self.constants.below(path)
        network.draws, network.backward = self.draws.of_part(path), self.backward
        network.whole = self  # keeps the modes
        network.modes = network._modes(self.modes.below(path))
        return network

    def tables(self) -> Tables:
        """Its constants as data, with their truth, and the tables that its code looks up."""
        return self.constants.tables().beside(self._looked_up)

    def slots(self) -> dict[str, Slot]:
        """All parameters, then all buffers, by name. A frozen parameter counts as a buffer."""
        names: dict[int, list[str]] = {}
        for name, parameter in self.module.named_parameters(remove_duplicate=False):
            names.setdefault(id(parameter), []).append(name)
        slots = {
            n: Slot(tuple(p.shape), "parameter", tuple(names[id(p)][1:]))
            for n, p in self._trained().items()
        }
        slots |= {n: Slot(tuple(b.shape), "buffer") for n, b in self._untrained().items()}
        return slots | self.constants.slots(self.module)

    def _trained(self) -> dict[str, nn.Parameter]:
        """The parameters with a gradient, by name."""
        return {n: p for n, p in self.module.named_parameters() if p.requires_grad}

    def _untrained(self) -> dict[str, torch.Tensor]:
        """The drawn tensors without a gradient by name: frozen parameters, then buffers."""
        frozen = {n: p for n, p in self.module.named_parameters() if not p.requires_grad}
        buffers = self.module.named_buffers()
        return frozen | {n: b for n, b in buffers if n not in self.constants}

    def names(self) -> dict[str, str]:
        """Every name in the state dict -> the name in `slots` of the same tensor."""
        tensors_by_name = self._trained() | self._untrained() | dict(self.module.named_buffers())
        owners = {id(tensor): name for name, tensor in reversed(tensors_by_name.items())}
        saved = self.module.state_dict(keep_vars=True)
        return {name: owners[id(v)] for name, v in saved.items() if id(v) in owners}

    def layers(self) -> list[Layer]:
        """All modules, a parent before its children."""
        drawn = self._trained() | self._untrained()
        names = [n for n in drawn if n.rpartition(".")[2] not in INTEGER_BUFFERS]
        modes = self.modes.each()
        return [
            Layer.of(path, in_modes(settings(module), modes[path]), below(path, names))
            for path, module in self.module.named_modules()
        ]

    def pools_maxima(self, path: str) -> bool:
        """Whether the module at a path is a max pooling."""
        return isinstance(self.module.get_submodule(path), MAX_POOLINGS)

    @contextlib.contextmanager
    def observed(self, sink: Sink, called: Called | None = None) -> Iterator[None]:
        """A context in which `sink` gets the outputs and cotangents of every layer.

        called: gets the layer, the number of the call, its arguments, their arrays, the places of
        those that gradients flow to; for calls with real tensors, None, numbers and texts alone.

        Keywords that are None, True or False are left out: switches such as those of attention.
        Where a layer is compared alone, both sides run it without them.
        """
        calls: dict[str, int] = {}

        def before(path: str):
            def hook(_, args, kwargs):
                call = calls[path] = calls.get(path, -1) + 1
                switches = [k for k, v in kwargs.items() if v is None or isinstance(v, bool)]
                kwargs = {k: v for k, v in kwargs.items() if k not in switches}
                found = [leaf for _, leaf in nesting.leaves((args, kwargs))]
                arrays = [leaf for leaf in found if isinstance(leaf, torch.Tensor)]
                passed = torch.Tensor | bool | int | float | str | None
                real = not any(leaf.is_complex() for leaf in arrays)
                if called and arrays and real and all(isinstance(x, passed) for x in found):
                    flowing = [i for i, leaf in enumerate(arrays) if leaf.requires_grad]
                    values = list(map(_array, arrays))
                    called(path, call, _arguments(args, kwargs), values, flowing)

            return hook

        def after(path: str):
            def hook(_, __, outputs):
                for name, out in nesting.named(outputs).items():
                    if isinstance(out, torch.Tensor):
                        sink(Site(path, calls[path], "output", name), _array(out))
                    if isinstance(out, torch.Tensor) and out.requires_grad:
                        site = Site(path, calls[path], "cotangent", name)
                        out.register_hook(functools.partial(_hand_over, sink, site))

            return hook

        handles = []
        for path, module in self.module.named_modules():
            handles.append(module.register_forward_pre_hook(before(path), with_kwargs=True))
            handles.append(module.register_forward_hook(after(path)))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def dropouts(self) -> list[str]:
        """The paths of the layers of PyTorch that draw while the network trains."""
        return self.modes.train(torch_draws.dropouts(self.module))

    def random_layers(self, sample: Sample, phase: str) -> list[RandomLayer]:
        """Every draw of random numbers in a run, in order; what is pinned is named here, too."""
        notes = torch_draws.Notes(self.module, self.draws.own(self.module.named_modules()))
        with self.draws.noting(notes):
            self.run(sample, phase, "float64")
        return notes.layers

    def run(self, sample: AnySample, phase: str, dtype: str, watch: Watch | None = None) -> Trace:
        """Load the sample's weights, and run forward and backward in `dtype`.

        phase: "train" or "eval".
        watch: a context around the run, or None.
        """
        self._note_precisions(sample, phase)
        self._load(sample, phase, dtype)
        inputs = self._inputs(sample, dtype)
        for i in sample.differentiable:
            inputs[i].requires_grad_()
        given = self._given(inputs)
        self._begin()
        with (
            self._computing(sample, dtype) as widened,
            self.draws.running(self.root),
            self._noting(phase),
            torch.set_grad_enabled(self.backward),
            watch or contextlib.nullcontext(),
        ):
            arguments, keywords = sample.arguments.filled(given)
            returned = self.module(*arguments, **keywords)
            if returned is None and self.whole is None:
                raise EquivalenceError(
                    "the reference's forward returns None, so that nothing can be compared; its "
                    "return may be missing"
                )
            outputs = nesting.named(returned)
            outputs = {name: as_pairs(out) for name, out in outputs.items()}
            self._ungraded = widened.ungraded if widened else self._ungraded
            gradients = self._gradients(sample, inputs, outputs)
        # Copies, because an output may be a weight, and the next run loads other values into it.
        trace: Trace = {
            tensors.output(name): _array(out)
            if isinstance(out, torch.Tensor)
            else tensors.constant("reference", name, out)
            for name, out in outputs.items()
        }
        return trace | gradients | self._buffers() | self._attributes()

    def _given(self, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
        """What the module is called with: a part may write to it, as a ReLU in place does."""
        return inputs if self.whole is None else [each.clone() for each in inputs]

    def _buffers(self) -> Trace:
        drawn = {
            tensors.buffer(name): _array(values)
            for name, values in self._untrained().items()
            if name.rpartition(".")[2] not in INTEGER_BUFFERS
        }
        return drawn | self.constants.trace(self.module)

    def settle(self, sample: Sample, perturbed: Sequence[AnySample], phase: str) -> None:
        """Change `sample` so that no activation is near a kink, where this is possible.

        All runs are forward passes in float64. The perturbed samples show how far rounding moves
        each activation. Kernels whose outputs are nearly equal in a max pooling are drawn again,
        channel by channel. Then one pass shifts the biases.

        perturbed: perturbations of the sample.
        phase: "train" or "eval".
        """
        names = self._movable(sample, phase)
        if not names:
            return  # nothing may be moved
        for _ in range(TIE_BREAKS):
            watch, spreads = self._spreads(sample, perturbed, phase)
            if not watch.quantities:
                return
            ties = watch.ties(spreads, names)
            if not ties:
                break
            for name, channels in ties:
                sample.draw_rows_again(name, channels)
        near = watch.near(spreads)
        if any(map(few, near)):
            self.shift(sample, phase, margins_of(spreads, near))

    def shift(self, sample: Sample, phase: str, margins: Margins) -> None:
        """Change the biases of `sample` so that activations keep their margins, where possible."""
        settler = Settler(margins, self._movable(sample, phase), sample.dtype)
        self.forward(sample, phase, settler)
        for name, shift in settler.shifts.items():
            sample.shifts[name] = sample.shifts.get(name, 0.0) + shift

    def _movable(self, sample: Sample, phase: str) -> dict[int, str]:
        """Address of a parameter -> its name, of all that may be moved; the sample is loaded."""
        self._load(sample, phase, "float64")
        named = self.module.named_parameters()
        return {each.data_ptr(): name for name, each in named if name not in sample.given}

    def _spreads(
        self, sample: Sample, perturbed: Sequence[AnySample], phase: str
    ) -> tuple[KinkWatch, list[torch.Tensor]]:
        """The kinks that a sample meets, and how far perturbations move each activation."""
        self.forward(sample, phase, watch := KinkWatch())
        against = KinkWatch(watch)
        for each in perturbed if watch.quantities else ():
            self.forward(each, phase, against)
        return watch, against.spreads

    def forward(self, sample: AnySample, phase: str, watch: Watch, dtype: str = "float64") -> None:
        """Load the sample's weights, and run forward only. watch: a context around it.

        It runs without gradients, but for a network that differentiates within its forward pass.
        """
        self._note_precisions(sample, phase)
        try:
            self._forward(sample, phase, watch, dtype)
        except RuntimeError:
            if self._differentiates:
                raise
            self._differentiates = True
            if isinstance(watch, KinkWatch):
                watch.clear()
            self._forward(sample, phase, watch, dtype)

    def _forward(self, sample: AnySample, phase: str, watch: Watch, dtype: str) -> None:
        self._load(sample, phase, dtype)
        inputs = self._given(self._inputs(sample, dtype))
        with (
            self._computing(sample, dtype),
            torch.set_grad_enabled(self._differentiates),
            self.draws.running(self.root),
            watch,
        ):
            arguments, keywords = sample.arguments.filled(inputs)
            self.module(*arguments, **keywords)

    @contextlib.contextmanager
    def _computing(self, sample: AnySample, dtype: str) -> Iterator[Widened | None]:
        """The context of a run in `dtype`: on its device, rounded as the sample is.

        It gives the mode that sees all calls of a float64 run.
        """
        with contextlib.ExitStack() as modes:
            modes.enter_context(computing_on(self.device, self.place.mode))
            modes.enter_context(as_written())
            observers: list[Observer] = [*self.draws.observers, *self.cuda.observers()]
            if dtype != "float64":
                with installed(*observers):
                    yield None
                return
            observers.append(widened := Widened())
            if isinstance(sample, Perturbed) and sample.rounding:
                constants = self.constants.tensors(self.module)
                noise = Noise(
                    *sample.rounding,
                    sample.sample.dtype,
                    constants,
                    self.precisions,
                    sample.products,
                )
                if sample.products > noise.unit_roundoff:
                    observers.append(ProductFunctions(noise))
                widened.rounds_casts = noise.cast
                observers.append(noise)
            modes.enter_context(installed(*observers))
            yield widened
            self.mixed = self.mixed or widened.mixed

    def _note_precisions(self, sample: AnySample, phase: str) -> None:
        """Before a noisy run of a network in mixed precision: note those of its own run, once."""
        if not self.mixed or self.precisions is not None:
            return
        if isinstance(sample, Perturbed) and sample.rounding:
            watched = WatchedPrecision()
            self.run(sample.sample, phase, sample.sample.dtype, watched)
            self.precisions = watched.precisions

    @property
    def filled(self) -> list[str]:
        """The names of the parameters that have values."""
        return [name for name, each in self.module.named_parameters() if not each.is_meta]

    def loaded(self, sample: AnySample, phase: str, dtype: str) -> nn.Module:
        """The module, ready to be called: with the sample's weights, in a phase and a dtype."""
        self._load(sample, phase, dtype)
        return self.module

    def _load(self, sample: AnySample, phase: str, dtype: str) -> None:
        self.module.to(self.device, getattr(torch, dtype))
        self.modes.set(phase)
        for path in self._pinned():
            self.module.get_submodule(path).eval()
        torch.default_generator.manual_seed(0)
        if self.device.type == "cuda":
            torch.cuda.manual_seed(0)
        with torch.no_grad():
            for name, tensor in (self._trained() | self._untrained()).items():
                tensor.copy_(torch.from_numpy(sample.weight(name, tuple(tensor.shape))))
        self.constants.load(self.module, sample, dtype, self.leave)

    def _pinned(self) -> Iterable[str]:
        """The paths of the layers of the model's own that are held in evaluation."""
        return self.draws.own(self.module.named_modules()) if self.draws.pins else ()

    @contextlib.contextmanager
    def _noting(self, phase: str) -> Iterator[None]:
        """A context in which the modes of the layers are noted when they are called."""
        changed: list[nn.Module] = []
        with self.modes.noting(phase, self._pinned()), changes_of_mode(changed):
            yield
        self.modes.moved = self.modes.moved or self.modes.hold(changed)

    def _inputs(self, sample: AnySample, dtype: str, step: int = 1) -> list[torch.Tensor]:
        inputs = [torch.from_numpy(np.asarray(values)) for values in sample.inputs(step)]
        complex_one = torch.complex128 if dtype == "float64" else torch.complex64
        wider = {torch.int32: torch.int64}  # labels and indices
        wider |= dict.fromkeys((torch.complex64, torch.complex128), complex_one)
        precisions = [
            getattr(torch, dtype) if x.is_floating_point() else wider.get(x.dtype, x.dtype)
            for x in inputs
        ]
        if dtype != "float64":
            for i in sample.narrow:
                precisions[i] = torch.float16
        return [
            x.to(self.device, precision) for x, precision in zip(inputs, precisions, strict=True)
        ]

    def _gradients(self, sample: AnySample, inputs: list, outputs: Mapping[str, Any]) -> Trace:
        outputs = {n: out for n, out in outputs.items() if isinstance(out, torch.Tensor)}
        called = sample.arguments.names
        names = {tensors.input_gradient(called[i]): inputs[i] for i in sample.differentiable}
        names |= {tensors.parameter_gradient(n): p for n, p in self._trained().items()}
        roots = [(name, out) for name, out in outputs.items() if out.requires_grad]
        floating = any(out.is_floating_point() for out in outputs.values())
        self.forward_only = bool(names and floating and self._ungraded and not roots)
        if self.forward_only or not (names and floating):
            return {}
        cotangents = [
            torch.from_numpy(sample.cotangent(name, tuple(out.shape))).to(out)
            for name, out in roots
        ]
        gradients = [None] * len(names)
        if roots:
            gradients = torch.autograd.grad(
                [out for _, out in roots], list(names.values()), cotangents, allow_unused=True
            )
        return {
            # A gradient is None where the outputs do not depend on the leaf.
            name: numbers(torch.zeros_like(leaf) if gradient is None else gradient)
            for (name, leaf), gradient in zip(names.items(), gradients, strict=True)
        }


_OF_EVERY_MODULE = frozenset(vars(nn.Module()))


def _hand_over(sink: Sink, site: Site, cotangent: torch.Tensor | None) -> None:
    """Give a cotangent to a sink; nothing comes back to a result that is not used."""
    if cotangent is not None:
        sink(site, _array(cotangent))


def _arguments(positional: tuple, keywords: dict[str, Any]) -> Arguments:
    """How a module is called with these arguments; the tensors are numbered in order."""
    numbers = itertools.count()

    def place(leaf: Any) -> Any:
        return Position(next(numbers)) if isinstance(leaf, torch.Tensor) else leaf

    return Arguments(nesting.transform(positional, place), nesting.transform(keywords, place))


def _is_value(value: Any) -> bool:
    """Whether a value is a tensor, and no weight."""
    return isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter)


def _table(value: object) -> np.ndarray | None:
    """The numbers of a tensor without a gradient; None of anything else."""
    known = isinstance(value, torch.Tensor) and not value.requires_grad
    return numbers(as_pairs(value)) if known else None


def _put(module: nn.Module, training: bool) -> None:
    module.training = training


def beside(place: Place) -> torch.device:
    """The torch device of the reference, for a candidate at that place."""
    there = place.reference == "cpu" or getattr(torch, place.reference).is_available()
    return torch.device(place.reference if there else "cpu")


def _array(tensor: torch.Tensor) -> np.ndarray:
    """A copy as a NumPy array."""
    return numbers(as_pairs(tensor)).copy()

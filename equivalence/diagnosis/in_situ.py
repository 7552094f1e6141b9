"""One layer by itself, with the input that the reference's layer gets inside the network.

In a whole run, a layer's error is partly inherited from earlier layers. Fed the reference's own
input and cotangent, rounded to the case's dtype, a layer shows its local error, in graph mode as
well as in PyNative mode.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equivalence import dtypes
from equivalence.judge import tensors
from equivalence.judge.expected import Expected
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import PulledBack
from equivalence.kinks.watch import KinkWatch
from equivalence.nesting import Arguments
from equivalence.sample import Sample
from equivalence.sides.protocols import ReferenceSide
from equivalence.statements.layouts import Layout
from equivalence.structure.layers import Site
from equivalence.truth.measurement import Measurement

INNER_PROBES = 2
"""Perturbed runs that measure the sensitivity of the tensors between layers."""

ELSEWHERE = "/"
"""Prefix of the name of a weight outside the layer; its name in the whole network follows."""


@dataclass
class Flow:
    """The tensors between the layers in one float64 run of the reference.

    inputs: (layer, call) -> its inputs in the case's dtype; only of calls that can be repeated.
    arguments: (layer, call) -> how it is called with them.
    flowing: (layer, call) -> the positions of the inputs that gradients flow to.
    between: output or cotangent -> its truth with its sensitivity.
    idle: layers that are called with no rows, as an expert that no token is sent to. Such a call is
        not repeated: all that it leaves to compare are gradients of weights, sums of nothing, for
        which kernels of MindSpore give memory that nobody wrote.
    """

    inputs: dict[tuple[str, int], list[np.ndarray]] = field(default_factory=dict)
    arguments: dict[tuple[str, int], Arguments] = field(default_factory=dict)
    flowing: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    between: dict[Site, Expected] = field(default_factory=dict)
    idle: set[str] = field(default_factory=set)

    def calls(self, layer: str) -> list[int]:
        """The numbers of a layer's calls that can be repeated by themselves."""
        return [call for path, call in self.inputs if path == layer]

    def times(self, layer: str) -> int:
        """How many times a layer is called."""
        return 1 + max((site.call for site in self.between if site.layer == layer), default=-1)

    @property
    def order(self) -> list[str]:
        """The layers in the order of their first output; a parent comes after its children."""
        return list(dict.fromkeys(site.layer for site in self.between))


def observe(measurement: Measurement) -> Flow:
    """Run the reference in float64, then INNER_PROBES times perturbed, and collect the flow.

    The perturbed runs take the steps of roundings that the first one takes.
    """
    network, sample = measurement.network, measurement.sample
    flow = Flow()
    narrower = {"float64": sample.dtype}
    if all(values.dtype != "int64" for values in sample.inputs()):
        narrower["int64"] = "int32"  # the dtype of the reference's labels

    def called(
        layer: str, call: int, arguments: Arguments, arrays: list[np.ndarray], flowing: list[int]
    ) -> None:
        if arrays and not any(values.size for values in arrays):
            flow.idle.add(layer)
            return
        named = [str(values.dtype) for values in arrays]
        rounded = [
            dtypes.rounded(values, narrower.get(dtype, dtype)).copy()
            for values, dtype in zip(arrays, named, strict=True)
        ]
        flow.inputs[layer, call], flow.arguments[layer, call] = rounded, arguments
        flow.flowing[layer, call] = flowing

    def keep(site: Site, values: np.ndarray) -> None:
        if values.dtype.kind == "f":
            flow.between[site] = Expected(values, str(values.dtype))

    def widen(site: Site, values: np.ndarray) -> None:
        expected = flow.between.get(site)
        # Rounding may hand a layer other rows: a router decides by it between two experts.
        if expected is not None and values.shape == expected.shape:
            expected.widen(values)

    steps = KinkWatch()
    with network.observed(keep, called):
        measurement.run(watch=steps)
    with network.observed(widen):
        for probe in range(INNER_PROBES):
            measurement.run(measurement.perturbed(probe), KinkWatch(steps))
    return flow


class InSitu(Sample):
    """The sample of one call of a layer, with the whole sample's weights.

    A weight is asked for by its name in the layer, or by ELSEWHERE and its full name.

    inputs: the layer's inputs in this call.
    cotangents: name of an output -> its cotangent.
    altered: name -> values that replace a weight's.
    called: how the layer is called; None: each input is a positional argument.
    flowing: the positions of the inputs whose gradients are compared; None: of all floating ones.
    """

    def __init__(
        self,
        whole: Sample,
        layer: str,
        inputs: list[np.ndarray],
        cotangents: Mapping[str, np.ndarray],
        altered: Mapping[str, np.ndarray] | None = None,
        called: Arguments | None = None,
        flowing: list[int] | None = None,
    ):
        called = called or Arguments.plain(len(inputs))
        super().__init__(f"{whole.name}/{layer}", whole.seed, [], whole.dtype, called)
        self.whole, self.prefix = whole, f"{layer}." if layer else ""
        self.layer_inputs, self.cotangents = inputs, cotangents
        self.altered = {name: np.asarray(values) for name, values in (altered or {}).items()}
        self.flowing = flowing

    def inputs(self, _step: int = 1) -> list[np.ndarray]:
        return self.layer_inputs

    @property
    def differentiable(self) -> list[int]:
        floating = [i for i, values in enumerate(self.layer_inputs) if values.dtype.kind == "f"]
        return floating if self.flowing is None else self.flowing

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        if name in self.altered:
            return self.altered[name]
        return self.whole.weight(self._full(name), shape)

    def begun(self, name: str) -> bool:
        return self.whole.begun(self._full(name))

    def _full(self, name: str) -> str:
        """The name of a weight in the whole network."""
        elsewhere = name.startswith(ELSEWHERE)
        return name.removeprefix(ELSEWHERE) if elsewhere else self.prefix + name

    def cotangent(self, output: str, shape: tuple[int, ...]) -> np.ndarray:
        values = self.cotangents.get(output)
        if values is None or values.shape != shape:  # nothing comes back, so anything may
            return super().cotangent(output, shape)
        return dtypes.rounded(values, self.dtype)


class LaidOut:
    """The sample of one call of a layer as its partner takes it, whose tensors have other layouts.

    inputs, outputs: the layouts of those that have, by their number and by their name.
    """

    def __init__(self, sample: InSitu, inputs: Mapping[int, Layout], outputs: Mapping[str, Layout]):
        self._sample, self._inputs, self._outputs = sample, inputs, outputs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sample, name)

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        """The inputs as the partner takes them."""
        given = enumerate(self._sample.inputs(step))
        return [self._inputs[i].there(x) if i in self._inputs else x for i, x in given]

    def cotangent(self, output: str, shape: tuple[int, ...]) -> np.ndarray:
        """The cotangent of an output as the partner takes it."""
        layout = self._outputs.get(output)
        if layout is None:
            return self._sample.cotangent(output, shape)
        return layout.there(self._sample.cotangent(output, layout.reference))

    def shapes(self, outputs: PulledBack) -> PulledBack:
        """The outputs that get a cotangent, with the shapes that they have there."""
        laid = {
            n: self._outputs[n].candidate if n in self._outputs else s for n, s in outputs.items()
        }
        return PulledBack(laid, outputs.every)

    def restored(self, trace: Trace) -> Trace:
        """The partner's trace as the reference has it."""
        layouts = {tensors.output(name): layout for name, layout in self._outputs.items()}
        names = self._sample.arguments.names
        layouts |= {tensors.input_gradient(names[i]): each for i, each in self._inputs.items()}
        return {n: layouts[n].back(x) if n in layouts else x for n, x in trace.items()}


def sample_of_call(
    flow: Flow, whole: Sample, network: ReferenceSide, layer: str, call: int
) -> InSitu:
    """The sample with which one call of the reference's layer is repeated."""
    inputs = [np.array(values) for values in flow.inputs[layer, call]]
    if network.pools_maxima(layer):
        inputs = [_untied(values, whole.stream("untie", layer, call)) for values in inputs]
    cotangents = {
        site.name: expected.truth
        for site, expected in flow.between.items()
        if site[:3] == (layer, call, "cotangent")
    }
    at = layer, call
    return InSitu(whole, layer, inputs, cotangents, None, flow.arguments[at], flow.flowing[at])


def _untied(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Replace each zero by a small negative value of its own, in place.

    In a window of zeros, such as a ReLU leaves, any entry may count as the maximum.
    """
    zeros = values == 0
    values[zeros] = -rng.uniform(0.001, 1.0, int(zeros.sum())).astype(values.dtype)
    return values

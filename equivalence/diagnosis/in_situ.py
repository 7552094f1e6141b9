"""A layer by itself, fed what the reference's layer gets inside the network.

The error of a layer's output in the whole run is partly inherited from the layers before it. Fed
the reference's own input and cotangent, rounded to the case's dtype, a layer shows its local
error, in graph mode as in PyNative mode.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from equivalence.judge.verdict import Expected
from equivalence.sample import Perturbed, Sample
from equivalence.sides.layers import Site
from equivalence.sides.torch_network import TorchNetwork

INNER_PROBES = 2
"""Perturbed runs that tell how far rounding moves what flows between layers."""

ELSEWHERE = "/"
"""Begins the name of a weight that lies outside the layer, by its name in the whole network."""


@dataclass
class Flow:
    """What flows through a reference's float64 run.

    inputs: by (layer, call), in the case's dtype, where they are all tensors.
    between: the truth of every output and cotangent, with its sensitivity.
    """

    inputs: dict[tuple[str, int], list[np.ndarray]] = field(default_factory=dict)
    between: dict[Site, Expected] = field(default_factory=dict)

    def calls(self, layer: str) -> list[int]:
        """The calls of a layer that can be repeated by themselves."""
        return [call for path, call in self.inputs if path == layer]

    def times(self, layer: str) -> int:
        """How often a layer is called."""
        return 1 + max((site.call for site in self.between if site.layer == layer), default=-1)

    @property
    def order(self) -> list[str]:
        """The layers in the order of their first output: a parent comes after its children."""
        return list(dict.fromkeys(site.layer for site in self.between))


def observe(network: TorchNetwork, sample: Sample, phase: str, unit_roundoff: float) -> Flow:
    """Run the reference in float64, and again perturbed, and note what flows between layers."""
    flow = Flow()
    dtypes = {np.dtype("float64"): np.dtype(sample.dtype)}
    if all(values.dtype != "int64" for values in sample.inputs()):
        dtypes[np.dtype("int64")] = np.dtype("int32")  # as which the reference got its labels

    def keep(site: Site, values: np.ndarray) -> None:
        if site.part == "input":
            rounded = values.astype(dtypes.get(values.dtype, values.dtype))
            flow.inputs.setdefault((site.layer, site.call), []).append(rounded)
        elif values.dtype.kind == "f":
            flow.between[site] = Expected(values, str(values.dtype))

    def widen(site: Site, values: np.ndarray) -> None:
        known = flow.between.get(site)
        if known is not None:
            known.widen(values)

    with network.observed(keep):
        network.run(sample, phase, "float64")
    with network.observed(widen):
        for probe in range(INNER_PROBES):
            network.run(Perturbed(sample, probe, unit_roundoff), phase, "float64")
    return flow


class InSitu(Sample):
    """The sample of one call of a layer: weights of the whole sample, inputs and cotangents given.

    Weights are asked for by their names in the layer, or by `ELSEWHERE` and their full name.
    `altered` replaces some of them.
    """

    def __init__(
        self,
        whole: Sample,
        layer: str,
        inputs: list[np.ndarray],
        cotangents: Mapping[int, np.ndarray],
        altered: Mapping[str, np.ndarray] | None = None,
    ):
        super().__init__(f"{whole.name}/{layer}", whole.seed, [], whole.dtype)
        self.whole, self.prefix = whole, f"{layer}." if layer else ""
        self.given, self.pulled = inputs, cotangents
        self.altered = altered or {}

    def inputs(self, _step: int = 1) -> list[np.ndarray]:
        return self.given

    @property
    def differentiable(self) -> list[int]:
        return [i for i, values in enumerate(self.given) if values.dtype.kind == "f"]

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        if name in self.altered:
            return self.altered[name]
        elsewhere = name.startswith(ELSEWHERE)
        full = name.removeprefix(ELSEWHERE) if elsewhere else self.prefix + name
        return self.whole.weight(full, shape)

    def cotangent(self, index: int, shape: tuple[int, ...]) -> np.ndarray:
        pulled = self.pulled.get(index)
        if pulled is None or pulled.shape != shape:  # nothing comes back, so anything may
            return super().cotangent(index, shape)
        return pulled.astype(self.dtype)


def sample_of_call(
    flow: Flow, whole: Sample, network: TorchNetwork, layer: str, call: int
) -> InSitu:
    """What the reference's layer gets in one of its calls."""
    inputs = [np.array(values) for values in flow.inputs[layer, call]]
    if network.pools_maxima(layer):
        inputs = [_untied(values, whole.stream("untie", layer, call)) for values in inputs]
    cotangents = {
        site.index: known.truth
        for site, known in flow.between.items()
        if site[:3] == (layer, call, "cotangent")
    }
    return InSitu(whole, layer, inputs, cotangents)


def _untied(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Give the zeros that a ReLU left negative values, each its own.

    In a window of zeros any entry may be taken for the largest.
    """
    zeros = values == 0
    values[zeros] = -rng.uniform(0.001, 1.0, int(zeros.sum())).astype(values.dtype)
    return values

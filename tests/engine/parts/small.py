"""Shorthand for the tests of the engine: small twins, their cases and their samples."""

import torch

from equivalence.declare.draws import Draw
from equivalence.declare.twin import Twin, TwinCase
from equivalence.kinks.watch import KinkWatch
from equivalence.sample import Sample, resolve_inputs

PT = "tests.engine.parts.networks_pt:"
MS = "tests.engine.parts.networks_ms:"


def case(
    reference: str,
    candidate: str,
    *inputs: Draw,
    phase: str = "train",
    execution: str = "pynative",
    dtype: str = "float32",
    device: str = "cpu",
    config: dict | None = None,
    **twin,
) -> TwinCase:
    """One case of a twin that is declared on the spot."""
    config = config or {}
    declared = Twin("small", reference, candidate, inputs, configs=(config,), **twin)
    return TwinCase(declared, config, phase, dtype, execution, device)


def sample(*inputs: Draw, dtype: str = "float32", seed: int = 0) -> Sample:
    """What a case with these inputs would be drawn."""
    return Sample("small", seed, resolve_inputs(inputs, {}), dtype)


def watched(network, *inputs):
    """The kink quantities of a forward pass."""
    with torch.no_grad(), KinkWatch() as watch:
        network(*inputs)
    return watch.quantities

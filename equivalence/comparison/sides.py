"""Builds the two sides of a case, and draws their sample. Imports the frameworks late."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from equivalence import targets
from equivalence.convert import trained
from equivalence.declare.batches import Batches
from equivalence.declare.network import Network
from equivalence.declare.twin import TorchCase, TwinCase
from equivalence.errors import DeclarationError, SideError, TorchMissingError, blaming
from equivalence.host import devices, environment
from equivalence.pipelines import batches
from equivalence.randomness.replay import Replay
from equivalence.sample import Sample, call_of, resolve_inputs
from equivalence.sides.protocols import CandidateSide, ReferenceSide
from equivalence.structure.layers import Layer
from equivalence.structure.weights import Partners, Unseen
from equivalence.targets import Building

if TYPE_CHECKING:
    from equivalence.sides.mindspore_network import MindSporeNetwork
    from equivalence.sides.torch_network import TorchNetwork


class Maker(Protocol):
    """Draws the sample of a case, and builds both sides of it."""

    def sample(self, case: TwinCase, seed: int, /) -> Sample:
        """Its inputs, weights and cotangents."""

    def reference(self, case: TwinCase, /) -> "TorchNetwork":
        """A new reference."""

    def candidate(self, case: TwinCase, /) -> "MindSporeNetwork":
        """A new candidate."""


def draw(case: TwinCase, seed: int) -> Sample:
    """The sample of a case: its inputs, weights and cotangents."""
    return _maker(case).sample(case, seed)


def build_reference(case: TwinCase) -> "TorchNetwork":
    """A new reference of a case. Raises TorchMissingError if torch is not installed."""
    if not environment.installed("torch"):
        raise TorchMissingError(
            f"{case.name}: its reference needs torch, which is not installed, and no record of it "
            "is used; run pytest with --record=write where torch is"
        )
    return _maker(case).reference(case)


def build_candidate(case: TwinCase) -> "MindSporeNetwork":
    """The candidate of a case."""
    return _maker(case).candidate(case)


def _maker(case: TwinCase) -> Maker:
    """What draws the sample of a case and builds its sides: the part's own, or the twin's."""
    return case.own or (OF_TORCH if isinstance(case, TorchCase) else DECLARED)


class _DeclaredSides:
    """Draws and builds what a twin declares."""

    def sample(self, case: TwinCase, seed: int) -> Sample:
        given = trained.weights(case, build_reference, build_candidate) if case.twin.weights else {}
        twin, dimensions = case.twin, case.dimensions
        if isinstance(twin.inputs, Batches):
            sample: Sample = batches.draw(twin.inputs, case.sample_name, seed, case.dtype, given)
        else:
            inputs = resolve_inputs(twin.draws, dimensions)
            called = call_of(twin.inputs, dimensions)
            sample = Sample(case.sample_name, seed, inputs, case.dtype, called, given)
        sample.state = _state_of(case, sample)
        return sample

    def reference(self, case: TwinCase) -> "TorchNetwork":
        from equivalence.sides.torch_network import TorchNetwork
        from equivalence.sides.torch_training import TorchTraining

        place, arguments = devices.place(case.device), _arguments(case, "reference")
        if steps := case.twin.steps:
            network: TorchNetwork = TorchTraining(case.twin.reference, arguments, steps, place)
        else:
            network = TorchNetwork(case.twin.reference, arguments, place, case.twin.by_layer)
        network.draws.pinned, network.backward = case.twin.pinned, case.twin.backward
        network.draws.replay = _replay(case)
        return network

    def candidate(self, case: TwinCase) -> "MindSporeNetwork":
        from equivalence.sides.mindspore_network import MindSporeNetwork
        from equivalence.sides.mindspore_training import MindSporeTraining

        place = devices.place(case.device).running(case.computed)
        arguments = _arguments(case, "candidate")
        if steps := case.twin.steps:
            network: MindSporeNetwork = MindSporeTraining(
                case.twin.candidate, arguments, case.execution, place, steps
            )
        else:
            network = MindSporeNetwork(
                case.twin.candidate, arguments, case.execution, place, _declared_shapes(case)
            )
        network.draws.pinned, network.draws.replay = case.twin.pinned, _replay(case)
        unfit = case.twin.backward or "graph" in case.twin.executions
        if unfit and isinstance(network.slots(), Unseen):
            raise DeclarationError(
                "the candidate is a function of arrays, which gives no gradients and is not "
                "compiled; add --forward --execution pynative (backward=False, "
                "executions=('pynative',))"
            )
        return network


DECLARED = _DeclaredSides()
"""Of what is compared as its twin declares it."""


class _OfTorch(_DeclaredSides):
    """Draws and builds two networks of PyTorch."""

    def candidate(self, case: TwinCase) -> Any:
        from equivalence.sides.torch_candidate import TorchCandidate

        return TorchCandidate(case, _arguments(case, "candidate"))


OF_TORCH = _OfTorch()
"""Of two networks of PyTorch."""


def _replay(case: TwinCase) -> Replay | None:
    """What gives the draws of a side their numbers; None where they are pinned."""
    if case.replayed is None:
        return None
    return Replay(case.sample_name, case.dtype, case.replayed)


def _arguments(case: TwinCase, side: str) -> dict[str, Any]:
    """What a side is called with; a network among it is built by this side's target.

    side: "reference" or "candidate".
    """
    return {
        name: Building(getattr(each, side), each.arguments) if isinstance(each, Network) else each
        for name, each in case.arguments.items()
    }


def _declared_shapes(case: TwinCase) -> list[tuple[int | None, ...]] | None:
    """The shapes of the inputs, with None for every dimension that a size sets.

    Returns None for a twin without sizes.
    """
    if not case.twin.sizes:
        return None
    unknown = dict.fromkeys(case.twin.sizes[0], (None,))  # a tuple, since `resolve` splices it in
    shapes = [draw.resolve({**case.config, **unknown}) for draw in case.twin.draws]
    return [shape for shape in shapes if shape is not None]


def reference_layers(
    case: TwinCase, network: ReferenceSide, sample: Sample | None = None
) -> list[Layer]:
    """The layers of a reference with their settings; those of a training after a run, if any.

    sample: what a training that has not run is to be run with, if it has schedulers: only a run
        tells when they move. None where no run is wanted.
    """
    layers = network.layers()
    if network.step is not None:
        from equivalence.structure import torch_steps

        if sample is not None and torch_steps.progress(network.step)[1]:
            with blaming("reference", case.name):
                network.run(sample, case.phase, case.dtype)
        layers += torch_steps.layers(network.step, network.module, network.moved)
        network.renew()
    return layers


def candidate_step(candidate: CandidateSide, partners: Partners) -> list[Layer]:
    """The settings of a candidate's training step, as layers; none where they cannot be read.

    partners: candidate name -> reference name of every weight.
    """
    network = candidate.built
    if network is None or network.step is None:
        return []
    from equivalence.structure import mindspore_steps

    return mindspore_steps.layers(network.step, network.parameters, partners, network.begun)


_known: dict[tuple, Mapping[str, np.ndarray]] = {}


def _state_of(case: TwinCase, sample: Sample) -> Mapping[str, np.ndarray]:
    """The reference's name -> values of all state of a case; nothing where it has a constructor.

    sample: what the reference is run with, to see what it writes.
    """
    networks = case.arguments.values()
    given = [each.reference for each in networks if isinstance(each, Network)]
    built = [case.twin.reference, *given]
    if not any(map(targets.offers, built)):
        return {}
    key = (*built, case.twin.steps, *case.twin.phases)
    if key not in _known:
        network = build_reference(case)  # a function may turn out to give one network each time
        _known[key] = _written(case, sample, network) if any(map(targets.copies, built)) else {}
    return _known[key]


def forget() -> None:
    """Drop what is known of all networks."""
    _known.clear()


def _written(case: TwinCase, sample: Sample, network: ReferenceSide) -> dict[str, np.ndarray]:
    """The state of a reference: what it writes in either phase.

    A run in training may be none of the case's; where it fails, nothing is state for it.
    """
    if not network.constants.fractional:
        return {}
    found: dict[str, np.ndarray] = {}
    for phase in dict.fromkeys((*case.twin.phases, "train")):
        try:
            with blaming("reference", case.name):
                found |= network.constants.written(network.run(sample, phase, "float32"))
        except SideError:
            if phase in case.twin.phases:
                raise
    return found

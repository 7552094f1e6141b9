"""What a rank has of a network of one process: all of its weights, or parts of them."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from equivalence.scripts.compare import NetworkPairing
from equivalence.scripts.steps import KeptTensor, ScriptNetwork, Step, TrainingRun
from equivalence.structure.slots import Slot
from equivalence.structure.weights import Partners, pair_found
from equivalence.words import listed

Parts = dict[str, tuple[int, int]]
"""Name of a weight -> the axis along which it is cut, and the number of the part."""


class OfRank(NetworkPairing):
    """Finds the reference's network of each of a rank's; it may have a part of some weights.

    parts: what it has in part.
    begun: weights that begin as another rank's -> that rank. They stay so: of parts, the network is
        right where all of them are that rank's.
    """

    def __init__(
        self,
        given: Sequence[TrainingRun],
        number: int,
        rename: Mapping[str, str],
        constants: Sequence[str],
    ):
        super().__init__(copy.deepcopy(given[number]), rename, constants)
        self.number, self.ranks = number, len(given)
        self.others = given
        self.parts: dict[int, Parts] = {}
        self.begun: dict[str, int] = {}

    def _pairs(self, number: int, slots: Mapping[str, Slot]) -> tuple[Partners, bool]:
        partners, complaint = super()._pairs(number, slots)
        if not complaint:
            return partners, complaint
        whole = self.others[self.number].networks[number].slots
        axes = _axes(whole, slots, self.rename, self.constants, self.ranks)
        cut = {n: _slot(s, axes.get(n), self.ranks) for n, s in whole.items()}
        found, complaint = pair_found(cut, slots, self.rename, self.constants)
        if axes and not complaint:
            theirs = self.theirs.networks[number]
            theirs.slots = cut
            self.parts[number] = {name: (axis, self.number) for name, axis in axes.items()}
            return found, False
        return partners, True

    def __call__(self, network: ScriptNetwork, number: int) -> tuple[int, Partners]:
        """The number of the reference's network, and the pairs of weights."""
        of, partners = super().__call__(network, number)
        theirs, own = self.theirs.networks[of], partners.restored(network.initial)
        parts = self.parts.get(of, {})
        for name, whole in theirs.initial.items():
            if name in parts:
                axis, mine = parts[name]
                choices = np.split(whole, self.ranks, axis)
            else:
                mine = self.number
                choices = [each.networks[of].initial[name] for each in self.others]
            begun = own.get(name)
            same = [
                n for n, v in enumerate(choices) if begun is not None and np.array_equal(v, begun)
            ]
            taken = mine if mine in same or not same else same[0]
            theirs.initial[name] = choices[taken]
            if name in parts:
                parts[name] = parts[name][0], taken
            if taken != mine:
                self.begun[name] = taken
        return of, partners


def _axes(
    whole: Mapping[str, Slot],
    slots: Mapping[str, Slot],
    rename: Mapping[str, str],
    constants: Sequence[str],
    ranks: int,
) -> dict[str, int]:
    """Reference name -> the axis along which a rank has one of so many parts of a weight."""

    def any_shape(of: Mapping[str, Slot]) -> dict[str, Slot]:
        return {n: replace(s, shape=(1,) * len(s.shape)) for n, s in of.items()}

    partners, _ = pair_found(any_shape(whole), any_shape(slots), rename, constants)
    axes = {}
    for name, target in partners.items():
        mine, theirs = slots[name].shape, whole[target].shape
        differing = [
            axis for axis, pair in enumerate(zip(mine, theirs, strict=True)) if len({*pair}) > 1
        ]
        if len(differing) == 1 and mine[differing[0]] * ranks == theirs[differing[0]]:
            axes[target] = differing[0]
    return axes


def _slot(slot: Slot, axis: int | None, ranks: int) -> Slot:
    if axis is None:
        return slot
    return replace(
        slot, shape=tuple(n // ranks if a == axis else n for a, n in enumerate(slot.shape))
    )


def cut(run: TrainingRun, parts_of: Mapping[int, Parts], ranks: int) -> TrainingRun:
    """A run of one process with the parts of its weights that a rank has.

    parts_of: number of a network -> what the rank has in part.
    """
    if not parts_of:
        return run
    cut = {f"{of}:{name}": part for of, parts in parts_of.items() for name, part in parts.items()}

    def of(key: str, tensor: KeptTensor) -> KeptTensor | None:
        axis, number = cut.get(key, (None, 0))
        if axis is None:
            return tensor
        if tensor.sketched:
            return None
        values = np.split(tensor.values, ranks, axis)[number]
        return replace(tensor, values=values, shape=values.shape)

    def all_of(tensors: Mapping[str, KeptTensor]) -> dict[str, KeptTensor]:
        return {k: s for k, v in tensors.items() if (s := of(k, v)) is not None}

    def step(whole: Step) -> Step:
        gradients, reached = all_of(whole.gradients), all_of(whole.reached)
        weights = all_of(whole.weights)
        return replace(whole, gradients=gradients, reached=reached, weights=weights, averages=None)

    lost = [k for k in cut if k in run.steps[0].weights and run.steps[0].weights[k].sketched]
    notes = [f"not compared, for they are large: {listed(lost)}"] if lost else []
    return replace(run, steps=[step(each) for each in run.steps], notes=[*run.notes, *notes])

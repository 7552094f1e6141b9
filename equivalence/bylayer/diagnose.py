"""Finds the culprits in the parts of a network that differ."""

import math
from dataclasses import replace

from equivalence.bylayer import compare, spread
from equivalence.bylayer.parts import PartCase
from equivalence.comparison import kept
from equivalence.declare.twin import LayeredCase
from equivalence.diagnosis import diagnose as whole
from equivalence.diagnosis import text
from equivalence.diagnosis.found import Diagnosis, LayerError
from equivalence.host import memory
from equivalence.kinds import ToldDiagnosis

PARTS = 3
"""At most so many parts are looked into; the others are named."""

COPIES = 30
"""How many times the weights of a part, in float64, a diagnosis takes: it keeps every value of both
sides that it may point to."""


def tell(case: LayeredCase, seed: int, every: bool) -> ToldDiagnosis:
    """The diagnosis as a few lines, as every layer in lines, and as data."""
    return text.told(diagnose(case, seed, every))


def diagnose(case: LayeredCase, seed: int, every: bool = False) -> Diagnosis:
    """Find the layers that are wrong by themselves, in the first parts that differ.

    every: measure every layer of these parts by itself.

    Of several processes the first one looks, and the others find nothing.
    """
    wrong = compare.wrong(case, seed) if spread.leads() else []
    layers: list[LayerError] = []
    culprits: list[LayerError] = []
    notes: list[str] = []
    trees: tuple[dict[str, str], dict[str, str]] = ({}, {})
    ill_posed = None
    for part in wrong[:PARTS]:
        if why := beyond(part):
            culprits.append(_unseen(part, why))
            continue
        found = whole.diagnose(part, seed, every)
        kept.forget()
        layers += [_named(part, each) for each in found.layers]
        culprits += [_named(part, each) for each in found.culprits]
        notes += [part.at_size(note) for note in found.notes]
        for tree, prefix, side in zip(trees, part.own.paths, found.trees, strict=True):
            tree |= {_below(prefix, path): kind for path, kind in side.items()}
        ill_posed = ill_posed or found.ill_posed
    if others := [part.own.name for part in wrong[PARTS:]]:
        notes.append(f"not looked into: {', '.join(others)}, which differ, too")
    return Diagnosis(case, layers, culprits, notes, ill_posed, trees)


def beyond(part: PartCase) -> str:
    """Why a part is too large to be looked into on this host, in words; "" where it is not."""
    slots = part.own.reference(part).slots().values()
    needed = COPIES * 8 * sum(math.prod(slot.shape) for slot in slots)
    free = memory.available()
    if free is None or needed <= free:
        return ""
    return (
        f"not looked into: that takes about {needed / 2**30:.1f} GiB of memory, and "
        f"{free / 2**30:.1f} are free; a smaller width may show the same"
    )


def _unseen(part: PartCase, why: str) -> LayerError:
    """A part that is wrong, and is not looked into."""
    theirs, ours = part.own.paths
    kind = type(part.own.whole.reference.module.get_submodule(theirs)).__name__
    return LayerError(theirs, ours, (kind, kind), causes=[why])


def _named(part: PartCase, layer: LayerError) -> LayerError:
    """A layer of a part, by its paths in the whole network."""
    theirs, ours = part.own.paths
    reference, candidate = _below(theirs, layer.reference), _below(ours, layer.candidate)
    return replace(layer, reference=reference, candidate=candidate)


def _below(prefix: str, path: str) -> str:
    return ".".join(filter(None, (prefix, path)))

"""What runs write into attributes and do not return: paired, and judged as outputs are.

A training reads a balance loss from `self.aux`, and a wrong one makes a wrong port. Attributes are
not what a network is asked for, though, and ports are free to keep what they like. So one is judged
where both sides write it, under one name and in a layout that compares; all else is told.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from equivalence.judge.expected import HALF, Expected
from equivalence.judge.precision import BUDGET
from equivalence.judge.tensors import Trace, attribute, beside, of_attribute, of_handed
from equivalence.words import counted, listed
from equivalence.written import PER_CALL

OPTIMISER = (
    "those that optimisers get are not compared: neither a graph shows them, nor an optimiser of "
    "one's own, which may change them"
)
"""What is said of gradients that reach an optimiser unseen."""

ORIGINAL, PORT = "the original alone", "the port alone"
KEPT = "kept from call to call"
ROUNDING = "rounding alone decides"
LAYOUT = "in another layout"
GRAPH = "a graph shows none"
"""Why an attribute is not compared."""

SAME = 2.0**-6
"""Relative difference up to which the numbers of another shape are the same ones in its order."""


@dataclass(frozen=True)
class PairedTraces:
    """Both traces with the attributes that are compared alone.

    expected: the truth; all but attributes is there as it was.
    candidate: the candidate's trace, in which an attribute has the shape and the kind of the truth.
    problems: name of an attribute -> what no norm can say.
    apart: name of what is told and not compared -> why.
    """

    expected: Mapping[str, Expected]
    candidate: Trace
    problems: Mapping[str, str]
    apart: Mapping[str, str]


def pair(
    expected: Mapping[str, Expected],
    candidate: Trace,
    unit_roundoff: float,
    carried: Collection[str] = (),
) -> PairedTraces:
    """Pair the attributes of both traces by their names, and the gradients that optimisers get.

    carried: the names of those that the reference keeps from call to call.
    """
    theirs, ours = ([n for n in side if beside(n)] for side in (expected, candidate))
    if not (theirs or ours or carried):
        return PairedTraces(expected, candidate, {}, {})
    apart = {name: PORT for name in ours if name not in expected and name not in carried}
    apart = {n: why for n, why in apart.items() if of_attribute(n) and not n.endswith(PER_CALL)}
    per_call = {n for n in candidate if n.endswith(PER_CALL) and n in expected}
    apart |= {n: KEPT for n in carried if n + PER_CALL not in per_call}
    problems, trace = {}, {n: v for n, v in candidate.items() if not beside(n)}
    for name in theirs:
        tensor = expected[name]
        if name not in candidate:
            apart |= {} if name.endswith(PER_CALL) else {name: ORIGINAL}
        elif _lost(tensor, unit_roundoff):
            apart[name] = ROUNDING
        elif of_handed(name) and candidate[name].shape != tensor.shape:
            problems[name] = f"shape {candidate[name].shape}, expected {tensor.shape}"
        else:
            got = _alike(tensor, candidate[name])
            if isinstance(got, str):
                problems[name] = got
            elif got is None or not _fits(tensor, candidate[name], got):
                apart[name] = LAYOUT
            else:
                trace[name] = got
    kept = {n: t for n, t in expected.items() if not beside(n) or n in trace or n in problems}
    return PairedTraces(kept, trace, problems, apart)


def of_graph(apart: Mapping[str, str]) -> dict[str, str]:
    """What is not compared of a compiled port, and why: what it writes is not read.

    apart: name -> why, as if it wrote nothing.
    """
    return {name: GRAPH if of_attribute(name) else why for name, why in apart.items()}


def settled(
    expected: Mapping[str, Expected], again: Trace, unit_roundoff: float
) -> tuple[set[str], set[str]]:
    """The attributes that the reference's truth keeps, and those that it carries.

    What another run of the same gives otherwise is carried from call to call: of a whole number
    what a run adds to it is compared, if that is the same.

    again: another run of the same, with other runs before it.
    """
    names = [n for n in expected if of_attribute(n) and not n.endswith(PER_CALL)]
    carried = {n for n in names if not _same(expected[n], again.get(n), unit_roundoff)}
    kept = {n for n in names if n not in carried}
    for name in carried:
        added = name + PER_CALL
        if added in expected and _same(expected[added], again.get(added), unit_roundoff):
            kept.add(added)
    return kept, carried


def told(apart: Iterable[tuple[str, str]]) -> list[str]:
    """What is said of attributes, and of what optimisers get, where it is not compared.

    >>> told([("attribute:moe.aux", ORIGINAL), ("attribute:calls", KEPT)])
    ['2 attributes that a run writes are not compared: moe.aux (the original alone), calls (kept \
from call to call)']
    """
    every = sorted(dict(apart).items(), key=lambda each: each[1] == PORT)
    words = [
        f"{name.removeprefix(attribute(''))} ({why})" for name, why in every if of_attribute(name)
    ]
    lines = []
    if words:
        which = f"{counted(len(words), 'attribute')} that a run writes"
        verb = "is" if len(words) == 1 else "are"
        lines.append(f"{which} {verb} not compared: {listed(words)}")
    unseen = [name for name, why in every if of_handed(name) and why == ORIGINAL]
    if unseen:
        lines.append(f"{counted(len(unseen), 'gradient')} of {OPTIMISER}")
    return lines


def _same(tensor: Expected, values: np.ndarray | None, unit_roundoff: float) -> bool:
    if values is None or values.shape != tensor.shape:
        return False
    if tensor.truth.dtype.kind != "f":
        return bool(np.array_equal(tensor.view(values), tensor.truth))
    away = tensor.distance(values)
    return not away.mismatched and away.largest <= unit_roundoff * away.peak


def _lost(tensor: Expected, unit_roundoff: float) -> bool:
    """Whether the reference's own run gives another value, so that none is expected."""
    if tensor.own_needed <= BUDGET:
        return False
    return math.isinf(tensor.own_needed) or tensor.own_share(unit_roundoff) >= HALF


def _alike(tensor: Expected, got: np.ndarray) -> np.ndarray | str | None:
    """The candidate's values in the shape and the kind of the truth.

    A text where they cannot be right; None where the layout is another one.
    """
    want = tensor.truth.dtype.kind
    if (got.size == 1) != (tensor.size == 1):
        shapes = ["one number" if s.size == 1 else f"shape {s.shape}" for s in (got, tensor)]
        return f"{shapes[0]}, expected {shapes[1]}"
    if got.size != tensor.size:
        return None
    got, kind = got.reshape(tensor.shape), got.dtype.kind
    if want == kind or {want, kind} <= {*"iu"}:
        return got
    if want == "f":
        return got.astype(np.float64)
    same = got.astype(tensor.truth.dtype)
    if np.array_equal(same, got):
        return same
    return None if "b" in (want, kind) else f"{got.reshape(-1)[0]:g}, expected a whole number"


def _fits(tensor: Expected, given: np.ndarray, got: np.ndarray) -> bool:
    """Whether the layouts compare: the same but for axes of length one, or the same numbers.

    A mask that says what is hidden is one that says what is seen, the other way round.
    """
    if got.dtype.kind == "b" and got.size > 1 and np.array_equal(~got, tensor.truth):
        return False
    axes = [[n for n in shape if n != 1] for shape in (given.shape, tensor.shape)]
    if axes[0] == axes[1]:
        return True
    away = tensor.distance(got)
    return not away.mismatched and away.norm <= SAME * away.scale

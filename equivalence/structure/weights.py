"""Pairs of weights: which weight of the candidate belongs to which weight of the reference."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from equivalence.errors import WeightError

STANDARD_RENAMES = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
}
"""Last part of a MindSpore name -> last part of the PyTorch name."""

REFERENCE_ONLY = ("num_batches_tracked",)
"""Last parts of the names of PyTorch buffers that MindSpore lacks. This one counts steps; a forward
pass reads it only where no momentum is given."""


CONSTANT, UNSAVED = "constant", "unsaved constant"
"""Kinds of buffers that are not drawn: they keep what the constructor made. A checkpoint lacks an
unsaved one."""


@dataclass(frozen=True)
class Slot:
    """A weight of a network, without its values.

    shape: its shape.
    kind: "parameter", "buffer", CONSTANT or UNSAVED. Nothing is drawn for a constant.
    """

    shape: tuple[int, ...]
    kind: str

    @property
    def is_constant(self) -> bool:
        """Whether the weight is not drawn."""
        return self.kind in (CONSTANT, UNSAVED)

    def __str__(self) -> str:
        return f"{self.kind} {self.shape}"


class Partners(dict[str, str]):
    """Candidate name -> reference name of each weight, one to one.

    constants: the reference's names of all constants, with a partner or without.
    """

    def __init__(self, pairs: Mapping[str, str], constants: Iterable[str] = ()):
        super().__init__(pairs)
        self.constants = frozenset(constants)

    @property
    def alone(self) -> frozenset[str]:
        """The constants without a partner, which are not compared."""
        return self.constants - set(self.values())


def comparable(values: np.ndarray) -> np.ndarray:
    """A constant as both sides compare it: all integers in one width."""
    return values.astype(np.int64) if values.dtype.kind in "iu" else values


def renamed(path: str, rename: Mapping[str, str]) -> str:
    """A candidate's path with the declared renames applied, all at once.

    Where two renames fit, the longer one is applied.
    """
    if not rename:
        return path
    runs = "|".join(map(re.escape, sorted(rename, key=len, reverse=True)))
    return re.sub(rf"(?<![^.])({runs})(?![^.])", lambda run: rename[run[0]], path)


def reference_name(candidate: str, rename: Mapping[str, str]) -> str:
    """The reference's name for a candidate's name: declared renames, then standard ones.

    Where a declared rename gives the last part, the standard ones do not apply.
    """
    path = renamed(candidate, rename)
    if any(f".{candidate}".endswith(f".{old}") for old in rename):
        return path
    prefix, _, last = path.rpartition(".")
    last = STANDARD_RENAMES.get(last, last)
    return f"{prefix}.{last}" if prefix else last


def pair(
    reference: Mapping[str, Slot],
    candidate: Mapping[str, Slot],
    rename: Mapping[str, str],
    constants: Sequence[str] = (),
) -> Partners:
    """Candidate name -> reference name, one to one, and complete but for constants.

    constants: the names of the constants that the candidate keeps in no weight. An unsaved one
        needs not be named.

    Raises WeightError where a name has no partner, two candidate names have the same partner, a
    rename is never used, `constants` names anything else, or shapes or kinds differ. The text shows
    both lists side by side.
    """
    slots = {n: s for n, s in reference.items() if n.rpartition(".")[2] not in REFERENCE_ONLY}
    pairs = {name: reference_name(name, rename) for name in candidate}
    complaints = [
        f"rename {old!r} matches no candidate name"
        for old in rename
        if not any(f".{old}." in f".{name}." for name in candidate)
    ]
    claimed: dict[str, str] = {}
    for name, target in [*pairs.items()]:
        if target not in slots and candidate[name].kind == CONSTANT:
            del pairs[name]  # a tensor of its own, which no checkpoint of the reference fills
            continue
        if target not in slots:
            complaints.append(
                f"candidate {name} ({candidate[name]}) maps to {target}, which the reference "
                f"does not have{_guess(target, slots)}"
            )
        elif target in claimed:
            complaints.append(f"candidate {name} and {claimed[target]} both map to {target}")
        elif not _fit(slots[target], candidate[name]):
            complaints.append(
                f"candidate {name} is a {candidate[name]}, its partner {target} a {slots[target]}"
            )
        claimed.setdefault(target, name)
    complaints += [
        f"reference {name} ({slot}) has no partner in the candidate{_guess(name, pairs)}"
        for name, slot in slots.items()
        if name not in claimed and slot.kind != UNSAVED and name not in constants
    ]
    complaints += filter(None, (_misnamed(name, reference, claimed) for name in constants))
    if complaints:
        raise WeightError(
            f"weights do not pair up: {len(complaints)} complaints\n  "
            + "\n  ".join(complaints)
            + "\n"
            + _side_by_side(slots, candidate, pairs)
        )
    return Partners(pairs, (n for n, slot in slots.items() if slot.is_constant))


def _fit(reference: Slot, candidate: Slot) -> bool:
    """Whether two weights can be partners: a constant's is any that is not trained."""
    if reference.is_constant:
        return candidate.kind != "parameter" and candidate.shape == reference.shape
    return reference == candidate


def _misnamed(name: str, reference: Mapping[str, Slot], claimed: Mapping[str, str]) -> str | None:
    """What is wrong with a name in `constants`; None: nothing."""
    if name not in reference:
        return (
            f"constants name {name!r}, which the reference does not have{_guess(name, reference)}"
        )
    if not reference[name].is_constant:
        return f"constants name {name!r}, a {reference[name]}, which is drawn"
    if name in claimed:
        return f"constants name {name!r}, which the candidate keeps in {claimed[name]}"
    return None


def _guess(name: str, names: Mapping[str, object]) -> str:
    """The most similar of `names`, as the end of a sentence; "" where none is similar."""
    close = difflib.get_close_matches(name, names, n=1)
    return f"; nearest: {close[0]}" if close else ""


def _side_by_side(
    reference: Mapping[str, Slot], candidate: Mapping[str, Slot], pairs: Mapping[str, str]
) -> str:
    """A table of both sides, with partners on one line."""
    partner = {target: name for name, target in reversed(pairs.items()) if target in reference}
    rows = [("reference", "candidate")]
    rows += [
        (f"{n} {s.shape}", f"{partner[n]} {candidate[partner[n]].shape}" if n in partner else "-")
        for n, s in reference.items()
    ]
    rows += [("-", f"{n} {s.shape}") for n, s in candidate.items() if n not in partner.values()]
    width = max(len(left) for left, _ in rows)
    return "\n".join(f"  {left:{width}}  {right}" for left, right in rows)

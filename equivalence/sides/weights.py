"""Pairs of weights: which weight of the candidate belongs to which weight of the reference."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Slot:
    """A weight of a network, without its values.

    shape: its shape.
    kind: "parameter" or "buffer".
    """

    shape: tuple[int, ...]
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} {self.shape}"


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
    reference: Mapping[str, Slot], candidate: Mapping[str, Slot], rename: Mapping[str, str]
) -> dict[str, str]:
    """Candidate name -> reference name, one to one and complete.

    Raises WeightError where a name has no partner, two candidate names have the same partner, a
    rename is never used, or shapes or kinds differ. The text shows both lists side by side.
    """
    slots = {n: s for n, s in reference.items() if n.rpartition(".")[2] not in REFERENCE_ONLY}
    pairs = {name: reference_name(name, rename) for name in candidate}
    complaints = [
        f"rename {old!r} matches no candidate name"
        for old in rename
        if not any(f".{old}." in f".{name}." for name in candidate)
    ]
    claimed: dict[str, str] = {}
    for name, target in pairs.items():
        if target not in slots:
            complaints.append(
                f"candidate {name} ({candidate[name]}) maps to {target}, which the reference "
                f"does not have{_guess(target, slots)}"
            )
        elif target in claimed:
            complaints.append(f"candidate {name} and {claimed[target]} both map to {target}")
        elif candidate[name] != slots[target]:
            complaints.append(
                f"candidate {name} is a {candidate[name]}, its partner {target} a {slots[target]}"
            )
        claimed.setdefault(target, name)
    complaints += [
        f"reference {name} ({slot}) has no partner in the candidate{_guess(name, pairs)}"
        for name, slot in slots.items()
        if name not in claimed
    ]
    if complaints:
        raise WeightError(
            f"weights do not pair up: {len(complaints)} complaints\n  "
            + "\n  ".join(complaints)
            + "\n"
            + _side_by_side(slots, candidate, pairs)
        )
    return pairs


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

"""Which weight of the candidate is which weight of the reference."""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from equivalence.errors import WeightError

# Last segment of a MindSpore name -> last segment of the PyTorch name.
STANDARD_RENAMES = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
}

# Buffers of PyTorch that MindSpore has no place for: a count of steps that no forward pass
# reads while a momentum is given.
REFERENCE_ONLY = ("num_batches_tracked",)


@dataclass(frozen=True)
class Slot:
    """A place for a weight: its shape, and whether it is a parameter or a buffer."""

    shape: tuple[int, ...]
    kind: str

    def __str__(self) -> str:
        return f"{self.kind} {self.shape}"


def renamed(path: str, rename: Mapping[str, str]) -> str:
    """A candidate's path with the declared renames applied, at once, the longer run first."""
    if not rename:
        return path
    runs = "|".join(map(re.escape, sorted(rename, key=len, reverse=True)))
    return re.sub(rf"(?<![^.])({runs})(?![^.])", lambda run: rename[run[0]], path)


def reference_name(candidate: str, rename: Mapping[str, str]) -> str:
    """The reference's name for a candidate's: declared renames, then the standard ones.

    A last segment that a declared one gives is final.
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

    Raises WeightError, with both lists side by side, when a name on either side finds no
    partner, two candidates claim one, a rename is never used, or shapes or kinds differ.
    """
    wanted = {n: s for n, s in reference.items() if n.rpartition(".")[2] not in REFERENCE_ONLY}
    pairs = {name: reference_name(name, rename) for name in candidate}
    complaints = [
        f"rename {old!r} matches no candidate name"
        for old in rename
        if not any(f".{old}." in f".{name}." for name in candidate)
    ]
    claimed: dict[str, str] = {}
    for name, target in pairs.items():
        if target not in wanted:
            complaints.append(
                f"candidate {name} ({candidate[name]}) maps to {target}, which the reference "
                f"does not have{_guess(target, wanted)}"
            )
        elif target in claimed:
            complaints.append(f"candidate {name} and {claimed[target]} both map to {target}")
        elif candidate[name] != wanted[target]:
            complaints.append(
                f"candidate {name} is a {candidate[name]}, its partner {target} a {wanted[target]}"
            )
        claimed.setdefault(target, name)
    complaints += [
        f"reference {name} ({slot}) has no partner in the candidate{_guess(name, pairs)}"
        for name, slot in wanted.items()
        if name not in claimed
    ]
    if complaints:
        raise WeightError(
            f"weights do not pair up: {len(complaints)} complaints\n  "
            + "\n  ".join(complaints)
            + "\n"
            + _side_by_side(wanted, candidate, pairs)
        )
    return pairs


def _guess(name: str, known: Mapping[str, object]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; nearest: {close[0]}" if close else ""


def _side_by_side(
    reference: Mapping[str, Slot], candidate: Mapping[str, Slot], pairs: Mapping[str, str]
) -> str:
    """A table of both sides, partners on one line."""
    partner = {target: name for name, target in reversed(pairs.items()) if target in reference}
    rows = [("reference", "candidate")]
    rows += [
        (f"{n} {s.shape}", f"{partner[n]} {candidate[partner[n]].shape}" if n in partner else "-")
        for n, s in reference.items()
    ]
    rows += [("-", f"{n} {s.shape}") for n, s in candidate.items() if n not in partner.values()]
    width = max(len(left) for left, _ in rows)
    return "\n".join(f"  {left:{width}}  {right}" for left, right in rows)

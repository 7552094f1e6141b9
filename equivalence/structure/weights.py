"""Pairs of weights: which weight of the candidate belongs to which weight of the reference."""

import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from equivalence import dtypes
from equivalence.declare.renames import JOIN, RESHAPED, Term, has_run, is_plain, matches, terms
from equivalence.structure.complaints import Complaints, nearest
from equivalence.structure.rearranged import (
    A_PART,
    Rearrangement,
    flattened,
    rearrangement,
    same_elements,
)
from equivalence.structure.slots import CONSTANT, STATISTICS, UNSAVED, Slot

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


WRAPPERS = (
    *("module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"),
    *("_backbone", "_network"),
)
"""Parts of names that wrappers add, of PyTorch and of MindSpore; what they wrap is the same."""

_DENSE = re.compile(r"\bdense([12])(?=\.)")

_PRELU = re.compile(r"\bw$")

_PACKED = re.compile(r"(.*\bin_proj)_(weight|bias)")
"""The packed projection of PyTorch's attention, whose parts a layer of a port holds."""


class Unseen(dict[str, Slot]):
    """The slots of a candidate that holds its weights where none can be seen: there are none."""


class Partners(dict[str, str]):
    """Candidate name -> reference name of each weight, one to one, and what is rearranged.

    constants: the reference's names of all constants, with a partner or without.
    groups: the weights that hold the same elements in another arrangement; they are no pairs.
    places: candidate name -> reference name, by which layers find their partners. Where a rename
        exchanges weights among the same names, each stands at its own name.
    rename: the renames by which the names pair up.
    proposed: the renames that nobody has declared, in words.
    """

    rename: Mapping[str, str] = {}
    proposed: tuple[str, ...] = ()

    def __init__(
        self,
        pairs: Mapping[str, str],
        constants: Iterable[str] = (),
        groups: Iterable[Rearrangement] = (),
        places: Mapping[str, str] | None = None,
    ):
        super().__init__(pairs)
        self.constants, self.groups = frozenset(constants), tuple(groups)
        self.places = {**pairs, **(places or {})}
        self._group = {name: group for group in self.groups for name in group.candidate}

    @property
    def alone(self) -> frozenset[str]:
        """The constants without a partner, which are not compared."""
        return self.constants - set(self.values()).union(*(g.reference for g in self.groups))

    def sources(self, name: str) -> tuple[str, ...]:
        """The weights of the reference that a weight of the candidate is made of."""
        if name in self._group:
            return tuple(self._group[name].reference)
        return (self[name],) if name in self else ()

    def drawn(
        self,
        name: str,
        shape: tuple[int, ...],
        weight: Callable[[str, tuple[int, ...]], np.ndarray],
        begun: Callable[[str], bool] = lambda _: False,
    ) -> np.ndarray | None:
        """What a weight of the candidate is loaded with; None: what its constructor made stays.

        weight: gives the reference's weight of a name and a shape.
        begun: says of a constant whether both sides begin with the reference's.
        """
        sources = self.sources(name)
        if not sources or not all(map(begun, self.constants.intersection(sources))):
            return None
        if name in self:
            return weight(self[name], shape)
        group = self._group[name]
        return group.to_candidate({n: weight(n, s) for n, s in group.reference.items()})[name]

    def restored(self, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Values of the candidate's weights, such as gradients, as the reference has them."""
        found = {self[name]: array for name, array in values.items() if name in self}
        for group in self.groups:
            if values.keys() >= group.candidate.keys():
                found |= group.to_reference(values)
        return found

    def needed(self, slots: Mapping[str, Slot]) -> dict[str, tuple[int, ...]]:
        """Reference name -> shape of each weight that the candidate is given."""
        shapes = {self[name]: slot.shape for name, slot in slots.items() if name in self}
        return shapes | {n: s for group in self.groups for n, s in group.reference.items()}

    def held(self, names: Iterable[str]) -> frozenset[str]:
        """The reference's names of the drawn weights among these of the candidate, by `places`.

        A part of what is rearranged is called by its own name, which the reference does not have.
        """
        names = set(names)
        found = {self.places[name] for name in names if name in self}
        for group in self.groups:
            inside = names & group.candidate.keys()
            found |= (
                {*group.reference}
                if inside == group.candidate.keys()
                else {A_PART + name for name in inside}
            )
        return frozenset(found - self.constants)

    def place(self, name: str) -> str:
        """The reference's name for an attribute of the candidate, by the weights beside it.

        The layer is the one of the reference that holds the partners of the layer's weights; where
        it has none, or they lie apart, its path is renamed as weights are.
        """
        path, _, attribute = name.rpartition(".")
        while path:
            found = {self._beside(path, weight) for weight in self if weight.startswith(f"{path}.")}
            if len(found) == 1 and (prefix := found.pop()) is not None:
                return f"{prefix}{attribute}"
            if found:
                break
            path, _, above = path.rpartition(".")
            attribute = f"{above}.{attribute}"
        return renamed(name, plain(self.rename))

    def _beside(self, path: str, weight: str) -> str | None:
        """What the reference's name of a weight begins with, where that stands for a layer."""
        rest = weight.removeprefix(f"{path}.")
        for each in (rest, reference_name(rest, {})):
            if f".{self[weight]}".endswith(f".{each}"):
                return self[weight].removesuffix(each)
        return None

    def part(self, inside: str, local: Callable[[str], str]) -> "Partners":
        """The partners of the weights in a cell.

        inside: the beginning of the names in the cell, which is taken off.
        local: gives the name of a weight of the reference in the layer.
        """
        cut = {n: n.removeprefix(inside) for n in (*self, *self._group) if n.startswith(inside)}
        return Partners(
            {cut[name]: local(target) for name, target in self.items() if name in cut},
            map(local, self.constants),
            [
                group.called(
                    {name: local(name) for name in group.reference},
                    {name: cut.get(name, name) for name in group.candidate},
                )
                for group in self.groups
                if cut.keys() & group.candidate.keys()
            ],
        )


def comparable(values: np.ndarray) -> np.ndarray:
    """A constant as both sides compare it: all integers in one width, complex numbers as pairs."""
    return values.astype(np.int64) if values.dtype.kind in "iu" else dtypes.paired(values)


def renamed(path: str, rename: Mapping[str, str]) -> str:
    """A candidate's path with the declared renames applied, all at once.

    Where two renames fit, the longer one is applied.
    """
    if not rename:
        return path
    return _any_of(tuple(rename)).sub(lambda run: rename[run[0]], path)


@functools.lru_cache(maxsize=16)
def _any_of(runs: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that finds any of these runs of name parts, the longest first."""
    either = "|".join(map(re.escape, sorted(runs, key=len, reverse=True)))
    return re.compile(rf"(?<![^.])({either})(?![^.])")


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


def plain(rename: Mapping[str, str]) -> dict[str, str]:
    """The renames that rearrange no elements."""
    return {old: new for old, new in rename.items() if is_plain(old, new)}


def pair(
    reference: Mapping[str, Slot],
    candidate: Mapping[str, Slot],
    rename: Mapping[str, str],
    constants: Sequence[str] = (),
) -> Partners:
    """Candidate name -> reference name, one to one, and complete but for constants.

    rename: see `renamed`; with " + ", ".T" or ".reshape()" see `rearranged`.
    constants: names, or runs of their parts, of the constants that one side alone keeps. An unsaved
        one of the reference needs not be named.

    Raises WeightError where a name has no partner, two candidate names have the same partner, a
    rename is never used, `constants` names anything else, or shapes or kinds differ. The text gives
    the likely reasons, and shows both lists side by side.

    Both sides are loaded through the pairs. If two weights of one shape are exchanged by mistake,
    the candidate computes another function than the reference, and the case is red.
    """
    partners, complaints, pairs = _pair(reference, candidate, rename, constants)
    complaints.demand_none(pairs)
    return partners


def pair_found(
    reference: Mapping[str, Slot],
    candidate: Mapping[str, Slot],
    rename: Mapping[str, str],
    constants: Sequence[str] = (),
) -> tuple[Partners, bool]:
    """The pairs that `pair` finds, and whether it would complain about anything."""
    partners, complaints, _ = _pair(reference, candidate, rename, constants)
    return partners, bool(complaints)


def trained_alike(
    reference: Mapping[str, Slot], candidate: Mapping[str, Slot], rename: Mapping[str, str]
) -> dict[str, Slot]:
    """The weights of a candidate's script, each trained or frozen as its partner is.

    There an optimiser trains them: a weight that it does not have is frozen, whether it has a
    gradient or not. Statistics, and buffers that are constants, stay what they are.

    >>> frozen, trained = Slot((2,), "buffer"), Slot((2,), "parameter")
    >>> trained_alike({"fc.bias": frozen}, {"fc.bias": trained}, {}) == {"fc.bias": frozen}
    True
    """
    found = dict(candidate)
    for name, target in _targets(reference, candidate, plain(rename)).items():
        if target in reference and target.rpartition(".")[2] not in STATISTICS:
            kinds = reference[target].kind, candidate[name].kind
            if sorted(kinds) == ["buffer", "parameter"]:
                found[name] = replace(candidate[name], kind=kinds[0])
    return found


def _targets(
    slots: Mapping[str, Slot], candidate: Mapping[str, Slot], rename: Mapping[str, str]
) -> dict[str, str]:
    """Candidate name -> the reference's name for it, which the reference need not have."""
    targets = {name: _target(name, rename, slots) for name in candidate}
    return targets | _unwrapped(targets, rename, slots)


def _pair(
    reference: Mapping[str, Slot],
    candidate: Mapping[str, Slot],
    rename: Mapping[str, str],
    constants: Sequence[str],
) -> tuple[Partners, Complaints, dict[str, str]]:
    """The partners that fit, all complaints, and what each name of the candidate maps to."""
    slots = {n: s for n, s in reference.items() if n.rpartition(".")[2] not in REFERENCE_ONLY}
    names = plain(rename)
    targets = _targets(slots, candidate, names)
    rename = {**_reshaped(slots, candidate, rename, targets), **rename}
    complaints = Complaints(slots, candidate)
    for old in rename:
        if not matches(old, candidate):
            complaints.add(f"rename {old!r} matches no candidate name")
    claimed: dict[str, str] = {}
    groups = _groups(slots, candidate, rename, complaints)
    for group in groups:
        for target in group.reference:
            if target in claimed:
                complaints.twice(next(iter(group.candidate)), claimed[target], target)
            claimed.setdefault(target, next(iter(group.candidate)))
    grouped = {name for group in groups for name in group.candidate}
    complaints.rearranged |= grouped.union(*(group.reference for group in groups))
    own = _own(slots, candidate, names, constants)
    pairs = {}
    for name, slot in candidate.items():
        if name in grouped or name in own:
            continue
        target = targets[name]
        if target not in slots and slot.kind == CONSTANT:
            continue  # a tensor of its own, which no checkpoint of the reference fills
        pairs[name] = target
        if target not in slots:
            complaints.unknown(name, target)
        elif target in claimed:
            complaints.twice(name, claimed[target], target)
        elif not _fit(slots[target], slot):
            complaints.misfit(name, target)
        claimed.setdefault(target, name)
    named = {n for run in constants for n in slots if n == run or has_run(n, run)}
    for name, slot in slots.items():
        if name in claimed or slot.kind == UNSAVED or (name in named and slot.is_constant):
            continue
        complaints.alone(name)
    for run in constants:
        if (wrong := _misnamed(run, reference, claimed, own)) is not None:
            complaints.add(wrong)
    fits = {
        name: target
        for name, target in pairs.items()
        if claimed[target] == name and target in slots and _fit(slots[target], candidate[name])
    }
    constant = (name for name, slot in slots.items() if slot.is_constant)
    partners = Partners(fits, constant, groups, _undone(fits, slots, candidate))
    partners.rename = dict(rename)
    return partners, complaints, pairs


def _reshaped(
    slots: Mapping[str, Slot],
    candidate: Mapping[str, Slot],
    rename: Mapping[str, str],
    targets: Mapping[str, str],
) -> dict[str, str]:
    """Renames that reshape weights whose shapes differ by axes of length one alone.

    A weight of MindSpore's `Conv1d` has such an axis, and that of a convolution of one pixel has
    two more than that of a dense layer. Where patches have one channel, a dense layer lists their
    pixels as a convolution does; of several, nothing tells which order it lists them in.

    targets: the reference's name for each of the candidate's.
    """
    found = {}
    for name, slot in candidate.items():
        target = slots.get(targets[name])
        if target is None or target.shape == slot.shape or target.kind != slot.kind:
            continue
        if not (same_elements(slot.shape, target.shape) or _of_one(slot.shape, target.shape)):
            continue
        alone = sum(has_run(other, name) for other in candidate) == 1
        declared = any(has_run(name, run) for old in rename for run in old.split(JOIN))
        if alone and not declared:
            found[name] = targets[name] + RESHAPED
    return found


def _of_one(one: tuple[int, ...], two: tuple[int, ...]) -> bool:
    """Whether two shapes are those of a dense layer and a convolution on patches of one channel."""
    return flattened(one, two) and max(one, two, key=len)[1] == 1


_NORMED = re.compile(r"((?:.*\.)?)(\w+)_([gv])")


def _target(name: str, rename: Mapping[str, str], slots: Mapping[str, Slot]) -> str:
    """The reference's name for a candidate's.

    A name that both sides have stands for itself. The factors of a weight norm have two names,
    MindSpore's BatchNorm3d holds another layer, its layers of a Transformer are `dense1` and
    `dense2` where PyTorch's are `linear1` and `linear2`, and the weight of its PReLU is `w`.
    """
    itself = renamed(name, rename)
    if itself in slots:
        return itself
    target = reference_name(name, rename)
    if (flat := target.replace(".bn2d.", ".")) in slots:
        return flat
    if target not in slots and (linear := _DENSE.sub(r"linear\1", target)) in slots:
        return linear
    prelu = _PRELU.sub("weight", target)
    if target not in slots and prelu in slots and _PRELU.search(name):
        return prelu
    normed = _NORMED.fullmatch(target)
    if normed is None or target in slots:
        return target
    other = f"{normed[1]}parametrizations.{normed[2]}.original{'gv'.index(normed[3])}"
    return other if other in slots else target


def _unwrapped(
    targets: Mapping[str, str], rename: Mapping[str, str], slots: Mapping[str, Slot]
) -> dict[str, str]:
    """Candidate name -> reference name, where what wrappers add is all that differs.

    targets: the reference's name for each of the candidate's, so far. A name that both sides have
    stands for itself. Where two names of a side are the same without it, nothing tells them apart,
    and neither has a partner.
    """
    taken = {*targets.values()}
    theirs, ours = defaultdict(list), defaultdict(list)
    for name in slots:
        if name not in taken:
            theirs[_without_wrappers(name)].append(name)
    for name, target in targets.items():
        if target not in slots:
            itself = _without_wrappers(renamed(name, rename))
            ours[itself if itself in theirs else _without_wrappers(target)].append(name)
    return {
        names[0]: theirs[bare][0]
        for bare, names in ours.items()
        if len(names) == len(theirs.get(bare, ())) == 1
    }


def _without_wrappers(name: str) -> str:
    parts = [part for part in name.split(".") if part not in WRAPPERS]
    return _PACKED.sub(r"\1.\2", ".".join(parts))


def _groups(
    slots: Mapping[str, Slot],
    candidate: Mapping[str, Slot],
    rename: Mapping[str, str],
    complaints: Complaints,
) -> list[Rearrangement]:
    """What the renames say to be rearranged."""
    names, groups, taken = plain(rename), [], set()
    rearranging = [(old.split(JOIN), new) for old, new in rename.items() if old not in names]
    rearranging.sort(key=lambda each: len(each[0][0]), reverse=True)  # the longer run first
    for runs, new in rearranging:
        named = terms(new) or ()  # a declaration has none that cannot be read
        for name in candidate:
            if name in taken or not has_run(name, runs[0]):
                continue
            ours = [renamed(name, {runs[0]: run}) for run in runs]
            theirs = [reference_name(name, {**names, runs[0]: term.name}) for term in named]
            missing = [n for n in ours if n not in candidate] + [
                n for n in theirs if n not in slots
            ]
            taken |= {*ours}
            what = f"rename {JOIN.join(runs)!r} to {new!r}"
            if missing:
                complaints.add(f"{what} finds {name}, but no {missing[0]}")
                continue
            group = _group(slots, theirs, named, candidate, ours)
            if group is None:
                sides = [
                    JOIN.join(f"{n} ({side[n]})" for n in side_names)
                    for side, side_names in ((candidate, ours), (slots, theirs))
                ]
                complaints.add(f"{what}: candidate {sides[0]} does not fit reference {sides[1]}")
                continue
            groups.append(group)
    return groups


def _group(
    slots: Mapping[str, Slot],
    theirs: Sequence[str],
    terms: Sequence[Term],
    candidate: Mapping[str, Slot],
    ours: Sequence[str],
) -> Rearrangement | None:
    """The rearrangement between these weights; None where shapes or kinds do not fit."""
    constant = {slots[name].is_constant for name in theirs}
    kinds = [{side[n].kind for n in names} for side, names in ((slots, theirs), (candidate, ours))]
    fit = "parameter" not in kinds[1] if constant == {True} else kinds[0] == kinds[1]
    if not fit or len(kinds[0]) > 1 or len({*theirs}) < len(theirs):
        return None
    shapes = [
        {n: side[n].shape for n in names} for side, names in ((slots, theirs), (candidate, ours))
    ]
    return rearrangement(shapes[0], terms, shapes[1])


def _own(
    slots: Mapping[str, Slot],
    candidate: Mapping[str, Slot],
    rename: Mapping[str, str],
    constants: Sequence[str],
) -> set[str]:
    """The weights of the candidate that are named as constants, and are the candidate's alone.

    A table that the reference does not save may have another shape there.
    """
    found = set()
    for name, slot in candidate.items():
        if slot.kind != "parameter" and any(has_run(name, run) for run in constants):
            target = slots.get(_target(name, rename, slots))
            if target is None or (target.kind == UNSAVED and not _fit(target, slot)):
                found.add(name)
    return found


def _undone(
    pairs: Mapping[str, str], slots: Mapping[str, Slot], candidate: Mapping[str, Slot]
) -> dict[str, str]:
    """Candidate name -> its standard name, for the weights that renames exchange in a circle.

    In a circle every weight takes the place of another that both sides have; a port does not name
    its weights so, a mistaken map does. A shift of indices is no circle: it has a first name that
    one side lacks.
    """
    standard = {name: reference_name(name, {}) for name in pairs}
    holder = {target: name for name, target in standard.items()}
    found: dict[str, str] = {}
    for name in pairs:
        circle, other = [name], holder.get(pairs[name])
        while other is not None and other not in circle:
            circle.append(other)
            other = holder.get(pairs[other])
        if other == name and len(circle) > 1 and _fit(slots[standard[name]], candidate[name]):
            found[name] = standard[name]
    return found


def _fit(reference: Slot, candidate: Slot) -> bool:
    """Whether two weights can be partners: a constant's is any that is not trained."""
    if reference.is_constant:
        return candidate.kind != "parameter" and candidate.shape == reference.shape
    return reference == candidate


def _misnamed(
    run: str, reference: Mapping[str, Slot], claimed: Mapping[str, str], own: set[str]
) -> str | None:
    """What is wrong with a name in `constants`; None: nothing."""
    found = [run] if run in reference else [name for name in reference if has_run(name, run)]
    if not found:
        if any(has_run(name, run) for name in own):
            return None
        near = nearest(run, reference)
        return f"constants name {run!r}, which the reference does not have{near}"
    name = next((n for n in found if reference[n].is_constant), found[0])
    if not reference[name].is_constant:
        return f"constants name {name!r}, a {reference[name]}, which is drawn"
    if name in claimed:
        return f"constants name {name!r}, which the candidate keeps in {claimed[name]}"
    return None

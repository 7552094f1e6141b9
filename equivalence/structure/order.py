"""Pairs weights by the order in which both networks define them, by shape, and by names.

The layers that own weights are two sequences. They are aligned so that as many layers as possible
get a partner with weights of the same shapes and kinds. Between equals similar names decide, and
then neighbours, which stay neighbours. Several layers in a row may be one layer of the other side,
as q, k and v are one projection. What the order leaves over is paired within parents that are
partners already. Where both sides have the same names in one place, these pair. The result is a
list of renames.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from equivalence.declare.renames import RESHAPED, TRANSPOSED, has_run
from equivalence.structure.rearranged import joined, same_elements, squeezed, transposed
from equivalence.structure.renames import Link, child, children, compact, parents
from equivalence.structure.slots import CONSTANT, STATISTICS, UNSAVED, Slot
from equivalence.structure.weights import REFERENCE_ONLY, pair_found, plain, reference_name

PARTNER, BESIDE = 3.0, 0.5
"""What a partner counts, and one that follows another in the same layer; similar names: up to 2."""

JOINED = 3
"""At most so many layers side by side are one layer of the other side."""

Shape = tuple[int, ...]
Signature = tuple[tuple[Shape, str, str], ...]


class Owner(NamedTuple):
    """A layer that holds weights itself.

    path: its path, with the declared renames applied.
    names: the names of its weights, the trained ones first.
    shapes: their shapes.
    signature: what a partner must have alike: shapes without axes of length one, kinds, statistics.
    """

    path: str
    names: tuple[str, ...]
    shapes: tuple[Shape, ...]
    signature: Signature

    @property
    def parent(self) -> str:
        """The path of the layer around it."""
        return self.path.rpartition(".")[0]


class Proposal(NamedTuple):
    """What pairs the weights of two networks by name.

    rename: the renames beyond the declared ones.
    constants: the constants that only the candidate keeps, as runs of their names' parts.
    """

    rename: Mapping[str, str] = {}
    constants: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The fields of a twin that say the same, to be read and written down."""
        if not self.rename and not self.constants:
            return []
        renames = [f"    {old!r}: {new!r}," for old, new in self.rename.items()]
        said = ["weights are paired by order; these fields pair them by name:"]
        said += ["rename={", *renames, "},"] if renames else []
        return said + ([f"constants={list(self.constants)},"] if self.constants else [])


def propose(
    reference: Mapping[str, Slot],
    candidate: Mapping[str, Slot],
    rename: Mapping[str, str],
    constants: Sequence[str] = (),
) -> Proposal:
    """Renames that pair the weights by order and shape, where the declared names do not.

    The result depends on nothing but the two lists. Weights that find no partner are left to
    `weights.pair`, which complains about them.
    """
    found, missing = pair_found(reference, candidate, rename, constants)
    if not missing:
        return Proposal()
    declared = plain(rename)
    given = {
        name: target
        for name, target in found.items()
        if reference_name(name, declared) != reference_name(name, {})
    }
    grouped = {name for group in found.groups for name in group.candidate}
    taken = {*given.values()} | {name for group in found.groups for name in group.reference}
    theirs = {
        name: slot
        for name, slot in reference.items()
        if name not in taken and name.rpartition(".")[2] not in REFERENCE_ONLY
    }
    ours = {n: slot for n, slot in candidate.items() if n not in given and n not in grouped}
    search = _PartnerSearch(theirs, ours, {name: reference_name(name, declared) for name in ours})
    links = search.links() + [Link((target,), (name,)) for name, target in given.items()]
    named = {name for link in links for name in link.candidate}
    own = [
        name
        for name, slot in ours.items()
        if name not in named and slot.kind == "buffer" and not _statistic(search.names[name])
    ]
    proposed = compact(links, [*candidate], rename)
    by_name, _ = pair_found(reference, candidate, {**rename, **proposed}, constants)
    own = [name for name in own if name not in by_name]
    return Proposal(proposed, tuple(dict.fromkeys(_run(name, candidate, own) for name in own)))


def completed(
    reference: Mapping[str, Slot],
    candidate: Mapping[str, Slot],
    rename: Mapping[str, str],
    constants: Sequence[str] = (),
) -> Proposal | None:
    """What pairs all weights by name, with what is declared; None where nothing does."""
    found = propose(reference, candidate, rename, constants)
    whole = Proposal({**rename, **found.rename}, (*constants, *found.constants))
    complaint = pair_found(reference, candidate, *whole)[1]
    return None if complaint else whole


def _run(name: str, names: Iterable[str], own: Sequence[str]) -> str:
    """The shortest end of a name that no other name has but those in `own`."""
    parts, others = name.split("."), [other for other in names if other not in own]
    ends = [".".join(parts[start:]) for start in range(len(parts) - 1, -1, -1)]
    return next((end for end in ends if not any(has_run(other, end) for other in others)), name)


def _owners(slots: Mapping[str, Slot], names: Mapping[str, str]) -> list[Owner]:
    """The owners of drawn weights in the order of their definition.

    names: name -> the name by which it is compared with the other side's.
    """
    held: dict[str, list[str]] = defaultdict(list)
    for name, slot in slots.items():
        if slot.kind == "parameter" or _statistic(names[name]):
            held[names[name].rpartition(".")[0]].append(name)
    owners = []
    for path, own in held.items():
        own.sort(key=lambda name: slots[name].kind != "parameter")
        signature = tuple(
            (squeezed(slots[n].shape), slots[n].kind, _statistic(names[n])) for n in own
        )
        shapes = tuple(slots[n].shape for n in own)
        owners.append(Owner(path, tuple(own), shapes, signature))
    return owners


def _statistic(name: str) -> str:
    last = name.rpartition(".")[2]
    return last if last in STATISTICS else ""


def _together(owners: Sequence[Owner]) -> Signature | None:
    """The signature of siblings whose weights are joined, each with its like; None: impossible."""
    first = owners[0]
    alike = {tuple(each[1:] for each in owner.signature) for owner in owners}
    if len(alike) > 1 or len({owner.parent for owner in owners}) > 1:
        return None
    every = [joined(each) for each in zip(*(owner.shapes for owner in owners), strict=True)]
    shapes = [shape for shape in every if shape is not None and all(shape)]
    if len(shapes) < len(every) or any(each[2] for each in first.signature):
        return None
    return tuple(
        (squeezed(shape), *each[1:]) for shape, each in zip(shapes, first.signature, strict=True)
    )


class _PartnerSearch:
    """The search for partners.

    theirs, ours: the weights of the reference, and of the candidate.
    names: name of a weight of the candidate -> its name after declared and standard renames.
    """

    def __init__(self, theirs: Mapping[str, Slot], ours: Mapping[str, Slot], names: dict[str, str]):
        self.theirs, self.ours, self.names = theirs, ours, names
        self.single: dict[str, str] = {}
        self.joined: list[Link] = []
        self.similar: dict[tuple[str, str], float] = {}

    def links(self) -> list[Link]:
        """The weights that belong together."""
        owners = _owners(self.theirs, {n: n for n in self.theirs}), _owners(self.ours, self.names)
        for theirs, ours in _in_order(*owners, self._likeness):
            self._take(theirs, ours)
        self._rest(
            *(
                [owner for owner in side if done.isdisjoint(owner.names)]
                for side, done in zip(owners, self._done(), strict=True)
            )
        )
        self._leaves()
        self._by_names("", "")
        links = [self._link(target, name) for name, target in self.single.items()]
        return [*links, *self.joined]

    def _done(self) -> tuple[set[str], set[str]]:
        """The weights of the reference, and of the candidate, that have a partner."""
        theirs = {name for link in self.joined for name in link.reference}
        ours = {name for link in self.joined for name in link.candidate}
        return theirs.union(self.single.values()), ours.union(self.single)

    def _likeness(self, theirs: Owner, ours: Owner) -> float:
        """How similar two owners are beyond their signatures, from 0 to 2."""
        same = (theirs.shapes == ours.shapes) + (theirs.path == ours.path)
        return 0.5 * same + self._alike(theirs.path, ours.path)

    def _alike(self, one: str, two: str) -> float:
        """The share of equal parts of two paths, from the end, from 0 to 1."""
        if (one, two) not in self.similar:
            parts = [set(path.split(".")[-3:]) for path in (one, two)]
            self.similar[one, two] = len(parts[0] & parts[1]) / len(parts[0] | parts[1])
        return self.similar[one, two]

    def _take(self, theirs: Sequence[Owner], ours: Sequence[Owner]) -> None:
        if len(theirs) == len(ours) == 1:
            named = {self.names[n].rpartition(".")[2]: n for n in ours[0].names}
            last = [n.rpartition(".")[2] for n in theirs[0].names]
            fits = named.keys() == {*last} and all(
                squeezed(self.ours[named[leaf]].shape) == squeezed(self.theirs[n].shape)
                for leaf, n in zip(last, theirs[0].names, strict=True)
            )
            own = [named[leaf] for leaf in last] if fits else ours[0].names
            self.single |= zip(own, theirs[0].names, strict=True)
            return
        columns = [zip(*(owner.names for owner in side), strict=True) for side in (theirs, ours)]
        self.joined += [Link(tuple(a), tuple(b)) for a, b in zip(*columns, strict=True)]

    def _votes(self) -> Counter:
        """How many weights two parents have in common."""
        return Counter(
            places
            for name, target in self.single.items()
            for places in itertools.product(parents(target), parents(self.names[name]))
        )

    def _score(self, votes: Counter, one: tuple[int, str], two: tuple[int, str]) -> tuple:
        """Smaller for better partners: same name, parents with much in common, similar names."""
        around = itertools.product(parents(one[1]), parents(two[1]))
        near = sum((votes[places] > 0) * len(places[0].split(".")) for places in around)
        alike = self._alike(one[1], two[1])
        return one[1] != two[1], -near, -alike, abs(one[0] - two[0]), one[0], two[0]

    def _rest(self, theirs: Sequence[Owner], ours: Sequence[Owner]) -> None:
        """Pair the owners that the order leaves over."""
        votes = self._votes()
        scores = [
            (self._score(votes, (i, one.path), (j, two.path)), one, two)
            for i, one in enumerate(theirs)
            for j, two in enumerate(ours)
            if one.signature == two.signature
        ]
        for one, two in _greedy(scores):
            self._take([one], [two])

    def _leaves(self) -> None:
        """Pair the weights that are left, one by one; and constants, if a checkpoint holds them."""
        done = self._done()
        theirs = [n for n, slot in self.theirs.items() if n not in done[0] and slot.kind != UNSAVED]
        ours = [name for name in self.ours if name not in done[1]]
        for alike in (same_elements, transposed):
            votes = self._votes()
            scores = [
                (self._score(votes, (i, one), (j, self.names[two])), one, two)
                for i, one in enumerate(theirs)
                for j, two in enumerate(ours)
                if one not in done[0]
                and two not in done[1]
                and _kinds_fit(self.theirs[one], self.ours[two])
                and alike(self.theirs[one].shape, self.ours[two].shape)
            ]
            for one, two in _greedy(scores):
                self.single[two] = one
                done[0].add(one)
                done[1].add(two)

    def _link(self, target: str, name: str) -> Link:
        shapes = self.theirs[target].shape, self.ours[name].shape
        if shapes[0] == shapes[1]:
            return Link((target,), (name,))
        return Link((target,), (name,), RESHAPED if same_elements(*shapes) else TRANSPOSED)

    def _by_names(self, theirs: str, ours: str) -> None:
        """Within partners, let children of the same names and contents be partners."""
        kids = children(theirs, self.theirs), children(ours, self.ours, self.names)
        classes: tuple[dict, dict] = defaultdict(list), defaultdict(list)
        for side, slots in enumerate((self.theirs, self.ours)):
            for kid, names in kids[side].items():
                content = frozenset(
                    (rest, slots[name].shape, slots[name].kind) for rest, name in names.items()
                )
                classes[side][content].append(kid)
        fixed = set()
        for content, kids_of in classes[0].items():
            same = classes[1].get(content, [])
            if {*kids_of} != {*same}:
                continue
            wanted = {
                kids[1][kid][rest]: name for kid in same for rest, name in kids[0][kid].items()
            }
            if {self.single.get(name) for name in wanted} == {*wanted.values()}:
                self.single |= wanted
            fixed |= {*same}
        chosen = Counter(
            (child(theirs, self.single[name]), kid)
            for kid, names in kids[1].items()
            if kid not in fixed
            for name in names.values()
            if name in self.single
        )
        seen: set[object] = set()
        for (one, two), _ in chosen.most_common():
            if one and two and ("r", one) not in seen and ("c", two) not in seen:
                seen |= {("r", one), ("c", two)}
                self._by_names(f"{theirs}.{one}".lstrip("."), f"{ours}.{two}".lstrip("."))


def _greedy(scores: Iterable[tuple[tuple, Any, Any]]) -> list[tuple[Any, Any]]:
    """Pairs by rising score; of each side, every entry once."""
    pairs: dict[Any, Any] = {}
    for _, theirs, ours in sorted(scores, key=lambda each: each[0]):
        if theirs not in pairs and ours not in pairs.values():
            pairs[theirs] = ours
    return [*pairs.items()]


def _kinds_fit(reference: Slot, candidate: Slot) -> bool:
    if reference.kind == CONSTANT:
        return candidate.kind != "parameter"
    return reference.kind == candidate.kind


def _in_order(
    theirs: Sequence[Owner], ours: Sequence[Owner], likeness
) -> list[tuple[Sequence[Owner], Sequence[Owner]]]:
    """Partners that follow each other on both sides, so that most weights have one.

    likeness: tells between equals, from 0 to 2.
    """
    rows, columns = len(theirs), len(ours)
    if [each.signature for each in theirs] == [each.signature for each in ours]:
        return [([one], [two]) for one, two in zip(theirs, ours, strict=True)]
    at = defaultdict(list)  # signature -> (the end of owners of the candidate, how many)
    for end in range(1, columns + 1):
        for many in range(1, min(JOINED, end) + 1):
            group = ours[end - many : end]
            signature = group[0].signature if many == 1 else _together(group)
            if signature is not None:
                at[signature].append((end, many))
    best = [[0.0] * (columns + 1)]
    ends: dict[tuple[int, int], tuple[float, int, int, bool]] = {}  # the best that pairs both ends
    for end in range(1, rows + 1):
        found: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
        for many in range(1, min(JOINED, end) + 1):
            group = theirs[end - many : end]
            signature = group[0].signature if many == 1 else _together(group)
            for column, wide in () if signature is None else at.get(signature, ()):
                if many == 1 or wide == 1:
                    alike = likeness(group[0], ours[column - 1]) if many == wide else 0.0
                    found[column].append((many, wide, PARTNER + alike))
        values, above = [0.0], best[-1]
        for column in range(1, columns + 1):
            value = max(above[column], values[-1])
            for many, wide, gain in found.get(column, ()):
                one, two = end - many, column - wide
                moves = [(best[one][two] + gain, many, wide, False)]
                if (one, two) in ends and (_beside(theirs, one) or _beside(ours, two)):
                    moves.append((ends[one, two][0] + gain + BESIDE, many, wide, True))
                ends[end, column] = max(*moves, ends.get((end, column), moves[0]))
                value = max(value, ends[end, column][0])
            values.append(value)
        best.append(values)
    pairs, row, column, beside = [], rows, columns, False
    while row and column:
        move = ends.get((row, column))
        if move and (beside or move[0] > max(best[row - 1][column], best[row][column - 1])):
            _, many, wide, beside = move
            pairs.append((theirs[row - many : row], ours[column - wide : column]))
            row, column = row - many, column - wide
        elif best[row - 1][column] >= best[row][column - 1]:
            row -= 1
        else:
            column -= 1
    return pairs[::-1]


def _beside(owners: Sequence[Owner], at: int) -> bool:
    """Whether an owner lies in the same layer as the one before it."""
    return owners[at].parent == owners[at - 1].parent

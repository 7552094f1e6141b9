"""A short list of renames for many pairs of weights: runs of name parts that differ, each once."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from equivalence.declare.renames import JOIN
from equivalence.structure.weights import STANDARD_RENAMES, plain, reference_name


class Link(NamedTuple):
    """Weights that belong together: one of each side, or one of one side and several joined.

    reference, candidate: their names.
    end: how the weight of the reference is rearranged, as a rename says it.
    """

    reference: tuple[str, ...]
    candidate: tuple[str, ...]
    end: str = ""


class _PathPart(NamedTuple):
    """A part of a weight's path on both sides, between layers that are partners."""

    ours: str
    theirs: str


def compact(
    links: Sequence[Link], names: Sequence[str], rename: Mapping[str, str]
) -> dict[str, str]:
    """Few renames by which these weights pair up by name, beside the declared ones.

    names: all names of the candidate. A rename is a short run of parts where this run leads to the
    same name everywhere; otherwise the run begins at an outer layer, or is the whole name.
    """
    chosen = _RenameChoice(links, names)
    found: dict[str, str] = {}
    for link in links:
        if len(link.reference) + len(link.candidate) > 2 or link.end:
            found |= chosen.of_group(link)
        else:
            found |= chosen.of_pair(link)
    found = {old: new for old, new in found.items() if old not in rename}
    for _ in range(2):  # a whole name that is added takes a part from a longer run only once
        names_now = plain({**found, **rename})
        for link in links:
            if len(link.reference) + len(link.candidate) == 2 and not link.end:
                name, target = link.candidate[0], link.reference[0]
                if reference_name(name, names_now) != target:
                    found[name] = target
    return found


class _RenameChoice:
    """Chooses for every link the shortest run that leads to one name everywhere."""

    def __init__(self, links: Sequence[Link], names: Sequence[str]):
        self.nodes = _partners(links)
        self.runs = Counter(run for name in names for run in _runs(name))
        self.leads: dict[str, Counter[str]] = defaultdict(Counter)
        self.steps: dict[Link, list[_PathPart]] = {}
        for link in links:
            self.steps[link] = self._steps(link)
            for old, new in self._options(link):
                self.leads[old.partition(JOIN)[0]][new] += 1
        for link in links:  # the other steps of a pair lead to names, too
            if len(link.candidate) == len(link.reference) == 1 and not link.end:
                steps = self.steps[link]
                for last in range(len(steps) - 1):
                    for first in range(last + 1):
                        old, new = _joined(steps[first : last + 1])
                        self.leads[old][new] += 1

    def of_pair(self, link: Link) -> dict[str, str]:
        """The renames of one pair: one for each of its steps that differs."""
        found, steps = {}, self.steps[link]
        start = end = -1  # of the run before: the next one begins behind it, or where it begins
        for last, step in enumerate(steps):
            is_leaf = last == len(steps) - 1
            same = _standard(step.ours) if is_leaf else step.ours
            if same == step.theirs:
                continue
            for first in range(last, -1, -1):
                if first > end or first == start:
                    old, new = _joined(steps[first : last + 1])
                    if self._clear(old, new):
                        break
            found[old] = new
            start, end = first, last
        return found

    def of_group(self, link: Link) -> dict[str, str]:
        """The rename of what is rearranged."""
        options = self._options(link)
        for old, new in options:
            if self._clear(old.partition(JOIN)[0], new):
                return {old: new, **self._outer(link, old)}
        return dict(options[-1:])

    def _outer(self, link: Link, old: str) -> dict[str, str]:
        """The renames of the layers around a group, as far as its own rename does not say them."""
        steps = self.steps[link]
        said = old.partition(JOIN)[0].count(".") + 1
        parts, outer = link.candidate[0].count(".") + 1 - said, []
        for step in steps[:-1]:
            parts -= step.ours.count(".") + 1
            if parts < 0:
                break
            outer.append(step)
        whole = Link((".".join(s.theirs for s in outer),), (".".join(s.ours for s in outer),))
        self.steps[whole] = [*outer, _PathPart("", "")]
        return self.of_pair(whole)

    def _clear(self, old: str, new: str) -> bool:
        """Whether a run leads to this name wherever it occurs, and is more than a number."""
        return self.leads[old] == {new: self.runs[old]} and not old.replace(".", "").isdigit()

    def _steps(self, link: Link) -> list[_PathPart]:
        """The steps from the root to the weights; the last leads to the weights themselves."""
        steps, ours, theirs = [], "", ""
        for node in parents(link.candidate[0])[1:]:
            partner = self.nodes.get(node)
            if partner is None or not all(f"{n}.".startswith(f"{node}.") for n in link.candidate):
                continue
            steps.append(_PathPart(_below(node, ours), _below(partner, theirs)))
            ours, theirs = node, partner
        last = [
            JOIN.join(_below(n, top) for n in names)
            for names, top in ((link.candidate, ours), (link.reference, theirs))
        ]
        return [*steps, _PathPart(*last)]

    def _options(self, link: Link) -> list[tuple[str, str]]:
        """The renames that serve a link, the shortest first."""
        steps, options = self.steps[link], []
        ours, theirs = steps[-1].ours.split(JOIN), steps[-1].theirs.split(JOIN)
        for first in range(len(steps) - 1, -1, -1):
            context = _joined(steps[first:-1])
            sides = [
                [f"{around}.{name}" if around else name for name in side]
                for around, side in zip(context, (ours, theirs), strict=True)
            ]
            if len(ours) + len(theirs) > 2:
                shorter = _without_common_end(*sides)
                options += [shorter] if shorter else []
            new = JOIN.join(name + link.end for name in sides[1])
            options.append((JOIN.join(sides[0]), new))
        return options


def _standard(run: str) -> str:
    before, dot, last = run.rpartition(".")
    return before + dot + STANDARD_RENAMES.get(last, last)


def _joined(steps: Sequence[_PathPart]) -> tuple[str, str]:
    return ".".join(step.ours for step in steps), ".".join(step.theirs for step in steps)


def _without_common_end(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, str] | None:
    """The names of a group without the last part that all have in common; None: they have none."""
    names = [_standard(name).rpartition(".") for name in ours] + [n.rpartition(".") for n in theirs]
    if len({last for _, _, last in names}) > 1 or not all(first for first, _, _ in names):
        return None
    firsts = [first for first, _, _ in names]
    return JOIN.join(firsts[: len(ours)]), JOIN.join(firsts[len(ours) :])


def _runs(name: str) -> Iterable[str]:
    """All runs of a name's parts."""
    parts = name.split(".")
    for first in range(len(parts)):
        for last in range(first + 1, len(parts) + 1):
            yield ".".join(parts[first:last])


def parents(name: str) -> list[str]:
    """The paths of all that a weight or a layer lies in, from the root."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(len(parts))]


def child(parent: str, name: str) -> str | None:
    """The child of a parent that a name lies in, if it is no weight of the parent itself."""
    inside = f"{parent}." if parent else ""
    rest = name.removeprefix(inside)
    return rest.partition(".")[0] if name.startswith(inside) and "." in rest else None


def children(
    path: str, slots: Iterable[str], names: Mapping[str, str] | None = None
) -> dict[str, dict[str, str]]:
    """Child -> the rest of a name in it -> the name. The rest is after renames, if any.

    names: name -> its name after renames.
    """
    inside = f"{path}." if path else ""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for name in slots:
        if name.startswith(inside):
            called = names[name] if names else name
            child, _, _ = name.removeprefix(inside).partition(".")
            depth = inside.count(".") + 1
            rest = ".".join(called.split(".")[depth:])
            found[child][rest] = name
    return found


def _below(name: str, path: str) -> str:
    return name.removeprefix(f"{path}.") if path else name


def _partners(links: Sequence[Link]) -> dict[str, str]:
    """Layer of the candidate -> layer of the reference that holds exactly its partners.

    Of layers around each other that hold the same, those of the same name are partners, or else the
    inner ones.
    """
    held: tuple[dict, dict] = defaultdict(set), defaultdict(set)
    sizes: dict[int, tuple[int, int]] = {}
    for number, link in enumerate(links):
        for side, names in enumerate((link.candidate, link.reference)):
            for position, name in enumerate(names):
                for node in parents(name):
                    held[side][node].add((number, side, position))
        sizes[number] = len(link.candidate), len(link.reference)

    def whole(side: int) -> dict[frozenset, list[str]]:
        """Links -> the layers that hold all weights of just these, from the outside."""
        found = defaultdict(list)
        for node in sorted(held[side], key=lambda node: (node.count("."), bool(node))):
            counts = Counter(number for number, _, _ in held[side][node])
            if all(count == sizes[number][side] for number, count in counts.items()):
                found[frozenset(counts)].append(node)
        return found

    ours, theirs = whole(0), whole(1)
    found: dict[str, str] = {}
    for content, nodes in ours.items():
        around = theirs.get(content, [])
        same = dict(_of_same_name(nodes, around))
        found |= same if {*same} - {""} else dict(zip(nodes[::-1], around[::-1], strict=False))
    return {one: two for one, two in found.items() if one and two}


def _of_same_name(ours: Iterable[str], theirs: Iterable[str]) -> Iterable[tuple[str, str]]:
    """The layers with the same last part of their paths that follow each other on both sides."""
    left = [*theirs]
    for one in ours:
        names = [two.rpartition(".")[2] for two in left]
        if (name := one.rpartition(".")[2]) in names:
            at = names.index(name)
            yield one, left[at]
            left = left[at + 1 :]

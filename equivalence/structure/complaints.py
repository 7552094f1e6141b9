"""What is wrong with a pairing of weights, in words: the likely reasons first, and not too many."""

import heapq
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from equivalence import words
from equivalence.declare.renames import RESHAPED, TRANSPOSED
from equivalence.errors import WeightError
from equivalence.structure.rearranged import flattened, same_elements, transposed
from equivalence.structure.slots import STATISTICS, Slot

TOLD = 10
"""How many complaints of one sort are told in words; the others are counted."""

ROWS = 60
"""How many rows the table of both sides may have; a longer one shows what has no partner alone."""

SHORTLIST = 12
"""Among how many names, those with the most parts in common, the most similar one is looked for."""

THEIRS = "the reference's"

NORMED = re.compile(r"(?:.*\.)?parametrizations\.\w+\.original\d")


class Complaints:
    """The complaints about one pairing of weights.

    reference, candidate: the weights of both sides by name.
    rearranged: the names of those that are joined, cut or reshaped; the table does not show them.
    """

    def __init__(self, reference: Mapping[str, Slot], candidate: Mapping[str, Slot]):
        self.reference, self.candidate = reference, candidate
        self.rearranged: set[str] = set()
        self._declared: list[str] = []
        self._misfits: list[str] = []
        self._unknown: dict[str, str] = {}
        self._alone: list[str] = []

    def __len__(self) -> int:
        return sum(map(len, (self._declared, self._misfits, self._unknown, self._alone)))

    def add(self, text: str) -> None:
        """Complain about the declaration."""
        self._declared.append(text)

    def twice(self, name: str, other: str, target: str) -> None:
        """Complain about two weights of the candidate with one partner."""
        self._misfits.append(f"candidate {name} and {other} both map to {target}")

    def misfit(self, name: str, target: str) -> None:
        """Complain about partners of different shapes or kinds."""
        ours, theirs = self.candidate[name], self.reference[target]
        text = f"candidate {name} is a {ours}, its partner {target} a {theirs}"
        cures = _arrangements(ours.shape, theirs.shape) if ours.kind == theirs.kind else []
        told = [f"{why}: rename={{{name!r}: {target + how!r}}}" for why, how in cures]
        text += "; " * bool(told) + ", or ".join(told)
        if ours.kind == "parameter" != theirs.kind:
            text += "; it would be trained: write Parameter(..., requires_grad=False)"
        self._misfits.append(text)

    def unknown(self, name: str, target: str) -> None:
        """Complain about a weight of the candidate whose partner would be `target`."""
        self._unknown[name] = target

    def alone(self, name: str) -> None:
        """Complain about a weight of the reference without a partner."""
        self._alone.append(name)

    def demand_none(self, pairs: Mapping[str, str]) -> None:
        """Raise WeightError unless there are no complaints.

        pairs: candidate name -> reference name, whether the reference has it or not.
        """
        if not self:
            return
        self._paired = {*pairs.values()} & self.reference.keys() - {*self._alone}
        sorts = (
            (self._declared, str),
            (self._misfits, str),
            ([*self._unknown], self._of_unknown),
            (self._alone, self._of_alone),
        )
        lines = [f"weights do not pair up: {words.counted(len(self), 'complaint')}"]
        found = (self._prefix(), *_told(sorts), self._computed())
        lines += [f"  {line}" for line in found if line]
        lines += _side_by_side(self._alike(self.reference), self._alike(self.candidate), pairs)
        if min(len(self._unknown), len(self._alone)) > TOLD:
            lines.append('a twin with pair="order" pairs by order and shape, and proposes renames')
        raise WeightError("\n".join(lines))

    def _alike(self, slots: Mapping[str, Slot]) -> dict[str, Slot]:
        """The weights that nothing rearranges."""
        return {name: slot for name, slot in slots.items() if name not in self.rearranged}

    def _of_unknown(self, name: str) -> str:
        target = self._unknown[name]
        text = (
            f"candidate {name} ({self.candidate[name]}) maps to {target}, which the reference "
            "does not have"
        )
        for owner, slot in self.reference.items():
            if target in slot.names:
                return (
                    f"{text}: it ties {target} to {owner}; share the parameter in the candidate, "
                    "or the candidate trains one weight more"
                )
        return text + (
            self._weight_norm(target, self._alone)
            or self._leaf(target, THEIRS)
            or nearest(target, self._alone or self.reference)
        )

    def _of_alone(self, name: str) -> str:
        text = f"reference {name} ({self.reference[name]}) has no partner in the candidate"
        for owner, slot in self.candidate.items():
            if name in slot.names:
                return f"{text}, which ties it to {owner}: there it is a weight of its own"
            if (
                self.reference[name].names
                and self._unknown.get(owner) in self.reference[name].names
            ):
                return f"{text}; it is tied to {self._unknown[owner]}, which is candidate {owner}"
        if NORMED.fullmatch(name):
            return (
                f"{text}: the reference has a weight norm, so the candidate must have weight_g and "
                "weight_v, or the reference must be built without the norm"
            )
        near = self._leaf(name, "the candidate's") or nearest(name, self._unknown.values())
        return text + (near or nearest(name, self.candidate))

    def _computed(self) -> str:
        """How to name the constants that one side may compute, or keep in no weight."""
        names = [name for name in self._alone if self.reference[name].is_constant]
        # A frozen parameter may be a table, or a statistic by a name of its own.
        names += [
            name
            for name, target in self._unknown.items()
            if self.candidate[name].kind == "buffer"
            and target.rpartition(".")[2] not in STATISTICS
            and not nearest(target, self._alone)
        ]
        leaves = [*dict.fromkeys(name.rpartition(".")[2] for name in names)]
        if not leaves:
            return ""
        options = " ".join(f"--constant {leaf}" for leaf in leaves)
        return (
            f"what the other side computes, or keeps in no weight, is named: constants={leaves}; "
            f"on the command line {options}"
        )

    def _weight_norm(self, target: str, names: Iterable[str]) -> str:
        """Whether the reference has the factors of a weight norm in the weight's place."""
        prefix, _, leaf = target.rpartition(".")
        start = f"{prefix}." if prefix else ""
        factors = (f"{start}parametrizations.{leaf}.original0", f"{start}{leaf}_g")
        normed = next((factor for factor in factors if factor in names), None)
        return f": there it is weight-normed, as {normed}" if normed else ""

    def _leaf(self, name: str, whose: str) -> str:
        """Whether the other side has the layer, with fewer weights."""
        layer, _, leaf = name.rpartition(".")
        if not layer or leaf not in ("weight", "bias", *STATISTICS):
            return ""
        own = [n.rpartition(".")[2] for n in self._paired if n.rpartition(".")[0] == layer]
        cure = ""
        if leaf == "bias" and own == ["weight"]:  # MindSpore's convolutions have none by default
            cure = f"; nn.Dense and nn.Conv2d take has_bias={whose != THEIRS}"
        return f": {whose} {layer} has only {', '.join(sorted(own))}{cure}" if own else ""

    def _prefix(self) -> str:
        """Whether one part more in front of all names is all that differs, in words."""
        for more, fewer, side in (
            (self._unknown.values(), self._alone, "candidate"),
            (self._alone, [*self._unknown.values()], "reference"),
        ):
            first = {name.partition(".")[0] for name in more}
            rest = {name.partition(".")[2] for name in more}
            if len(first) == 1 and len(rest) > 1 and rest == {*fewer}:
                prefix = f"{first.pop()}."
                old, new = (prefix, "") if side == "candidate" else ("", prefix)
                children = sorted({name.partition(".")[0] for name in rest})
                renames = ", ".join(f"{old + n!r}: {new + n!r}" for n in children[:3])
                more_of_them = ", ..." if len(children) > 3 else ""
                return (
                    f"every name of the {side} begins with {prefix!r}: "
                    f"rename={{{renames}{more_of_them}}}"
                )
        return ""


def _told(sorts: Iterable[tuple[list[str], Callable[[str], str]]]) -> list[str]:
    lines = []
    for found, told in sorts:
        lines += [told(each) for each in found[:TOLD]]
        if len(found) > TOLD:
            side = told(found[TOLD]).partition(" ")[0]
            lines.append(f"and {len(found) - TOLD} more of the {side}, such as {found[TOLD]}")
    return lines


def _arrangements(ours: tuple[int, ...], theirs: tuple[int, ...]) -> list[tuple[str, str]]:
    """How two shapes may hold the same elements: each way in words, and as a rename says it."""
    if ours == theirs:
        return []
    if transposed(ours, theirs):
        return [("as if transposed", TRANSPOSED)]
    if same_elements(ours, theirs):
        return [("the same but for axes of length one", RESHAPED)]
    if flattened(ours, theirs):
        return [
            ("the same if a patch lists its channels first", RESHAPED),
            ("if it lists them last", _channels_last(ours, theirs)),
        ]
    return []


def _channels_last(ours: tuple[int, ...], theirs: tuple[int, ...]) -> str:
    """The rename for patches that list their channels last: rows, columns, channels."""
    rank = max(len(ours), len(theirs))
    if len(theirs) == rank:
        return f".transpose(0, {', '.join(map(str, range(2, rank)))}, 1){RESHAPED}"
    first, channels, *window = ours
    shape = ", ".join(map(str, (first, *window, channels)))
    return f".reshape({shape}).transpose(0, {rank - 1}, {', '.join(map(str, range(1, rank - 1)))})"


def nearest(name: str, names: Iterable[str]) -> str:
    """The most similar of `names`, as the end of a sentence; "" where none is similar."""
    parts = Counter(name.split("."))

    def common(other: str) -> int:
        return sum((parts & Counter(other.split("."))).values())

    names = [*names]
    if len(names) > SHORTLIST:
        names = heapq.nlargest(SHORTLIST, names, key=common)
    return words.nearest(name, names)


def _side_by_side(
    reference: Mapping[str, Slot], candidate: Mapping[str, Slot], pairs: Mapping[str, str]
) -> list[str]:
    """A table of both sides, with partners on one line; of many, those without a partner."""
    partner = {target: name for name, target in reversed([*pairs.items()]) if target in reference}
    rows = [
        (f"{n} {s.shape}", f"{partner[n]} {candidate[partner[n]].shape}" if n in partner else "-")
        for n, s in reference.items()
    ]
    paired = {*partner.values()}
    rows += [("-", f"{n} {s.shape}") for n, s in candidate.items() if n not in paired]
    last = []
    if len(rows) > ROWS:
        full = [row for row in rows if "-" not in row]
        odd = [row for row in rows if "-" in row]
        left, right = ([row for row in odd if row[side] == "-"][:TOLD] for side in (1, 0))
        last = [f"  {len(full)} pairs, and {len(odd) - len(left + right)} more without a partner"]
        rows = left + right
    rows = [("reference", "candidate"), *rows]
    width = max(len(left) for left, _ in rows)
    return [f"  {left:{width}}  {right}" for left, right in rows] + last

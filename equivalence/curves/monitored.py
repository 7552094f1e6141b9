"""Two monitored trainings, layer by layer: which norm departs first, and at which step."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from equivalence.curves.band import GROWING, JUMP, distance
from equivalence.dumps import names
from equivalence.errors import DeclarationError, WeightError
from equivalence.words import counted, listed, number

KINDS = ("activations", "loss", "scale", "gradients", "rate", "rates", "updates", "weights")
"""What a row has, in the order in which a step makes it; gradients come from the last layer on."""

FLOOR = 0.01
"""A norm is compared relative to itself, or to this share of the median of its kind: what only
rounding makes, such as the gradient of a bias before a norm, is far below."""

LAST_DIGIT = 2e-6
"""A relative difference that norms may have by the digits in which they are written."""

TOLD = 4
"""Steps at which the largest differences are told."""


@dataclass(frozen=True)
class Monitored:
    """What a monitor has kept of a training.

    made: framework, version, mode and of how many steps one is kept.
    rows: step -> name -> norm or number. first: step -> the first name that is not finite.
    notes: what was not seen. ended: whether the run has come to its end.
    """

    path: str
    made: Mapping[str, Any]
    rows: Mapping[int, Mapping[str, float]]
    first: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    ended: bool = False

    @property
    def names(self) -> list[str]:
        """All names, in the order of the run."""
        return [*dict.fromkeys(name for row in self.rows.values() for name in row)]


def is_monitor(path: Path) -> bool:
    """Whether a file is one that a monitor writes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(11) == b'{"monitor":'


def read(path: Path) -> Monitored:
    """What a monitor has written; a line that is half written, the last one, is left out.

    Raises DeclarationError where another line cannot be read.
    """
    made: dict[str, Any] = {}
    rows: dict[int, dict[str, float]] = {}
    first: dict[int, str] = {}
    notes: tuple[str, ...] = ()
    ended = False
    lines = path.read_text(encoding="utf-8").split("\n")
    for place, line in enumerate(lines):
        try:
            row = json.loads(line) if line else {}
        except ValueError:
            if place == len(lines) - 1:
                break
            raise DeclarationError(
                f"{path}: line {place + 1} is damaged; monitor it again"
            ) from None
        if "monitor" in row:
            made = {name: value for name, value in row.items() if name != "monitor"}
        elif "end" in row:
            notes, ended = tuple(row["notes"]), True
        elif row:
            step = int(row.pop("step"))
            if "first_not_finite" in row:
                first[step] = row.pop("first_not_finite")
            rows[step] = {name: float(value) for name, value in row.items()}
    if not rows:
        raise DeclarationError(f"{path} holds no step; call step() of the monitor after each")
    return Monitored(str(path), made, rows, first, notes, ended)


@dataclass(frozen=True)
class Norm:
    """A norm that differs in a step.

    name: in the reference. theirs, ours: its values. relative: the difference.
    """

    name: str
    step: int
    theirs: float
    ours: float
    relative: float


@dataclass(frozen=True)
class MonitoredResult:
    """Two monitored trainings beside each other; true where no digit differs.

    steps: those that both have. pairs: candidate's name -> the reference's.
    relative: name of the reference -> the relative difference at each of the steps.
    departing: what departs at once, in the first step in which something does, in its order.
    """

    reference: Monitored
    candidate: Monitored
    steps: tuple[int, ...]
    pairs: Mapping[str, str]
    relative: Mapping[str, np.ndarray] = field(repr=False)
    departing: tuple[Norm, ...] = ()

    def __bool__(self) -> bool:
        return not self.different and not any(self._alone())

    @property
    def different(self) -> list[str]:
        """The names of the norms that differ in their digits, by the reference."""
        return [name for name, off in self.relative.items() if (off > LAST_DIGIT).any()]

    def _alone(self) -> list[list[str]]:
        """Names that one side alone has: the reference's, and the candidate's."""
        mine = self.pairs.keys()
        theirs = {*self.pairs.values()}
        return [
            [each for each in self.reference.names if each not in theirs],
            [each for each in self.candidate.names if each not in mine],
        ]

    def lines(self) -> list[str]:
        """All that is said of it."""
        one, two = self.reference, self.candidate
        told = [
            f"{_of(one)} and {_of(two)}: {counted(len(self.steps), 'step')}, {self.steps[0]} to "
            f"{self.steps[-1]}, {counted(len(self.pairs), 'norm')} of each"
        ]
        told += self._undefined()
        told += self._departing()
        told += self._table()
        for side, alone in zip((one, two), self._alone(), strict=True):
            if alone:
                told.append(f"{side.path} alone has {listed(alone)}")
        for side in (one, two):
            told += [f"{side.path}: {note}" for note in side.notes]
            if not side.ended:
                told.append(f"{side.path}: the run has not come to its end")
        return [*told, self._conclusion()]

    def _undefined(self) -> list[str]:
        told = []
        for side in (self.reference, self.candidate):
            if side.first:
                step = min(side.first)
                name = words(side.first[step])
                told.append(f"{side.path} is not finite from step {step} on, first {name}")
        return told

    def _departing(self) -> list[str]:
        if not self.departing:
            return [
                f"no norm departs at once: differences begin below {GROWING:g} and grow, as those "
                "of rounding do; norms alone cannot tell these from a small mistake"
            ] * bool(self.different)
        first = self.departing[0]
        kinds = [each.name.partition("/")[0] for each in self.departing]
        every = [name.partition("/")[0] for name in self.relative]
        others = [f"{kinds.count(k)} of {every.count(k)} {k}" for k in KINDS if k in kinds]
        return [
            f"departs at step {first.step}, first {words(first.name)}: {first.ours:.6g}, and "
            f"{first.theirs:.6g} in the original",
            f"  in this step depart {', '.join(others)}",
            f"  {self._before(first.step)}",
        ]

    def _before(self, step: int) -> str:
        place = self.steps.index(step)
        if place == 0:
            return "it is the first step: weights, data or settings differ from the start"
        largest = max(
            ((float(off[:place].max()), name) for name, off in self.relative.items()), default=None
        )
        if largest is None or not largest[0]:
            return "before it no digit differs"
        return f"before it the largest difference is {largest[0]:.1e}, {words(largest[1])}"

    def _table(self) -> list[str]:
        """The largest difference of each kind, at some steps."""
        places = sorted({*np.linspace(0, len(self.steps) - 1, TOLD).astype(int)})
        head = "".join(f"{f'step {self.steps[place]}':>12}" for place in places)
        told = [f"{'largest difference':20}{head}"]
        for kind in KINDS:
            found = [off for name, off in self.relative.items() if name.partition("/")[0] == kind]
            if found:
                most = (max(float(off[place]) for off in found) for place in places)
                told.append(f"  {kind:18}" + "".join(f"{_figure(each):>12}" for each in most))
        return told

    def _conclusion(self) -> str:
        every = counted(len(self.relative), "norm")
        if not self.different:
            return f"the same to within the last digits of {every}"
        first = min(
            self.steps[int(np.flatnonzero(self.relative[name] > LAST_DIGIT)[0])]
            for name in self.different
        )
        told = f"different in {len(self.different)} of {every}"
        if not self.departing or self.departing[0].step == first:
            return f"{told}, from step {first} on"
        at = self.departing[0].step
        return f"{told}, at once from step {at} on; before it in digits alone, from step {first} on"

    def document(self) -> dict[str, object]:
        """All of it as JSON."""
        return {
            "reference": self.reference.path,
            "candidate": self.candidate.path,
            "same_digits": bool(self),
            "steps": [*self.steps],
            "departing": [vars(each) for each in self.departing],
            "not_finite": [
                min(each.first, default=None) for each in (self.reference, self.candidate)
            ],
            "relative": {
                name: [value if math.isfinite(value) else None for value in off.tolist()]
                for name, off in self.relative.items()
            },
        }


def compare(theirs: Path, ours: Path, rename: Mapping[str, str]) -> MonitoredResult:
    """Compare two files of monitors.

    rename: runs of segments of the candidate's names -> the reference's.

    Raises DeclarationError where they have no step or no norm in common.
    """
    one, two = read(theirs), read(ours)
    steps = sorted(one.rows.keys() & two.rows.keys())
    if not steps:
        raise DeclarationError(
            f"no step is on both sides: {one.path} has {min(one.rows)} to {max(one.rows)}, "
            f"{two.path} {min(two.rows)} to {max(two.rows)}"
        )
    try:
        pairs = names.pair(one.names, two.names, rename)
    except WeightError as error:
        raise DeclarationError(str(error)) from None
    if not pairs:
        raise DeclarationError(
            f"no norm pairs up: {one.path} has {listed(one.names)}, {two.path} "
            f"{listed(two.names)}; write --rename CANDIDATE=REFERENCE"
        )
    values = {
        name: np.array(
            [[run.rows[step].get(each, math.nan) for step in steps] for run, each in sides]
        )
        for mine, name in pairs.items()
        for sides in [((one, name), (two, mine))]
    }
    relative = {name: _relative(name, values) for name in values}
    departing = _departing(steps, values, relative)
    return MonitoredResult(one, two, tuple(steps), pairs, relative, departing)


def _relative(name: str, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """The differences of a norm, relative to it, or to a share of the median of its kind."""
    theirs, ours = values[name]
    kind = name.partition("/")[0]
    alike = np.array([np.abs(each[0]) for n, each in values.items() if n.partition("/")[0] == kind])
    floor = FLOOR * np.array([_median(each[np.isfinite(each)]) for each in alike.T])
    off = distance(theirs, ours)
    scale = np.maximum(np.where(np.isfinite(theirs), np.abs(theirs), 0.0), floor)
    return off / np.maximum(scale, np.finfo(float).tiny)


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if values.size else 0.0


def _departing(
    steps: list[int], values: Mapping[str, np.ndarray], relative: Mapping[str, np.ndarray]
) -> tuple[Norm, ...]:
    """The norms that depart at once, in the first step in which one does, in the step's order."""
    found: dict[int, list[str]] = {}
    for name, off in relative.items():
        before = np.concatenate([[0.0], np.maximum.accumulate(off)[:-1]])
        with np.errstate(invalid="ignore"):
            sudden = (off > GROWING) & (off > JUMP * before)
        if sudden.any():
            found.setdefault(int(np.flatnonzero(sudden)[0]), []).append(name)
    if not found:
        return ()
    place = min(found)
    kinds = {name: name.partition("/")[0] for name in relative}
    order = [*relative]
    back = {name: -at if kinds[name] == "gradients" else at for at, name in enumerate(order)}
    ordered = sorted(found[place], key=lambda name: (KINDS.index(kinds[name]), back[name]))
    return tuple(
        Norm(
            name,
            steps[place],
            float(values[name][0][place]),
            float(values[name][1][place]),
            float(relative[name][place]),
        )
        for name in ordered
    )


def words(name: str) -> str:
    """A name of a row, in words.

    >>> words("gradients/fc.bias"), words("loss"), words("activations/input")
    ('the gradients of fc.bias', 'the loss', "the network's input")
    """
    kind, _, rest = name.partition("/")
    if kind == "activations" and rest in ("input", "output"):
        return f"the network's {rest}"
    return f"the {kind} of {rest}" if rest else f"the {kind}"


def _of(run: Monitored) -> str:
    made = run.made
    return f"{run.path} ({made.get('framework')} {made.get('version')}, {made.get('mode')})"


def _figure(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:.1e}" if value < 1 else number(value)

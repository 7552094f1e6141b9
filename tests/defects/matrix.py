"""The kill matrix: what became of every defect, and of the same traces under other rules."""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from equivalence import files

ENOUGH = 20
"""Diagnoses from which on a share of wrong ones says something."""

NAMED_RIGHT = 0.95
"""Share of the diagnoses that must name the culprit."""


@dataclass
class Row:
    """One defect's outcome.

    killed: the kind of the worst tensor, the class of the error that refused it, or None for a
    survivor. error: roundings of the worst tensor; infinite where no norm applies. change:
    largest relative distance of a tensor from the right candidate's. named: what the diagnosis
    blames. culprit: "right", "wrong", or "-" where none was to be named. caught: rule -> whether
    it refuses the same trace, and caught_in_outputs the trace without gradients and buffers;
    both are empty where nothing was compared.
    """

    name: str
    family: str
    mistake: str
    case: str
    killed: str | None = None
    tensor: str = ""
    error: float = math.nan
    change: float = math.nan
    named: str = ""
    culprit: str = "-"
    caught: dict[str, bool] = field(default_factory=dict)
    caught_in_outputs: dict[str, bool] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass
class Correct:
    """A right candidate. refused: rule -> whether it refuses the trace."""

    case: str
    refused: dict[str, bool]


class Matrix:
    """All rows of a run; says what they come to."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.correct: list[Correct] = []

    def add(self, line: str) -> None:
        """Take what a test reported, see `encode`."""
        kind, fields = json.loads(line)
        if kind == "Row":
            self.rows.append(Row(**fields))
        else:
            self.correct.append(Correct(**fields))

    @property
    def survivors(self) -> list[Row]:
        """Defects that passed."""
        return [row for row in self.rows if row.killed is None]

    @property
    def misnamed(self) -> list[Row]:
        """Defects whose diagnosis blames other layers, or not the cause."""
        return [row for row in self.rows if row.culprit == "wrong"]

    @property
    def misled(self) -> bool:
        """Whether too many diagnoses are wrong."""
        diagnosed = [row for row in self.rows if row.culprit != "-"]
        wrong = len(self.misnamed)
        return len(diagnosed) >= ENOUGH and wrong > (1 - NAMED_RIGHT) * len(diagnosed)

    def summary(self) -> list[str]:
        """What the terminal shows."""
        lines = []
        if self.rows:
            lines += _columns(_FAMILY_TITLES, self._families())
            lines += [f"survivor: {row.name} ({row.case}): {row.mistake}" for row in self.survivors]
            lines += [f"wrong culprit: {row.name}: {row.named}" for row in self.misnamed]
        if self.rows or self.correct:
            lines += ["", *_columns(_RULE_TITLES, self._rules())]
        return lines

    def markdown(self) -> str:
        """Every row, for people."""
        titles = ("defect", "mistake", "killed by", "roundings", "change", "culprit", "passed by")
        body = [
            (
                f"`{row.name}`",
                row.mistake,
                " ".join(filter(None, (row.killed or "**survived**", row.tensor))),
                _figure(row.error),
                _figure(row.change),
                row.named if row.culprit == "-" else f"{row.culprit}: {row.named}",
                ", ".join(rule for rule in row.caught if not row.caught[rule]) or "-",
            )
            for row in self.rows
        ]
        parts = [
            "# Kill matrix",
            "Right twins with one mistake each. *change* is the largest relative distance of a "
            "tensor from the right candidate's; *passed by* names the rules that accept the trace.",
            *(
                "\n".join(_table(*each))
                for each in (
                    (_FAMILY_TITLES, self._families()),
                    (_RULE_TITLES, self._rules()),
                    (titles, body),
                )
            ),
        ]
        return "\n\n".join(parts) + "\n"

    def json(self) -> str:
        """Every row, for programs; a figure that is not finite is null."""
        rows = [_finite(asdict(row)) for row in self.rows]
        correct = [asdict(each) for each in self.correct]
        return json.dumps({"defects": rows, "correct": correct}, indent=1) + "\n"

    def write(self, folder: Path, stem: str = "defects") -> list[Path]:
        """Write both reports, each whole or not at all."""
        texts = {"md": self.markdown(), "json": self.json()}
        return [files.write(folder / f"{stem}.{end}", text) for end, text in texts.items()]

    def _families(self) -> list[tuple[str, ...]]:
        families = list(dict.fromkeys(row.family for row in self.rows))
        groups = [(name, [r for r in self.rows if r.family == name]) for name in families]
        if len(groups) > 1:
            groups.append(("all", self.rows))
        return [(name, *map(str, _totals(rows))) for name, rows in groups]

    def _rules(self) -> list[tuple[str, ...]]:
        compared = [row for row in self.rows if row.caught]
        rules = dict.fromkeys(
            rule
            for known in ([r.caught for r in compared], [c.refused for c in self.correct])
            for each in known
            for rule in each
        )
        return [
            (
                rule,
                _of(sum(row.caught[rule] for row in compared), len(compared)),
                _of(sum(row.caught_in_outputs[rule] for row in compared), len(compared)),
                _of(sum(each.refused[rule] for each in self.correct), len(self.correct)),
            )
            for rule in rules
        ]


_FAMILY_TITLES = (
    "family", "defects", "killed", "by output", "by gradient", "by update", "by buffer",
    "by structure", "refused", "culprit right", "smallest error",
)  # fmt: skip
_RULE_TITLES = ("rule", "defects caught", "by outputs alone", "right cases refused")


def encode(result: Row | Correct) -> str:
    """A result as text that a worker can hand to the controller."""
    return json.dumps([type(result).__name__, asdict(result)])


def _totals(rows: Sequence[Row]) -> tuple[object, ...]:
    killed = [row for row in rows if row.killed]
    kinds = [row.killed.split()[0] for row in killed]
    known = ("output", "gradient", "update", "buffer", "structure")
    diagnosed = [row for row in rows if row.culprit != "-"]
    errors = [row.error for row in killed if row.killed.split()[0] in known]
    return (
        len(rows),
        len(killed),
        *(kinds.count(kind) for kind in known),
        sum(kind not in known for kind in kinds),
        _of(sum(row.culprit == "right" for row in diagnosed), len(diagnosed)),
        _figure(min(errors, default=math.nan)),
    )


def _of(some: int, total: int) -> str:
    return f"{some}/{total}" if total else "-"


def _figure(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2g}"


def _finite(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in fields.items()
    }


def _columns(titles: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """Aligned columns: the first to the left, the others to the right."""
    rows = [titles, *body]
    widths = [max(len(row[i]) for row in rows) for i in range(len(titles))]
    return [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _table(titles: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    rows = [titles, ["---"] * len(titles), *body]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]

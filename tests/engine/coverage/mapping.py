"""MindSpore's published mapping from PyTorch, beside what this suite verifies.

`python -m tests.engine.coverage.mapping` writes the page docs/mapping.md. `findings/mapping.json`
has the names of both sides, and whether the mapping calls them consistent.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from equivalence import torchvision_schemas
from equivalence.coverage.known import DeclaredAPIs, load
from equivalence.declare.operator import Counterpart
from equivalence.files import write
from equivalence.findings.scripts import FOLDER, Finding

KEPT, PAGE = FOLDER / "mapping.json", FOLDER.parent / "docs" / "mapping.md"

CONSISTENT = "consistent"
"""What the mapping says of two calls that are the same: function, arguments, and defaults."""


class Row(NamedTuple):
    """A row of the mapping, and what is known of it.

    torch, mindspore: the names, the second without "mindspore.".
    said: CONSISTENT, or "differs".
    counterparts: what this suite compares with `torch`, by name; empty: nothing.
    findings: what is wrong in the call of `mindspore` beside `torch`.
    """

    torch: str
    mindspore: str
    said: str
    counterparts: dict[str, Counterpart]
    findings: tuple[Finding, ...]

    @property
    def area(self) -> str:
        """The module of `torch`, without its last name."""
        owner = self.torch.rpartition(".")[0]
        return next((each for each in AREAS if owner == each), owner.split(".")[0])

    @property
    def defaults(self) -> list[str]:
        """The defaults that differ, in words."""
        declared = self.counterparts.get(self.mindspore)
        both = declared.defaults.items() if declared else ()
        return [f"{name} is {one!r}, MindSpore's is {two!r}" for name, (one, two) in both]


AREAS = ("torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.special")
AREAS += ("torch.linalg", "torch.distributed", "torch.optim", "torch.utils.data")


def read(known: DeclaredAPIs, path: Path = KEPT) -> tuple[dict[str, str], list[Row]]:
    """(where the mapping was published and of which releases, its rows)."""
    source = json.loads(path.read_text(encoding="utf-8"))
    rows = [row(known, *each) for each in source.pop("rows")]
    return source, rows


def row(known: DeclaredAPIs, torch: str, mindspore: str, said: str) -> Row:
    declared = [each for operator in known.operators(torch) for each in operator.counterparts]
    declared += [layer.counterpart for layer in known.layers(torch)]
    counterparts: dict[str, Counterpart] = {}
    for each in declared:
        if each.api not in counterparts or each.defaults:
            counterparts[each.api] = each
    wrong = tuple(
        finding
        for finding in known.findings
        if f"mindspore.{mindspore}" in finding.apis
        and any(known.same(torch, text.partition("(")[0]) for text in finding.torch)
    )
    return Row(torch, mindspore, said, counterparts, wrong)


def contradicted(rows: Iterable[Row]) -> list[Row]:
    """The rows called consistent of which a finding or a default says otherwise."""
    return [each for each in rows if each.said == CONSISTENT and (each.findings or each.defaults)]


def elsewhere(rows: Iterable[Row]) -> list[Row]:
    """The rows called consistent where this suite compares with another call alone."""
    return [
        each
        for each in rows
        if each.said == CONSISTENT and each.counterparts and each.mindspore not in each.counterparts
    ]


def page(source: dict[str, str], rows: Sequence[Row]) -> str:
    """The page that compares the mapping with this suite."""
    wrong, other = contradicted(rows), elsewhere(rows)
    lines = [
        "# The published mapping",
        "",
        "For those who port by MindSpore's table of counterparts.",
        f"This is [the one of MindSpore {source['mindspore']}]({source['source']}) for",
        f"PyTorch {source['torch']}, beside what is verified here. A pair is called consistent",
        "there if function, arguments and defaults are the same. It is a fact about names; what is",
        "wrong stands in [the findings](findings.md), and what is compared in",
        "[the operators](operators.md).",
        "",
        "`python -m tests.engine.coverage.mapping` writes this page.",
        "",
        "| module | pairs | consistent | of these contradicted | of these compared with another "
        "call alone | of all, no row here |",
        "|---|---|---|---|---|---|",
    ]
    areas = dict.fromkeys(each.area for each in rows)
    counts = [
        Counter(each.area for each in part)
        for part in (
            rows,
            [each for each in rows if each.said == CONSISTENT],
            wrong,
            other,
            [each for each in rows if not each.counterparts],
        )
    ]
    for area in areas:
        lines.append(f"| {area} | {' | '.join(str(count[area]) for count in counts)} |")
    lines.append(f"| all | {' | '.join(str(count.total()) for count in counts)} |")
    lines += ["", f"## Called consistent, and contradicted ({len(wrong)})", ""]
    lines += ["| PyTorch | MindSpore | what is wrong |", "|---|---|---|"]
    for each in wrong:
        told = [_link(finding) for finding in each.findings]
        told += [f"default: {words}" for words in each.defaults]
        lines.append(f"| {each.torch} | {each.mindspore} | {'<br>'.join(told)} |")
    lines += ["", f"## Called consistent, and compared with another call alone ({len(other)})", ""]
    lines += ["| PyTorch | the mapping's | compared here |", "|---|---|---|"]
    for each in other:
        lines.append(
            f"| {each.torch} | {each.mindspore} | {', '.join(sorted(each.counterparts))} |"
        )
    return "\n".join(lines) + "\n"


def _link(finding: Finding) -> str:
    when = f", {finding.when}" if finding.when else ""
    place = f"../findings/{finding.kind}/{finding.path.name}"
    return f"[{finding.title.rstrip('.')}]({place}) ({finding.severity}{when})"


def main() -> int:
    """Write the page."""
    torchvision_schemas.declare_missing()
    print(f"written to {write(PAGE, page(*read(load())))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

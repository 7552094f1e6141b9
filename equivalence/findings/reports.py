"""What others reported of differences between PyTorch and MindSpore, and what is true of it.

`findings/reports.json` has the reports; each says where it was read, what it claims, what to call
on both sides, and the verdict. The page docs/reports.md is written from it.
"""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from equivalence.errors import FindingError
from equivalence.findings.scripts import FOLDER, Finding

KEPT, PAGE = FOLDER / "reports.json", FOLDER.parent / "docs" / "reports.md"
"""The file of the reports, and the page that is written from it."""

VERDICTS = {  # in the order of the page
    "defect": "the results differ, and one side is wrong",
    "documented": "the results differ, and a page says so",
    "rounding": "the results differ by rounding alone",
    "user's error": "what was expected is not what the function is for",
    "not reproduced": "the results are equal on a CPU",
    "needs Ascend": "a CPU has no kernel, so that nothing can be compared",
}


class PublicReport(NamedTuple):
    """A public report of a difference.

    source: the address of the page where it was read.
    claim: what it says.
    verdict: what is true of it; a key of VERDICTS.
    torch: the expression of PyTorch; empty: `shown` has it.
    mindspore: the expression of MindSpore.
    shown: the name of the finding that shows it; empty: there is none.
    why: what else is to be said.
    """

    source: str
    claim: str
    verdict: str
    torch: str = ""
    mindspore: str = ""
    shown: str = ""
    why: str = ""

    @property
    def name(self) -> str:
        """What a reader knows the source by: the repository and the number, or the page."""
        *_, owner, repository, kind, last = self.source.split("/")
        return f"{owner}/{repository}#{last}" if kind in ("issues", "pull") else last


def read(path: Path = KEPT) -> list[PublicReport]:
    """The reports of a file. Raises FindingError where one is not as it must be.

    >>> {each.verdict for each in read()} <= set(VERDICTS)
    True
    """
    try:
        reports = [PublicReport(**each) for each in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError) as error:
        raise FindingError(f"{path} is no list of reports: {error}") from error
    for each in reports:
        if each.verdict not in VERDICTS:
            raise FindingError(
                f"{path}: the verdict of {each.name} is {each.verdict!r}; write one of "
                f"{', '.join(VERDICTS)}"
            )
        if not (each.shown or (each.torch and each.mindspore)):
            raise FindingError(
                f"{path}: nothing shows {each.name}; name a finding, or what to call on both sides"
            )
    return reports


def page(reports: Iterable[PublicReport], findings: Iterable[Finding]) -> str:
    """The page of reports, a table for each verdict. found: the findings that they name."""
    reports, places = (
        list(reports),
        {each.name: f"{each.kind}/{each.path.name}" for each in findings},
    )
    counts = Counter(each.verdict for each in reports)
    lines = [
        "# Public reports",
        "",
        "For those who read of a difference between PyTorch and MindSpore: what others reported,",
        "and what is true of it here: on a CPU, in the versions of `constraints.txt`. `random`",
        "draws from a normal distribution, by a seed. A test calls both sides of every row.",
        "[Where this page comes from](operators.md#public-reports).",
    ]
    for verdict, meaning in VERDICTS.items():
        lines += ["", f"## {verdict.capitalize()}: {meaning} ({counts[verdict]})", ""]
        lines += ["| report | claim | shown by |", "|---|---|---|"]
        for each in (each for each in reports if each.verdict == verdict):
            calls = [f"`{call}`" for call in (each.torch, each.mindspore) if call]
            claim = "<br>".join([each.claim, *calls])
            shown = [f"[{each.shown}](../findings/{places[each.shown]})"] if each.shown else []
            shown += [each.why] if each.why else []
            told = (f"[{each.name}]({each.source})", claim, ": ".join(shown))
            lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines) + "\n"

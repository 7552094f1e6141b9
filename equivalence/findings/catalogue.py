"""The known discrepancies as text: lists, tables, the page of all, and a text to post upstream."""

import ast
import importlib.metadata
import platform
import re
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from equivalence.errors import IN_THE_CLONE, FindingError
from equivalence.files import write
from equivalence.findings import reports, scripts
from equivalence.findings.scripts import (
    CONSTANTS,
    CRASHES,
    FAILED,
    FOLDER,
    GONE,
    KINDS,
    SEVERITIES,
    STANDING,
    Finding,
    ScriptResult,
    by_danger,
)
from equivalence.progress import Progress
from equivalence.words import left

REPORT = Path("reports/findings.txt")
"""The file that a run of all findings writes."""

INDEX = FOLDER.parent / "docs" / "findings.md"
"""The page that lists all findings."""

CAUSE = "Cause: "
"""What the paragraph of a docstring begins with that says why."""

ALL_STAND, STALE = 0, 1
"""Exit codes of a run."""


class Table:
    """The results as text. The columns fit all findings, before the first one runs."""

    def __init__(self, findings: list[Finding]):
        self.widths = [
            max(map(len, column))
            for column in zip(
                ("finding", "kind", "API", CRASHES),
                *((finding.name, finding.kind, finding.api, "") for finding in findings),
                strict=True,
            )
        ]
        self.title = self._line("finding", "kind", "API", "state", "seconds", "measured")

    def row(self, result: ScriptResult) -> str:
        """The line of one result."""
        finding = result.finding
        return self._line(
            finding.name,
            finding.kind,
            finding.api,
            result.state,
            f"{result.seconds:.1f}",
            result.measured,
        )

    def _line(self, name: str, kind: str, api: str, state: str, seconds: str, rest: str) -> str:
        columns = zip((name, kind, api, state), self.widths, strict=True)
        return "  ".join([*(f"{text:{width}}" for text, width in columns), f"{seconds:>7}", rest])


def environment() -> str:
    """The versions of the frameworks and of Python, and the machine."""
    packages = ("mindspore", "torch", "torchvision", "numpy")
    versions = [f"{package} {importlib.metadata.version(package)}" for package in packages]
    return ", ".join([*versions, f"Python {platform.python_version()}", platform.machine()])


def summary(results: Iterable[ScriptResult]) -> list[str]:
    """The versions and the machine, how many findings of each kind stand, and those that do not."""
    results = list(results)
    kinds = Counter(result.finding.kind for result in results if result.state in STANDING)
    counts = ", ".join(f"{kind} {kinds[kind]}" for kind in KINDS if kinds[kind])
    lines = [environment()]
    lines.append(f"{sum(kinds.values())} of {len(results)} findings stand ({counts or 'none'})")
    stale = {GONE: "gone, remove it from findings/", FAILED: "failed, in another way than it says"}
    lines += [f"{r.finding.name}: {stale[r.state]}" for r in results if r.state in stale]
    return lines


def report(findings: list[Finding], results: Iterable[ScriptResult], path: Path = REPORT) -> None:
    """Write a line for every result, with the title below it, in the order of the findings."""
    by_finding = {result.finding: result for result in results}
    table = Table(findings)
    lines = [table.title]
    for finding in findings:
        lines += [table.row(by_finding[finding]), f"    {finding.title}"]
    write(path, "\n".join([*lines, "", *summary(by_finding.values()), ""]))


def list_command(words: list[str]) -> int:
    """Print the findings that have all of some words, the most dangerous first."""
    texts = {one: " ".join(map(str, one)).lower() for one in by_danger(scripts.every())}
    found = [one for one in texts if all(word.lower() in texts[one] for word in words)]
    if not found:
        raise FindingError(f"no finding has {' and '.join(words)}; leave a word out")
    for one in found:
        print(f"{one.severity:10}  {one.name}: {one.title} {one.when and f'({one.when})'}".rstrip())
    return 0


def show_command(names: list[str], report: bool = False) -> int:
    """Print all that findings say of themselves, and their scripts; or each as a text to post."""
    for one in scripts.choose(scripts.every(), names):
        if report:
            (result,) = scripts.run([one])
            print(posting(result))
            continue
        print(f"{one.name}: {one.title}\n  {one.kind}: {KINDS[one.kind]}")
        print(f"  {one.severity}: {SEVERITIES[one.severity]}; when: {one.when or 'always'}")
        print(f"  MindSpore {', '.join(one.apis)}; PyTorch {', '.join(one.torch) or '-'}")
        print("", one.path.read_text(encoding="utf-8"), sep="\n")
    return 0


def posting(result: ScriptResult) -> str:
    """A text to post upstream: the title, the environment, the script, expected, got, the cause.

    Raises FindingError where the finding does not stand here: there is nothing to report.
    """
    one = result.finding
    if result.state not in STANDING:
        raise FindingError(f"{one.name} does not stand here ({result.measured}); nothing to report")
    about, _, cause = one.details.partition(CAUSE)
    expected, got = result.expected.partition(" ")[2], result.measured.removeprefix("got ")
    parts = {
        "": about,
        "Environment": f"{environment()}; CPU",
        "Script": f"```python\n{minimal(one)}\n```",
        "Expected, as PyTorch": f"```text\n{expected.strip()}\n```",
        "Got": f"```text\n{got.strip()}\n```",
        "Cause": cause,
    }
    told = [f"# {one.api.removeprefix('mindspore.')}: {one.title.rstrip('.')}"]
    for title, text in parts.items():
        if text.strip():
            told.append(f"## {title}\n\n{text.strip()}" if title else text.strip())
    return "\n\n".join(told) + "\n"


def minimal(finding: Finding) -> str:
    """The script of a finding without what it says of itself."""
    text = finding.path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    lines = dict(enumerate(text.splitlines(), 1))
    for node in tree.body:
        names = (
            {ast.unparse(target) for target in node.targets}
            if isinstance(node, ast.Assign)
            else set()
        )
        if node is tree.body[0] or names & set(CONSTANTS) - used:
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                del lines[number]
    return re.sub(r"\n{3,}", "\n\n\n", "\n".join(lines.values())).strip()


def index(findings: Iterable[Finding]) -> str:
    """The page that lists findings, the most dangerous first."""
    findings = by_danger(findings)
    counts = Counter(finding.severity for finding in findings)
    lines = [
        "# Findings",
        "",
        "For those who ask whether it is their port or MindSpore: what is wrong in MindSpore,",
        "beside PyTorch on a CPU; each is a script that shows it.",
        "[How to run and search them, and how this page is written](operators.md#findings).",
    ]
    for severity, meaning in SEVERITIES.items():
        lines += ["", f"## {severity.capitalize()}: {meaning} ({counts[severity]})", ""]
        lines += ["| MindSpore | what | when | PyTorch |", "|---|---|---|---|"]
        for one in (each for each in findings if each.severity == severity):
            calls = [*one.torch[:3], *(["..."] if len(one.torch) > 3 else [])]
            link = f"[{one.title.rstrip('.')}](../findings/{one.kind}/{one.path.name})"
            cells = (one.api.removeprefix("mindspore."), link, one.when, ", ".join(calls))
            lines.append(f"| {' | '.join(map(_plain, cells))} |")
    return "\n".join(lines) + "\n"


def _plain(cell: str) -> str:
    """A cell of a table; what stands outside a link is no markup."""
    return cell if cell.startswith("[") else re.sub(r"([|*_<>])", r"\\\1", cell)


def index_command() -> int:
    """Write the page that lists all findings, and that of the public reports.

    Raises FindingError where there is no clone.
    """
    if not INDEX.parent.is_dir():
        raise FindingError(f"docs/ lies {IN_THE_CLONE}")
    found = scripts.every()
    pages = {INDEX: index(found), reports.PAGE: reports.page(reports.read(), found)}
    for path, text in pages.items():
        print(f"written to {write(path, text)}")
    return 0


def run_command(names: list[str], jobs: int) -> int:
    """Run scripts; return the exit code. Only a run of all scripts writes REPORT."""
    every = scripts.every()
    found = scripts.choose(every, names)
    table = Table(found)
    print(table.title)
    results, begun, bar = [], time.monotonic(), Progress(len(found), "findings")
    for result in scripts.run(found, jobs):
        results.append(result)
        bar.clear()
        print(table.row(result), flush=True)
        bar.tell(len(results), left(time.monotonic() - begun, len(results), len(found)))
    bar.clear()
    print("", *summary(results), sep="\n")
    if len(found) == len(every):
        report(found, results)
        print(f"written to {REPORT}")
    return ALL_STAND if all(result.state in STANDING for result in results) else STALE

"""The findings and the gate in each release of MindSpore: where does each one stand, since when?

    python benchmarks/releases.py [RELEASE...] [--jobs N]

Each release gets an environment of its own below `.releases/`, in which all else has the versions
of constraints.txt. The scripts of `findings/` run there. What they told is kept in
`findings/releases.json`, a release at a time; `docs/releases.md` is written from that file.
"""

import argparse
import ast
import hashlib
import importlib.metadata
import json
import subprocess
import sys
import tempfile
import textwrap
import venv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence import files  # noqa: E402
from equivalence.findings import scripts  # noqa: E402
from equivalence.findings.scripts import GONE, KINDS, STANDING, Finding  # noqa: E402

RELEASES = ("2.7.2", "2.8.0", "2.9.0", "2.10.0")
"""The newest patch of each release that pyproject.toml permits."""

ENVIRONMENTS, KEPT, PAGE = (
    ROOT / ".releases",
    ROOT / "findings/releases.json",
    ROOT / "docs/releases.md",
)

STANDS, RIGHT, UNASKED = "stands", "right", "?"
"""What a release says of a finding: it stands, or is right there; or the script cannot tell."""

Told = Mapping[str, Sequence[str]]
"""By name of a finding: the digest of its script, its state, and what was measured."""


def digest(finding: Finding) -> str:
    """Tells whether a script is the one asked. What it only declares counts for nothing."""
    tree = ast.parse(finding.path.read_text(encoding="utf-8"))
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    runs = [each for each in tree.body[1:] if not _declares(each, read)]
    return hashlib.sha256("\n".join(map(ast.unparse, runs)).encode()).hexdigest()[:12]


def _declares(statement: ast.stmt, read: set[str]) -> bool:
    """Whether a statement only gives a name to something, and nothing reads that name."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [None]
    return all(isinstance(target, ast.Name) and target.id not in read for target in targets)


def ask(found: Sequence[Finding], jobs: int) -> dict[str, object]:
    """What the findings tell in this environment, with the versions of its packages."""
    packages = ("torch", "torchvision", "numpy")
    told = {}
    for result in scripts.run(found, jobs):
        told[result.finding.name] = [digest(result.finding), result.state, result.measured]
        print(f"{len(told)} of {len(found)}: {result.finding.name} {result.state}", flush=True)
    versions = {package: importlib.metadata.version(package) for package in packages}
    return {"versions": versions, "findings": dict(sorted(told.items()))}


def gate(jobs: int) -> dict[str, int]:
    """What the gate gives in this environment: its cases, those in red, and those not in it."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "gate.xml")
        suites = sorted(map(str, ROOT.glob("tests/test_*.py")))
        chosen = ["-m", "gate and cpu", "-n", str(jobs), "-q", "--junitxml", str(report)]
        ended = subprocess.run([sys.executable, "-m", "pytest", *suites, *chosen], cwd=ROOT)
        if ended.returncode not in (0, 1):
            raise SystemExit(f"the gate did not run to its end: exit code {ended.returncode}")
        (suite,) = ElementTree.parse(report).getroot()
    told = {name: int(suite.get(name)) for name in ("tests", "failures", "errors", "skipped")}
    return {
        "cases": told["tests"],
        "red": told["failures"] + told["errors"],
        "not in it": told["skipped"],
    }


def environment(release: str) -> Path:
    """The Python of an environment with this release of MindSpore, which is made if needed."""
    folder = ENVIRONMENTS / release
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        venv.create(folder, clear=True, with_pip=True)
        lines = (ROOT / "constraints.txt").read_text().splitlines()
        others = [line for line in lines if not line.startswith("mindspore==")]
        constraints = files.write(folder / "constraints.txt", "\n".join(others))
        command = [python, "-m", "pip", "install", "--quiet", "--constraint", constraints]
        target = [f"mindspore=={release}", "--editable", f"{ROOT}[reference]"]
        subprocess.run([*command, *target], check=True)
        (folder / "complete").touch()
    return python


def word(finding: Finding, told: Told) -> str:
    """What a release says of a finding: STANDS, RIGHT or UNASKED."""
    asked, state, _ = told.get(finding.name, ("", "", ""))
    if asked != digest(finding):
        return UNASKED
    return STANDS if state in STANDING else RIGHT if state == GONE else UNASKED


def page(kept: Mapping[str, Mapping], found: Sequence[Finding]) -> str:
    """The page, as Markdown. kept: what each release told, the oldest first."""
    words = {f: [word(f, told["findings"]) for told in kept.values()] for f in found}
    counts = [Counter(column) for column in zip(*words.values(), strict=True)]
    lines = [TEXT, "| MindSpore | beside | stand | right | cannot be asked |", "| --- " * 5 + "|"]
    for (release, told), count in zip(kept.items(), counts, strict=True):
        beside = ", ".join(f"{name} {version}" for name, version in told["versions"].items())
        numbers = " | ".join(str(count[each]) for each in (STANDS, RIGHT, UNASKED))
        lines.append(f"| {release} | {beside} | {numbers} |")
    lines += ["", GATE]
    gates = {release: told["gate"].values() for release, told in kept.items() if "gate" in told}
    lines += ["| MindSpore | cases | red | not in it |", "| --- " * 4 + "|"] if gates else [UNRUN]
    lines += [f"| {release} | {' | '.join(map(str, told))} |" for release, told in gates.items()]
    changed = [f for f in found if set(words[f]) != {STANDS}]
    lines += ["", "## Not in every release", ""]
    lines += [f"| finding | API | {' | '.join(kept)} |", "| --- " * (2 + len(kept)) + "|"]
    for each in sorted(changed, key=lambda f: RIGHT not in words[f]):
        lines.append(f"| {each.title[:-1]} | `{each.api}` | {' | '.join(words[each])} |")
    unasked = [
        f"- {f.name}, {release}: {textwrap.shorten(told['findings'][f.name][2], 80)}"
        for f in found
        for release, told in kept.items()
        if word(f, told["findings"]) == UNASKED and f.name in told["findings"]
    ]
    if unasked:
        lines += ["", "Why a script could not tell:", "", *unasked]
    lines += ["", "## In every release", ""]
    for kind, meaning in KINDS.items():
        same = [f for f in found if f.kind == kind and set(words[f]) == {STANDS}]
        if same:
            lines += [f"### {kind}: {meaning}", ""]
            lines += [*(f"- `{f.api}`: {f.title}" for f in same), ""]
    return "\n".join(lines).rstrip() + "\n"


TEXT = """# Releases of MindSpore

For those who choose a release or change it: in which does a [finding](operators.md#findings)
stand? Each script ran in each release on a CPU: it **stands** (MindSpore did what the script
says), is **right** (MindSpore did what PyTorch does), or **?** (the script could not tell; why is
said below). What is right in an older release and stands in a newer one came with the newer one.

`make releases` asks all releases, runs the gate in each, and writes this page. It fails where the
gate is red.
"""

GATE = """## The gate

What some releases alone do is declared so, by ranges that are written as Python's packages write
theirs: a limit (`Limit("is refused", "<2.8")`) and a known difference (`releases=">=2.8"`) hold in
these releases only, and a difference must show there; in every other one the sides must be equal.
The cases of a twin with `releases=">=2.8"` are counted as not in the older releases, and must fail
there. So are those with pinned random layers before 2.9, which do not show their operators as they
run; rehearsals, and the statement in a diagnosis, need 2.9 as well.
"""


UNRUN = "No release has run all of it with the declarations as they are."


def load() -> dict[str, dict]:
    """What the releases told, the oldest first; empty where none was asked."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    return dict(sorted(kept.items(), key=lambda item: [*map(int, item[0].split("."))]))


def main(argv: Sequence[str] | None = None) -> None:
    """Ask the releases, or, with --here, this environment alone."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("releases", nargs="*", default=RELEASES, metavar="RELEASE")
    parser.add_argument("--jobs", type=int, default=1, help="scripts at a time")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    found = scripts.read_all(scripts.FOLDER)
    if arguments.here:
        (release,) = arguments.releases
        told = {release: ask(found, arguments.jobs) | {"gate": gate(arguments.jobs)}}
        files.write(KEPT, json.dumps(load() | told, indent=1) + "\n")
        return
    for release in arguments.releases:
        command = [environment(release), __file__, release, "--here"]
        subprocess.run([*command, "--jobs", str(arguments.jobs)], check=True)
    files.write(PAGE, page(load(), found))
    print(f"written to {PAGE.relative_to(ROOT)}")
    if red := [each for each in arguments.releases if load()[each]["gate"]["red"]]:
        raise SystemExit(f"the gate is red in {', '.join(red)}")


if __name__ == "__main__":
    main()

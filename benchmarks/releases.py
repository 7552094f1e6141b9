"""The findings in each release of MindSpore: where does each one stand, since when?

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
import textwrap
import venv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

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

In which release does a [finding](operators.md#findings) stand? Each script ran in each release on a
CPU: it **stands** (MindSpore did what the script says), is **right** (MindSpore did what PyTorch
does), or **?** (the script could not tell; why is said below). What is right in an older release
and stands in a newer one came with the newer one.

`make releases` asks all releases and writes this page.
"""


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
        told = {release: ask(found, arguments.jobs)}
        files.write(KEPT, json.dumps(load() | told, indent=1) + "\n")
        return
    for release in arguments.releases:
        command = [environment(release), __file__, release, "--here"]
        subprocess.run([*command, "--jobs", str(arguments.jobs)], check=True)
    files.write(PAGE, page(load(), found))
    print(f"written to {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

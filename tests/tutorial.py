"""Reads docs/tutorial.md as its reader does: writes files, edits lines, types commands."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

NUMBER = re.compile(r"(?<![\w.:])-?\d[\d.]*(?:e[+-]?\d+)?(?= %|[ ,;)\]|]|$)")
"""A figure that another processor may round otherwise; not the 2 of `Conv2d`, nor a line's."""

PROGRAMS = {
    "equivalence": ("-m", "equivalence"),
    "pytest": ("-m", "pytest", "-p", "no:cacheprovider"),
    "python": (
        "-c",
        "import runpy, sys; from equivalence.torchvision_schemas import declare_missing; "
        "declare_missing(); sys.path.insert(0, ''); runpy.run_path(sys.argv[1])",
    ),
}
"""What a command begins with -> how this Python runs it; scripts find torchvision as sides do."""


@dataclass(frozen=True)
class Step:
    """What a reader does: writes a file, edits a line, or types a command and sees its lines.

    kind: "file", "edit" or "command".
    what: the file's name, the line to replace, or the command.
    then: the file's text, the new line, or the lines that the command prints, in this order.
    """

    kind: str
    what: str
    then: str


def steps(text: str) -> Iterator[Step]:
    """The steps of a page, in order. Raises ValueError for a block that is none of them."""
    command = None
    for kind, body in BLOCK.findall(text):
        if command is not None and kind != "text":
            yield Step("command", command, "")
            command = None
        if kind == "python":
            name, _, code = body.partition("\n")
            yield Step("file", name.removeprefix("# "), code)
        elif kind == "diff":
            lines = body.splitlines()
            if [line[:2] for line in lines] != ["- ", "+ "] * (len(lines) // 2):
                raise ValueError(f"a diff of other than pairs: {body}")
            for old, new in zip(lines[::2], lines[1::2], strict=True):
                yield Step("edit", old[2:], new[2:])
        elif kind == "sh":
            command = body.strip()
        elif kind == "text" and command is not None:
            yield Step("command", command, body)
            command = None
        else:
            raise ValueError(f"a block of {kind!r} that is no step: {body}")
    if command is not None:
        yield Step("command", command, "")


def edit(folder: Path, old: str, new: str) -> None:
    """Replace a line, which one file has once. Raises ValueError where none or several have it."""
    found = [(file, file.read_text()) for file in sorted(folder.glob("*.py"))]
    found = [(file, text) for file, text in found if f"{old}\n" in text]
    if len(found) != 1 or found[0][1].count(f"{old}\n") != 1:
        raise ValueError(f"{old!r} stands in {[file.name for file, _ in found]}, not once")
    file, text = found[0]
    file.write_text(text.replace(f"{old}\n", f"{new}\n"))


def typed(folder: Path, command: str) -> str:
    """What a command prints in a folder, on either stream."""
    program, *words = shlex.split(command)
    line = [sys.executable, *PROGRAMS[program], *words]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def unseen(expected: str, printed: str) -> list[str]:
    """The lines of `expected` that `printed` does not have in this order, but for figures."""
    lines, lost = [_plain(line) for line in printed.splitlines()], []
    for line in expected.splitlines():
        at = next((i for i, other in enumerate(lines) if _plain(line) in other), None)
        if at is None:
            lost.append(line)
        else:
            lines = lines[at + 1 :]
    return lost


def _plain(line: str) -> str:
    """A line without figures, and with single blanks: columns are as wide as what is in them."""
    return NUMBER.sub("#", " ".join(line.split()))


def follow(folder: Path, text: str, only: str = "") -> list[str]:
    """What a reader of a page would not see, a line each.

    only: a pattern of the commands that are typed; all files are written and all lines edited.
    """
    lost = []
    for step in steps(text):
        if step.kind == "file":
            (folder / step.what).write_text(step.then)
        elif step.kind == "edit":
            edit(folder, step.what, step.then)
        elif re.search(only, step.what):
            printed = typed(folder, step.what)
            lost += [f"{step.what}: {line}\n{printed}" for line in unseen(step.then, printed)]
    return lost

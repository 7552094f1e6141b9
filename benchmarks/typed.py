"""Runs the lines of `audits/typed.txt` as they stand there; writes `docs/zoo/typed.md`.

Each runs in a process of its own, as in a terminal. What is finished is kept in
`reports/typed.jsonl`, so that a run that was broken off goes on from there; a line that has changed
is run again. A line that takes longer than the limit is told as that.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence import files  # noqa: E402

LINES = ROOT / "audits/typed.txt"
JOURNAL, PAGE = ROOT / "reports/typed.jsonl", ROOT / "docs/zoo/typed.md"

LIMIT = 900
"""Seconds after which a line is ended."""

VERDICTS = {0: "equal", 1: "different", 2: "refused"}
"""Exit code of the command -> what it says."""

HEAD = """# Networks, as they are typed

For those who compare a network of a public package by one line. Written by
`python benchmarks/typed.py` in the environment of `make audit`: comparisons of networks
of public packages, each by one line of `audits/typed.txt` after `compare`. Nothing is
declared for them, so that a setting that differs is red. *Refused*: the weights do not pair up, or
a side cannot be built or run: `mindocr` 0.5.0, which was installed beside the others with what it
imports, takes modules that MindSpore 2.10 no longer has.

| typed | verdict | what it says | s |
| --- | --- | --- | --- |
"""


def lines() -> list[str]:
    """The commands, each with its options."""
    return [line for line in LINES.read_text().splitlines() if line.strip()]


def measure(line: str, limit: float = LIMIT) -> dict[str, Any]:
    """Run a line; its exit code, what it says in short, and seconds. -1: it took too long."""
    command = [sys.executable, "-m", "equivalence", "compare", *shlex.split(line)]
    quiet = {**os.environ, "GLOG_v": "4", "PYTHONWARNINGS": "ignore"}
    started = time.perf_counter()
    try:
        ran = subprocess.run(
            command, cwd=ROOT, env=quiet, capture_output=True, text=True, timeout=limit
        )
        code, said = ran.returncode, ran.stdout + ran.stderr
    except subprocess.TimeoutExpired:
        code, said = -1, ""
    seconds = time.perf_counter() - started
    return {"line": line, "code": code, "said": short(said), "seconds": seconds}


def short(said: str) -> str:
    """The first culprit with its first cause, or else the error, or the largest error."""
    rows = said.splitlines()
    for each, after in zip(rows, [*rows[1:], ""], strict=False):
        if each.startswith("culprit"):
            indented = [line for line in rows[rows.index(each) + 1 :][:2] if line.startswith("  ")]
            causes = [line.strip() for line in indented if not line.startswith("  in ")]
            return ": ".join([each.strip(), *causes[:1]])
        if each.startswith("error: "):
            told = each.removeprefix("error: ")
            return f"{told}: {after.strip()}" if after.startswith("  candidate ") else told
    largest = re.search(r"largest (?:error is |error )?(\d[\w.+-]*)", said)
    return f"largest error {largest[1]} roundings" if largest else ""


def row(record: Mapping[str, Any]) -> str:
    """A line of the table."""
    cells = (
        f"`{record['line']}`",
        VERDICTS.get(record["code"], f"longer than {LIMIT} s" if record["code"] == -1 else "ended"),
        record["said"],
        f"{record['seconds']:.0f}",
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("<", "&lt;") for cell in cells) + " |"


def write(records: Sequence[Mapping[str, Any]]) -> None:
    """Write the page of what was run."""
    codes = [VERDICTS.get(record["code"], "ended") for record in records]
    counts = ", ".join(f"{codes.count(each)} {each}" for each in sorted(set(codes)))
    table, left = "\n".join(map(row, records)), len(lines()) - len(records)
    told = f"{len(records)} networks: {counts}." + (f" {left} are not run yet." if left else "")
    files.write(PAGE, f"{HEAD}{table}\n\n{told}\n")


def main(arguments: Sequence[str]) -> int:
    """Run what is not yet in the journal, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="lines with it")
    chosen = parser.parse_args(arguments)
    JOURNAL.parent.mkdir(exist_ok=True)
    kept = JOURNAL.read_text().splitlines() if JOURNAL.exists() else []
    done = {record["line"]: record for record in map(json.loads, kept)}
    for line in lines():
        if chosen.only in line and line not in done:
            done[line] = measure(line)
            with JOURNAL.open("a") as journal:
                journal.write(json.dumps(done[line]) + "\n")
            print(row(done[line]), flush=True)
    write([done[line] for line in lines() if line in done])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

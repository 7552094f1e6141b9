"""Ten pairs of training scripts, right and with three or four mistakes each: where each is found.

python benchmarks/scripts.py [PAIR ...] writes reports/scripts.md, the table of docs/training.md.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import textwrap
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from equivalence.host import environment

environment.prepare()

from equivalence.scripts.compare import TrainingsResult, trainings  # noqa: E402
from equivalence.scripts.running import ScriptTraining  # noqa: E402
from tests.engine.scripts.mistakes import MISTAKES, PAIRS, STYLES, names  # noqa: E402

STEPS, WIDTH = 5, 60
"""Steps of each run, and the columns of a line of code that are shown."""


def compared(pair: str, old: str = "", new: str = "") -> TrainingsResult:
    """What becomes of a pair whose port is edited, in the current folder."""
    for side in ("torch", "mindspore"):
        text = (PAIRS / f"{pair}_{side}.py").read_text()
        edited = text.replace(old, new) if old and side == "mindspore" else text
        Path(f"{pair}_{side}.py").write_text(edited)
    sides = zip(("reference", "candidate"), names(pair), strict=True)
    both = [ScriptTraining(role, name, steps=STEPS) for role, name in sides]
    with contextlib.redirect_stdout(sys.stderr):
        return trainings(*both, STEPS, {})


def row(name: str, result: TrainingsResult, seconds: float) -> str:
    """A line of the table."""
    departures = result.verdict.departures
    if not departures:
        found = f"equal, at most {result.verdict.worst:.1f} roundings"
        return f"| {name} | {found} | | {seconds:.0f} s |"
    first = departures[0]
    line = result.culprit.line if result.culprit else first.line
    code = textwrap.shorten(line.partition(": ")[2], WIDTH, placeholder=" ...")
    where = f"step {first.step}, {first.stage}: {first.name}"
    return f"| {name} | {where} | `{code}` | {seconds:.0f} s |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="*", choices=[*STYLES, []], default=[])
    chosen = parser.parse_args().pairs or [*STYLES]
    report = Path("reports/scripts.md").absolute()
    lines = ["| script | first departure | line of the port | time |", "|---|---|---|---|"]
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.path.insert(0, folder)
        for pair in chosen:
            each = [(f"**{STYLES[pair]}**", "", "")]
            each += [(m.name, m.old, m.new) for m in MISTAKES if m.pair == pair]
            for name, old, new in each:
                begun = time.monotonic()
                lines.append(row(name, compared(pair, old, new), time.monotonic() - begun))
                print(lines[-1])
        os.chdir(before)
    report.parent.mkdir(exist_ok=True)
    report.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

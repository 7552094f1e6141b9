"""How far a comparison walks: the files and functions of the engine that one case enters.

    python benchmarks/walk.py [--files] [--rooms]

A green case of the gate is checked, and a wrong port of the same network is checked, diagnosed and
told. Both run in PyNative mode without records, after a comparison of another network, so that what
a process does once is not counted. With `--files`, each entered file and its calls; with
`--rooms`, the lines of each room of the engine.
"""

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence.host import environment  # noqa: E402

environment.prepare()

from equivalence import kinds  # noqa: E402
from equivalence.declare.draws import normal  # noqa: E402
from equivalence.declare.twin import Twin, TwinCase, cases  # noqa: E402
from equivalence.host.isolation import isolated  # noqa: E402
from equivalence.report import text  # noqa: E402

ENGINE = ROOT / "equivalence"

WRONG = "benchmarks.mistaken:bottleneck"


class Walk:
    """A context that counts the calls of functions of a folder; `calls` has them afterwards.

    folder: the code that counts.
    calls: (file, function) -> how often it was entered.

    >>> with Walk(ENGINE) as walk:
    ...     _ = normal(2, 3)
    >>> sorted({file.name for file, _ in walk.calls})
    ['draws.py']
    """

    def __init__(self, folder: Path):
        self._folder = f"{folder}/"
        self.calls: Counter[tuple[Path, str]] = Counter()

    def __enter__(self) -> "Walk":
        sys.setprofile(self._entered)
        return self

    def __exit__(self, *error: Any) -> None:
        sys.setprofile(None)

    def _entered(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if (
            event == "call"
            and code.co_filename.startswith(self._folder)
            and code.co_name != "<module>"
        ):
            name = getattr(code, "co_qualname", code.co_name)  # of Python 3.11
            self.calls[Path(code.co_filename), name] += 1

    def files(self) -> Counter[Path]:
        """File -> calls of its functions."""
        found: Counter[Path] = Counter()
        for (file, _), count in self.calls.items():
            found[file] += count
        return found

    def __str__(self) -> str:
        files = self.files()
        rooms = {file.parent for file in files}
        return (
            f"{len(files)} files in {len(rooms)} rooms, {len(self.calls)} functions, "
            f"{files.total()} calls"
        )


def green(case: TwinCase) -> None:
    """Check a case that is equal. Raises AssertionError where it is not."""
    assert kinds.check(case, 0).passed, case.name


def red(case: TwinCase) -> None:
    """Check, diagnose and tell a case that differs. Raises AssertionError where it does not."""
    outcome = kinds.check(case, 0)
    assert not outcome.passed, case.name
    told = kinds.diagnose(case, 0)
    assert text.failure(outcome, "", told.brief, told.mistakes), case.name


def walks() -> Iterator[tuple[str, Walk]]:
    """The walks: what of -> the walk."""
    from tests.twins import resnet

    (twin,) = (each for each in resnet.TWINS if each.name == "bottleneck")
    twin = replace(twin, configs=twin.configs[:1], executions=("pynative",), phases=("train",))
    other = Twin("warm", "torch.nn:ReLU", "mindspore.nn:ReLU", [normal(4, 8)])
    first: list[tuple[str, Twin, Callable[[TwinCase], None]]] = [
        ("a green case", twin, green),
        ("a red case", replace(twin, candidate=WRONG), red),
    ]
    with isolated():
        green(next(cases(other, "cpu")))
    for name, of_twin, run in first:
        with isolated(), Walk(ENGINE) as walk:
            run(next(cases(of_twin, "cpu")))
        yield name, walk


def lines(path: Path) -> tuple[int, int]:
    """The lines of a file, and those of code: without blanks, comments and docstrings."""
    source = path.read_text()
    every = source.splitlines()
    told: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            told |= {*range(value.lineno, (value.end_lineno or value.lineno) + 1)}
    code = [
        line
        for number, line in enumerate(every, 1)
        if number not in told and line.strip() and not line.lstrip().startswith("#")
    ]
    return len(every), len(code)


def rooms() -> Iterator[str]:
    """A line for each room of the engine, and one for all."""
    folders = [ENGINE, *sorted({file.parent for file in ENGINE.glob("*/*.py")})]
    whole = [0, 0, 0]
    for folder in folders:
        files = [*folder.glob("*.py")]
        counts = [lines(file) for file in files]
        row = len(files), sum(each for each, _ in counts), sum(code for _, code in counts)
        whole = [a + b for a, b in zip(whole, row, strict=True)]
        yield f"{folder.relative_to(ROOT)!s:26}{row[0]:5} files{row[1]:7} lines{row[2]:7} of code"
    yield f"{'all':26}{whole[0]:5} files{whole[1]:7} lines{whole[2]:7} of code"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the walks, and what is asked for besides."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", action="store_true", help="each entered file and its calls")
    parser.add_argument("--rooms", action="store_true", help="the lines of each room")
    options = parser.parse_args(arguments)
    if options.rooms:
        print(*rooms(), sep="\n")
    for name, walk in walks():
        print(f"{name}: {walk}")
        if options.files:
            for file, count in sorted(walk.files().items()):
                entered = sum(each == file for each, _ in walk.calls)
                print(f"  {file.relative_to(ROOT)!s:45}{entered:5} functions{count:7} calls")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""True discrepancies between the frameworks, each in a script of its own. Do they still stand?

A script lies in the folder of its kind: `findings/kernel/relu_nan.py`. The first line of its
docstring says what is wrong, its constant `API` where, `SEVERITY` how bad it is, `WHEN` what it
needs, and `TORCH` which calls of PyTorch it is about; `ALSO` has other calls of MindSpore that do
the same. It prints a line `expected ...` and, as
its last line, `got ...`. It ends with exit code 1 while the discrepancy stands, and with 0 once it
is gone. A script of the kind `crash` is ended by a signal while the discrepancy stands, after it
printed what PyTorch expects: where PyTorch ends the process, it is no discrepancy. A script that
catches an error prints it, and says in `ERROR` which words it must have, on whichever side it is.
"""

import ast
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from equivalence import files
from equivalence.errors import IN_THE_CLONE, FindingError
from equivalence.processes import TimeLimit
from equivalence.words import nearest

FOLDER = files.REPOSITORY / "findings"
"""The folder with the scripts, in one folder for each kind."""
KINDS = {  # the names of the folders, in the order in which findings are listed
    "kernel": "a kernel computes something wrong, or inaccurately",
    "gradient": "the forward pass is right, a gradient is wrong",
    "ignored": "an argument or a call has no effect",
    "default": "a default, or what an argument of the same name means, differs",
    "behaviour": "something other than a single result is surprising: state, errors, compilation",
    "missing": "there is no CPU kernel",
    "crash": "the process is ended by a signal",
}

CONSTANTS = ("API", "ALSO", "KIND", "SEVERITY", "WHEN", "TORCH", "ERROR")
"""What a script says of itself, as constants."""
KEPT = ast.Constant | ast.Tuple | ast.Dict

THERE, CRASHES, GONE, FAILED = "there", "crashes", "gone", "failed"
"""States of a finding: it stands (THERE, CRASHES), it is GONE, or its script FAILED."""
STANDING = (THERE, CRASHES)
"""States of a finding that still stands."""

LIMIT = 120.0
"""Seconds of processor time (see `processes.TimeLimit`) after which a script is ended and FAILED. A
script takes about 5 s, mostly imports."""

IS_GONE, IS_THERE = 0, 1
"""Exit codes of a script."""

SEVERITIES = {  # the most dangerous first
    "silent": "a wrong number, and nothing tells",
    "crashes": "the process ends",
    "raises": "an error",
    "default": "it is right where the argument is given",
    "inaccurate": "digits are lost",
}

CRASH_SIGNALS = {signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS, signal.SIGILL}
"""Signals of a crash. A process that runs out of memory, or that somebody ends, gets others."""


class Finding(NamedTuple):
    """One script.

    path: the file.
    kind: the name of its folder, a key of KINDS.
    api: what it is about.
    title: the first line of its docstring.
    severity: a key of SEVERITIES.
    when: what it needs, in words, such as "NaN" or "float16"; empty: nothing.
    torch: the calls of PyTorch that it is about, such as "torch.roll" or "torch.topk(k=0)". Where
    an argument is a tuple, it is about any of these values; where it is `...`, about any value
    that is not the default.
    error: words that the two lines must have, all of them: those of the errors that are expected.
    Another error is none of this finding.
    details: the rest of its docstring.
    also: (another call of MindSpore that does the same, what `got` is with it).
    """

    path: Path
    kind: str
    api: str
    title: str
    severity: str
    when: str
    torch: tuple[str, ...]
    error: tuple[str, ...]
    details: str
    also: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        """The name of the file, without the suffix."""
        return self.path.stem

    @property
    def apis(self) -> tuple[str, ...]:
        """All calls of MindSpore that it is about."""
        return (self.api, *(api for api, _ in self.also))


class ScriptResult(NamedTuple):
    """The result of one script.

    finding: the script.
    state: one of THERE, CRASHES, GONE, FAILED.
    measured: its last line, or how it ended.
    expected: the line that says what PyTorch does; empty where there is none.
    seconds: wall time.
    """

    finding: Finding
    state: str
    measured: str
    seconds: float
    expected: str = ""


def read(path: Path) -> Finding:
    """Read what a script declares, without running it. Raises FindingError for a missing part."""
    kind = path.parent.name
    if kind not in KINDS:
        raise FindingError(f"{path} lies in no folder of a kind: {', '.join(KINDS)}")
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    except (SyntaxError, ValueError) as error:
        raise FindingError(f"{path} is no Python: {error}") from error
    title, _, details = (ast.get_docstring(tree) or "").partition("\n")
    if not title.endswith("."):
        raise FindingError(f"{path} has no docstring whose first line is a sentence")
    constants = {
        target.id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, KEPT)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id in CONSTANTS
    }
    if "KIND" in constants:
        raise FindingError(f"{path} has a KIND, which its folder tells; take the line out")
    api = constants.get("API")
    if not (isinstance(api, str) and api):
        raise FindingError(f"{path} has no API, the name of what it is about")
    severity = constants.get("SEVERITY")
    if severity not in SEVERITIES:
        raise FindingError(f"{path} has no SEVERITY: one of {', '.join(SEVERITIES)}")
    torch = constants.get("TORCH")
    if not (isinstance(torch, tuple) and all(isinstance(each, str) for each in torch)):
        raise FindingError(f"{path} has no TORCH, a tuple of calls such as ('torch.topk(k=0)',)")
    also = constants.get("ALSO", {})
    if not (isinstance(also, dict) and all(isinstance(each, str) for each in also.values())):
        raise FindingError(f"{path} has an ALSO that is not {{'mindspore.mint.div': CODE OF got}}")
    words = constants.get("ERROR", ())
    words = (words,) if isinstance(words, str) else words
    when = constants.get("WHEN", "")
    details, also = details.strip(), (*also.items(),)
    return Finding(path, kind, api, title, severity, when, torch, words, details, also)


def read_all(folder: Path) -> list[Finding]:
    """All findings below a folder, by kind and name. FindingError for none, or for a name twice."""
    paths: dict[str, Path] = {}
    for path in sorted(folder.rglob("*.py")):
        if path.parent.parent != folder:
            raise FindingError(f"{path} lies in no folder of a kind: {', '.join(KINDS)}")
        other = paths.setdefault(path.stem, path)
        if other != path:
            raise FindingError(f"{path} has the name of {other}; rename one")
    if not paths:
        raise FindingError(f"{folder} has no findings")
    findings = map(read, paths.values())
    return sorted(findings, key=lambda finding: (list(KINDS).index(finding.kind), finding.name))


def choose(findings: list[Finding], names: Iterable[str]) -> list[Finding]:
    """The findings of these names; all for no names. FindingError for an unknown name."""
    chosen_names = set(names)
    known = {finding.name for finding in findings}
    if unknown := sorted(chosen_names - known):
        near = nearest(unknown[0], known)
        raise FindingError(f"no finding is called {unknown[0]}{near}; equivalence findings list")
    return [finding for finding in findings if not chosen_names or finding.name in chosen_names]


class _ScriptProcess:
    """A running script, in an empty folder that is removed at the end.

    finding: the script.
    limit: seconds of processor time after which it is ended.
    """

    def __init__(self, finding: Finding, limit: float):
        self.finding = finding
        self.folder = files.temporary()
        self.outputs = [Path(self.folder.name) / name for name in ("stdout", "stderr")]
        self.start = time.monotonic()
        with self.outputs[0].open("wb") as out, self.outputs[1].open("wb") as errors:
            # A group of its own, so that whatever the script starts ends with it.
            self.process = subprocess.Popen(
                [sys.executable, str(finding.path)],
                cwd=self.folder.name,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                start_new_session=True,
            )
        self.limit = TimeLimit(limit, self.process.pid)

    def result(self) -> ScriptResult | None:
        """The result, or None while the script runs within its limit."""
        code, seconds = self.process.poll(), time.monotonic() - self.start
        if code is None:
            why = self.limit.over()
            if why is None:
                return None
            state, measured, expected = FAILED, f"it {why}", ""
        else:
            out, errors = (path.read_text(errors="replace") for path in self.outputs)
            state, measured, expected = _judge(self.finding, code, out, errors)
        self.end()
        return ScriptResult(self.finding, state, measured, seconds, expected)

    def end(self) -> None:
        """End the script if it still runs, and remove its folder."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.folder.cleanup()


def _judge(finding: Finding, code: int, out: str, errors: str) -> tuple[str, str, str]:
    """(state, measured, expected) of a script that has ended by itself."""
    lines = [" ".join(line.split()) for line in out.splitlines() if line.strip()]
    last = lines[-1] if lines else "nothing was printed"
    expected = next((line for line in lines if line.startswith("expected ")), "")
    state, measured = _state(finding, code, expected, last, errors)
    return state, measured, expected


def _state(finding: Finding, code: int, expected: str, last: str, errors: str) -> tuple[str, str]:
    """(state, measured). expected, last: the line that begins with this word, and the last one."""
    if code < 0:
        killed = f"killed by {signal.Signals(-code).name}"
        if not expected:
            return FAILED, f"{killed} before it printed what PyTorch expects"
        crashes = finding.kind == "crash" and -code in CRASH_SIGNALS
        return (CRASHES if crashes else FAILED), killed
    if "Traceback (most recent call last)" in errors:
        return FAILED, errors.strip().splitlines()[-1]
    if not (expected and last.startswith("got ")):
        return FAILED, f"exit code {code} without its two lines: {last}"
    if code == IS_GONE:
        return GONE, last
    if code != IS_THERE or finding.kind == "crash":
        return FAILED, f"exit code {code}: {last}"
    if expected.partition(" ")[2] == last.partition(" ")[2]:
        return FAILED, f"it says the same of both sides: {last}"
    missing = [words for words in finding.error if words not in f"{expected}\n{last}"]
    return (FAILED, f"not the error {missing[0]!r}: {last}") if missing else (THERE, last)


def run(findings: Iterable[Finding], jobs: int = 1, limit: float = LIMIT) -> Iterator[ScriptResult]:
    """Run each script in a process of its own, `jobs` at a time; yields results as they come."""
    waiting = list(findings)[::-1]
    running: list[_ScriptProcess] = []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(_ScriptProcess(waiting.pop(), limit))
            for process in list(running):
                if result := process.result():
                    running.remove(process)
                    yield result
            time.sleep(0.02)
    finally:
        for process in running:
            process.end()


def every() -> list[Finding]:
    """The findings of the clone, or of the wheel; FindingError where there are none."""
    if not FOLDER.is_dir():
        raise FindingError(f"the findings lie {IN_THE_CLONE}")
    return read_all(FOLDER)


def by_danger(findings: Iterable[Finding]) -> list[Finding]:
    """Findings with the most dangerous first, then by MindSpore's API."""
    rank = list(SEVERITIES).index
    return sorted(findings, key=lambda one: (rank(one.severity), one.api.lower(), one.name))

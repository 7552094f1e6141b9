"""`--record`, `--record-candidate` and `--candidate`: write records, and judge cases by them."""

import argparse
import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from equivalence import files
from equivalence.declare.twin import TwinCase
from equivalence.errors import RecordError
from equivalence.host import environment
from equivalence.operators.drawing import GATE_EXAMPLES, Exploration
from equivalence.record import candidates, store, truths
from equivalence.record.store import CANDIDATE, TRUTH, RecordKind

PARTS = "recording"
"""Beginning of the name of a folder beside the results, for the parts that a run records; also a
key of a worker's input."""

_PARTS = re.compile(rf"{PARTS}-(\d+)")
"""The name of such a folder; its group is the id of the process that made it."""

LIBRARY = pytest.StashKey[truths.Library | None]()
"""The recorded truths of this run; None if references are run."""

RUNS = pytest.StashKey[candidates.CandidateWriter | candidates.CandidateReader | None]()
"""What records or replays candidates in this run; None if they just run."""


def given(text: str) -> str:
    """The value of an option that names something. Raises argparse's error for an empty one."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty; name something, or leave the option out")
    return text


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("equivalence")
    group.addoption(
        "--record",
        choices=truths.MODES,
        default=truths.USE,
        help="truth recorded in fixtures/truth: use it where there is some for exactly this case "
        "(the default), ignore it, require it (a case without is refused; torch is not needed), or "
        "write it",
    )
    group.addoption(
        "--record-candidate",
        type=given,
        metavar="FOLDER",
        help="keep what the candidates give, to be judged elsewhere by --candidate",
    )
    group.addoption(
        "--candidate",
        type=given,
        metavar="FOLDER",
        help="judge the runs that --record-candidate kept; neither MindSpore nor the device is "
        "needed",
    )


def pytest_configure(config: pytest.Config) -> None:
    mode, folder = config.getoption("record"), Path(config.rootpath, truths.FOLDER)
    worker = getattr(config, "workerinput", None)
    results = Path(config.rootpath, config.getoption("results")).parent
    if worker is None:
        files.clear(results, _PARTS)
    parts = Path(worker[PARTS]) if worker else results / f"{PARTS}-{os.getpid()}"
    truth = WrittenRecords(folder, TRUTH, parts / "truth", "samples")
    library = None if mode == truths.IGNORE else truths.Library(folder, mode, truth.parts)
    runs = _candidate_recording(config, parts / "candidate", worker is None)
    config.stash[LIBRARY] = library
    config.stash[RUNS] = candidates.CandidateWriter(runs.parts) if runs else _reader(config)
    if worker is None:
        recordings = [truth] if mode == truths.WRITE else []
        recordings += [runs] if runs else []
        config.pluginmanager.register(Nodes(parts), "equivalence-nodes")
        config.pluginmanager.register(Keeper(parts, recordings), "equivalence-keeper")


def _candidate_recording(
    config: pytest.Config, parts: Path, first: bool
) -> "WrittenRecords | None":
    """The recording of candidates; None without `--record-candidate`.

    first: whether to check its folder now.
    """
    given = config.getoption("record_candidate")
    if not given:
        return None
    if config.getoption("candidate"):
        raise pytest.UsageError("choose --record-candidate, which keeps runs, or --candidate")
    folder = Path.cwd() / given
    if first:
        with _as_usage_error():
            _demand_ours(folder)
    return WrittenRecords(folder, CANDIDATE, parts, "runs")


def _reader(config: pytest.Config) -> candidates.CandidateReader | None:
    given = config.getoption("candidate")
    with _as_usage_error():
        return candidates.CandidateReader(Path.cwd() / given) if given else None


@contextlib.contextmanager
def _as_usage_error() -> Iterator[None]:
    """Turn a RecordError of the block into a pytest.UsageError."""
    try:
        yield
    except RecordError as error:
        raise pytest.UsageError(str(error)) from None


def _demand_ours(folder: Path) -> None:
    """Raise RecordError unless a folder holds recorded runs, is empty, or does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ours = not any(folder.iterdir()) or bool(store.manifest(folder, CANDIDATE))
    except OSError as error:
        raise RecordError(f"{folder} cannot be used: {error.strerror}") from None
    except RecordError:
        ours = False
    if not ours:
        raise RecordError(
            f"{folder} holds something else than recorded runs: name a new folder for "
            "--record-candidate"
        )


def is_recordable(item: Any) -> bool:
    """Whether a test compares what can be recorded: a case, or examples of an operator."""
    given = item.callspec.params if hasattr(item, "callspec") else {}
    case, exploration = given.get("case"), given.get("exploration")
    if "explore" in item.fixturenames:
        return isinstance(exploration, Exploration) and exploration.count == GATE_EXAMPLES
    return isinstance(case, TwinCase) and "compare" in item.fixturenames and truths.recordable(case)


def _why_not(item: Any) -> str:
    """Why no truth is recorded of what a test compares."""
    if "explore" in item.fixturenames:
        return "only the gate's examples of an operator are"
    case = item.callspec.params.get("case") if hasattr(item, "callspec") else None
    if not isinstance(case, TwinCase):
        return "both sides run, beside each other"
    return "it is compared layer by layer" if case.twin.by_layer else "a pipeline feeds it"


def needs_devices(config: pytest.Config) -> bool:
    """Whether a run needs the devices that it names.

    A run that records truths, or judges recorded runs, needs no device.
    """
    return config.option.record != truths.WRITE and config.option.candidate is None


def needs_no_device(item: Any) -> bool:
    """Whether a test needs no device: it records the reference, or reads a recorded run."""
    mode, runs = item.config.getoption("record"), item.config.stash[RUNS]
    read = isinstance(runs, candidates.CandidateReader) and "compare" in item.fixturenames
    return is_recordable(item) and (mode == truths.WRITE or read)


def is_comparison(item: pytest.Item) -> bool:
    """Whether a test compares two sides; a project's other tests are none of the plugin's."""
    return not {"compare", "explore"}.isdisjoint(getattr(item, "fixturenames", ()))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    torch, mindspore = map(environment.installed, ("torch", "mindspore"))
    for item in filter(is_comparison, items):
        reason = ""
        if not torch and not is_recordable(item):
            reason = f"torch is not installed, and of this no truth is recorded: {_why_not(item)}"
        elif not mindspore and not needs_no_device(item):
            reason = "MindSpore is not installed, and of this no run was recorded (see --candidate)"
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Use records only in tests of cases; tests of the engine choose for themselves."""
    library = runs = None
    if "compare" in getattr(item, "fixturenames", ()):
        library, runs = item.config.stash[LIBRARY], item.config.stash[RUNS]
    elif is_comparison(item) and is_recordable(item):
        library = item.config.stash[LIBRARY]
    with truths.using(library), candidates.using(runs):
        return (yield)


def repeat_options(config: pytest.Config) -> str:
    """The options for recorded runs, for the command that repeats a case."""
    given = config.getoption("candidate")
    return f" --candidate {shlex.quote(given)}" if given else ""


@dataclass(frozen=True)
class WrittenRecords:
    """One kind of records that a run writes.

    folder: the folder for the packed records.
    kind: the kind of records.
    parts: the folder for the parts, until the end of the run.
    noun: the word for these records in the summary.
    """

    folder: Path
    kind: RecordKind
    parts: Path
    noun: str


class Nodes:
    """Gives the folder for parts to the workers of xdist."""

    def __init__(self, parts: Path):
        self.parts = parts

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node) -> None:
        node.workerinput[PARTS] = str(self.parts)


class Keeper:
    """On the controller: packs all parts into their folders at the end of the run."""

    def __init__(self, parts: Path, recordings: Sequence[WrittenRecords]):
        self.parts, self.recordings = parts, recordings
        self.lines: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.config.option.collectonly:
            return
        complete = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        try:
            for recording in self.recordings:
                if session.exitstatus in complete:
                    self.lines.append(_pack(recording))
                else:
                    self.lines.append("the run was broken off: what it recorded is dropped")
        finally:
            shutil.rmtree(self.parts, ignore_errors=True)

    def pytest_terminal_summary(self, terminalreporter) -> None:
        for line in self.lines:
            terminalreporter.line(line)


def _pack(recording: WrittenRecords) -> str:
    """Pack the parts of a recording; return how many there were, in words."""
    folder = recording.folder
    parts = recording.parts.rglob(f"*{store.SUFFIX}")
    count = store.pack(parts, folder, recording.kind)
    size = sum(path.stat().st_size for path in folder.glob("*")) if count else 0
    return f"recorded {count} {recording.noun}; {os.path.relpath(folder)} has {size / 1e6:.1f} MB"

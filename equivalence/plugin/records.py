"""`--record` and `--candidate`: cases judged by recorded truth and runs, and their recording."""

import contextlib
import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from equivalence.declare.twin import Case
from equivalence.errors import RecordError
from equivalence.host import environment
from equivalence.host.devices import DEVICES
from equivalence.record import candidates, store, truths
from equivalence.record.store import CANDIDATE, TRUTH, Kind

PARTS = "recording"
"""Begins the name of the folder, beside the results, for what a run has recorded so far."""

LIBRARY = pytest.StashKey[truths.Library | None]()
RUNS = pytest.StashKey[candidates.Writer | candidates.Reader | None]()


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
        metavar="FOLDER",
        help="keep what the candidates give, to be judged elsewhere by --candidate",
    )
    group.addoption(
        "--candidate",
        metavar="FOLDER",
        help="judge the runs that --record-candidate kept; neither MindSpore nor the device is "
        "needed",
    )


def pytest_configure(config: pytest.Config) -> None:
    mode, folder = config.getoption("record"), Path(config.rootpath, truths.FOLDER)
    worker = getattr(config, "workerinput", None)
    results = Path(config.rootpath, config.getoption("results")).parent
    parts = Path(worker[PARTS]) if worker else results / f"{PARTS}-{os.getpid()}"
    truth = Recording(folder, TRUTH, parts / "truth", "samples")
    library = None if mode == truths.IGNORE else truths.Library(folder, mode, truth.parts)
    kept = _kept(config, parts / "candidate", worker is None)
    config.stash[LIBRARY] = library
    config.stash[RUNS] = candidates.Writer(kept.parts) if kept else _reader(config)
    if worker is None:
        recordings = [truth] if mode == truths.WRITE else []
        recordings += [kept] if kept else []
        config.pluginmanager.register(Nodes(parts), "equivalence-nodes")
        config.pluginmanager.register(Keeper(parts, recordings), "equivalence-keeper")


def _kept(config: pytest.Config, parts: Path, first: bool) -> "Recording | None":
    """The recording of candidates, if one is asked for; `first` looks at its folder."""
    given = config.getoption("record_candidate")
    if not given:
        return None
    if config.getoption("candidate"):
        raise pytest.UsageError("choose --record-candidate, which keeps runs, or --candidate")
    folder = Path.cwd() / given
    if first:
        with _usage():
            _demand_ours(folder)
    return Recording(folder, CANDIDATE, parts, "runs")


def _reader(config: pytest.Config) -> candidates.Reader | None:
    given = config.getoption("candidate")
    with _usage():
        return candidates.Reader(Path.cwd() / given) if given else None


@contextlib.contextmanager
def _usage() -> Iterator[None]:
    """Tell of a folder that is not what it should be before anything is run."""
    try:
        yield
    except RecordError as error:
        raise pytest.UsageError(str(error)) from None


def _demand_ours(folder: Path) -> None:
    """Demand a folder of recorded runs, an empty one, or none. Raises RecordError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ours = not any(folder.iterdir()) or store.manifest(folder, CANDIDATE)
    except OSError as error:
        raise RecordError(f"{folder} cannot be used: {error.strerror}") from None
    except RecordError:
        ours = False
    if not ours:
        raise RecordError(
            f"{folder} holds something else than recorded runs: name a new folder for "
            "--record-candidate"
        )


def recorded(item: pytest.Item) -> bool:
    """Whether a test compares a case of a kind that is recorded."""
    case = getattr(item, "callspec", None) and item.callspec.params.get("case")
    return isinstance(case, Case) and "compare" in item.fixturenames and truths.recordable(case)


def needs_devices(config: pytest.Config) -> bool:
    """Whether a run needs the devices that it names: to record truth takes the reference alone,
    and runs on record are read."""
    return config.option.record != truths.WRITE and config.option.candidate is None


def elsewhere(item: pytest.Item) -> bool:
    """Whether a test needs no device: it records the reference, or reads the candidate's run."""
    mode, runs = item.config.getoption("record"), item.config.stash[RUNS]
    return recorded(item) and (mode == truths.WRITE or isinstance(runs, candidates.Reader))


def live(item: pytest.Item) -> bool:
    """Whether a test runs the reference, whatever there is on record."""
    return not recorded(item) and any(item.get_closest_marker(device) for device in DEVICES)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not environment.installed("torch"):
        reason = "torch is not installed, and of this no truth is recorded"
        for item in filter(live, items):
            item.add_marker(pytest.mark.skip(reason=reason))
    if not environment.installed("mindspore"):
        reason = "MindSpore is not installed, and of this no run was recorded (see --candidate)"
        for item in items:
            if any(item.get_closest_marker(device) for device in DEVICES) and not elsewhere(item):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Judge by records in tests of cases alone; those of the engine choose for themselves."""
    library = runs = None
    if "compare" in getattr(item, "fixturenames", ()):
        library, runs = item.config.stash[LIBRARY], item.config.stash[RUNS]
    with truths.using(library), candidates.using(runs):
        return (yield)


def again(config: pytest.Config) -> str:
    """What a command that repeats a case must say of recorded runs."""
    given = config.getoption("candidate")
    return f" --candidate {shlex.quote(given)}" if given else ""


@dataclass(frozen=True)
class Recording:
    """What a run records: the folder for it, of which kind, and the parts until then."""

    folder: Path
    kind: Kind
    parts: Path
    noun: str


class Nodes:
    """Tells xdist's workers where to leave what they record."""

    def __init__(self, parts: Path):
        self.parts = parts

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node) -> None:
        node.workerinput[PARTS] = str(self.parts)


class Keeper:
    """On the controller: puts all that was recorded into its folders at the end."""

    def __init__(self, parts: Path, recordings: Sequence[Recording]):
        self.parts, self.recordings = parts, recordings
        self.told: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.config.option.collectonly:
            return
        complete = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        try:
            for recording in self.recordings:
                if session.exitstatus in complete:
                    self.told.append(_packed(recording))
                else:
                    self.told.append("the run was broken off: what it recorded is dropped")
        finally:
            shutil.rmtree(self.parts, ignore_errors=True)

    def pytest_terminal_summary(self, terminalreporter) -> None:
        for line in self.told:
            terminalreporter.line(line)


def _packed(recording: Recording) -> str:
    """Pack what was recorded; what it came to, in words."""
    folder = recording.folder
    parts = recording.parts.rglob(f"*{store.SUFFIX}")
    count = store.pack(parts, folder, recording.kind)
    size = sum(path.stat().st_size for path in folder.glob("*")) if count else 0
    return f"recorded {count} {recording.noun}; {os.path.relpath(folder)} has {size / 1e6:.1f} MB"

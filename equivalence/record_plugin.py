"""`--record`: whether cases are judged by recorded truth, and the recording of it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from equivalence import environment, record, record_files
from equivalence.devices import DEVICES
from equivalence.twin import Case

PARTS = "recording"
"""Begins the name of the folder, beside the results, for what a run has recorded so far."""

LIBRARY = pytest.StashKey[record.Library | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("equivalence").addoption(
        "--record",
        choices=record.MODES,
        default=record.USE,
        help="truth recorded in fixtures/truth: use it where there is some for exactly this case "
        "(the default), ignore it, require it (a case without is refused; torch is not needed), or "
        "write it",
    )


def pytest_configure(config: pytest.Config) -> None:
    mode, folder = config.getoption("record"), Path(config.rootpath, record.FOLDER)
    worker = getattr(config, "workerinput", None)
    results = Path(config.rootpath, config.getoption("results")).parent
    parts = Path(worker[PARTS]) if worker else results / f"{PARTS}-{os.getpid()}"
    library = None if mode == record.IGNORE else record.Library(folder, mode, parts)
    config.stash[LIBRARY] = library
    if worker is None and mode == record.WRITE:
        config.pluginmanager.register(Keeper(library), "equivalence-keeper")
    if worker is None:
        config.pluginmanager.register(Nodes(parts), "equivalence-nodes")


def recorded(item: pytest.Item) -> bool:
    """Whether a test compares a case of a kind that is recorded."""
    case = getattr(item, "callspec", None) and item.callspec.params.get("case")
    return isinstance(case, Case) and "compare" in item.fixturenames and record.recordable(case)


def recording(item: pytest.Item) -> bool:
    """Whether a test records a case, for which its device need not be there."""
    return item.config.getoption("record") == record.WRITE and recorded(item)


def live(item: pytest.Item) -> bool:
    """Whether a test runs the reference, whatever there is on record."""
    return not recorded(item) and any(item.get_closest_marker(device) for device in DEVICES)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if environment.installed("torch"):
        return
    reason = "torch is not installed, and of this no truth is recorded"
    for item in filter(live, items):
        item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Judge by records in tests of cases alone; those of the engine choose for themselves."""
    library = item.config.stash[LIBRARY] if "compare" in getattr(item, "fixturenames", ()) else None
    with record.using(library):
        return (yield)


class Nodes:
    """Tells xdist's workers where to leave what they record."""

    def __init__(self, parts: Path):
        self.parts = parts

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node) -> None:
        node.workerinput[PARTS] = str(self.parts)


class Keeper:
    """On the controller of a run that records: puts all of it into the folder at the end."""

    def __init__(self, library: record.Library):
        self.library = library
        self.told: str | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        complete = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        try:
            if session.exitstatus in complete:
                self._pack()
            else:
                self.told = "the run was broken off: what it recorded is dropped"
        finally:
            shutil.rmtree(self.library.parts, ignore_errors=True)

    def _pack(self) -> None:
        folder = self.library.folder
        count = record_files.pack(self.library.parts.rglob(f"*{record_files.SUFFIX}"), folder)
        size = sum(path.stat().st_size for path in folder.glob("*")) if count else 0
        self.told = f"recorded {count} samples; {os.path.relpath(folder)} has {size / 1e6:.1f} MB"

    def pytest_terminal_summary(self, terminalreporter) -> None:
        if self.told:
            terminalreporter.line(self.told)

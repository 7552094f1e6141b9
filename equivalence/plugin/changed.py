"""`--changed`: tests that were green with the same sources are not run again.

Every run keeps its green tests, with all that they depend on, in the folder of pytest's cache. Only
a run with `--changed` makes use of them. See the room `changed`.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from equivalence.changed.identity import Identity, UnknownError, modules
from equivalence.changed.sources import RECORD, Sources, lasting, own_folders
from equivalence.declare.declaration import LEVELS
from equivalence.declare.twin import TwinCase
from equivalence.host import conditions, watch
from equivalence.host.devices import DEVICES
from equivalence.plugin import records as record_plugin
from equivalence.plugin.green import GIVEN, Leader, selection_of
from equivalence.record import truths

PROCESS = pytest.StashKey["TestProcess"]()
"""What a process of a run knows."""

LEADER = pytest.StashKey[Leader]()
"""The leader, in its process."""

DECLARED = pytest.StashKey[tuple[str, bool]]()
"""See `TestProcess.declared`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    watch.start()  # before a conftest.py is imported, where the entry point loads this
    parser.getgroup("equivalence").addoption(
        "--changed",
        action="store_true",
        help="do not run again what was green in an earlier run with the same declaration, "
        "sources, packages and options; the summary counts it",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.option.collectonly:
        return
    if hasattr(config, "workerinput"):
        watch.begun()  # a session within this process begins later
        config.stash[PROCESS] = TestProcess(config, *config.workerinput[GIVEN])
        return
    leader = Leader(config)
    config.stash[PROCESS] = TestProcess(config, leader.begun, leader.tests, leader.files)
    config.stash[LEADER] = leader
    config.pluginmanager.register(leader, "equivalence-changed")
    here = config.invocation_params.dir
    named = [name_of(config, Path(here, each)) for each in config.args]
    if leader.files and all(each in leader.files for each in named):
        # Nothing is left for workers.
        config.option.numprocesses, config.option.dist, config.option.tx = 0, "no", []


class Unchanged(pytest.File):
    """A file of tests of which none need be run again. It is not imported."""

    def collect(self) -> Iterable[pytest.Item]:
        process = self.config.stash[PROCESS]
        process.reused += process.files[name_of(self.config, self.path)]
        return ()


class TestProcess:
    """In each process that runs tests: leaves out what is known, and says what tests depend on.

    begun, tests, files: see `Leader`.
    """

    def __init__(
        self,
        config: pytest.Config,
        begun: float,
        tests: Mapping[str, str],
        files: Mapping[str, int],
    ):
        self.config, self.begun, self.tests, self.files = config, begun, tests, files
        self.identity = Identity()
        self.reused = 0
        self.collected: dict[str, tuple[list[str], str, list[str]]] = {}
        self.asked: dict[Path, set[str]] = {}
        self.around: dict[Path, list[str]] = {}

    def output(self) -> dict[str, Any]:
        """What the leader is told in the end, as JSON."""
        root = self.config.rootpath
        folders = own_folders(root)
        reached = lasting(watch.reached(), self.begun, Sources(root, folders, {}))
        files = self.collected
        return {"reused": self.reused, "folders": folders, "reached": reached, "files": files}

    def leave_out(self, items: list[pytest.Item], files: Iterable[Path]) -> None:
        """Note which tests of files are selected, and leave out those that need not be run again.

        items: the tests that are selected.
        files: the files that were collected.
        """
        selection = selection_of(self.config)
        apart = {item.path for item in items if not takes_part(item)}
        for path in files if selection else ():
            if path not in apart:
                selected = [item.nodeid for item in items if item.path == path]
                around = self._around(path)
                self.collected[name_of(self.config, path)] = (around, selection, selected)
        known = [item for item in items if self._is_known(item)]
        if known:
            self.reused += len(known)
            items[:] = [item for item in items if not self._is_known(item)]
            self.config.hook.pytest_deselected(items=known)

    def _is_known(self, item: Any) -> bool:
        return item.nodeid in self.tests and self.tests[item.nodeid] == self.declared(item)[0]

    def declared(self, item: pytest.Function) -> tuple[str, bool]:
        """A SHA-256 of what a test declares, and whether this says all that it does.

        Otherwise what it does is in its own code or in values of its parameters; then it depends on
        the file of tests.
        """
        if DECLARED not in item.stash:
            marks = sorted(
                repr((mark.name, mark.args, sorted(mark.kwargs.items())))
                for mark in item.iter_markers()
                if mark.name != "parametrize"
            )
            parts, complete = [item.nodeid, *marks], is_plain(item)
            try:
                parts.append(
                    self.identity.spell(getattr(item, "callspec", None) and item.callspec.params)
                )
            except UnknownError:
                complete = False
            item.stash[DECLARED] = conditions.of_text("\n".join(parts)), complete
        return item.stash[DECLARED]

    def depends(self, item: pytest.Function) -> dict[str, Any]:
        """What a test that has run depends on, as JSON."""
        card = next((d for d in DEVICES if d != "cpu" and item.get_closest_marker(d)), None)
        if card:
            return {"unknown": f"what runs on {card} depends on more than is known here"}
        declared, complete = self.declared(item)
        params = item.callspec.params if hasattr(item, "callspec") else {}
        # Cases of one operator share most of what they hold, which is looked through once.
        asked = watch.asked() | modules([params, *watch.compared()])
        roots = set(self._around(item.path)[int(complete) :])
        for case in watch.compared():
            if isinstance(case, TwinCase) and truths.recordable(case):
                roots.add(f"{RECORD}{case.recorded.group}")
        if not complete:  # a fixture may have asked for what later tests use, too
            asked = self.asked.setdefault(item.path, set()) | asked
            self.asked[item.path] = asked
        roots |= {each for each in asked if not is_known_module(each)}
        return {"declared": declared, "roots": sorted(roots)}

    def _around(self, path: Path) -> list[str]:
        """A file of tests, then what is loaded for it: each conftest.py, and plugins."""
        if path not in self.around:
            root = self.config.rootpath
            inner = [each for each in path.parents if each == root or root in each.parents]
            found = [folder / "conftest.py" for folder in inner]
            files = [path, *(each for each in found if each.exists())]
            plugins = [each for each in self.config.option.plugins if not each.startswith("no:")]
            self.around[path] = [*(name_of(self.config, each) for each in files), *plugins]
        return self.around[path]


def name_of(config: pytest.Config, path: Path) -> str:
    """The name of a file: its path below the root."""
    return os.path.relpath(path, config.rootpath)


def is_known_module(name: str) -> bool:
    """Whether a module is Python's, a package's or the engine's."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return file is None or conditions.is_known(file)


def takes_part(item: pytest.Item) -> bool:
    """Whether a test may be left out: it compares, or belongs to a level."""
    if not isinstance(item, pytest.Function):
        return False
    levels = any(item.get_closest_marker(level) for level in LEVELS)
    return levels or record_plugin.is_comparison(item)


def is_plain(item: pytest.Function) -> bool:
    """Whether a test has nothing of its own: it only hands its parameters to the engine."""
    code = getattr(item.function, "__code__", None)
    if code is None or code.co_names or code.co_freevars or item.cls is not None:
        return False
    fixtures = item._fixtureinfo.name2fixturedefs
    return not any("xunit" in name for name in fixtures) and all(
        is_known_module(each.func.__module__) for every in fixtures.values() for each in every
    )


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path, parent: pytest.Collector):
    found = yield
    process = parent.config.stash.get(PROCESS, None)
    if not (found and process and name_of(parent.config, file_path) in process.files):
        return found
    return [Unchanged.from_parent(parent, path=file_path)]


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]):
    """After all else that selects: a part of a run is the same part with `--changed`."""
    files = dict.fromkeys(item.path for item in items)
    result = yield
    if (process := config.stash.get(PROCESS, None)) is not None:
        process.leave_out(items, files)
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    watch.begin_test()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: pytest.CallInfo):
    report = yield
    process = item.config.stash.get(PROCESS, None)
    if process is not None and call.when == "teardown" and takes_part(item):
        report.depends = process.depends(item)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the leader; it is told by the workers before this where there are some."""
    config = session.config
    process, leader = config.stash.get(PROCESS, None), config.stash.get(LEADER, None)
    if process is None:
        return
    if leader is None:
        config.workeroutput[GIVEN] = process.output()  # type: ignore[attr-defined]  # xdist's
    elif not leader.outputs:
        leader.outputs[""] = process.output()

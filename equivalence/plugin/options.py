"""Options, device markers, and results. A run that compares nothing fails."""

import time

import pytest

from equivalence import releases
from equivalence.declare.declaration import LEVELS
from equivalence.host.devices import DEVICES, found, present
from equivalence.option_values import share
from equivalence.plugin import records as record_plugin
from equivalence.plugin.devices import named_devices
from equivalence.plugin.results import RESULTS, Results
from equivalence.words import left


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("equivalence")
    group.addoption(
        "--seed", type=int, default=0, help="base seed of every sample (default: %(default)s)"
    )
    group.addoption(
        "--results",
        type=record_plugin.given,
        default=RESULTS,
        metavar="FILE",
        help="one JSON line per compared tensor (default: %(default)s)",
    )
    group.addoption(
        "--trend",
        type=record_plugin.given,
        metavar="FILE",
        help="what each run keeps for `equivalence trend` (default: trend.sqlite beside the "
        "results)",
    )
    group.addoption(
        "--diagnose",
        action="store_true",
        help="feed each layer by itself in cases that pass, too, and write its errors down",
    )
    group.addoption(
        "--reach",
        action="store_true",
        help="list, for each twin, the decisions of both networks and of the sample that no case "
        "reached",
    )
    group.addoption(
        "--require-reach",
        type=share,
        metavar="SHARE",
        help="each case of a twin must reach this share of its decisions, such as 0.9",
    )
    group.addoption(
        "--hidden-settings",
        action="store_true",
        help="list, for each twin's case that passes, the settings and the numbers in the "
        "reference's code that its sample does not show: one run of the reference for each",
    )
    group.addoption(
        "--further",
        action="store_true",
        help="after a twin's case that passes, try further samples, for as long as it took and at "
        "least five seconds; one that shows a difference fails the test",
    )
    group.addoption(
        "--example",
        type=record_plugin.given,
        metavar="CALL",
        help="of an operator run just this example: 'softmax(normal(2, 3), dim=1)'",
    )


def pytest_configure(config: pytest.Config) -> None:
    for device in DEVICES:
        config.addinivalue_line("markers", f"{device}: runs the candidate on this device")
    for level in LEVELS:
        config.addinivalue_line("markers", f"{level}: belongs to this level")
    if hasattr(config, "workerinput"):
        return
    needed = record_plugin.needs_devices(config)
    named = [device for device in named_devices(config.option.markexpr) if device != "cpu"]
    absent = [device for device in named if needed and not present(device)]
    if absent:
        raise pytest.UsageError(
            f"-m names the device {absent[0]}, but there is none on this host "
            f"({found(absent[0]).why}); run where "
            f"`mindspore.hal.is_available('{DEVICES[absent[0]].target}')` is True, "
            "or choose `-m cpu`"
        )
    config.pluginmanager.register(Results(config), "equivalence-results")
    config.pluginmanager.register(TestProgress(config), "equivalence-progress")
    if config.pluginmanager.hasplugin("xdist"):
        config.pluginmanager.import_plugin("equivalence.plugin.scheduler")


def pytest_collection_finish(session: pytest.Session) -> None:
    # Workers of xdist collect what their controller asks them for, which itself collects nothing.
    worker = hasattr(session.config, "workerinput")
    explored = any("explore" in getattr(item, "fixturenames", ()) for item in session.items)
    distributed = session.config.getoption("numprocesses", None)
    if session.config.getoption("example") and not (explored or worker or distributed):
        raise pytest.UsageError(
            "--example is of an operator, and no operator is chosen: choose one by its name, with "
            "`-k softmax`, or leave out --example"
        )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reasons: dict[str, str] = {}
    for item in filter(record_plugin.is_comparison, items):
        compared = item.callspec.params.values() if hasattr(item, "callspec") else ()
        needed = next((r for each in compared if (r := getattr(each, "releases", None))), None)
        if not (releases.holds(needed) or record_plugin.needs_no_device(item)):
            reason = f"not in MindSpore {releases.installed()}: needs {needed}"
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
        for device in DEVICES if not record_plugin.needs_no_device(item) else ():
            if device != "cpu" and item.get_closest_marker(device):
                if device not in reasons:
                    why = f"no {device} device on this host: {found(device).why}"
                    reasons[device] = "" if present(device) else why
                if reasons[device]:
                    item.add_marker(pytest.mark.skip(reason=reasons[device]))


EVERY = 60.0
"""Seconds between two lines."""


class TestProgress:
    """Counts the tests that have ended, on the controller of pytest-xdist."""

    def __init__(self, config: pytest.Config):
        self.config, self.done = config, 0

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.session, self.begun = session, time.monotonic()
        self.told = self.begun

    def pytest_runtest_logfinish(self) -> None:
        self.done += 1
        now, total = time.monotonic(), self.session.testscollected
        reporter = self.config.pluginmanager.getplugin("terminalreporter")
        if now - self.told >= EVERY and reporter is not None:
            self.told = now
            rest = left(now - self.begun, self.done, total)
            # With workers there is a line of dots, which pytest does not know to be begun.
            begin = "" if reporter.currentfspath else "\n"
            reporter.write_line(f"{begin}{self.done} of {total} tests{rest}")

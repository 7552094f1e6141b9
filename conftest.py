"""Prepares the process before NumPy, PyTorch or MindSpore is imported, then loads the engine.

Tests that need a framework are skipped where it is not installed, and say so.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from equivalence.host import environment
from equivalence.host.devices import DEVICES

environment.prepare()

pytest_plugins = ["equivalence.plugin"]

FRAMEWORKS = ("torch", "torchvision", "mindspore")


class Tests(pytest.Module):
    """A module of tests, which is skipped where it imports a framework that is not installed."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        try:
            return super().collect()
        except self.CollectError as error:
            absent = (getattr(error.__cause__, "name", None) or "").partition(".")[0]
            if absent in FRAMEWORKS and not environment.installed(absent):
                pytest.skip(f"{absent} is not installed", allow_module_level=True)
            raise


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    if module_path.name.startswith("test_"):
        return Tests.from_parent(parent, path=module_path)
    return None


@pytest.hookimpl(optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool | None:
    """Tests of the engine, too, may be slow on a busy machine."""
    return item.config.pluginmanager.getplugin("equivalence-watch").limit(item, settings)


def pytest_collection_finish() -> None:
    """Before the first test: what tests run by themselves would slow all later cases down."""
    environment.launch_synchronously()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what runs both sides by itself; comparisons may have records of one."""
    absent = [name for name in ("torch", "mindspore") if not environment.installed(name)]
    for item in items if absent else ():
        alone = {"compare", "explore"}.isdisjoint(getattr(item, "fixturenames", ()))
        if alone and any(item.get_closest_marker(device) for device in DEVICES):
            item.add_marker(pytest.mark.skip(reason=f"{absent[0]} is not installed"))

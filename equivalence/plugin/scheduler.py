"""Deals cases out to the workers of pytest-xdist, and goes on when a worker crashes."""

import pytest
from xdist.scheduler import LoadScopeScheduling

from equivalence.declare.twin import sample_of


class BySample(LoadScopeScheduling):
    """Keeps the cases of one sample on one worker, in order, so that they share its truth.

    This also works around errors of xdist 3.8. After a crash, xdist queues all tests of the worker
    again, with those that are done and the one that crashed. Then it gives the new worker a single
    test, although a worker waits for two. The run hangs, or crashes again and again (pytest-xdist
    #1327, #1371, #1378).
    """

    def _split_scope(self, nodeid: str) -> str:
        head, bracket, name = nodeid.partition("[")
        return head + bracket + sample_of(name) if bracket else nodeid

    def remove_node(self, node) -> str | None:
        """Queue the tests that a crashed worker has not begun, for its successor.

        Returns the test in which it crashed; None if it had no test left.
        """
        work = self.assigned_work.pop(node)
        waiting = [(unit, test) for unit in work.values() for test in unit if not unit[test]]
        if not waiting:
            return None
        unit, crashed = waiting[0]
        unit[crashed] = True
        self.workqueue.update((s, unit) for s, unit in work.items() if not all(unit.values()))
        return crashed

    def schedule(self) -> None:
        successor = self.collection is not None
        super().schedule()
        if successor:
            for node in self.nodes:
                self._reschedule(node)

    def _reschedule(self, node) -> None:
        if node in self.registered_collections:  # a successor may still be collecting
            super()._reschedule(node)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> BySample | None:
    """Deal out by samples, in the order of the declarations, which have the longest first.

    None where the command line chooses another way by `--dist`.
    """
    if config.getoption("dist") != "load":
        return None
    config.option.loadscopereorder = False
    return BySample(config, log)

"""Deals the cases out to pytest-xdist's workers, and keeps going when a worker crashes."""

from xdist.scheduler import LoadScopeScheduling

from equivalence.declare.twin import sample_of


class BySample(LoadScopeScheduling):
    """Keeps the cases of one sample on one worker, in order, so that they share its truth.

    xdist 3.8 queues all that a crashed worker had once more, what is done and the crash included,
    and gives its successor a single test, while a worker waits for two: the run hangs or crashes
    again and again (pytest-xdist #1327, #1371, #1378).
    """

    def _split_scope(self, nodeid: str) -> str:
        head, bracket, name = nodeid.partition("[")
        return head + bracket + sample_of(name) if bracket else nodeid

    def remove_node(self, node) -> str | None:
        """Queue what a crashed worker has not begun, for when its successor has collected.

        Returns the test that it crashed in.
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

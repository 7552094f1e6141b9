"""Cases on several workers: samples stay together, and a crash costs one case and no more."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivalence.plugin.scheduler import BySample


class Worker:
    """What xdist's workers do: begin a test only when they know what comes after it."""

    def __init__(self):
        self.sent, self.shutting_down = [], False
        self.gateway = SimpleNamespace(id=f"gw{id(self)}")

    def send_runtest_some(self, indices):
        assert not self.shutting_down
        self.sent += indices

    def shutdown(self):
        self.shutting_down = True

    @property
    def ready(self):
        return len(self.sent) > (0 if self.shutting_down else 1)


class Run:
    """A session of `tests` on a number of workers, as xdist's controller drives it."""

    def __init__(self, tests, workers, fatal=()):
        config = SimpleNamespace(
            getvalue={"tx": ["popen"] * workers}.get,
            option=SimpleNamespace(loadscopereorder=False),
        )
        self.tests, self.fatal = list(tests), set(fatal)
        self.scheduler = BySample(config)
        self.done, self.crashed, self.workers = [], [], {}
        for _ in range(workers):
            self.scheduler.add_node(self.new_worker())
        self.collecting = []
        for worker in self.workers:
            self.scheduler.add_node_collection(worker, self.tests)
        self.scheduler.schedule()

    def new_worker(self):
        worker = Worker()
        self.workers[worker] = []
        return worker

    def step(self, worker):
        """The worker runs its next test; if that is fatal, a successor comes in its place."""
        test = self.tests[worker.sent.pop(0)]
        if test in self.fatal:
            self.crashed.append(self.scheduler.remove_node(worker))
            del self.workers[worker]
            self.collecting.append(self.new_worker())
            self.scheduler.add_node(self.collecting[-1])
        else:
            self.workers[worker].append(test)
            self.done.append(test)
            self.scheduler.mark_test_complete(worker, self.tests.index(test))
        if self.scheduler.tests_finished:
            for other in self.scheduler.nodes:
                other.shutdown()

    def collect(self):
        """A successor has collected."""
        self.scheduler.add_node_collection(self.collecting.pop(0), self.tests)
        self.scheduler.schedule()

    def finish(self, choose):
        """Lets `choose` pick what happens next, until nothing can."""
        while True:
            ready = [worker for worker in self.workers if worker.ready]
            events = [lambda worker=worker: self.step(worker) for worker in ready]
            events += [self.collect] if self.collecting else []
            if not events:
                return self
            choose(events)()


def named(*samples):
    """Two executions of each sample, as the cases of a twin are named."""
    return [
        f"test_twins.py::test_twin[{sample}-train-float32-{execution}-cpu]"
        for sample in samples
        for execution in ("pynative", "graph")
    ]


def first(events):
    return events[0]


def test_cases_of_one_sample_are_one_unit_and_other_tests_each_their_own():
    scope = Run(["test_x.py::test_x"], 1).scheduler._split_scope
    pynative, graph, other = named("conv-stride1", "conv-stride2")[:3]
    assert scope(pynative) == scope(graph) != scope(other)
    assert scope("test_x.py::test_x") != scope("test_x.py::test_y")


@given(st.data())
def test_the_cases_of_a_sample_run_on_one_worker_in_order(data):
    tests = named("a", "b", "c", "d", "e")
    run = Run(tests, 2).finish(lambda events: data.draw(st.sampled_from(events)))
    assert sorted(run.done) == sorted(tests)
    for pair in zip(tests[::2], tests[1::2], strict=True):
        (worker,) = (ran for ran in run.workers.values() if set(pair) & set(ran))
        assert worker.index(pair[1]) == worker.index(pair[0]) + 1


@given(st.data())
def test_every_test_runs_once_and_every_crash_is_named_once(data):
    tests = [f"test_x.py::test_{i}" for i in range(data.draw(st.integers(1, 5)))]
    tests += named(*"abc"[: data.draw(st.integers(0, 3))])
    fatal = data.draw(st.sets(st.sampled_from(tests)))
    run = Run(tests, data.draw(st.integers(1, 3)), fatal)
    run.finish(lambda events: data.draw(st.sampled_from(events)))
    assert sorted(run.done) == sorted(set(tests) - fatal)
    assert sorted(run.crashed) == sorted(fatal)
    assert all(worker.shutting_down for worker in run.workers)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("fatal", range(4))
def test_one_crash_anywhere_costs_that_test_alone(workers, fatal):
    tests = [f"test_x.py::test_{i}" for i in range(4)]
    run = Run(tests, workers, {tests[fatal]}).finish(first)
    assert run.crashed == [tests[fatal]]
    assert sorted(run.done) == [test for test in tests if test != tests[fatal]]


def test_a_worker_that_ends_with_nothing_left_to_do_has_crashed_in_nothing():
    run = Run(["test_x.py::test_x"], 1).finish(first)
    (worker,) = run.workers
    assert run.scheduler.remove_node(worker) is None

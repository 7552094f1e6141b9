"""Which share of the gate's time is the frameworks' own compute.

Runs the gate in this process and counts what is spent inside PyTorch and MindSpore: imports, and
the adapters' building, loading, forward, backward, compiling and copying out, less what they call
back into the suite for. The rest is the suite's. Extra arguments go to pytest.
"""

import functools
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence.host import environment  # noqa: E402

environment.prepare()

import pytest  # noqa: E402

GATE = ("-m", "gate and cpu", "-q")


class Clock:
    """Time per label, exclusive: what a labelled call spends in another is the other's.

    now: tells the time in seconds; that of the wall, unless it is given.
    """

    def __init__(self, now: Callable[[], float] | None = None):
        self.now = now or time.perf_counter
        self.spent: dict[str, float] = {}
        self.nested = [0.0]

    def wrap(self, owner: object, name: str, label: str | Callable[..., str]) -> None:
        """Replace `owner.name` by a version whose time is counted under `label`.

        label: a function gets the arguments of a call and tells its label.
        """
        original = getattr(owner, name)

        @functools.wraps(original)
        def timed(*args, **kwargs):
            under = label if isinstance(label, str) else label(*args, **kwargs)
            self.nested.append(0.0)
            started = self.now()
            try:
                return original(*args, **kwargs)
            finally:
                elapsed = self.now() - started
                self.spent[under] = self.spent.get(under, 0.0) + elapsed - self.nested.pop()
                self.nested[-1] += elapsed

        setattr(owner, name, timed)


FRAMEWORKS = ("imports", "PyTorch", "MindSpore")


def places() -> Iterator[tuple[object, str, str]]:
    """What is timed: (owner, name of a function of it, label)."""
    from equivalence import sample
    from equivalence.judge import expected
    from equivalence.record import truths
    from equivalence.sides import (
        mindspore_network,
        mindspore_pullback,
        mindspore_training,
        torch_network,
        torch_training,
    )

    for adapter, build, network, framework in (
        (torch_network, "build", torch_network.TorchNetwork, "PyTorch"),
        (mindspore_network, "build_cell", mindspore_network.MindSporeNetwork, "MindSpore"),
    ):
        yield adapter, build, f"{framework}: build"
        yield network, "run", f"{framework}: run"
        yield network, "_load", f"{framework}: load weights"
    yield torch_training, "build", "PyTorch: build"
    yield torch_training.TorchTraining, "run", "PyTorch: run"
    yield mindspore_training, "build", "MindSpore: build"
    yield torch_network.TorchNetwork, "forward", "PyTorch: run, to keep off kinks"
    for pullback in (mindspore_pullback.Pullback, mindspore_pullback.NumberedPullback):
        yield pullback, "__call__", "MindSpore: run, compile"
    for owner in (sample.Sample, sample.Perturbed):
        for draw in ("inputs", "weight", "cotangent"):
            yield owner, draw, "suite: draw samples"
    yield mindspore_network.np, "array_equal", "suite: verify loaded weights"
    yield truths.Library, "reference", "suite: read records"
    yield expected, "distance", "suite: norms"


def main(arguments: list[str]) -> int:
    """Print a table of seconds and shares; the exit code is pytest's."""
    clock, started = Clock(), time.perf_counter()
    wrapped = list(places())
    importlib.import_module("torchvision.models")
    clock.spent["imports"] = time.perf_counter() - started
    for place in wrapped:
        clock.wrap(*place)
    where = ["-c", str(ROOT / "pytest.ini"), "--rootdir", str(ROOT)]
    outcome = pytest.main([*where, str(ROOT / "tests/test_twins.py"), *GATE, *arguments])
    total = time.perf_counter() - started
    clock.spent["suite: the rest, pytest included"] = total - sum(clock.spent.values())
    for label, seconds in sorted(clock.spent.items()):
        print(f"{seconds:8.1f} s  {seconds / total:6.1%}  {label}")
    frameworks = sum(s for label, s in clock.spent.items() if label.startswith(FRAMEWORKS))
    print(f"{total:8.1f} s  frameworks' own compute: {frameworks / total:.1%}")
    return int(outcome)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

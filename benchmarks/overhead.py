"""Which share of the gate's time is the frameworks' own compute.

Runs the gate in this process with a clock around every call into PyTorch and MindSpore: imports,
building, loading weights, forward, backward, compiling and copying results out. The rest is the
suite's: drawing samples, norms, judging, pytest. Extra arguments go to pytest.
"""

import functools
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence import environment  # noqa: E402

environment.prepare()

import pytest  # noqa: E402

GATE = ("-m", "gate and cpu", "-q")


class Clock:
    """Wall time per label; a call made inside another counted call is not counted twice."""

    def __init__(self):
        self.spent: dict[str, float] = {}
        self.inside = False

    def wrap(self, owner: object, name: str, label: str) -> None:
        """Replace `owner.name` by a version whose time is counted under `label`."""
        original = getattr(owner, name)

        @functools.wraps(original)
        def timed(*args, **kwargs):
            if self.inside:
                return original(*args, **kwargs)
            self.inside, started = True, time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                self.inside = False
                elapsed = time.perf_counter() - started
                self.spent[label] = self.spent.get(label, 0.0) + elapsed

        setattr(owner, name, timed)


def main(arguments: list[str]) -> int:
    """Print a table of seconds and shares; the exit code is pytest's."""
    clock, started = Clock(), time.perf_counter()
    import mindspore
    import torch

    from equivalence import mindspore_adapter, torch_adapter

    __import__("torchvision.models")
    clock.spent["imports"] = time.perf_counter() - started
    clock.wrap(torch_adapter, "build", "PyTorch: build")
    clock.wrap(torch.nn.Module, "to", "PyTorch: load weights")
    clock.wrap(torch.Tensor, "copy_", "PyTorch: load weights")
    clock.wrap(torch.nn.Module, "__call__", "PyTorch: forward")
    clock.wrap(torch.autograd, "grad", "PyTorch: backward")
    clock.wrap(mindspore_adapter, "build", "MindSpore: build")
    clock.wrap(mindspore.Parameter, "set_data", "MindSpore: load weights")
    clock.wrap(mindspore_adapter.Pullback, "__call__", "MindSpore: compile, forward and backward")
    clock.wrap(mindspore_adapter, "_array", "MindSpore: wait for results and copy them")
    where = ["-c", str(ROOT / "pytest.ini"), "--rootdir", str(ROOT)]
    outcome = pytest.main([*where, str(ROOT / "tests/test_twins.py"), *GATE, *arguments])
    total = time.perf_counter() - started
    frameworks = sum(clock.spent.values())
    for label, seconds in [*clock.spent.items(), ("the suite itself", total - frameworks)]:
        print(f"{seconds:8.1f} s  {seconds / total:6.1%}  {label}")
    print(f"{total:8.1f} s  frameworks' own compute: {frameworks / total:.1%}")
    return int(outcome)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What judging costs: a pair of 400 MiB against `np.testing.assert_allclose`, time and memory.

Fails when judging takes more than a fifth of NumPy's time, or more than 64 MiB beside the pair.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from equivalence.host import environment

environment.prepare()

import numpy as np  # noqa: E402

from equivalence.judge.expected import Expected  # noqa: E402
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF  # noqa: E402
from equivalence.judge.verdict import Judgement, judge  # noqa: E402

ELEMENTS = 100 << 20  # 400 MiB of float32
REPEATS = 3
RATIO = 0.2
EXTRA = 64 << 20


def pair() -> tuple[np.ndarray, np.ndarray]:
    """A truth, and a candidate that is a rounding or two away from it everywhere."""
    truth = np.random.Generator(np.random.SFC64(0)).standard_normal(ELEMENTS, np.float32)
    candidate = truth.copy()
    candidate *= np.float32(1.0 + 2.0**-23)
    return truth, candidate


def seconds(call: Callable[[], object]) -> float:
    """The best time of a few calls."""
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times)


def extra_memory(call: Callable[[], object]) -> int:
    """Most bytes that a call held at once beside what was there before it."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def main() -> int:
    truth, candidate = pair()

    def ours() -> Judgement:
        expected = {"output.0": Expected(truth, "float32")}
        return judge(expected, {"output.0": candidate}, UNIT_ROUNDOFF["float32"], BUDGET)

    def numpys() -> None:
        np.testing.assert_allclose(candidate, truth, rtol=1e-5, atol=1e-8)

    if not ours().equal:
        raise SystemExit("the judge refuses a pair that differs by rounding only")
    judging, comparing = seconds(ours), seconds(numpys)
    ratio, extra = judging / comparing, extra_memory(ours)
    for name, spent, memory in (
        ("judge", judging, extra),
        ("assert_allclose", comparing, extra_memory(numpys)),
    ):
        print(f"{name:15}  {spent:7.3f} s  {memory / 2**20:7.1f} MiB extra")
    print(f"ratio {ratio:.3f} (limit {RATIO}), extra memory limit {EXTRA >> 20} MiB")
    return int(ratio > RATIO or extra > EXTRA)


if __name__ == "__main__":
    sys.exit(main())

"""What a comparison costs: its time beside one bare step of each side, and its memory.

    python benchmarks/cost.py [NAME...]

Names are those of the catalogue of right networks (`benchmarks/catalogue`). Each runs in a process
of its own, in PyNative mode on the CPU, after one warm-up step of each side, so that imports and
the frameworks' own first calls are not counted. The table goes to the terminal and to
`reports/cost.md`.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence.host import environment  # noqa: E402

environment.prepare()

from benchmarks import catalogue, step_times  # noqa: E402
from equivalence import files, kinds  # noqa: E402
from equivalence.declare.twin import TwinCase, cases  # noqa: E402
from equivalence.host.isolation import isolated  # noqa: E402

NETWORKS = ("encoder_12", "decoder_8", "unet_96", "vision_resnet50")

MIB = 2**20


@dataclass(frozen=True)
class Cost:
    """What one case costs.

    case: its name.
    steps: the seconds of a bare step of both sides together, medians of several.
    seconds: those of the comparison.
    weights: the bytes of all weights in float64.
    memory: how many bytes the comparison needs at its peak, beyond those of the bare steps.
    verdict: "equal", "differs", or the names of the excuses behind an equal verdict.
    """

    case: str
    steps: float
    seconds: float
    weights: int
    memory: int
    verdict: str


def of(case: TwinCase, seed: int = 0) -> Cost:
    """Measure a case in this process."""
    with isolated():
        builders = step_times.builders([case])
        measured = step_times.measured(builders)
        steps = sum(times.quartiles[1] for times in measured.values())
    before = _peak()
    with isolated():
        started = time.perf_counter()
        outcome = kinds.check(case, seed)
        seconds = time.perf_counter() - started
    from equivalence.runs import kept

    slots = kept.slots(case.sizes[0], seed)
    weights = sum(8 * _size(slot.shape) for slot in slots.values())
    verdict = ", ".join(outcome.excuses) or "equal" if outcome.passed else "differs"
    return Cost(case.name, steps, seconds, weights, _peak() - before, verdict)


def _peak() -> int:
    """The most memory that this process has had so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _size(shape: Iterable[int]) -> int:
    size = 1
    for each in shape:
        size *= each
    return size


def table(costs: Sequence[Cost]) -> list[str]:
    """In Markdown, a row for each case."""
    lines = [
        "| case | bare steps of both sides, s | comparison, s | ratio | weights in float64, MiB "
        "| peak memory, MiB | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    return lines + [
        f"| {each.case} | {each.steps:.2f} | {each.seconds:.1f} | {each.seconds / each.steps:.1f} "
        f"| {each.weights / MIB:.0f} | {each.memory / MIB:.0f} | {each.verdict} |"
        for each in costs
    ]


def _of_network(name: str) -> Cost:
    (twin,) = (each for each in catalogue.declared() if each.name == name)
    return of(next(cases(replace(twin, phases=("train",), executions=("pynative",)), "cpu")))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the networks that are named; without names `NETWORKS`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a network of the catalogue")
    names = parser.parse_args(arguments).names or NETWORKS
    known = {twin.name for twin in catalogue.declared()}
    for name in names:
        if name not in known:
            parser.error(f"the catalogue has no network {name!r}")
    costs = []
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        for cost in pool.imap(_of_network, names, chunksize=1):
            costs.append(cost)
            print(table(costs)[-1], flush=True)
    lines = [step_times.machine("cpu"), "", *table(costs)]
    files.write(ROOT / "reports" / "cost.md", "\n".join(lines) + "\n")
    print("", *lines, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

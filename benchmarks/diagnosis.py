"""What a diagnosis costs: the time to name a planted mistake beside that of the comparison.

    python benchmarks/diagnosis.py [NAME...]

A name is that of a network with one mistake in code of its own: `resnet50` (2 pictures of 64
pixels), `resnet50_224` (of 224), `encoder` of 12 layers, `training` of three steps. Each runs in a
process of its own, in PyNative mode on the CPU. Times are of the processor, which others on the
machine do not change. The comparison keeps the reference's truth, which the diagnosis uses. The
table goes to the terminal and to `reports/diagnosis.md`.
"""

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence.host import environment  # noqa: E402

environment.prepare()

from benchmarks import catalogue  # noqa: E402
from equivalence import files, kinds  # noqa: E402
from equivalence.declare.draws import normal  # noqa: E402
from equivalence.declare.twin import Twin, TwinCase, cases  # noqa: E402
from equivalence.host.isolation import isolated  # noqa: E402
from equivalence.timing.steps import machine  # noqa: E402

MISTAKEN = "benchmarks.mistaken:"


def _resnet50(size: int) -> Twin:
    return Twin(
        f"resnet50_{size}",
        reference="torchvision.models:resnet50",
        candidate=MISTAKEN + "resnet50",
        inputs=[normal(2, 3, size, size)],
    )


def _of_catalogue(name: str, candidate: str) -> Twin:
    (twin,) = (each for each in catalogue.declared() if each.name == name)
    return replace(twin, candidate=MISTAKEN + candidate)


NETWORKS: Mapping[str, Callable[[], Twin]] = {
    "resnet50": lambda: _resnet50(64),
    "resnet50_224": lambda: _resnet50(224),
    "encoder": lambda: _of_catalogue("encoder_12", "encoder"),
    "training": lambda: _of_catalogue("train_cnn_sgd_3", "step"),
}
"""Name -> the network with a mistake."""

USUAL = ("resnet50", "encoder", "training")


@dataclass(frozen=True)
class Cost:
    """What the diagnosis of one case costs.

    case: its name.
    comparison, diagnosis: the processor seconds of each.
    calls: the operator calls of the largest run of the candidate that was watched.
    runs: how many runs were watched.
    told: the culprit.
    """

    case: str
    comparison: float
    diagnosis: float
    calls: int
    runs: int
    told: str


def of(case: TwinCase, seed: int = 0) -> Cost:
    """Measure a case that differs, in this process."""
    with isolated(), _counted() as watched:
        started = time.process_time()
        kinds.check(case, seed)
        compared = time.process_time()
        lines = kinds.diagnose(case, seed, False).brief
        seconds = time.process_time() - compared
    told = next((line for line in lines if line.startswith("culprit")), "nothing")
    counted = max(watched, default=0), len(watched)
    return Cost(case.name, compared - started, seconds, *counted, told.partition(": ")[2])


@contextmanager
def _counted() -> Iterator[list[int]]:
    """A context in which the operator calls of each watched run are counted."""
    from equivalence.statements.watched import Watched

    run, counts = Watched.run, []

    def counted(self: Watched, *arguments: Any, **keywords: Any) -> Any:
        recording, trace = run(self, *arguments, **keywords)
        counts.append(len(recording.calls))
        return recording, trace

    with mock.patch.object(Watched, "run", counted):
        yield counts


def table(costs: Sequence[Cost]) -> list[str]:
    """In Markdown, a row for each case."""
    lines = [
        "| case | comparison, processor s | diagnosis, processor s | calls watched | watched runs "
        "| culprit |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    return lines + [
        f"| {each.case} | {each.comparison:.1f} | {each.diagnosis:.1f} | {each.calls} "
        f"| {each.runs} | {each.told} |"
        for each in costs
    ]


def _of_network(name: str) -> Cost:
    twin = replace(NETWORKS[name](), phases=("train",), executions=("pynative",))
    return of(next(cases(twin, "cpu")))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the networks that are named; without names `USUAL`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"a network: {', '.join(NETWORKS)}"
    )
    names = parser.parse_args(arguments).names or USUAL
    for name in names:
        if name not in NETWORKS:
            parser.error(f"there is no network {name!r}; take {', '.join(NETWORKS)}")
    costs = []
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        for cost in pool.imap(_of_network, names, chunksize=1):
            costs.append(cost)
            print(table(costs)[-1], flush=True)
    lines = [machine("cpu"), "", *table(costs)]
    files.write(ROOT / "reports" / "diagnosis.md", "\n".join(lines) + "\n")
    print("", *lines, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

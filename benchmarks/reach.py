"""What it costs to see which decisions a comparison reaches, beside the comparison.

    python benchmarks/reach.py [--phase eval] [NAME...]

Names are those of `cost.SIZED`, or of the catalogue of right networks. Both sides run in PyNative
mode on the CPU, several times each, watched and not; times are of the processor.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence.host import environment  # noqa: E402

environment.prepare()

from benchmarks import catalogue, cost  # noqa: E402
from equivalence import kinds  # noqa: E402
from equivalence.declare.twin import Twin, TwinCase, cases  # noqa: E402
from equivalence.host.isolation import isolated  # noqa: E402
from equivalence.runs import kept, pairing, sides  # noqa: E402
from equivalence.runs.drawn import Drawn  # noqa: E402
from equivalence.twins import reached  # noqa: E402

NAMES = ("cbam", "encoder_38m", "resnet50_224")
"""A small network, the encoder and ResNet50, which are measured without names."""

TIMES = 5
"""Runs of each kind; the median counts."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a line for each network."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--phase", default="train", choices=("train", "eval"))
    given = parser.parse_args(arguments)
    print(f"{'network':24}{'comparison':>12}{'reference':>12}{'candidate':>12}{'share':>8}")
    for name in given.names or NAMES:
        case = next(c for c in cases(_twin(name), "cpu") if c.phase == given.phase)
        seconds, reference, candidate = measured(case)
        share = (reference + candidate) / seconds
        print(f"{name:24}{seconds:11.2f}s{reference:11.3f}s{candidate:11.3f}s{share:8.1%}")


def _twin(name: str) -> Twin:
    if name in cost.SIZED:
        return cost.SIZED[name]()
    (twin,) = (each for each in catalogue.declared() if each.name == name)
    return twin


def measured(case: TwinCase) -> tuple[float, float, float]:
    """Seconds of a comparison, and what watching costs of the reference's and the other run."""
    from equivalence.truth.reached import watch

    with isolated():
        kinds.check(case, 0)  # the frameworks' own first calls
        kept.forget()
        started = time.process_time()
        kinds.check(case, 0)
        seconds = time.process_time() - started
        known = kept.reference(case, 0)
        measurement = Drawn(case, 0).measurement(known.sample)
        reference = _more(lambda: watch(measurement), measurement.run_own)
        network = sides.build_candidate(case)
        partners = pairing.partners(case, known.slots, network.slots(), network.unheld)
        run = known.sample, partners, case.phase, known.expected.pulled_back

        def watched() -> None:
            seen = reached.Candidate(case, network, known.expected.reach)
            with seen:
                network.run(*run)
            _ = seen.reach

        return seconds, reference, _more(watched, lambda: network.run(*run))


def _more(one: Callable[[], object], other: Callable[[], object]) -> float:
    """How many seconds more the first takes, by medians of runs in turn."""
    times: list[list[float]] = [[], []]
    for _ in range(TIMES + 1):
        for call, taken in zip((one, other), times, strict=True):
            started = time.process_time()
            call()
            taken.append(time.process_time() - started)
    first, second = (statistics.median(each[1:]) for each in times)
    return max(first - second, 0.0)


if __name__ == "__main__":
    main()

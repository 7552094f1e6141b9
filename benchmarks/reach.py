"""What it costs to see which decisions a comparison reaches; and what further samples find.

    python benchmarks/reach.py [--phase eval] [NAME...]
    python benchmarks/reach.py --hidden [--thorough] [--phase eval] [NAME or KIND...]
    python benchmarks/reach.py --operators [NAME...]
    python benchmarks/reach.py --results reports/results.jsonl

The first: names are those of `cost.SIZED`, or of the catalogue of right networks. Both sides run in
PyNative mode on the CPU, several times each, watched and not; times are of the processor.

The second: names and kinds are those of `benchmarks/hidden`, networks with ports that are wrong
where the usual sample never comes. Each port is compared in PyNative mode, as `compare` does it.
What it prints of one: whether the given inputs refuse it, a further sample does, or none, in how
many seconds; then the shares. A right port that is refused is an error.

The third: how many sides of decisions the gate's examples of each operator take, of those that the
nightly ones take together; and what the first ones that are drawn would. Nothing is compared.

The fourth: how many decisions each twin of a finished run reached, and which it did not, as a table
in Markdown; those that reached the smallest share first.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence.host import environment  # noqa: E402

environment.prepare()

from benchmarks import catalogue, cost, hidden  # noqa: E402
from equivalence import compare, kinds  # noqa: E402
from equivalence.comparison import kept  # noqa: E402
from equivalence.comparison.compare import CodeReach  # noqa: E402
from equivalence.comparison.comparison import CaseAtSeed  # noqa: E402
from equivalence.comparison.sides import build_candidate  # noqa: E402
from equivalence.declare.operator import Example, Operator  # noqa: E402
from equivalence.declare.twin import Twin, TwinCase, cases  # noqa: E402
from equivalence.host.isolation import isolated  # noqa: E402
from equivalence.operators.decisions import sides  # noqa: E402
from equivalence.operators.drawing import (  # noqa: E402
    GATE_EXAMPLES,
    NIGHTLY_EXAMPLES,
    always,
    draw_examples,
    explorations,
    planned,
)
from equivalence.report.reach import of_twins  # noqa: E402
from equivalence.sides.feed import Feed  # noqa: E402
from equivalence.structure import pairing  # noqa: E402
from tests.twins.operators import operators  # noqa: E402

NAMES = ("cbam", "encoder_38m", "resnet50_224")
"""A small network, the encoder and ResNet50, which are measured without names."""

TIMES = 5
"""Runs of each kind; the median counts."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a line for each network."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--phase", default="train", choices=("train", "eval"))
    parser.add_argument("--hidden", action="store_true", help="try the ports that hide")
    parser.add_argument("--thorough", action="store_true", help="with --hidden: all samples")
    parser.add_argument("--operators", action="store_true", help="what the gate's examples take")
    parser.add_argument("--results", type=Path, help="what the twins of a run reached")
    given = parser.parse_args(arguments)
    if given.results:
        print("\n".join(table(given.results)))
        return
    if given.hidden:
        sys.exit(_hide(given.names, given.phase, given.thorough))
    if given.operators:
        sys.exit(_tell_operators(given.names))
    print(f"{'network':24}{'comparison':>12}{'reference':>12}{'candidate':>12}{'share':>8}")
    for name in given.names or NAMES:
        case = next(c for c in cases(_twin(name), "cpu") if c.phase == given.phase)
        seconds, reference, candidate = measured(case)
        share = (reference + candidate) / seconds
        print(f"{name:24}{seconds:11.2f}s{reference:11.3f}s{candidate:11.3f}s{share:8.1%}")


def table(results: Path) -> list[str]:
    """The lines of a table: each twin, what it reached, and the kinds of what it did not."""
    with results.open() as lines:
        reaches = of_twins(map(json.loads, lines))
    rows = sorted(reaches.items(), key=lambda row: (row[1].share, row[0]))
    every = sum(len(reach.decisions) for reach in reaches.values())
    reached = sum(reach.reached for reach in reaches.values())
    told = [f"{reached} of {every} decisions of {len(rows)} twins", ""]
    told += ["| twin | reached | not reached |", "|---|---|---|"]
    for name, reach in rows:
        missed = Counter(each.key.kind for each in reach.missed)
        kinds = ", ".join(kind + f" ({n})" * (n > 1) for kind, n in missed.items())
        told.append(f"| {name} | {reach.reached} of {len(reach.decisions)} | {kinds} |")
    return told


Sides = frozenset[str]


def _tell_operators(names: Sequence[str]) -> None:
    """Print a line for each operator, with what the gate's examples leave out; then the sums."""
    print(f"{'operator':28}{'nightly':>8}{'first':>8}{'gate':>8}  not taken at the gate")
    total: list[list[Sides]] = []
    for operator in operators():
        if not names or operator.name in names:
            many, first, gate = taken = taken_of(operator)
            total.append([frozenset(f"{operator.name} {each}" for each in one) for one in taken])
            line = f"{operator.name:28}{len(many):8}{len(first):8}{len(gate):8}"
            print(f"{line}  {', '.join(sorted(many - gate))}")
    for word, of_inputs in (("of inputs", True), ("others", False)):
        counts = [
            sum((" input " in each) is of_inputs for taken in total for each in taken[i])
            for i in range(3)
        ]
        print(f"{word:28}{counts[0]:8}{counts[1]:8}{counts[2]:8}")


def taken_of(operator: Operator) -> tuple[Sides, Sides, Sides]:
    """The sides that the examples of an operator take, of its first counterpart.

    Those of the nightly level, as many first ones as the gate compares, and the gate's own; each
    with those that are always compared.
    """
    one = next(explorations(operator, "cpu", GATE_EXAMPLES))
    drawn = draw_examples(one, 0, NIGHTLY_EXAMPLES)

    def taken(examples: Sequence[Example]) -> Sides:
        every = (sides(each, operator.name, 0) for each in (*always(one), *examples))
        return frozenset[str]().union(*every)

    return taken(drawn), taken(drawn[:GATE_EXAMPLES]), taken(planned(one, 0))


GIVEN, FURTHER, NONE = "given inputs", "further sample", "none"
"""What refuses a port."""


def _hide(names: Sequence[str], phase: str, thorough: bool) -> int:
    """Compare all ports that hide, and the right ones; the number of right ones that are red."""
    found: dict[str, list[str]] = {"right": [], "wrong": []}
    for each in hidden.HIDDEN:
        if names and each.name not in names and each.kind not in names:
            continue
        for port in ("", *each.wrong):
            refused, seconds, told = refusing(each, port, phase, thorough)
            found["wrong" if port else "right"].append(refused)
            line = f"{each.kind:12}{port or each.name:28}{refused:16}{seconds:6.1f}s"
            print(
                f"{line}  {told}{'' if port or refused == NONE else '  RIGHT, AND RED'}", flush=True
            )
    wrong, right = found["wrong"], found["right"]
    hiding = len(wrong) - wrong.count(GIVEN)
    print(f"wrong ports: {len(wrong)}; refused by the given inputs: {wrong.count(GIVEN)}")
    print(f"of {hiding} others refused by a further sample: {wrong.count(FURTHER)}")
    print(f"right ports: {len(right)}; refused: {len(right) - right.count(NONE)}")
    return len(right) - right.count(NONE)


def refusing(
    network: hidden.Hidden, port: str, phase: str, thorough: bool
) -> tuple[str, float, str]:
    """What refuses a port, the seconds of the comparison, and the sample in words.

    port: the name of a wrong port; "" for the right one.
    """
    began, before = time.monotonic(), os.getcwd()
    phases = ("train", "eval") if network.name == "Averaged" else phase
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # where inputs are saved that show a difference
        try:
            result = compare(
                network.reference,
                network.candidate(port),
                *network.inputs,
                phase=phases,
                execution="pynative",
                thorough=thorough,
            )
        finally:
            os.chdir(before)
    shown = [each.sample.told for each in result.verdicts if each.sample is not None]
    refused = NONE if result else FURTHER if shown else GIVEN
    told = shown[0] if shown else "; ".join(result.unreached) if port and result else ""
    return refused, time.monotonic() - began, told


def _twin(name: str) -> Twin:
    if name in cost.SIZED:
        return cost.SIZED[name]()
    (twin,) = (each for each in catalogue.declared() if each.name == name)
    return twin


def measured(case: TwinCase) -> tuple[float, float, float]:
    """Seconds of a comparison, and what watching costs of the reference's and the other run."""
    with isolated():
        kinds.check(case, 0)  # the frameworks' own first calls
        kept.forget()
        started = time.process_time()
        kinds.check(case, 0)
        seconds = time.process_time() - started
        known = kept.reference(case, 0)
        measurement = CaseAtSeed(case, 0).measurement(known.sample)
        reference = _more(measurement.watch_own, measurement.run_own)
        network = build_candidate(case)
        partners = pairing.partners(case, known.slots, network.slots(), network.unheld)
        feed = Feed(known.sample, partners, case.phase, known.expected.pulled_back)

        def watched() -> None:
            seen = CodeReach(case, network, known.expected.reach)
            with seen:
                network.run(feed)
            _ = seen.reach

        return seconds, reference, _more(watched, lambda: network.run(feed))


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

"""How far right twins are off by one model of rounding: every number of a run is rounded once.

Prints the largest error of the candidate and of the reference's own run for each twin of the gate
(PyNative, CPU), in roundings by `equivalence/sides/torch_noise.py`, without any excuse; then how
many are beyond `LIMIT`. The verdicts of the suite do not use this unit.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from equivalence.host import environment

environment.prepare()

import numpy as np  # noqa: E402

from equivalence.declare.twin import TwinCase, cases  # noqa: E402
from equivalence.errors import EquivalenceError  # noqa: E402
from equivalence.host.isolation import isolated  # noqa: E402
from equivalence.judge.tensors import Trace  # noqa: E402
from equivalence.judge.truth import Truth  # noqa: E402
from equivalence.runs import kept, pairing  # noqa: E402
from equivalence.runs.drawn import Drawn  # noqa: E402
from equivalence.seeds import seed_of  # noqa: E402
from equivalence.sides.torch_noise import Noise  # noqa: E402
from equivalence.truth.flips import hold_branches  # noqa: E402
from tests.twins import declared  # noqa: E402

RUNS = 2
"""Noisy runs."""

LIMIT = 8.0
"""Roundings. Right networks end at about 3, and mistakes begin at about 18."""


def noisy(case: TwinCase, seed: int) -> tuple[Truth, Trace, Trace]:
    """The truth of a case with its noise, the candidate's trace, and the reference's own.

    Raises EquivalenceError where the sides cannot be run.
    """
    drawn = Drawn(case, seed)
    known = next(kept.looks(case, seed))
    candidate = kept.candidate(case, seed)
    partners = pairing.partners(case, known.slots, candidate.slots())
    known = known.without(partners.alone) if partners.alone else known
    measurement = drawn.measurement(known.sample)
    expected = Truth({name: tensor.unprobed for name, tensor in known.expected.items()})
    expected.near, expected.undecided = known.expected.near, known.expected.undecided
    for run in range(RUNS):
        rounding = Noise(drawn.unit_roundoff, seed_of(case.sample_name, "noise", run), case.dtype)
        watch = hold_branches(expected.near, rounding)
        trace = expected.replace_undecided(measurement.run(measurement.perturbed(run), watch))
        for name, tensor in expected.items():
            if tensor.truth.dtype.kind == "f":
                tensor.widen(trace[name])
    raw = candidate.run(known.sample, partners, case.phase, expected.pulled_back)
    return expected, *map(expected.replace_undecided, (raw, measurement.run_own()))


def worst(expected: Truth, trace: Trace, unit_roundoff: float) -> tuple[float, str]:
    """The largest error of a run in roundings, and the tensor that has it."""
    return max(
        (max(tensor.errors(trace[name].astype(tensor.dtype), unit_roundoff)), name)
        for name, tensor in expected.items()
    )


def chosen(words: str) -> Iterator[TwinCase]:
    """The cases of the gate in PyNative mode whose names have these words."""
    for twin in declared():
        if twin.level == "gate" and not twin.raises:
            every = (each for each in cases(twin, "cpu") if each.execution == "pynative")
            yield from (each for each in every if words in each.name and not each.twin.sizes)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-k", default="", metavar="WORDS", help="cases whose names have these")
    parser.add_argument("--seed", type=int, default=0, help="the base seed of the samples")
    options = parser.parse_args(arguments)
    found, started = [], time.process_time()
    for case in chosen(options.k):
        with isolated():
            try:
                expected, candidate, own = noisy(case, options.seed)
            except EquivalenceError as error:
                print(f"{case.name}: {error}")
                continue
        unit_roundoff = Drawn(case, options.seed).unit_roundoff
        error, name = worst(expected, candidate, unit_roundoff)
        of_own, _ = worst(expected, own, unit_roundoff)
        known = " (known to differ)" if case.twin.differs else ""
        print(f"{error:9.3g} {of_own:9.3g}  {case.name}: {name}{known}")
        found += [] if known else [error]
    if not found:
        print("no case was compared")
        return 1
    beyond = sum(each > LIMIT for each in found)
    print(
        f"{len(found)} right cases: median {np.median(found):.2g}, {beyond} beyond {LIMIT:g} "
        f"roundings; {time.process_time() - started:.0f} s of a processor"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""The verdict on a network of MindSpore beside another one of MindSpore, without an original.

There is no float64 truth. The first network's own run stands in its place, and noise is how far
that moves when every number of it is moved by one unit in the last place, see `rounding`. The
second may be off by the same 8 roundings as a port is from its truth: both err by a few.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from equivalence.alike.first import First
from equivalence.alike.rounding import Once, rounding
from equivalence.comparison import sides
from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.batches import Batches
from equivalence.declare.twin import MindSporeCase
from equivalence.errors import DeclarationError, blaming
from equivalence.judge import attributes
from equivalence.judge.expected import Expected
from equivalence.judge.outcome import Outcome
from equivalence.judge.settings import judge_settings
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import PulledBack, Truth
from equivalence.judge.verdict import Judgement, demand_values
from equivalence.sample import Sample, call_of, resolve_inputs
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.structure import pairing
from equivalence.structure.layers import compare_settings
from equivalence.structure.weights import Partners

RUNS, MORE_RUNS = 4, 16
"""Runs with rounding that measure the noise: first so many, and in all where one differs."""

DRAWN = 2.0**-7
"""A relative difference of two runs of the same: beyond it, random numbers are drawn."""


@dataclass
class Pair:
    """Two networks of MindSpore, and the sample that both run.

    reference, candidate: the networks; the first one runs in PyNative mode.
    own: the first one's names -> those by which the sample knows its weights: PyTorch's.
    partners: the second one's names -> the same.
    """

    case: MindSporeCase
    seed: int
    reference: MindSporeNetwork
    candidate: MindSporeNetwork
    own: Partners
    partners: Partners

    @classmethod
    def of(cls, case: MindSporeCase, seed: int) -> "Pair":
        """Both networks, built anew. Raises WeightError where weights have no partner."""
        with blaming("reference", case.name):
            first = First(case)
        with blaming("candidate", case.name):
            candidate = sides.build_candidate(case)
        partners = pairing.partners(case, first.slots(), candidate.slots(), candidate.unheld)
        return cls(case, seed, first.network, candidate, first.own, partners)

    @cached_property
    def sample(self) -> Sample:
        """The sample of the case."""
        return self.draw()

    def draw(self) -> Sample:
        """The sample, drawn anew."""
        case = self.case
        if isinstance(case.twin.inputs, Batches) or case.twin.weights:
            raise DeclarationError(
                "two networks of MindSpore are compared with drawn weights and inputs of their "
                "own; leave out --weights, or name the original by --reference"
            )
        inputs = resolve_inputs(case.twin.draws, case.dimensions)
        called = call_of(case.twin.inputs, case.dimensions)
        return Sample(case.sample_name, self.seed, inputs, case.dtype, called)

    @cached_property
    def pulled_back(self) -> PulledBack:
        """The shapes of the outputs that get a cotangent."""
        none = PulledBack({}, ())
        run = self.reference.run(Feed(self.sample, self.own, self.case.phase, none))
        outputs = Truth({n: _expected(v) for n, v in run.items() if n.startswith("output.")})
        outputs.forward_only = not self.case.twin.backward
        return outputs.pulled_back

    @property
    def fed(self) -> Feed:
        """What the second network is fed with."""
        return Feed(self.sample, self.partners, self.case.phase, self.pulled_back)

    def run(self) -> Trace:
        """What the first network gives."""
        return self.reference.run(replace(self.fed, partners=self.own))

    def rounded(self, numbers: range, unit_roundoff: float) -> Iterator[Trace]:
        """What it gives in runs in which every number is rounded."""
        for probe in numbers:
            with rounding(self.sample, probe):
                sample: Any = Once(self.sample, probe, unit_roundoff)
                yield self.reference.run(replace(self.fed, sample=sample, partners=self.own))


def eager(case: MindSporeCase) -> MindSporeCase:
    """The case in PyNative mode."""
    return replace(case, execution="pynative")


def check(case: MindSporeCase, seed: int) -> Outcome:
    """Judge the second network beside the first one's own runs.

    Raises EquivalenceError where weights do not pair up, or a network draws random numbers.
    """
    pair, drawn = Pair.of(case, seed), CaseAtSeed(case, seed)
    unit_roundoff = drawn.unit_roundoff
    with blaming("reference", case.name):
        expected = Truth({name: _expected(values) for name, values in pair.run().items()})
        expected = expected.without(pair.partners.alone)
        expected.forward_only = not case.twin.backward
        again = pair.run()
        kept, carried = attributes.settled(expected, again, unit_roundoff)
        expected = expected.among(kept)
        expected.carried = frozenset(carried)
        _demand_steady(case, expected, again)
        _widen(expected, pair.rounded(range(RUNS), unit_roundoff))
    with blaming("candidate", case.name):
        trace = _second_call(pair)
    judgement = drawn.judge(expected, trace)
    if not judgement.equal:
        with blaming("reference", case.name):
            _widen(expected, pair.rounded(range(RUNS, MORE_RUNS), unit_roundoff))
        judgement = drawn.judge(expected, trace)
    judgement = judgement if case.twin.degenerate else demand_values(judgement)
    layers = pair.reference.layers(pair.own), pair.candidate.layers(pair.partners)
    settings = compare_settings(*layers, pair.partners.rename)
    paired = attributes.pair(expected, trace, unit_roundoff, expected.carried)
    return Outcome(
        case,
        seed,
        judgement,
        note=_same_bits(expected, trace, judgement),
        stand_ins=tuple(sorted(pair.candidate.stand_ins.used)),
        settings=judge_settings(settings, case.twin.settings, case.name),
        proposed=pair.partners.proposed,
        apart=tuple(paired.apart.items()),
    )


def _expected(values: np.ndarray) -> Expected:
    """What a tensor of the first network's own run lets expect; nothing moves it yet."""
    dtype = str(values.dtype)
    found = Expected.whole(values.astype(np.float64) if values.dtype.kind == "f" else values)
    found.dtype = dtype
    return found


def _widen(expected: Truth, runs: Iterator[Trace]) -> None:
    for run in runs:
        for name, tensor in expected.items():
            if tensor.truth.dtype.kind == "f" and run[name].shape == tensor.shape:
                tensor.widen(run[name])


def _demand_steady(case: MindSporeCase, expected: Truth, again: Trace) -> None:
    """Raise DeclarationError where two runs of the first network are not the same."""
    for name, tensor in expected.items():
        if tensor.truth.dtype.kind != "f":
            continue
        away = tensor.distance(again[name])
        if away.mismatched or away.norm > DRAWN * away.scale:
            raise DeclarationError(
                f"{case.name}: two runs of {case.twin.reference} differ in {name}: it draws random "
                "numbers, or keeps a state between calls; name the layer by --random, or leave out "
                "the phase"
            )


def _second_call(pair: Pair) -> Trace:
    """What the second network gives in a call that is not its first."""
    case, other = pair.case, pair.draw()
    other.draw_again()
    both = len(set(case.twin.phases)) > 1
    pair.candidate.call_before(replace(pair.fed, sample=other), both)
    return pair.candidate.run(pair.fed)


def _same_bits(expected: Truth, trace: Trace, judgement: Judgement) -> str:
    """How many tensors are equal to the bit, in words."""
    same = sum(
        name in trace
        and trace[name].shape == tensor.shape
        and np.array_equal(
            trace[name].astype(tensor.truth.dtype),
            tensor.truth,
            equal_nan=tensor.truth.dtype.kind == "f",
        )
        for name, tensor in expected.items()
    )
    return f"{same} of {len(judgement.verdicts)} tensors are equal to the bit"

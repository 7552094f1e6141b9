"""Two functions that generate: tokens, the logits of each call, and who decides where they part.

The logits of each call are compared as ever: by the float64 truth, within 8 roundings. Where tokens
are the largest logits, the port's network is given the original's tokens in each call, so that all
calls and all that the port chooses after them are compared. Else, as of beams, they are compared up
to the first token that differs.

Where a row takes another token, rounding decides it if the reference itself would take that one
within rounding: greedily, if the two logits are at most 16 roundings apart, which is twice the
budget; else if some run of the reference with 8 roundings of noise goes on with the very tokens.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from equivalence.comparison import sides
from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.twin import TwinCase
from equivalence.errors import DeclarationError, blaming
from equivalence.generation.calls import (
    Forced,
    GenerationCall,
    GenerationRun,
    network_of,
    of_mindspore,
    of_torch,
)
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET
from equivalence.sample import Perturbed
from equivalence.sides.feed import Feed
from equivalence.structure import pairing
from equivalence.truth.measurement import Measurement

NOISY_RUNS = 8
"""Runs in which every number is rounded once; they measure the noise of the logits."""

LOUD_RUNS = 24
"""Runs with noise of the whole budget, in which the reference shows what else it may take."""

APART = 2.0 * BUDGET
"""Roundings between two logits up to which rounding decides: both may be off by the budget."""


@dataclass(frozen=True)
class Parting:
    """A row that takes another token.

    row: its number. call: the call of the network whose logits decide, from 0.
    want, got: the tokens of the original and of the port.
    gap: how far the original's logit of its token is above that of the port's token, in roundings;
        NaN where tokens are not the largest logits, as of beams.
    decided: whether rounding decides it.
    """

    row: int
    call: int
    want: int
    got: int
    gap: float
    decided: bool


@dataclass
class Generation:
    """What became of one case.

    calls: how many calls the original made; `compared`: how many of them, of some row.
    errors: of each compared call, the error of its logits in roundings, of the rows that still have
        the same tokens.
    logs: of each, the largest difference of a log-probability of a token that was taken.
    partings: the rows that take another token, in order.
    wrong: what is wrong, in sentences.
    """

    calls: int
    rows: int
    errors: list[float] = field(default_factory=list)
    logs: list[float] = field(default_factory=list)
    partings: list[Parting] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def compared(self) -> int:
        """How many calls are compared."""
        return len(self.errors)

    @property
    def parted(self) -> int:
        """How many rows take another token anywhere."""
        return len({each.row for each in self.partings})

    @property
    def equal(self) -> bool:
        """Whether nothing is wrong: tokens are the same, but where rounding decides."""
        return not self.wrong and bool(self.errors)


class GeneratorSides:
    """Both functions, and how they run. case: in PyNative mode, forward alone."""

    def __init__(self, case: TwinCase, seed: int):
        self.case = replace(case, execution="pynative", twin=replace(case.twin, backward=False))
        drawn = CaseAtSeed(self.case, seed)
        self.unit_roundoff = drawn.unit_roundoff
        with blaming("reference", case.name):
            self.measurement: Measurement = drawn.measurement(drawn.sample())
        with blaming("candidate", case.name):
            self.candidate = sides.build_candidate(self.case)
        self.paths = (
            network_of(self.measurement.network.module, "reference"),
            network_of(self.candidate.cell, "candidate"),
        )
        slots = self.measurement.network.slots(), self.candidate.slots()
        self.partners = pairing.partners(self.case, *slots)

    def truth(self, noise: float = 0.0, probe: int = 0, forced: Forced = ()) -> GenerationRun:
        """A float64 run of the original.

        noise: how many roundings each number is moved by. probe: the number of the noisy run.
        forced: the tokens of each call in the place of its own.
        """
        measurement: Measurement = self.measurement
        network: Any = measurement.network
        sample = None
        if noise:
            unit = noise * self.unit_roundoff
            sample = Perturbed(measurement.sample, probe, unit, noise * measurement.products)
        with blaming("reference", self.case.name):
            return of_torch(network, self.paths[0], lambda: measurement.run(sample), forced)

    def port(self, forced: Forced = ()) -> GenerationRun:
        """A run of the port. forced: the tokens of each call in the place of its own."""

        def run() -> dict[str, np.ndarray]:
            sample = self.measurement.sample
            return self.candidate.run(Feed(sample, self.partners, self.case.phase))

        with blaming("candidate", self.case.name):
            return of_mindspore(self.candidate, self.paths[1], run, forced)


def compare(case: TwinCase, seed: int) -> Generation:
    """Compare two functions that generate, in a case of their twin.

    Raises DeclarationError where a side is no function of one network, or never calls it.
    """
    both = GeneratorSides(case, seed)
    truth, port = both.truth(), both.port()
    forced = [call.tokens for call in truth.calls] if _is_greedy(truth) else []
    noisy = [both.truth(1.0, probe, forced) for probe in range(NOISY_RUNS)]
    told = both.port(forced) if forced else port
    for role, run in (("reference", truth), ("candidate", port)):
        if not run.calls or run.calls[0].tokens is None or run.calls[0].logits is None:
            raise DeclarationError(
                f"{case.name}: the {role} does not call its network with whole numbers, or gets no "
                "floating output of it, so that there are no tokens and no logits to compare"
            )
    return _CallWalk(both, truth, noisy, port, told).found


class _CallWalk:
    """A walk along the calls of both sides.

    truth, noisy: runs of the original. port: the run of the port by itself.
    told: the run of the port that is given the original's tokens, where they are chosen greedily.
    """

    def __init__(
        self,
        both: GeneratorSides,
        truth: GenerationRun,
        noisy: list[GenerationRun],
        port: GenerationRun,
        told: GenerationRun,
    ):
        self.both, self.truth, self.noisy, self.port, self.told = both, truth, noisy, port, told
        first = truth.calls[0].tokens
        rows = len(first) if first is not None and first.ndim else 1
        self.alive, self.parted = np.ones(rows, bool), np.zeros(rows, bool)
        self.near = [np.ones(rows, bool) for _ in noisy]
        self.found = Generation(len(truth.calls), rows)
        self.greedy = _is_greedy(truth)
        if self._calls():
            self._ends()

    def _calls(self) -> bool:
        """Compare the calls; whether the end is to be compared, too."""
        for number, (theirs, ours) in enumerate(
            zip(self.truth.calls, self.told.calls, strict=False)
        ):
            ours = self.told.calls[number] if self.greedy else ours
            if not self._tokens(number, theirs, ours):
                return False
            if not self._logits(number, theirs, ours):
                return False
        lengths = len(self.truth.calls), len(self.told.calls)
        if lengths[0] != lengths[1] and not self.found.partings:
            self.found.wrong.append(
                f"the port calls its network {lengths[1]} times, and the original {lengths[0]} "
                "times, with the same tokens up to there"
            )
        return lengths[0] == lengths[1]

    def _tokens(self, number: int, theirs: GenerationCall, ours: GenerationCall) -> bool:
        """Compare the tokens of a call; whether to go on."""
        want, got = theirs.tokens, ours.chosen
        if want is None or got is None or want.shape != got.shape:
            shapes = [None if each is None else each.shape for each in (want, got)]
            if self.alive.all():
                self.found.wrong.append(
                    f"call {number + 1} of the network is given tokens of the shape {shapes[1]} by "
                    f"the port, and {shapes[0]} by the original"
                )
            return False
        for run, near in zip(self.noisy, self.near, strict=True):
            near &= _same_rows(run.calls, number, want)
        if self.greedy and number:  # what is given besides the last token is of earlier calls
            want, got = (each.reshape(len(each), -1)[:, -1:] for each in (want, got))
        differ = ~_rows_equal(want, got) & self._rows(len(want))
        for row in np.flatnonzero(differ):
            at = tuple(np.argwhere(np.atleast_1d(want[row] != got[row]))[0])
            pair = int(np.atleast_1d(want[row])[at]), int(np.atleast_1d(got[row])[at])
            self._part(number, int(row), *pair, got)
        if len(differ) == len(self.parted):
            self.parted |= differ
        self.alive = self._rows(len(want)) & (~differ | self.greedy)
        return not self.found.wrong and (self.greedy or not differ.any())

    def _rows(self, count: int) -> np.ndarray:
        """Which rows still have the same tokens; all, where their number changes, as at a start."""
        if count == len(self.alive):
            return self.alive
        self.near = [np.ones(count, bool) & near.all() for near in self.near]
        return np.full(count, bool(self.alive.all()))

    def _judged(self, count: int) -> np.ndarray:
        """The rows whose logits are compared: all, where the port is given the same tokens."""
        return np.ones(count, bool) if self.greedy else self._rows(count)

    def _part(self, number: int, row: int, want: int, got: int, tokens: np.ndarray) -> None:
        """Note that a row takes another token, and whether rounding decides it."""
        if number == 0:
            self.found.wrong.append(f"the first tokens differ, in row {row}: {got} for {want}")
            return
        gap = self._gap(number - 1, row, want, got)
        if math.isnan(gap):
            decided = any(_same_rows(run.calls, number, tokens)[row] for run in self._loud(number))
        else:
            decided = abs(gap) <= APART
        self.found.partings.append(Parting(row, number - 1, want, got, gap, decided))
        if not decided:
            ahead = "" if math.isnan(gap) else f", whose logit is {gap:.3g} roundings larger"
            self.found.wrong.append(
                f"row {row} takes token {got} after call {number}, and the original {want}{ahead}: "
                "the logits are right, what the port chooses by them is not"
            )

    def _gap(self, number: int, row: int, want: int, got: int) -> float:
        """How far the logit of one token is above another's, in roundings; NaN if not greedy."""
        last = self.truth.calls[number].last
        if not self.greedy or last is None or not max(want, got) < last.shape[-1]:
            return math.nan
        expected = self._expected(number)
        _, one = expected.in_roundings(
            replace(expected.norms, norm=1.0, largest=1.0), self.both.unit_roundoff
        )
        return float(last[row, want] - last[row, got]) * one

    def _loud(self, number: int) -> Iterator[GenerationRun]:
        """Runs of the original with the whole budget of noise that are the same up to a call."""
        for probe in range(LOUD_RUNS):
            run = self.both.truth(BUDGET, probe)
            if len(run.calls) > number:
                yield run

    def _expected(self, number: int) -> Expected:
        """The logits of a call, of the rows that are compared, with their noise."""
        logits = self.truth.calls[number].logits
        if logits is None:
            raise ValueError(f"call {number} has no logits")
        rows = self._judged(len(logits))
        expected = Expected.whole(logits[rows])
        for run, near in zip(self.noisy, self.near, strict=True):
            values = run.calls[number].logits if number < len(run.calls) else None
            if values is not None and values.shape == logits.shape and near.shape == rows.shape:
                moved = np.where(_wide(near, logits), values, logits)
                expected.widen(moved[rows])
        return expected

    def _logits(self, number: int, theirs: GenerationCall, ours: GenerationCall) -> bool:
        """Compare the logits of a call; whether to go on."""
        want, got = theirs.logits, ours.logits
        if want is None or got is None or want.shape != got.shape:
            shapes = [None if each is None else each.shape for each in (want, got)]
            self.found.wrong.append(
                f"the logits of call {number + 1} have the shape {shapes[1]}, expected {shapes[0]}"
            )
            return False
        rows = self._judged(len(want))
        error = max(self._expected(number).errors(got[rows], self.both.unit_roundoff))
        self.found.errors.append(error)
        self.found.logs.append(float(np.abs(_logs(want[rows]) - _logs(got[rows])).max()))
        if error > BUDGET:
            after = "" if number else "; compare the networks alone"
            cache = "its cache, or its masks and positions, differ" if number else "it differs"
            self.found.wrong.append(
                f"the logits of call {number + 1} are {error:.3g} roundings off, with the same "
                f"tokens in all calls up to there: {cache}{after}"
            )
        return error <= BUDGET

    def _ends(self) -> None:
        """Compare what the functions return, where it is whole numbers of the rows."""
        for name, want in self.truth.trace.items():
            got = self.port.trace.get(name)
            if got is None or got.shape != want.shape:
                shape = None if got is None else got.shape
                self.found.wrong.append(f"{name} has the shape {shape}, expected {want.shape}")
                return
            if want.dtype.kind not in "iu" or not want.ndim:
                continue
            rows = self._rows(len(want)) & ~_rows_equal(want, got)
            rows &= ~self.parted if len(self.parted) == len(want) else ~self.parted.any()
            for row in np.flatnonzero(rows):
                at = np.flatnonzero(want[row] != got[row])
                theirs, ours = np.ravel(want[row]), np.ravel(got[row])
                pair = int(theirs[at[0]]), int(ours[at[0]])
                last = [*at] == [theirs.size - 1]  # the token that no call is given
                gap = self._gap(len(self.truth.calls) - 1, int(row), *pair) if last else math.nan
                self._part_at_end(name, int(row), *pair, gap)

    def _part_at_end(self, name: str, row: int, want: int, got: int, gap: float) -> None:
        decided = gap <= APART
        self.found.partings.append(Parting(row, len(self.truth.calls) - 1, want, got, gap, decided))
        if not decided:
            self.found.wrong.append(
                f"{name} has {got} in row {row}, and the original {want}, though all logits are "
                "right: what the port makes of them is not"
            )


def _is_greedy(run: GenerationRun) -> bool:
    """Whether each row goes on with the token of the largest logit of the call before."""
    for before, after in zip(run.calls, run.calls[1:], strict=False):
        last, tokens = before.last, after.tokens
        if last is None or tokens is None or len(last) != len(tokens):
            return False
        taken = tokens.reshape(len(tokens), -1)[:, -1]
        if not np.array_equal(last.argmax(-1), taken):
            return False
    return True


def _same_rows(calls: list[GenerationCall], number: int, want: np.ndarray) -> np.ndarray:
    """Which rows of a run have the tokens in a call."""
    tokens = calls[number].tokens if number < len(calls) else None
    if tokens is None or tokens.shape != want.shape:
        return np.zeros(len(want), bool)
    return _rows_equal(tokens, want)


def _rows_equal(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    return (one == two).reshape(len(one), -1).all(1)


def _wide(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    return rows.reshape(-1, *(1 for _ in values.shape[1:]))


def _logs(logits: np.ndarray) -> np.ndarray:
    """The log-probability of the largest logit of each row."""
    logits = logits.astype(np.float64)
    top = logits.max(-1, keepdims=True)
    return -np.log(np.exp(logits - top).sum(-1))


def document(name: str, generation: Generation) -> Mapping[str, object]:
    """What became of one case, as JSON."""
    return {
        "case": name,
        "equal": generation.equal,
        "rows": generation.rows,
        "calls": generation.calls,
        "roundings": generation.errors,
        "log_probabilities": generation.logs,
        "partings": [
            {**vars(each), "gap": None if math.isnan(each.gap) else each.gap}
            for each in generation.partings
        ],
        "wrong": generation.wrong,
    }

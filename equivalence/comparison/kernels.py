"""Inaccurate kernels: is the candidate equal with accurate kernels in the place of MindSpore's?"""

import contextlib
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from equivalence import releases
from equivalence.comparison import sides
from equivalence.comparison.comparison import CaseAtSeed, Comparison
from equivalence.declare.twin import TorchCase, TwinCase
from equivalence.errors import EquivalenceError, blaming
from equivalence.host import devices
from equivalence.judge.expected import Expected
from equivalence.judge.outcome import Kernel
from equivalence.judge.precision import BUDGET
from equivalence.judge.tensors import Trace, beside
from equivalence.record import candidates
from equivalence.releases import DISPATCHING
from equivalence.words import number

SAME = BUDGET
"""Roundings. Two runs of a candidate that differ by no more are the same: sums may be in another
order. A compiled graph that is the same as a run in PyNative mode has its verdict. Two runs in
PyNative mode may differ by more, but by less than a `MUCH`-th of what the first is off: where
sums that nearly cancel follow, a kernel with threads is never the same twice."""

ACCURATE = 2.0
"""Roundings. A kernel that errs by no more, one unit in the last place, is never to blame."""

MUCH = 4.0
"""How many times smaller the error must be with accurate kernels to be told where it is not small
enough."""


@dataclass(frozen=True)
class Explained:
    """A candidate with accurate kernels.

    kernels: the kernels that are to blame, the one that matters most first.
    comparison: the comparison with accurate ones in their place. What little is left of the error
    may have an excuse of its own.
    before: the error with MindSpore's own, in roundings.
    """

    kernels: tuple[Kernel, ...]
    comparison: Comparison
    before: float

    @property
    def helps(self) -> bool:
        """Whether accurate kernels by themselves leave a `MUCH`-th of the error at most."""
        return self.comparison.judgement.needed * MUCH <= self.before

    def __str__(self) -> str:
        names, judgement = ", ".join(map(str, self.kernels)), self.comparison.judgement
        if judgement.equal:
            return f"equal but for {names}"
        return (
            f"with accurate kernels in place of {names}, the error is "
            f"{number(judgement.needed)} in place of {number(self.before)} roundings"
        )


def explain(comparison: Comparison, at_seed: CaseAtSeed) -> Explained | None:
    """The candidate with accurate kernels, if that may explain its error; else None.

    It may if it leaves little of the error, or fewer tensors that differ; and where branch flips
    may explain the rest, since a flip hides how much is left.

    A tensor that is missing, has another shape, or is no number is not the work of a kernel. A
    single operator is judged as it is: its kernel is what the case is about. A recorded
    candidate cannot run here, and only on a CPU can kernels be replaced. Wherever the candidate
    ran, it runs again in PyNative mode; that run must first be the same as the one that is judged.
    """
    case, judgement = at_seed.case, comparison.judgement
    branches = judgement.perhaps_branches(comparison.reference.expected, case.calls)
    odd = any(verdict.problem for verdict in judgement.differing)
    runs = None if odd or judgement.ill_posed is not None else _runs(comparison, at_seed)
    if runs is None:
        return None
    needed, best = runs.inaccurate, runs.compared(runs.inaccurate)
    if best.judgement.equal:
        needed, best = runs.smallest()
    device = devices.place(case.device).runs_on
    found = Explained(described(needed, runs.errors, device), best, judgement.needed)
    fewer = len(best.judgement.differing) < len(judgement.differing)
    return found if found.helps or fewer or branches else None


def accurate(comparison: Comparison, at_seed: CaseAtSeed) -> Comparison | None:
    """The comparison with accurate kernels, whatever they explain; None where `explain` has none.

    What is still wrong in it is wrong in the port.
    """
    runs = _runs(comparison, at_seed)
    return runs.compared(runs.inaccurate) if runs else None


def replaceable(case: TwinCase) -> bool:
    """Whether kernels of a case's candidate can be replaced here."""
    here = devices.place(case.device).runs_on == "cpu" and releases.holds(DISPATCHING)
    ran = isinstance(candidates.active(case), candidates.CandidateReader)
    return here and not (case.alone or ran or isinstance(case, TorchCase))


def same(
    expected: Mapping[str, Expected], one: Trace, two: Trace, unit_roundoff: float, close: float
) -> bool:
    """Whether two runs of a candidate differ by no more than `close` roundings.

    What has another shape than the truth is wrong in both. Of what is told beside results, a graph
    and a PyNative run may tell different parts.
    """
    results = [{name for name in run if not beside(name)} for run in (one, two)]
    both = one.keys() & two.keys()
    return results[0] == results[1] and all(
        one[name].shape == two[name].shape
        and (
            one[name].shape != known.shape
            or _at(known, one[name]).within(two[name], unit_roundoff, close)
        )
        for name, known in expected.items()
        if name in both and not (beside(name) and one[name].shape != two[name].shape)
    )


def alike(comparison: Comparison, at_seed: CaseAtSeed, raw: Trace) -> bool:
    """Whether another run of the candidate, in PyNative mode, is the same as the judged one."""
    expected, needed = comparison.reference.expected, comparison.judgement.needed
    loose = at_seed.case.execution == "pynative" and math.isfinite(needed)
    close = max(SAME, needed / MUCH) if loose else SAME
    again = expected.replace_undecided(raw)
    return same(expected, again, comparison.trace, at_seed.unit_roundoff, close)


def exactly(
    trace: Trace,
    expected: Mapping[str, Expected],
    unit_roundoff: float,
    eager: Callable[[], Trace],
    compiled: bool,
) -> Trace:
    """What a candidate that has given `trace` gives with accurate kernels.

    eager: runs it in PyNative mode, the only one where kernels can be replaced.
    compiled: whether the trace is that of a graph; one that computes something else stays as it is.
    """
    if compiled and not same(expected, eager(), trace, unit_roundoff, SAME):
        return trace
    with replacing(True):
        return eager()


def replacing(wanted: bool) -> contextlib.AbstractContextManager[Any]:
    """A context in which all kernels of PyNative mode are accurate, if that is wanted."""
    from equivalence.sides.accurate import AccurateKernels  # MindSpore is there

    return AccurateKernels() if wanted else contextlib.nullcontext()


def inaccurate(errors: Mapping[str, float]) -> list[str]:
    """The primitives whose error is not that of an accurate kernel, the worst first."""
    worst = sorted(errors, key=lambda name: -errors[name])
    return [name for name in worst if errors[name] > ACCURATE]


def described(names: Iterable[str], errors: Mapping[str, float], device: str) -> tuple[Kernel, ...]:
    """Kernels of a device with their own errors, and what is declared of them."""
    known = devices.DEVICES[device].inaccurate
    return tuple(
        Kernel(
            name,
            device,
            errors[name],
            known[name].finding if name in known else None,
            known[name].error if name in known else 0.0,
        )
        for name in names
    )


def _runs(comparison: Comparison, at_seed: CaseAtSeed) -> "_KernelRuns | None":
    """The runs of a candidate that has inaccurate kernels, and computes as in the judged run."""
    if not replaceable(at_seed.case):
        return None
    try:
        runs = _KernelRuns(comparison, at_seed)
    except EquivalenceError:  # a cell that only a compiled graph can run
        return None
    return runs if runs.inaccurate and alike(comparison, at_seed, runs.plain) else None


class _KernelRuns:
    """Runs of one candidate in PyNative mode, each with other kernels replaced.

    errors: primitive -> the error of its own results in a run in which none is replaced.
    inaccurate: the primitives whose error is not that of an accurate kernel, the worst first.
    """

    def __init__(self, comparison: Comparison, at_seed: CaseAtSeed):
        self.made, self.drawn = comparison, at_seed
        with blaming("candidate", at_seed.case.name):
            self.candidate = sides.build_candidate(replace(at_seed.case, execution="pynative"))
        self.plain, self.errors = self._run(())
        self.inaccurate = inaccurate(self.errors)

    def _run(self, replaced: Collection[str]) -> tuple[Trace, dict[str, float]]:
        """A run with kernels replaced, and primitive -> the error of MindSpore's own kernel."""
        from equivalence.sides.accurate import AccurateKernels  # MindSpore is there

        kernels = AccurateKernels(replaced)
        with blaming("candidate", self.drawn.case.name), kernels:
            return self.candidate.run(self.made.feed), kernels.errors

    def compared(self, replaced: Collection[str]) -> Comparison:
        """The comparison with these kernels replaced."""
        return self.made.rejudged(self._run(replaced)[0], self.drawn)

    def smallest(self) -> tuple[list[str], Comparison]:
        """The fewest kernels that must be replaced for the candidate to be equal.

        They are taken in the order in which each by itself lowers the error. Where one that is not
        declared is among them, those that are may be enough: then it is not to blame.
        """
        alone = {name: self.compared([name]) for name in self.inaccurate}
        order = sorted(alone, key=lambda name: alone[name].judgement.needed)
        needed, compared = self._until_equal(order, alone)
        known = devices.DEVICES[devices.place(self.drawn.case.device).runs_on].inaccurate
        declared = [name for name in order if name in known]
        if declared and not set(needed) <= set(declared):
            enough, better = self._until_equal(declared, alone)
            if better.judgement.equal:
                return enough, better
        return needed, compared

    def _until_equal(
        self, order: Sequence[str], alone: Mapping[str, Comparison]
    ) -> tuple[list[str], Comparison]:
        """The first kernels of an order that must be replaced, or all of them."""
        needed: list[str] = []
        for name in order:
            needed.append(name)
            compared = alone[name] if len(needed) == 1 else self.compared(needed)
            if compared.judgement.equal:
                break
        return needed, compared


def _at(known: Expected, values: np.ndarray) -> Expected:
    """What a tensor must be if these values are the truth of it."""
    return replace(known, truth=known.view(values).astype(known.truth.dtype))

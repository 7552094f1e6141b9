"""The verdict on named arrays. Imports no framework.

A tensor T of the candidate is right if the reference itself would give it when each of its numbers
is rounded a few times:

    error(T) = ||candidate - truth|| / (noise(T) + u ||truth|| + 2^-126)    in roundings

`u` is the unit roundoff of the dtype. 2^-126 is the smallest normal number of float32. noise(T) is
the largest change of the truth when every number of the run is rounded once at random, see
`sides/torch_noise.py`: Monte Carlo arithmetic (Parker, 1997) in the place of the bounds of a
rounding analysis (Higham, Accuracy and Stability of Numerical Algorithms). It is taken in the
Euclidean norm and again in the maximum norm, so that one wrong element in a million cannot hide.
Both must stay within the budget.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from equivalence import dtypes
from equivalence.judge import attributes, excuses, tensors
from equivalence.judge.expected import HALF, Distance, Expected, Faint, distance
from equivalence.judge.precision import BUDGET
from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Truth, nothing_to_compare
from equivalence.words import listed

HOLLOW = (
    "every output of the reference is of zeros or has no element, so that a candidate that "
    "computes nothing would pass; draw inputs that give other values"
)


@dataclass(frozen=True)
class TensorVerdict:
    """The verdict on one tensor.

    name: its name in the trace.
    budget: the largest error that passes, in roundings.
    error: the error by the Euclidean norm, in roundings.
    worst: the error by the maximum norm, in roundings.
    conditioning: sensitivity / (u ||truth||).
    own_error: the error of the reference's own run, in roundings, by the norm that needs more.
    relative: ||candidate - truth|| / ||truth||; NaN where no number tells.
    absolute: the largest |candidate - truth| of an element; NaN where no number tells, and for a
        sketch.
    reach: the error that the budget allows, relative to the truth, by the stricter norm. From 1
        on, a tensor of zeros would pass.
    index: the index of the worst element; () for a sketch.
    got: the candidate's value of that element.
    want: the truth's value of that element.
    sketched: whether only the sketch of the tensor is compared.
    faint: whether the figures are those of its elements far below the peak, since these differ
        more than the tensor as a whole.
    excuses: the names of the excuses without which the tensor would differ.
    other_width: "int32 for int64" where equal integers are of another width.
    nonfinite: the number of elements that are NaN or infinite, and the same on both sides.
    undefined: the number of elements that rounding of what goes in makes NaN or infinite.
    problem: what no norm can say: a missing tensor, another shape or dtype, a NaN. Both errors
        are then infinite. None without a problem.
    """

    name: str
    budget: float
    error: float = math.inf
    worst: float = math.inf
    conditioning: float = math.nan
    own_error: float = math.nan
    relative: float = math.nan
    absolute: float = math.nan
    reach: float = 0.0
    index: tuple[int, ...] = ()
    got: float = math.nan
    want: float = math.nan
    sketched: bool = False
    faint: bool = False
    excuses: tuple[str, ...] = ()
    other_width: str = ""
    nonfinite: int = 0
    undefined: int = 0
    problem: str | None = None

    @property
    def needed(self) -> float:
        """The smallest budget within which the tensor passes, in roundings."""
        return max(self.error, self.worst)

    @property
    def undecidable(self) -> bool:
        """Whether the budget reaches as far as zero, so that zeros would pass."""
        return self.reach >= 1.0

    def part(self, tensor: Expected) -> Expected:
        """The part of a tensor that has these figures."""
        return (self.faint and tensor.faint) or tensor

    @property
    def equal(self) -> bool:
        """Whether the tensor is within the budget by both norms."""
        return self.problem is None and self.needed <= self.budget


@dataclass(frozen=True)
class Judgement:
    """The verdicts on all tensors of one case.

    verdicts: one for each tensor, in the order of the reference's trace.
    ill_posed: why the case cannot tell right from wrong; None if it can.
    unit: the unit of errors and budget.
    excuse: the cause that explains a difference within the budget.
    coarse: whether convolutions and matrix products are computed in fewer bits than the dtype has.
    undecidable: the names of the tensors in which zeros would pass. They decide nothing, unless
        they are all outputs and losses, or more than two thirds of the tensors.
    hollow: whether every output of the reference is of zeros or has no element. Then the shapes
        and dtypes of the outputs are compared, and hardly any value.
    forward_only: whether no gradient is compared, since the reference gives none.
    by_order: which outputs are paired by their order, since one side alone names them; "": none.
    """

    verdicts: tuple[TensorVerdict, ...]
    ill_posed: str | None = None
    unit: str = "roundings"
    excuse: str = "rounding"
    coarse: bool = False
    undecidable: tuple[str, ...] = ()
    hollow: bool = False
    forward_only: bool = False
    by_order: str = ""

    @property
    def differing(self) -> list[TensorVerdict]:
        """The tensors over budget, worst first."""
        return sorted((v for v in self.verdicts if not v.equal), key=lambda v: -v.needed)

    def size(self, verdict: TensorVerdict) -> float:
        """How far a tensor is off, in the unit by which a declared difference is bounded.

        It is relative to the truth; in a unit other than roundings, it is the error itself. That of
        a loss is relative to the largest loss of the training: a single number is near zero by
        chance now and then. Infinite where no number tells.
        """
        size = verdict.relative if self.unit == "roundings" else verdict.needed
        if tensors.of_loss(verdict.name) and verdict.index == ():
            losses = [abs(v.want) for v in self.verdicts if tensors.of_loss(v.name)]
            size *= abs(verdict.want) / max(filter(math.isfinite, losses), default=math.nan)
        return math.inf if math.isnan(size) else size

    @property
    def excuses(self) -> set[str]:
        """The names of the excuses that decided a tensor."""
        return {name for verdict in self.verdicts for name in verdict.excuses}

    def perhaps_branches(self, expected: Truth, steps: int = 1) -> bool:
        """Whether other branches at kinks may explain all that differs.

        They may if all tensors over budget can jump at a kink and none has a problem.

        steps: the number of steps of a training.
        """
        differing = self.differing if self.ill_posed is None else []
        return bool(differing) and all(
            v.problem is None and expected.jumps(v.name, steps) for v in differing
        )

    @property
    def needed(self) -> float:
        """The smallest budget within which the whole case passes, in roundings."""
        return max(verdict.needed for verdict in self.verdicts)

    @property
    def equal(self) -> bool:
        """Whether the case is well-posed, at least one tensor is compared, and none differs."""
        return bool(self.verdicts) and self.ill_posed is None and not self.differing


def judge(
    expected: Mapping[str, Expected],
    candidate: Trace,
    unit_roundoff: float,
    budget: float = BUDGET,
    coarse: bool = False,
    replaceable: bool = False,
    by_value: bool = True,
    degenerate: bool = False,
) -> Judgement:
    """Compare a candidate's trace with the truth.

    budget: the largest error that passes, in roundings.
    coarse: whether the compute mode rounds more than the dtype does.
    replaceable: whether another sample is as good, as for an operator or a pipeline; one in which
    the reference's own run exceeds the budget is then ill-posed.
    by_value: whether integers may be of another width; of an operator the width is declared.
    degenerate: whether a truth without a finite number is meant.

    Structure comes first: a tensor that is missing on one side, or has another shape or dtype,
    differs whatever the sample. With the same structure, tensors in which zeros would pass are
    counted, and make the case ill-posed if they leave too little to judge it by.
    An output of another shape gets no cotangent, so that no gradient is compared then.
    Raises ValueError if there is nothing to compare.
    """
    if not expected:
        raise ValueError("nothing to compare: the reference's trace is empty")
    forward_only = isinstance(expected, Truth) and expected.forward_only
    candidate, by_order = tensors.by_order(expected, candidate)
    paired = attributes.pair(expected, candidate, unit_roundoff)
    expected, candidate = paired.expected, paired.candidate
    problems = _structure(expected, candidate, by_value) | dict(paired.problems)
    expected = _pulled_back(expected, candidate, problems)
    verdicts = [
        TensorVerdict(name, budget, problem=problems[name])
        if name in problems
        else _tensor(name, expected[name], candidate[name], unit_roundoff, budget)
        for name in {**expected, **problems}
    ]
    why = None
    if not problems:
        why = None if degenerate else nothing_to_compare(expected)
        why = why or mostly_undecidable(expected, unit_roundoff)
        why = why or reference_lost(expected, unit_roundoff, replaceable)
    undecidable = tuple(v.name for v in verdicts if v.undecidable)
    hollow = not any(expected[name].truth.any() for name in expected if tensors.of_result(name))
    return Judgement(
        tuple(verdicts),
        why,
        coarse=coarse,
        undecidable=undecidable,
        hollow=hollow,
        forward_only=forward_only,
        by_order=by_order,
    )


def demand_values(judgement: Judgement) -> Judgement:
    """The judgement, ill-posed where the reference gives nothing but zeros, or nothing at all."""
    if not judgement.hollow or judgement.ill_posed is not None:
        return judgement
    return replace(judgement, ill_posed=HOLLOW)


def _structure(
    expected: Mapping[str, Expected], candidate: Trace, by_value: bool
) -> dict[str, str]:
    """The tensors that are missing, or have another shape or dtype: name -> problem."""
    problems = {}
    another = tensors.another_structure(expected, candidate)
    for name, tensor in expected.items():
        got = candidate.get(name)
        if got is None:
            why = tensors.unkept(expected, candidate) if tensors.of_state(name) else another
            problems[name] = "the candidate does not have it" + why
        elif tensors.is_none(got.dtype, got.shape) != tensors.is_none(tensor.dtype, tensor.shape):
            none = tensors.is_none(got.dtype, got.shape)
            other = f"a {tensor.dtype} of the shape {tensor.shape}" if none else "None"
            given = "None" if none else f"a {got.dtype} of the shape {got.shape}"
            problems[name] = f"{given}, expected {other}"
            if none and len(tensors.returned(candidate)) == 1:
                problems[name] += ": construct returns nothing, so its return may be missing"
        elif got.shape != tensor.shape:
            problems[name] = f"shape {got.shape}, expected {tensor.shape}"
        elif tensors.beside(name):
            continue  # it may be of another width
        elif not ((by_value and _integers(got, tensor)) or dtypes.name(got.dtype) == tensor.dtype):
            problems[name] = f"dtype {dtypes.name(got.dtype)}, expected {tensor.dtype}"
    # What the candidate's step keeps besides, such as gradients that it adds up, is its own affair.
    alone = [n for n in candidate if n not in expected and not tensors.of_state(n)]
    return problems | dict.fromkeys(alone, "only the candidate has it" + another)


def _pulled_back(
    expected: Mapping[str, Expected], candidate: Trace, problems: dict[str, str]
) -> Mapping[str, Expected]:
    """What can be compared: no gradients where an output of another shape got no cotangent.

    The problem of that output says so.
    """
    odd = [
        name
        for name, tensor in expected.items()
        if name.startswith("output.") and tensor.truth.dtype.kind == "f"
        if name not in candidate or candidate[name].shape != tensor.shape
    ]
    gradients = [n for n in expected if tensors.of_gradient(n) and n not in problems]
    if not (odd and gradients):
        return expected
    problems[odd[0]] += "; no gradient is compared"
    return {name: each for name, each in expected.items() if name not in gradients}


def _integers(got: np.ndarray, tensor: Expected) -> bool:
    """Whether both are whole numbers, which are compared by value, however wide they are."""
    return got.dtype.kind in "iu" and tensor.truth.dtype.kind in "iu"


def _tensor(
    name: str, tensor: Expected, got: np.ndarray, unit_roundoff: float, budget: float
) -> TensorVerdict:
    """The verdict on a tensor whose shape and dtype are right."""
    truth = tensor.truth
    if truth.dtype.kind != "f":
        return _exact(name, tensor, got, budget)
    if tensor.sketch:
        odd = np.flatnonzero(~np.isfinite(got))
        if odd.size:
            index = _unravel(int(odd[0]), got.shape)
            return TensorVerdict(
                name,
                budget,
                index=index,
                got=float(got[index]),
                sketched=True,
                problem=f"{odd.size} of {got.size} elements are not finite where the truth is; "
                f"first at {index}: {got[index]}",
            )
    distance = tensor.distance(got)
    if distance.mismatched:
        index = _unravel(distance.first_mismatch, truth.shape)
        return TensorVerdict(
            name,
            budget,
            index=index,
            got=float(got[index]),
            want=float(truth[index]),
            problem=f"{distance.mismatched} of {truth.size} elements are not finite where the "
            f"truth is, or differ in kind; first at {index}: {got[index]} for {truth[index]:.9g}",
        )
    reach = budget * tensor.share(distance, unit_roundoff)
    distances = [distance, *(part.distance(got) for part in tensor.parts[1:])]
    verdicts = [
        _part(name, part, got, distance, unit_roundoff, budget, reach)
        for part, distance in zip(tensor.parts, distances, strict=True)
    ]
    names = dict.fromkeys(name for verdict in verdicts for name in verdict.excuses)
    worst = max(verdicts, key=lambda verdict: verdict.needed)
    absolute = math.nan if tensor.sketch else distance.largest
    return replace(
        worst,
        relative=verdicts[0].relative,
        absolute=absolute,
        excuses=tuple(names),
        nonfinite=distance.agreeing,
    )


def _part(
    name: str,
    part: Expected,
    got: np.ndarray,
    distance: Distance,
    unit_roundoff: float,
    budget: float,
    reach: float,
) -> TensorVerdict:
    """The verdict by the norms of one part of a tensor. reach: that of the whole tensor."""
    error, worst = part.in_roundings(distance, unit_roundoff)
    shown = part.truth.size and not part.sketch
    at = int(part.at[distance.at]) if isinstance(part, Faint) else distance.at
    index = _unravel(at, part.shape) if shown else ()
    floor = unit_roundoff * distance.scale
    return TensorVerdict(
        name,
        budget,
        error=error,
        worst=worst,
        conditioning=part.spread / floor if floor else math.nan,
        own_error=part.own_needed,
        relative=distance.norm / distance.scale if distance.scale else math.nan,
        reach=reach,
        index=index,
        got=float(got[index]) if shown else math.nan,
        want=float(part.truth.reshape(-1)[distance.at]) if shown else math.nan,
        sketched=part.sketch is not None,
        faint=isinstance(part, Faint),
        excuses=_excuses(distance, part, unit_roundoff, budget, max(error, worst)),
        undefined=part.undefined,
    )


def _excuses(
    distance: Distance, tensor: Expected, unit_roundoff: float, budget: float, needed: float
) -> tuple[str, ...]:
    """The names of the excuses without which a tensor within the budget would differ."""
    if needed > budget:
        return ()
    if max(tensor.in_roundings(distance, unit_roundoff, underflow=0.0)) > budget:
        return (excuses.UNDERFLOW.name,)
    return ()


def _exact(name: str, tensor: Expected, got: np.ndarray, budget: float) -> TensorVerdict:
    """The verdict on integers and booleans: they are equal or they are not."""
    wrong = np.flatnonzero(tensor.view(got).reshape(-1) != tensor.truth.reshape(-1))
    if not wrong.size:
        other = "" if str(got.dtype) == tensor.dtype else f"{got.dtype} for {tensor.dtype}"
        sketched = tensor.sketch is not None
        return TensorVerdict(name, budget, 0.0, 0.0, sketched=sketched, other_width=other)
    if tensor.sketch:
        problem = f"some of its {got.size} integers differ; which, their digest does not tell"
        return TensorVerdict(name, budget, sketched=True, problem=problem)
    index = _unravel(int(wrong[0]), got.shape)
    apart = distance(got.astype(float), tensor.truth.astype(float))
    return TensorVerdict(
        name,
        budget,
        relative=apart.norm / apart.scale if apart.scale else math.nan,
        absolute=apart.largest,
        index=index,
        got=float(got[index]),
        want=float(tensor.truth[index]),
        problem=f"{wrong.size} of {got.size} integers differ; "
        f"first at {index}: {got[index]} for {tensor.truth[index]}",
    )


def _unravel(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index of a flat index in an array of `shape`; () for a negative one."""
    return tuple(int(i) for i in np.unravel_index(flat, shape)) if flat >= 0 else ()


ENOUGH = 1 / 3
"""The share of tensors that rounding must leave. A training step of ResNet50 with HF32 products
leaves 0.4: its outputs and statistics, and hardly a gradient."""


def mostly_undecidable(expected: Mapping[str, Expected], unit_roundoff: float) -> str | None:
    """Why rounding leaves too little of a case to tell right from wrong; None if it leaves enough.

    A tensor is undecidable if the budget reaches as far as zero, see `Expected.undecidable`. A few
    of them are no matter: the gradient of a bias in front of a BatchNorm is nothing but rounding,
    and later steps of a training are. A case needs `ENOUGH` of its tensors, and one of each of its
    `KINDS`.
    """
    names = [name for name in expected if not tensors.beside(name)]
    lost = [name for name in names if expected[name].undecidable(unit_roundoff)]
    return _too_few(lost, names)


KINDS = (("output.", "loss["), ("update[",))
"""The beginnings of the names of results, and of updates."""


def _too_few(lost: Sequence[str], names: Sequence[str]) -> str | None:
    for kind in KINDS:
        all_of = [name for name in names if name.startswith(kind)]
        if all_of and set(all_of) <= set(lost):
            which = f"rounding alone decides {listed(all_of)}"
            worst = all_of[0]
            break
    else:
        if len(names) - len(lost) >= ENOUGH * len(names):
            return None
        which = f"rounding alone decides {len(lost)} of {len(names)} tensors, such as {lost[0]}"
        worst = lost[0]
    return (
        f"{which}: {BUDGET:g} roundings are as large as the truth itself, so that zeros would "
        f"pass; {_cure(worst)}"
    )


def _cure(name: str) -> str:
    """What makes a case whose tensor `name` is ill-conditioned better."""
    cure = "use a larger batch, other values or trained weights"
    if not (tensors.of_update(name) or tensors.of_loss(name)):
        return cure
    return f"{cure}, or fewer steps"


def lost(
    expected: Mapping[str, Expected], unit_roundoff: float, replaceable: bool = False
) -> list[str]:
    """The tensors that the reference's own run loses: it is off by half of them, or more.

    Of a replaceable sample, those in which it is over the budget. What is undecidable is not lost,
    nor is what is told beside results, which is then not compared.
    """

    def is_lost(tensor: Expected) -> bool:
        if tensor.own_needed <= BUDGET or tensor.undecidable(unit_roundoff):
            return False
        return replaceable or tensor.own_share(unit_roundoff) >= HALF

    return [n for n, each in expected.items() if not tensors.beside(n) and is_lost(each)]


def reference_lost(
    expected: Mapping[str, Expected], unit_roundoff: float, replaceable: bool
) -> str | None:
    """Why the reference's own run makes the case ill-posed; None if it does not."""
    names = lost(expected, unit_roundoff, replaceable)
    if not names:
        return None
    worst = max(names, key=lambda name: expected[name].own_needed)
    return (
        f"the reference's own run in this precision is {expected[worst].own_needed:.3g} roundings "
        f"from the truth at {worst} (budget {BUDGET:g}): the case cannot tell right from wrong"
        + ("" if replaceable else f"; {_cure(worst)}")
    )

"""The outcome of a case: its verdict, and everything that is reported with the verdict."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

from equivalence.judge import excuses
from equivalence.judge.settings import Settings
from equivalence.judge.truth import Flip
from equivalence.judge.verdict import Judgement, TensorVerdict
from equivalence.reach.decision import REFERENCE, Reach
from equivalence.words import counted, number


@dataclass(frozen=True)
class Kernel:
    """A kernel, and its own error on what a candidate fed it.

    name: the primitive.
    device: the device that it ran on.
    error: the largest error of its results, in roundings of the result.
    finding: the name of the finding that shows it; None where none is declared for the device.
    known: the largest error that is declared for it, in roundings.
    moved: the error of the network with this kernel, and with the others to blame, in roundings.
    """

    name: str
    device: str
    error: float
    finding: str | None = None
    known: float = 0.0
    moved: float = 0.0

    @property
    def declared(self) -> bool:
        """Whether the kernel may be as inaccurate as it is."""
        return self.finding is not None and self.error <= self.known

    def __str__(self) -> str:
        told = f"finding {self.finding}" if self.finding else "no finding is declared"
        if self.finding and not self.declared:
            told += f" declares {_short(self.known)} at most"
        return f"ops.{self.name} on {self.device} (its own error {_short(self.error)}; {told})"


def _short(error: float) -> str:
    """An error in roundings, in words."""
    return f"{number(error)} roundings"


@dataclass(frozen=True)
class DrawsCompared:
    """How the random numbers of a case were compared.

    count: how many draws of each side got the same numbers.
    pinned: why none did, so that what draws is compared by its laws alone; "" where they did.

    >>> print(DrawsCompared(2))
    2 draws gave both sides the same random numbers
    >>> print(DrawsCompared(pinned="there is no torch"))
    what draws is pinned, and compared by its laws alone: there is no torch
    """

    count: int = 0
    pinned: str = ""

    def __str__(self) -> str:
        if self.pinned:
            return f"what draws is pinned, and compared by its laws alone: {self.pinned}"
        return f"{counted(self.count, 'draw')} gave both sides the same random numbers"


@dataclass(kw_only=True)
class Findings:
    """What a comparison finds beside its verdict.

    flips: activations in which the candidate took the other branch; they excuse a difference.
    kernels: the inaccurate kernels but for which the sides are equal; they excuse a difference.
    note: a possible cause of the difference: one that this host cannot test, or inaccurate kernels.
    later: whether it is right in the first call, and wrong in a later one.
    stand_ins: the functions of MindSpore that have no kernel on a CPU, for which others stood.
    excused: the names of excuses that changed the verdict, besides those of `judgement`.
    settings: the comparison of both sides' settings; None where a side is read from a record, and
    where a case has none.
    reach: the decisions that both sides took, and the sample; None for what has none, such as an
    operator.
    draws: how random numbers were compared; None where none are drawn, or something else differs.
    states: the states that one side alone has and writes in its runs, a sentence for each side.
    apart: name of each attribute that a run writes and that is not compared, and why.
    islands: which operators the port computes in fewer bits than the original, in words.
    """

    flips: tuple[Flip, ...] = ()
    note: str | None = None
    later: bool = False
    stand_ins: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    settings: Settings | None = None
    reach: Reach | None = None
    draws: DrawsCompared | None = None
    states: tuple[str, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    islands: tuple[str, ...] = ()

    @property
    def findings(self) -> dict[str, Any]:
        """All of this by name, for another comparison or an outcome."""
        return {each.name: getattr(self, each.name) for each in fields(Findings)}

    @staticmethod
    def joined(parts: Iterable["Findings"]) -> dict[str, Any]:
        """What stands behind the verdicts of all parts of a case, by name."""
        every = list(parts)
        return {
            "flips": tuple(flip for each in every for flip in each.flips),
            "excused": tuple(dict.fromkeys(name for each in every for name in each.excused)),
            "kernels": tuple(kernel for each in every for kernel in each.kernels),
            "stand_ins": tuple(sorted({name for each in every for name in each.stand_ins})),
        }


@dataclass
class Outcome(Findings):
    """The outcome of one case, which `check` returns, with what its comparison found.

    case: the case that was compared, one of the kinds of `equivalence/kinds.py`.
    seed: its base seed.
    judgement: the verdict; None where both sides must raise, or where the truth was only recorded
    because the device is missing.
    undecided: the number of elements of updates that rounding decides; each must be in a range.
    record: "used", "stale" or "written", the use of the recorded truth; None: no record was used.
    made_with: the versions that the candidate's recorded run was made with; None: it ran here.
    products: the number of convolutions and matrix products that a rehearsal rounded; None: no
    rehearsal.
    proposed: the renames that pair the weights as `pair="order"` does, a line each.
    demanded: the share of the decisions that must be reached.
    further: how many further samples were compared, besides its own.
    beyond: how many further samples differ beyond limits that the twin declares.
    untried: what was not compared besides, such as a kind of pictures, and why.
    error: why a comparison of one's own networks could not compare this case; it counts as failed.

    >>> from equivalence import Outcome, Twin, cases, check, normal
    >>> wrong = Twin("relu", "torch.nn:ReLU", "mindspore.nn:ReLU6", [normal(4, 8, scale=9.0)])
    >>> outcome = check(next(cases(wrong, "cpu")), seed=0)
    >>> isinstance(outcome, Outcome), outcome.passed
    (True, False)
    >>> [tensor.name for tensor in outcome.judgement.differing]
    ['output.0', 'gradient:input[0]']
    """

    case: Any
    seed: int
    judgement: Judgement | None
    undecided: int = 0
    record: str | None = None
    made_with: str | None = None
    products: int | None = None
    proposed: tuple[str, ...] = ()
    demanded: float = 0.0
    further: int = 0
    beyond: int = 0
    untried: tuple[tuple[str, str], ...] = ()
    error: str | None = None

    @property
    def judged(self) -> Judgement:
        """The judgement. Raises ValueError where `error` stands in its place."""
        if self.judgement is None:
            raise ValueError(f"the outcome has no judgement: {self.error}")
        return self.judgement

    @property
    def moved(self) -> float:
        """The error with the inaccurate kernels, in roundings; 0 where there are none."""
        return max((kernel.moved for kernel in self.kernels), default=0.0)

    @property
    def passed(self) -> bool:
        """Whether the sides are equal, or differ where and as far as the declaration says so.

        Settings count as tensors do, also those of a framework's layer that could not be read, and
        so do decisions that were not reached where a share of them is demanded. A
        declared difference covers all settings; it also passes where a coarse mode cannot show it.
        """
        if self.judgement is None:
            return self.error is None
        if self.lacks_reach:
            return False
        if self.case.twin.differs:
            shown = bool(self.judgement.differing) or self.judgement.coarse
            return self.judgement.ill_posed is None and shown and not self.unexpected
        return self.judgement.equal and not (self.settings and self.settings.wrong)

    @property
    def lacks_reach(self) -> bool:
        """Whether fewer decisions were reached than is demanded, or it is not known how many."""
        if not self.demanded or self.judgement is None:
            return False
        reach = self.reach
        return reach is None or REFERENCE in reach.unknown or reach.share < self.demanded

    @property
    def unexpected(self) -> list[TensorVerdict]:
        """The tensors that are over budget, and not as a difference is declared; worst first."""
        judgement, differs = self.judged, self.case.twin.differs
        return [
            verdict
            for verdict in judgement.differing
            if not (
                differs and differs.allows(verdict.name, judgement.size(verdict), verdict.problem)
            )
        ]

    @property
    def excuses(self) -> tuple[str, ...]:
        """The names of all excuses behind the verdict, in the order of their table."""
        if self.judgement is None:
            return ()
        names = {*self.excused, *self.judgement.excuses}
        if self.case.twin.differs and self.passed:
            names.add(excuses.DECLARED_DIFFERENCE.name)
        elif self.settings and self.settings.declared:
            names.add(excuses.DECLARED_SETTING.name)
        if self.settings and self.settings.elsewhere:
            names.add(excuses.PADDED_ELSEWHERE.name)
        if self.case.limits:
            names.add(excuses.LIMIT.name)
        return tuple(each.name for each in excuses.EXCUSES if each.name in names)

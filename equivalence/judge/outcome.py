"""The outcome of a case: its verdict, and everything that is reported with the verdict."""

from dataclasses import dataclass
from typing import Any

from equivalence.judge import excuses
from equivalence.judge.draws import Draws
from equivalence.judge.kernels import Kernel
from equivalence.judge.settings import Settings
from equivalence.judge.truth import Flip
from equivalence.judge.verdict import Judgement, TensorVerdict
from equivalence.reach.decision import REFERENCE, Reach


@dataclass
class Outcome:
    """The outcome of one case, which `check` returns.

    case: the case that was compared, one of the kinds of `equivalence/kinds.py`.
    seed: its base seed.
    judgement: the verdict; None where both sides must raise, or where the truth was only recorded
    because the device is missing.
    flips: activations in which the candidate took the other branch; they excuse a difference.
    kernels: the inaccurate kernels but for which the sides are equal; they excuse a difference.
    undecided: the number of elements of updates that rounding decides; each must be in a range.
    record: "used", "stale" or "written", the use of the recorded truth; None: no record was used.
    note: a possible cause of the difference: one that this host cannot test, or inaccurate kernels.
    later: whether it is right in the first call, and wrong in a later one.
    made_with: the versions that the candidate's recorded run was made with; None: it ran here.
    products: the number of convolutions and matrix products that a rehearsal rounded; None: no
    rehearsal.
    stand_ins: the functions of MindSpore that have no kernel on a CPU, for which others stood.
    excused: the names of excuses that changed the verdict, besides those of `judgement`.
    settings: the comparison of both sides' settings; None where a side is read from a record, and
    where a case has none.
    proposed: the renames that pair the weights as `pair="order"` does, a line each.
    reach: the decisions that both sides took, and the sample; None for what has none, such as an
    operator.
    demanded: the share of these that must be reached.
    further: how many further samples were compared, besides its own.
    draws: how random numbers were compared; None where none are drawn, or something else differs.
    apart: name of each attribute that a run writes and that is not compared, and why.
    islands: which operators the port computes in fewer bits than the original, in words.
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
    flips: tuple[Flip, ...] = ()
    undecided: int = 0
    record: str | None = None
    note: str | None = None
    later: bool = False
    made_with: str | None = None
    products: int | None = None
    stand_ins: tuple[str, ...] = ()
    excused: tuple[str, ...] = ()
    kernels: tuple[Kernel, ...] = ()
    settings: Settings | None = None
    proposed: tuple[str, ...] = ()
    reach: Reach | None = None
    demanded: float = 0.0
    further: int = 0
    draws: Draws | None = None
    apart: tuple[tuple[str, str], ...] = ()
    islands: tuple[str, ...] = ()
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
        if self.case.limits:
            names.add(excuses.LIMIT.name)
        return tuple(each.name for each in excuses.EXCUSES if each.name in names)

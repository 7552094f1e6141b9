"""What a case is, and the table of all kinds of checks.

A new kind of check needs three things: a declaration in `declare/`, a folder of its own beside it,
and one row in this table. The table names functions as "module:attribute" and does not import them,
because they load the frameworks.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from equivalence.declare.data_parallel import DataParallelCase
from equivalence.declare.difference import Difference, Raised
from equivalence.declare.initial import InitialCase
from equivalence.declare.operator import OperatorCase
from equivalence.declare.pipeline import PipelineCase
from equivalence.declare.twin import LayeredCase, MindSporeCase, TorchCase, TwinCase
from equivalence.errors import SideError
from equivalence.judge.mistake import Mistakes
from equivalence.judge.outcome import Outcome
from equivalence.targets import resolve


class Declared(Protocol):
    """The fields that every declaration has.

    name: an identifier; no other declaration of the same kind has it.
    level: "gate" or "nightly": when its cases are compared.
    differs: a known difference; None where the sides must be equal.
    raises: the error that both sides must raise; None where neither may raise.
    """

    @property
    def name(self) -> str: ...

    @property
    def level(self) -> str: ...

    @property
    def differs(self) -> Difference | None: ...

    @property
    def raises(self) -> Raised | None: ...


class Case(Protocol):
    """One comparison: a declaration under one configuration. Every kind of case has these fields.

    twin: the declaration.
    device: the name of the place where the candidate runs, see `host/devices.py`.
    labels: further columns of the case's results, column -> text.
    limits: limits of the candidate; no input lies beyond them. Limit -> its consequence, in words.
    releases: the releases of MindSpore that can run it, such as ">=2.8"; None: all.
    name: names the case and its pytest test.
    sample_name: names the sample; cases of the same sample share one truth.
    """

    @property
    def twin(self) -> Declared: ...

    @property
    def device(self) -> str: ...

    @property
    def labels(self) -> Mapping[str, str]: ...

    @property
    def limits(self) -> Mapping[str, str]: ...

    @property
    def releases(self) -> str | None: ...

    @property
    def name(self) -> str: ...

    @property
    def sample_name(self) -> str: ...


class ToldDiagnosis(NamedTuple):
    """A diagnosis, told.

    brief: a few lines, for the terminal.
    full: all of it, as lines.
    data: what the page draws, as JSON: the layers of both sides with their errors, and the
        culprits. None where the case has no layers.
    mistakes: what there is to mend, in plain words.
    """

    brief: Sequence[str]
    full: Sequence[str]
    data: Mapping[str, Any] | None = None
    mistakes: Mistakes = Mistakes()


@dataclass(frozen=True)
class Kind:
    """One kind of check.

    case: the class of its cases.
    check: the target of `check(case, seed) -> Outcome`, which runs both sides and judges them.
    diagnose: the target of `diagnose(case, seed, every) -> Told`, see `diagnose` below.
    part: the unit that a diagnosis looks at, one after the other: "layer", "stage", "rank".
    raised: the target of `raised(case, seed, told) -> str`, which tells more of where the candidate
        raises than the message does; "" where nothing tells it.
    """

    case: type
    check: str
    diagnose: str
    part: str
    raised: str = ""


KINDS = (
    Kind(
        TwinCase,
        check="equivalence.comparison.check:check",
        diagnose="equivalence.diagnosis.diagnose:tell",
        part="layer",
        raised="equivalence.statements.raised:partner",
    ),
    Kind(
        LayeredCase,
        check="equivalence.bylayer.compare:check",
        diagnose="equivalence.bylayer.diagnose:tell",
        part="layer",
    ),
    Kind(
        TorchCase,
        check="equivalence.comparison.check:check",
        diagnose="equivalence.alike.diagnose:tell",
        part="layer",
    ),
    Kind(
        MindSporeCase,
        check="equivalence.alike.check:check",
        diagnose="equivalence.alike.diagnose:tell",
        part="layer",
    ),
    Kind(
        OperatorCase,
        check="equivalence.operators.compare:check",
        diagnose="equivalence.operators.compare:tell",
        part="value",
    ),
    Kind(
        PipelineCase,
        check="equivalence.pipelines.check:check",
        diagnose="equivalence.pipelines.check:tell",
        part="stage",
    ),
    Kind(
        InitialCase,
        check="equivalence.initials.compare:check",
        diagnose="equivalence.initials.compare:tell",
        part="weight",
    ),
    Kind(
        DataParallelCase,
        check="equivalence.distributed.compare:check",
        diagnose="equivalence.distributed.diagnose:tell",
        part="rank",
    ),
)
"""Every kind of check."""


def kind_of(case: Case) -> Kind:
    """The row of KINDS for a case. Raises TypeError where the object is no case."""
    for kind in KINDS:
        if type(case) is kind.case:
            return kind
    raise TypeError(f"{type(case).__name__} is no kind of case; see the table in {__name__}")


def check(case: Case, seed: int) -> Outcome:
    """Run both sides of a case and judge the candidate.

    case: one comparison, such as one of `cases(twin, device)`.
    seed: the base seed; inputs, weights and cotangents are drawn from it.

    Raises EquivalenceError where the sides cannot be compared.

    >>> from equivalence import Twin, cases, check, normal
    >>> twin = Twin("relu", "torch.nn:ReLU", "mindspore.nn:ReLU", [normal(4, 8)])
    >>> check(next(cases(twin, "cpu")), seed=0).passed
    True
    """
    kind = kind_of(case)
    sys.audit("equivalence.check", case)
    try:
        outcome = resolve(kind.check)(case, seed)
    except SideError as error:
        if not kind.raised or error.side != "candidate":
            raise
        further = resolve(kind.raised)(case, seed, str(error))
        raise SideError(f"{error}{further}", error.side, error.in_gradients) from error
    if case.twin.differs and outcome.judgement is not None:
        names = [verdict.name for verdict in outcome.judgement.verdicts]
        names += [name for name, _ in outcome.apart]
        case.twin.differs.demand_names(case.name, names)
    return outcome


def diagnose(case: Case, seed: int, every: bool = False) -> ToldDiagnosis:
    """Find the part that is to blame for a difference.

    case, seed: the same as for `check`, and the same errors.
    every: look at each part, not only at those on the way to the culprit.

    >>> from equivalence import Twin, cases, diagnose, normal
    >>> wrong = Twin("relu", "torch.nn:ReLU", "mindspore.nn:ReLU6", [normal(4, 8, scale=9.0)])
    >>> for line in diagnose(next(cases(wrong, "cpu")), seed=0).brief:
    ...     print(line)
    culprit: the network itself (ReLU)
      kind ReLU (reference) ReLU6 (candidate)
      output.0: never above 6
    """
    return resolve(kind_of(case).diagnose)(case, seed, every)

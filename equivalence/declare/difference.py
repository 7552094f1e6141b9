"""What a declaration expects where the sides are not equal, or both refuse. Imports no framework.

`Difference` is a known difference with its bound, `Raised` an error that must be raised, `Limit` a
limit that some releases of MindSpore have.
"""

import builtins
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from equivalence.declare.declaration import Demand, fields_checked, is_number, shown
from equivalence.errors import DeclarationError
from equivalence.releases import holds


@fields_checked
@dataclass(frozen=True)
class Raised:
    """The error that both sides must raise.

    error: the name of the exception's class.
    message: a part of the message, as it is written there.
    candidate: a part of the candidate's message, where that has other words.

    Raises DeclarationError where a field is wrong.

    >>> from equivalence import Raised
    >>> refusal = Raised("ValueError", "does not fit", candidate="has another shape")
    >>> refusal.refuses("reference", ValueError("a weight does not fit")) is None
    True
    >>> refusal.refuses("candidate", ValueError("too long"))
    "raised ValueError (too long), whose message has no 'has another shape'"
    """

    error: str
    message: str
    candidate: str | None = None

    def __post_init__(self) -> None:
        demand = Demand("raised", self, self.error)
        complaint = f"error {shown(self.error)} is no exception's name, such as 'ValueError'"
        demand(_is_exception(self.error), complaint)
        right = isinstance(self.message, str) and bool(self.message.strip())
        demand(right, f"message is {shown(self.message)}; write a part of it")
        demand.text("candidate")

    def refuses(self, side: str, error: BaseException) -> str | None:
        """What is wrong with the error of a side, in words; None where it is the one meant."""
        name = type(error).__name__
        part = self.candidate if side == "candidate" and self.candidate else self.message
        if name != self.error:
            return f"raised {name} ({error}), not {self.error}"
        if part not in str(error):
            return f"raised {name} ({error}), whose message has no {part!r}"
        return None


@fields_checked
@dataclass(frozen=True)
class Difference:
    """A known difference: its cause, the tensors that may show it, and its largest size.

    All other tensors are judged as ever, and one of these at least must differ.

    cause: the cause, in words.
    tensors: names of tensors -> the largest error, relative to the truth: ||candidate - truth|| /
    ||truth||. That of a loss is relative to the largest loss of the training. For initial weights
    it is the largest evidence in decades. Where no number tells (another shape, infinite values),
    it is a part of the problem's words. In a name, * stands for any characters; the first name
    that fits a tensor counts.
    A counterpart that refuses an example has `Raised` instead, the error of MindSpore.
    releases: the releases of MindSpore that show it, such as "<2.8"; None: all. In every other one
    the sides must be equal.

    Raises DeclarationError where a field is wrong.

    >>> from equivalence import Difference
    >>> known = Difference("epsilon 1e-4 for 1e-5", {"output.0": 0.01, "gradient:input[*]": 0.02})
    >>> known.bound("gradient:input[0]"), known.bound("gradient:weight")
    (0.02, None)
    """

    cause: str
    tensors: Mapping[str, float | str] | Raised
    releases: str | None = None

    def __post_init__(self) -> None:
        demand = Demand("difference", self, self.cause)
        demand.releases()
        right = isinstance(self.cause, str) and bool(self.cause.strip())
        demand(right, f"cause is {shown(self.cause)}; say it in words")
        if isinstance(self.tensors, Raised):
            return
        given = isinstance(self.tensors, Mapping) and bool(self.tensors)
        complaint = f"tensors is {shown(self.tensors)}; write {{'output.0': 0.01}}"
        demand(given, complaint)
        for name, bound in self.tensors.items():
            demand(isinstance(name, str) and bool(name.strip()), f"tensors names {shown(name)}")
            right = is_number(bound) and float(bound) > 0
            right = right or (isinstance(bound, str) and bool(bound.strip()))
            told = f"tensors gives {name} the bound {shown(bound)}; write a number above zero"
            demand(right, f"{told}, or words of the problem")

    def __str__(self) -> str:
        return self.cause

    def bound(self, tensor: str) -> float | str | None:
        """How a tensor may differ: a size, or words of its problem; None: not at all."""
        return next((b for name, b in self._bounds.items() if _fits(name, tensor)), None)

    @property
    def _bounds(self) -> Mapping[str, float | str]:
        return {} if isinstance(self.tensors, Raised) else self.tensors

    def allows(self, tensor: str, size: float, problem: str | None) -> bool:
        """Whether a tensor over budget differs as declared.

        size: its error, in the unit of `tensors`; infinite where no number tells.
        problem: what no norm can say; None without a problem.
        """
        bound = self.bound(tensor)
        if isinstance(bound, str):
            return problem is not None and bound in problem
        return bound is not None and size <= bound and math.isfinite(size)

    def demand_names(self, case: str, tensors: Iterable[str]) -> None:
        """Raise DeclarationError where a name of `tensors` fits none of these of a case."""
        compared, unused = list(tensors), dict.fromkeys(self._bounds)
        for tensor in compared:
            unused.pop(next((name for name in self._bounds if _fits(name, tensor)), ""), None)
        if unused:
            raise DeclarationError(
                f"{case}: differs names {', '.join(unused)}, which no tensor is left for; "
                f"there are {', '.join(compared[:4])}{', ...' if len(compared) > 4 else ''}"
            )


@fields_checked
@dataclass(frozen=True)
class Limit:
    """A limit of a counterpart that some releases of MindSpore have, and others have not.

    consequence: what happens beyond the limit, in words.
    releases: the releases that have it, such as "<2.8". In every other one, examples beyond it are
    compared like all others.

    Raises DeclarationError where a field is wrong.

    >>> from equivalence import Limit, to
    >>> lerp = to("ops.lerp", without={"empty": Limit("is refused", "<2.7")})
    >>> dict(lerp.without)
    {}
    """

    consequence: str
    releases: str

    def __post_init__(self) -> None:
        demand = Demand("limit", self, self.consequence)
        right = isinstance(self.consequence, str) and bool(self.consequence.strip())
        demand(right, f"consequence is {shown(self.consequence)}; say it in words")
        demand.releases()


UNWRITTEN = "unwritten"
"""How the reason of a limit begins where nobody writes the memory of a result, right by chance."""


def held(declared: Any) -> Any:
    """The limits or differences that the installed release has, limits in words.

    What is no mapping stays as it is.
    """
    if not isinstance(declared, Mapping):
        return declared
    return {
        name: each.consequence if isinstance(each, Limit) else each
        for name, each in declared.items()
        if holds(getattr(each, "releases", None))
    }


def demand_difference(demand: Demand) -> None:
    """Demand that the field `differs` is None, or a Difference of tensors.

    It becomes None where the installed release of MindSpore does not show the difference.
    """
    differs = demand.declared.differs
    right = differs is None or isinstance(differs, Difference)
    cure = "write Difference('the cause', {'output.0': 0.01}), the tensors with their largest error"
    demand(right, f"differs is {shown(differs)}; {cure}")
    refusal = differs is not None and isinstance(differs.tensors, Raised)
    demand(not refusal, "differs names an error; only a counterpart's can")
    if differs is not None and not holds(differs.releases):
        object.__setattr__(demand.declared, "differs", None)


def _fits(name: str, tensor: str) -> bool:
    """Whether a name in which * stands for any characters is that of a tensor."""
    return bool(re.fullmatch(".*".join(map(re.escape, name.split("*"))), tensor))


def _is_exception(name: Any) -> bool:
    """Whether a text can name an exception: a built-in one, or one ending in Error or Exception."""
    if not (isinstance(name, str) and name.isidentifier()):
        return False
    builtin = getattr(builtins, name, None)
    if builtin is not None:
        return isinstance(builtin, type) and issubclass(builtin, Exception)
    return name.endswith(("Error", "Exception"))

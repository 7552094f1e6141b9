"""Operators: a torch function, the MindSpore calls that must equal it, and the space they share.

Declared as data, one line where nothing is special. An example is one point of that space, and
spelled as a call of its inputs' draws: `softmax(normal(2, 3), dim=1)`.
"""

import ast
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from equivalence.declare import draws
from equivalence.declare.declaration import Demand, shown
from equivalence.declare.draws import Draw
from equivalence.declare.twin import DTYPES, Case, Twin
from equivalence.errors import DeclarationError

if TYPE_CHECKING:
    from equivalence.twins.check import Outcome


@dataclass(frozen=True)
class Counterpart:
    """A MindSpore call, `api` below `mindspore`, that must equal the torch function.

    names: argument of torch -> argument of MindSpore, where they differ. through: the function,
    "module:attribute", that makes the call with torch's arguments, where names are not enough.
    integers: the width of integer outputs, where it is not torch's int64.
    without: limit (see `LIMITS`) -> what comes of it, in words. No example beyond it is drawn, and
    some example beyond it must fail; "crashes ..." and "spoils ..." are not tried, nor is
    "unwritten ...", memory that may be right by chance.
    differs: difference, in words -> an example that must show it.
    defaults: argument of torch -> (torch's default, MindSpore's), for each that is not the same.
    """

    api: str
    names: Mapping[str, str] = field(default_factory=dict)
    through: str | None = None
    integers: str | None = None
    without: Mapping[str, str] = field(default_factory=dict)
    differs: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        demand = Demand("counterpart", self, self.api)
        demand.api("api")
        for field_name in ("names", "without", "differs"):
            demand.words(field_name)
        if self.through is not None:
            demand.target("through")
        demand.mapping("defaults", self.defaults)
        for name, both in self.defaults.items():
            right = isinstance(both, tuple) and len(both) == 2
            demand(right, f"defaults of {name} are {shown(both)}; write torch's and MindSpore's")


def to(
    api: str,
    /,
    *,
    through: str | None = None,
    integers: str | None = None,
    without: Mapping[str, str] | None = None,
    differs: Mapping[str, str] | None = None,
    defaults: Mapping[str, tuple[Any, Any]] | None = None,
    **names: str,
) -> Counterpart:
    """A counterpart; keywords rename arguments: `to("ops.softmax", dim="axis")`."""
    declared = [{} if each is None else each for each in (without, differs, defaults)]
    return Counterpart(api, names, through, integers, *declared)


@dataclass(frozen=True)
class Example:
    """One point of an operator's space: how inputs are drawn, the other arguments, the dtype."""

    inputs: tuple[Draw, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    dtype: str = "float32"

    def __post_init__(self) -> None:
        demand = Demand("example", self, "of an operator")
        demand(not isinstance(self.inputs, Draw), "inputs is one draw; write a tuple")
        odd = [each for each in demand.listed("inputs") if not isinstance(each, Draw)]
        demand(not odd, f"inputs has {shown(odd and odd[0])}, which is no draw; write normal(2, 3)")
        demand.mapping("arguments", self.arguments)
        demand(self.dtype in DTYPES, f"dtype {shown(self.dtype)} not among {', '.join(DTYPES)}")

    def spelled(self, name: str) -> str:
        """The call, as `Operator.example` reads it."""
        head = name if self.dtype == "float32" else f"{name}[{self.dtype}]"
        arguments = [f"{key}={value!r}" for key, value in self.arguments.items()]
        return f"{head}({', '.join([*map(str, self.inputs), *arguments])})"


class _Limits(dict[str, Callable[[Example], bool]]):
    """Limits by name; one that is taken cannot mean something else as well."""

    def __setitem__(self, name: str, beyond: Callable[[Example], bool]) -> None:
        if name in self:
            raise DeclarationError(f"limit {name!r} is declared twice")
        if not (isinstance(name, str) and callable(beyond)):
            raise DeclarationError(f"limit {shown(name)}: is no name with a function of examples")
        super().__setitem__(name, beyond)


LIMITS = _Limits(
    {
        "empty": lambda example: any(0 in draw.shape for draw in example.inputs),
        "scalar": lambda example: any(draw.shape == () for draw in example.inputs),
        "vector": lambda example: any(len(draw.shape) == 1 for draw in example.inputs),
        "float16": lambda example: example.dtype == "float16",
        "ties": lambda example: any(draw.kind == "ties" for draw in example.inputs),
        "large": lambda example: any(draw.kind == "logits" for draw in example.inputs),
        "whole": lambda example: any(draw.kind == "whole" for draw in example.inputs),
        "booleans": lambda example: any(draw.kind == "booleans" for draw in example.inputs),
        "graph": lambda _: False,
    }
)
"""What a counterpart may be unable to do, and whether an example is beyond that limit: axes of
size zero, 0-d inputs, 1-d inputs, half precision, equal values, values far from one, integers,
booleans; and compiling, which no example tells. A family of operators may add its own."""

Space = Callable[[Callable[[Any], Any], frozenset[str]], tuple[Sequence[Draw], Mapping[str, Any]]]
"""(Hypothesis' draw, limits to keep to) -> draws of the inputs, other arguments."""


class Operator:
    """A torch function and its counterparts.

    torch: its name, "torch.softmax"; a class is built with the arguments and then called.
    counterparts: at least one. name: the last part of the torch name where that is enough.
    packed: whether all inputs are passed as one list. dtypes: of the floating inputs.
    """

    def __init__(
        self,
        torch: str,
        space: Space,
        *counterparts: Counterpart,
        name: str | None = None,
        packed: bool = False,
        dtypes: Sequence[str] = DTYPES,
    ):
        self.torch, self.space, self.counterparts = torch, space, counterparts
        self.name = str(torch).rpartition(".")[2].lower() if name is None else name
        self.packed, self.dtypes = packed, dtypes
        self._demand()

    def _demand(self) -> None:
        demand = Demand("operator", self, self.name)
        demand.api("torch")
        demand(isinstance(self.name, str), "name is no string; write an identifier")
        demand(self.name.isidentifier(), "is no identifier")
        demand(callable(self.space), f"space is {shown(self.space)}; write one, such as unary()")
        demand.flag("packed")
        demand.among("dtypes", DTYPES)
        demand(bool(self.counterparts), "has no counterpart, so nothing would be compared")
        odd = [each for each in self.counterparts if not isinstance(each, Counterpart)]
        demand(not odd, f"counterparts has {shown(odd and odd[0])}; write to('ops.softmax')")
        apis = [each.api for each in self.counterparts]
        demand(len(set(apis)) == len(apis), "names a counterpart twice")
        for each in self.counterparts:
            odd = sorted(each.without.keys() - LIMITS.keys())
            demand(not odd, f"{each.api}: limits {odd} are not among {', '.join(LIMITS)}")
            demand(each.integers in (None, "int32"), f"{each.api}: integers can only be 'int32'")
            for example in each.differs.values():
                self.example(example)

    def example(self, text: str) -> Example:
        """The example that is spelled `text`. Raises DeclarationError for what is none."""
        try:
            call = ast.parse(text.strip(), mode="eval").body
            head, dtype = call.func, "float32"
            if isinstance(head, ast.Subscript):
                head, dtype = head.value, head.slice.id
            if head.id != self.name:
                raise ValueError(f"it is of {head.id}")
            if dtype not in DTYPES:
                raise ValueError(f"{dtype!r} is not among {', '.join(DTYPES)}")
            inputs = tuple(map(_draw, call.args))
            arguments = {each.arg: ast.literal_eval(each.value) for each in call.keywords}
        except (
            DeclarationError,
            SyntaxError,
            ValueError,
            AttributeError,
            TypeError,
            KeyError,
        ) as error:
            raise DeclarationError(
                f"{text!r} is no example of {self.name}, such as "
                f"'{self.name}(normal(2, 3))': {error}"
            ) from None
        return Example(inputs, arguments, dtype)


def _draw(node: ast.expr) -> Draw:
    if isinstance(node.func, ast.Attribute) and node.func.attr == "constant":
        return _draw(node.func.value).constant()
    if node.func.id not in draws.KINDS:
        raise ValueError(f"{node.func.id!r} is not among {', '.join(draws.KINDS)}")
    options = {each.arg: ast.literal_eval(each.value) for each in node.keywords}
    return getattr(draws, node.func.id)(*map(ast.literal_eval, node.args), **options)


class _Twin(Twin):
    """A twin made from what an operator declares: there is nothing left to demand of it."""

    def __post_init__(self) -> None:
        pass


@dataclass(frozen=True, kw_only=True)
class OperatorCase(Case):
    """One example of an operator, on one counterpart."""

    operator: Operator
    counterpart: Counterpart
    example: Example

    alone = True
    parts = "value"

    @property
    def sample_name(self) -> str:
        return self.example.spelled(self.operator.name)

    @property
    def name(self) -> str:
        return f"{self.sample_name} {self.counterpart.api} {self.execution} {self.device}"

    @property
    def shared(self) -> tuple[Any, ...]:
        return (self.sample_name, self.operator.torch, self.counterpart.integers)

    @property
    def labels(self) -> dict[str, str]:
        """What a line of results says besides."""
        return {"torch": self.operator.torch, "counterpart": self.counterpart.api}

    def check(self, seed: int) -> "Outcome":
        """As for any case; what the frameworks warn of, odd inputs for the most part, is meant."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().check(seed)

    def diagnose(self, seed: int, every: bool) -> tuple[list[str], list[str]]:
        """The shape of the error of each tensor that differs: an operator has no layers."""
        from equivalence.diagnosis import pattern
        from equivalence.twins.check import case_unit_roundoff, compare

        made, unit_roundoff = compare(self, seed), case_unit_roundoff(self, seed)
        brief = []
        for verdict in made.judgement.verdicts if every else made.judgement.differing:
            known, got = made.reference.expected.get(verdict.name), made.recorded.get(verdict.name)
            if verdict.problem or known is None or got is None:
                continue
            unit = known.rounding(unit_roundoff)
            if phrase := pattern.describe(got, known.truth, unit):
                brief.append(f"{verdict.name}: {phrase}")
        full = []
        for i, values in enumerate(made.reference.sample.inputs()):
            full += [f"input[{i}]", str(values)]
        for name, known in made.reference.expected.items():
            full += [f"{name}, truth", str(known.truth), f"{name}, candidate"]
            full.append(str(made.recorded.get(name)))
        return brief, brief + full


def operator_case(
    operator: Operator, counterpart: Counterpart, example: Example, execution: str, device: str
) -> OperatorCase:
    """The comparison of one example."""
    through = counterpart.through
    twin = _Twin(
        operator.name,
        reference="pt_reference.operators:call",
        candidate="ms_models.operators:call",
        inputs=example.inputs,
    )
    config = {
        "torch": operator.torch,
        "mindspore": through or counterpart.api,
        "names": counterpart.names,
        "arguments": example.arguments,
        "packed": operator.packed,
        "integers": counterpart.integers,
    }
    return OperatorCase(
        twin,
        config,
        "train",
        example.dtype,
        execution,
        device,
        operator=operator,
        counterpart=counterpart,
        example=example,
    )

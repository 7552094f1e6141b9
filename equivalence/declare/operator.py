"""Declarations of operators: a torch function, and the MindSpore calls that must equal it.

An operator has a space of shapes and arguments. An example is one point of that space, written as a
call with the draws of its inputs: `softmax(normal(2, 3), dim=1)`.
"""

import ast
import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from equivalence.declare import draws
from equivalence.declare.declaration import Demand, fields_checked, shown
from equivalence.declare.difference import Difference, Limit, held
from equivalence.declare.draws import Draw
from equivalence.declare.twin import RecordKey, Twin, TwinCase
from equivalence.errors import DeclarationError


@dataclass(frozen=True)
class Counterpart:
    """A MindSpore call that must equal the torch function.

    api: the function's name below `mindspore`, such as "ops.softmax".
    names: argument of torch -> argument of MindSpore, where the names differ.
    through: a function, "module:attribute", that makes the call from torch's arguments; None where
    renaming arguments is enough.
    integers: the dtype of integer outputs, "int32"; None where it is int64, as in torch.
    without: a limit of this call, a key of LIMITS -> the consequence, in words, or as a `Limit`. No
    example beyond a limit is compared. One example beyond it must fail, unless the words begin with
    "crashes", "spoils" or "unwritten" (memory that may be right by chance).
    differs: an example -> the known difference that it must show.
    defaults: argument of torch -> (torch's default, MindSpore's), where the defaults differ.
    releases: the releases of MindSpore that can make the call, such as ">=2.8"; None: all. In every
    other one it is counted as not in this release, and must fail there. `without` and `differs`
    keep what holds in the installed release.
    """

    api: str
    names: Mapping[str, str] = field(default_factory=dict)
    through: str | None = None
    integers: str | None = None
    without: Mapping[str, str | Limit] = field(default_factory=dict)
    differs: Mapping[str, Difference] = field(default_factory=dict)
    defaults: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    releases: str | None = None

    def __post_init__(self) -> None:
        demand = Demand("counterpart", self, self.api)
        demand.api("api")
        demand.releases()
        for field_name in ("without", "differs"):
            object.__setattr__(self, field_name, held(getattr(self, field_name)))
        for field_name in ("names", "without"):
            demand.words(field_name)
        right = isinstance(self.differs, Mapping)
        right = right and all(isinstance(each, Difference) for each in self.differs.values())
        cure = "write {'an example': Difference('the cause', {'output.0': 0.01})}"
        demand(right, f"differs is {shown(self.differs)}; {cure}")
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
    without: Mapping[str, str | Limit] | None = None,
    differs: Mapping[str, Difference] | None = None,
    defaults: Mapping[str, tuple[Any, Any]] | None = None,
    releases: str | None = None,
    **names: str,
) -> Counterpart:
    """Declare a MindSpore call as a counterpart of a torch function.

    names: argument of torch -> argument of MindSpore; all other parameters: see `Counterpart`.

    >>> from equivalence import to
    >>> softmax = to("ops.softmax", dim="axis")
    >>> softmax.api, softmax.names
    ('ops.softmax', {'dim': 'axis'})
    """
    given = {"without": without, "differs": differs, "defaults": defaults}
    declared: dict[str, Any] = {name: each for name, each in given.items() if each is not None}
    return Counterpart(api, names, through, integers, releases=releases, **declared)


DRAWN = ("float32", "float16")
"""The dtypes in which examples are drawn; the CPU has hardly a kernel in bfloat16."""

OF_EXAMPLES = (*DRAWN, "float64")
"""The dtypes of examples; none is drawn in float64."""
_DTYPES_TOLD = ", ".join(OF_EXAMPLES)

OF_OPERATORS = "operators."
"""Beginning of the name of an operator's file of records; no name of a twin has a full stop."""


@dataclass(frozen=True)
class Example:
    """One point of an operator's space.

    inputs: the draws of the inputs.
    arguments: the other arguments of the torch function.
    dtype: the dtype of floating inputs.
    """

    inputs: tuple[Draw, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    dtype: str = "float32"

    def __post_init__(self) -> None:
        demand = Demand("example", self, "of an operator")
        demand(not isinstance(self.inputs, Draw), "inputs is one draw; write a tuple")
        odd = [each for each in demand.listed("inputs") if not isinstance(each, Draw)]
        demand(not odd, f"inputs has {shown(odd and odd[0])}, which is no draw; write normal(2, 3)")
        demand.mapping("arguments", self.arguments)
        demand(self.dtype in OF_EXAMPLES, f"dtype {shown(self.dtype)} not among {_DTYPES_TOLD}")

    def spelled(self, name: str) -> str:
        """The example as text, which `Operator.example` reads back. name: the operator's name."""
        head = name if self.dtype == "float32" else f"{name}[{self.dtype}]"
        arguments = [f"{key}={value!r}" for key, value in self.arguments.items()]
        return f"{head}({', '.join([*map(str, self.inputs), *arguments])})"


class _Limits(dict[str, Callable[[Example], bool]]):
    """Limits by name. A name that is declared twice raises DeclarationError."""

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
        "float64": lambda example: example.dtype == "float64",
        "ties": lambda example: any(draw.kind == "ties" for draw in example.inputs),
        "large": lambda example: any(draw.kind == "logits" for draw in example.inputs),
        "whole": lambda example: any(draw.kind == "whole" for draw in example.inputs),
        "booleans": lambda example: any(draw.kind == "booleans" for draw in example.inputs),
        "nan": lambda example: any(draw.kind in ("gaps", "nonfinite") for draw in example.inputs),
        "masked": lambda example: any(draw.kind == "masked" for draw in example.inputs),
        "infinite": lambda example: any(
            draw.kind in ("infinite", "nonfinite") for draw in example.inputs
        ),
        "graph": lambda _: False,
    }
)
"""Limit of a counterpart -> whether an example lies beyond it.

empty: an axis has size zero.
scalar: an input has no axis.
vector: an input has one axis.
float16: the dtype is float16.
float64: the dtype is float64.
ties: an input has equal values.
large: an input has values far from one.
whole: an input has integers.
booleans: an input has booleans.
nan: an input has NaN.
infinite: an input has infinities.
masked: an input has a row of minus infinities.
graph: the call cannot be compiled; this depends on no example.

Operators may add their own limits.
"""

Drawing = Callable[[Any], Any]
"""Hypothesis' draw: a strategy -> one of its values."""

Space = Callable[[Drawing, frozenset[str]], tuple[Sequence[Draw], Mapping[str, Any]]]
"""(Hypothesis' draw, the limits to keep within) -> (draws of the inputs, the other arguments)."""


@fields_checked
class Operator:
    """A torch function and the MindSpore calls that must equal it.

    torch: the function's name, "torch.softmax". A class is built with the arguments, then called.
    space: the shapes and arguments to compare, see `declare/spaces.py`.
    counterparts: the MindSpore calls, at least one.
    name: an identifier; None: the last part of the torch name.
    packed: whether all inputs are passed as one list.
    dtypes: the dtypes of the floating inputs.
    always: examples that every exploration in PyNative mode compares besides those that it draws:
    special values, which chance might leave out.

    Raises DeclarationError where a parameter is wrong.

    >>> from equivalence import Operator, to
    >>> from equivalence.declare.spaces import along
    >>> softmax = Operator("torch.softmax", along(), to("ops.softmax", dim="axis"))
    >>> softmax.example("softmax(normal(2, 3), dim=1)").arguments
    {'dim': 1}
    """

    def __init__(
        self,
        torch: str,
        space: Space,
        *counterparts: Counterpart,
        name: str | None = None,
        packed: bool = False,
        dtypes: Sequence[str] = DRAWN,
        always: Sequence[Example] = (),
    ):
        self.torch, self.space, self.counterparts = torch, space, counterparts
        self.name = str(torch).rpartition(".")[2].lower() if name is None else name
        self.packed, self.dtypes, self.always = packed, dtypes, always
        self._demand()

    def meeting(self, *always: Example) -> "Operator":
        """The same operator, which always compares these examples, too."""
        more = copy.copy(self)
        more.always = (*self.always, *always)
        more._demand()
        return more

    def beside(self, *counterparts: Counterpart) -> "Operator":
        """The same operator with these counterparts, too."""
        more = copy.copy(self)
        more.counterparts = (*self.counterparts, *counterparts)
        more._demand()
        return more

    def limited(self, limit: str, consequences: Mapping[str, str | Limit]) -> "Operator":
        """The same operator with one more limit of some counterparts: API -> the consequence."""
        more = copy.copy(self)
        more.counterparts = tuple(
            replace(each, without={**each.without, limit: consequences[each.api]})
            if each.api in consequences
            else each
            for each in self.counterparts
        )
        more._demand()
        return more

    def _demand(self) -> None:
        demand = Demand("operator", self, self.name)
        demand.api("torch")
        demand(isinstance(self.name, str), "name is no string; write an identifier")
        demand(self.name.isidentifier(), "is no identifier")
        demand(callable(self.space), f"space is {shown(self.space)}; write one, such as unary()")
        demand.flag("packed")
        demand.among("dtypes", DRAWN)
        odd = [each for each in demand.listed("always") if not isinstance(each, Example)]
        demand(not odd, f"always has {shown(odd and odd[0])}; write Example((infinite(9),))")
        demand(bool(self.counterparts), "has no counterpart, so nothing would be compared")
        odd = [each for each in self.counterparts if not isinstance(each, Counterpart)]
        demand(not odd, f"counterparts has {shown(odd and odd[0])}; write to('ops.softmax')")
        apis = [each.api for each in self.counterparts]
        demand(len(set(apis)) == len(apis), "names a counterpart twice")
        for each in self.counterparts:
            odd = sorted(each.without.keys() - LIMITS.keys())
            demand(not odd, f"{each.api}: limits {odd} are not among {', '.join(LIMITS)}")
            demand(each.integers in (None, "int32"), f"{each.api}: integers can only be 'int32'")
            for example in each.differs:
                self.example(example)

    def example(self, text: str) -> Example:
        """The example that `text` writes. Raises DeclarationError where it is no example."""
        try:
            call = ast.parse(text.strip(), mode="eval").body
            if not isinstance(call, ast.Call):
                raise ValueError("it is no call")
            head, dtype = call.func, "float32"
            if isinstance(head, ast.Subscript):
                dtype = _name(head.slice)
                head = head.value
            if _name(head) != self.name:
                raise ValueError(f"it is of {_name(head)}")
            if dtype not in OF_EXAMPLES:
                raise ValueError(f"{dtype!r} is not among {_DTYPES_TOLD}")
            inputs = tuple(map(read_draw, call.args))
            arguments: dict[Any, Any] = {each.arg: _literal(each.value) for each in call.keywords}
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


def read_draw(node: ast.expr) -> Draw:
    """The draw that a parsed call writes, such as that of `normal(2, 3).constant()`.

    Nothing is evaluated. Raises DeclarationError, or the ValueError, AttributeError, TypeError or
    KeyError of what is no draw.
    """
    if not isinstance(node, ast.Call):
        raise ValueError("it is no call of a draw")
    if isinstance(node.func, ast.Attribute) and node.func.attr == "constant":
        return read_draw(node.func.value).constant()
    kind = _name(node.func)
    if kind not in draws.KINDS:
        raise ValueError(f"{kind!r} is not among {', '.join(draws.KINDS)}")
    options: dict[Any, Any] = {each.arg: _literal(each.value) for each in node.keywords}
    made: Draw = getattr(draws, kind)(*map(_literal, node.args), **options)
    return made


def _name(node: ast.expr) -> str:
    """The name that a parsed expression is. Raises ValueError where it is none."""
    if not isinstance(node, ast.Name):
        raise ValueError("it is no name")
    return node.id


class _SpecialNumbers(ast.NodeTransformer):
    """Puts the numbers that Python writes as `nan` and `inf` in the place of these names."""

    NAMED: ClassVar[Mapping[str, float]] = {"nan": math.nan, "inf": math.inf}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self.NAMED[node.id]) if node.id in self.NAMED else node


def _literal(node: ast.expr) -> Any:
    """The value that a parsed expression writes; `nan` and `inf` are numbers."""
    return ast.literal_eval(_SpecialNumbers().visit(node))


class _ExampleTwin(Twin):
    """The twin of an operator's example. The operator is checked already, so nothing is here."""

    def __post_init__(self) -> None:
        pass


@dataclass(frozen=True, kw_only=True)
class OperatorCase(TwinCase):
    """One comparison: one example of an operator, on one counterpart.

    operator: the operator.
    counterpart: the MindSpore call, one of the operator's.
    example: the inputs and arguments.
    """

    operator: Operator
    counterpart: Counterpart
    example: Example

    alone, keeps, small, varies = True, False, True, False
    dtypes = OF_EXAMPLES

    @property
    def sample_name(self) -> str:
        """The example as text; all counterparts, executions and devices share its truth."""
        return self.example.spelled(self.operator.name)

    @property
    def name(self) -> str:
        """The name of the case; also its pytest id."""
        return f"{self.sample_name} {self.counterpart.api} {self.execution} {self.device}"

    @property
    def shared(self) -> tuple[Any, ...]:
        """The values that identify the reference and its sample."""
        return (self.sample_name, self.operator.torch, self.counterpart.integers)

    @property
    def recorded(self) -> RecordKey:
        """What names the record of the example's truth, which all counterparts share."""
        integers = self.counterpart.integers
        sample = f"{self.sample_name} integers={integers}" if integers else self.sample_name
        group = f"{OF_OPERATORS}{self.operator.name}"
        names = ("torch", "arguments", "packed", "integers")
        determining = {name: self.config[name] for name in names}
        return RecordKey(group, sample, self.operator.torch, {"operator": determining})

    @property
    def labels(self) -> dict[str, str]:
        """The further columns of the case's results."""
        return {"torch": self.operator.torch, "counterpart": self.counterpart.api}

    @property
    def limits(self) -> Mapping[str, str]:
        """The limits of the counterpart, each with its consequence, in words."""
        return {limit: str(words) for limit, words in self.counterpart.without.items()}


def operator_case(
    operator: Operator, counterpart: Counterpart, example: Example, execution: str, device: str
) -> OperatorCase:
    """The case that compares one example on one counterpart."""
    through = counterpart.through
    twin = _ExampleTwin(
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

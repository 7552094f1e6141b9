"""A run as data: its values, its operator calls, their statements, and one that is to blame."""

import ast
import functools
import linecache
import os
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import FrameType

import numpy as np

from equivalence.errors import FRAMEWORKS, of_engine, of_models, of_stand_in
from equivalence.files import shown
from equivalence.stream.observer import in_stream

PATIENCE = 150_000
"""Operator calls that a search for statements may run again: under a minute of a processor."""

LARGE = 4096
"""So many elements take as long as the call of an operator on few."""

BACKWARD = ("bprop", "backward")
"""Methods in which a class makes its gradient by hand."""

DEPTH = 64
"""At most this many frames are searched for the statement of a call."""


Number = int | float | bool | str | None
"""What a function is told beside tensors."""


@dataclass(frozen=True)
class Statement:
    """A line of a user's own code.

    file: the path of its source.
    line: its number.
    text: the source of the line.
    layer: the path of the layer whose code it is; "" is the network itself.
    caller: the statement of the user's code that calls this function, or the layer whose function
        it is; None where none does.
    direct: whether that calls it itself, and no framework in between.
    outer: the statement of the network itself that leads to it; None: this one, or it is not known.
    given: the numbers, texts and None among the arguments of its function, by name.
    held: those that the object whose method it is in holds.
    """

    file: str
    line: int
    text: str
    layer: str
    caller: "Statement | None" = None
    direct: bool = False
    outer: "Statement | None" = None
    given: tuple[tuple[str, Number], ...] = field(default=(), compare=False, repr=False)
    held: tuple[tuple[str, Number], ...] = field(default=(), compare=False, repr=False)

    @property
    def place(self) -> str:
        """Its file and line, such as `attention.py:41`."""
        return _place(self.file, self.line)

    def __str__(self) -> str:
        return f"{self.place}  {self.text}"


@dataclass(frozen=True)
class RecordedCall:
    """One call of an operator; values are numbers of `Recording.values`.

    name: the operator.
    inputs, outputs: the tensors that it takes and gives, in order.
    statement: where it stands; None where no line of a user's code leads to it.
    """

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    statement: Statement | None


Spot = tuple[int, int]
"""The number of a call, and the position of a tensor among those that it takes."""

Place = tuple[int, tuple[int, ...]]
"""The address and the shape of a tensor: two tensors of the same content may have different ones,
as long as both are alive."""


@dataclass
class Recording:
    """All operator calls of one run. Two tensors of the same content are one value.

    values: the arrays.
    calls: the calls in order.
    producers: value -> the first call that gives it.
    leaves: the values that no call gives: inputs, weights, constants.
    names: leaf -> what the code that takes it first calls it, where that is known.
    sources: spot -> the call that made the tensor which is taken there; missing for leaves.
    flows: the spots of tensors that gradients flow through.
    closed: the spots of all other floating tensors.
    cotangents: spot -> what comes back to its tensor, in all; for the first spot of each tensor.
    shares: (spot, value) -> the part that comes back to its tensor from what makes the value of it.
    """

    values: list[np.ndarray] = field(default_factory=list)
    calls: list[RecordedCall] = field(default_factory=list)
    producers: dict[int, int] = field(default_factory=dict)
    leaves: set[int] = field(default_factory=set)
    names: dict[int, str] = field(default_factory=dict)
    sources: dict[Spot, int] = field(default_factory=dict)
    flows: set[Spot] = field(default_factory=set)
    closed: set[Spot] = field(default_factory=set)
    cotangents: dict[Spot, np.ndarray] = field(default_factory=dict)
    shares: dict[tuple[Spot, int], np.ndarray] = field(default_factory=dict)
    _known: dict[tuple, int] = field(default_factory=dict)
    _made: dict[tuple, int] = field(default_factory=dict)
    _last: dict[int, int] = field(default_factory=dict)

    def value(self, array: np.ndarray) -> int:
        """The number of the value with this content; a copy is kept of a new one."""
        array = np.asarray(array, order="C")
        key = content(array)
        if key not in self._known:
            self._known[key] = len(self.values)
            self.values.append(array.copy())
        return self._known[key]

    def take(self, arrays: Sequence[np.ndarray], places: Sequence[Place] = ()) -> tuple[int, ...]:
        """The values that a call is about to take; one that no call has given yet is a leaf.

        places: where their tensors are.
        """
        taken = tuple(map(self.value, arrays))
        self.leaves.update(value for value in taken if value not in self.producers)
        for i, (value, place) in enumerate(zip(taken, places)):  # noqa: B905  places are optional
            # A framework may have moved the tensor; then the last one of this content is taken.
            made = self._made.get((value, place), self._last.get(value))
            if made is not None:
                self.sources[len(self.calls), i] = made
        return taken

    def add(
        self,
        name: str,
        inputs: tuple[int, ...],
        outputs: Sequence[np.ndarray],
        statement: Statement | None,
        places: Sequence[Place] = (),
    ) -> None:
        """Add a call; its inputs became values before it ran, as it may write to them."""
        given = tuple(map(self.value, outputs))
        self._last |= dict.fromkeys(given, len(self.calls))
        self._made |= dict.fromkeys(zip(given, places), len(self.calls))  # noqa: B905
        for value in given:
            if value not in self.leaves:
                self.producers.setdefault(value, len(self.calls))
        self.calls.append(RecordedCall(name, inputs, given, statement))

    def ends(self, outputs: Sequence[np.ndarray]) -> None:
        """Take results that have the content of leaves for what the last call gives, if one does.

        A branch may add nothing but zeros to an input.
        """
        for value in self.leaves & {*map(self.value, outputs)}:
            giving = [number for number, call in enumerate(self.calls) if value in call.outputs]
            if giving:
                self.producers[value] = giving[-1]

    def statement_of(self, value: int) -> Statement | None:
        """The statement that gives a value first; None for leaves."""
        producer = self.producers.get(value)
        return None if producer is None else self.calls[producer].statement

    def made_by(self, number: int) -> set[int]:
        """The numbers of the calls that make what a call takes."""
        taken = range(len(self.calls[number].inputs))
        return {self.sources.get((number, i), -1) for i in taken} - {-1}

    def made_of(self, number: int) -> set[int]:
        """The values that the statement of a call makes its results of."""
        ahead, inside, taken = [number], {number}, set()
        while ahead:
            at = ahead.pop()
            here = self.calls[at].statement
            near = {n for n in self.made_by(at) if alike(self.calls[n].statement, here)}
            inputs = enumerate(self.calls[at].inputs)
            taken |= {value for i, value in inputs if self.sources.get((at, i)) not in near}
            ahead += near - inside
            inside |= near
        return taken

    def giving(self, value: int) -> list[RecordedCall]:
        """The calls that give a value."""
        return [call for call in self.calls if value in call.outputs]

    @functools.cached_property
    def elements(self) -> int:
        """How many elements all calls take and give."""
        sizes = [array.size for array in self.values]
        return sum(sizes[v] for call in self.calls for v in (*call.inputs, *call.outputs))

    def users(self, value: int) -> list[int]:
        """The numbers of the calls that take a value."""
        return [number for number, call in enumerate(self.calls) if value in call.inputs]


def content(array: np.ndarray) -> tuple:
    """What tells an array from all others: its shape, its type and two checksums."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    return array.shape, array.dtype.str, zlib.crc32(data), zlib.adler32(data)


@dataclass(frozen=True)
class HandedNumber:
    """A number that a function gets, and the one that it is to get.

    name: what the function calls it.
    got, want: the number, and the other one.
    """

    name: str
    got: Number
    want: Number

    def __str__(self) -> str:
        return f"{self.name}={self.got!r}"


@dataclass(frozen=True)
class Blame:
    """A statement to blame.

    statement: the candidate's.
    counterpart: the reference's statement whose value mends the outputs; None: no line gives it.
    got, want: the value of the candidate, and the reference's in the same form.
    unit: the Euclidean size of one rounding of `want`.
    takes: the statements of the candidate that give what it takes and the reference has not. The
        mistake may stand in them, too.
    constant: whether the value is a constant that the statement uses, not its result.
    name: what the candidate's code calls that constant; "" where that is not known.
    drawn: the line that draws it, where it is random; "" where it is not.
    misplaced: the statement that gives what it takes, where the reference takes another value; None
        where its result is wrong.
    backward: whether its result is right, and what comes back to what it takes is not; the values
        are then cotangents.
    by_hand: whether the statement makes that gradient by hand.
    agrees: the reference's statement that gives the same result; the reference then goes on. None
        where the result is wrong.
    further: statements that follow, of which any may be to blame instead.
    after: what is to be mended first, so that what it takes is right: the places of statements, and
        layers.
    operator: the operator that gives the value; "" where it is a constant, or not known.
    at: the number of its call, and the position of the value among its results.
    order: where its results are right but for their order, the order in which they belong.
    exchanged: the statement whose result, right itself, stands in the place of this one's.
    right_from: the statement that calls the same function, rightly; the call is to blame then.
    calls: the statement of the function that is called wrongly.
    hands: whether that call was tried with what the reference takes there, and is right so.
    number: the number that the call hands wrongly, where it is no tensor.
    written: what has changed a value in place in the reference that the statement takes as it was:
        the operator, such as `relu_`, and where it stands; "" where nothing has.
    """

    statement: Statement
    counterpart: Statement | None
    got: np.ndarray
    want: np.ndarray
    unit: float
    takes: tuple[Statement, ...] = ()
    constant: bool = False
    name: str = ""
    drawn: str = ""
    misplaced: Statement | None = None
    backward: bool = False
    by_hand: bool = False
    agrees: Statement | None = None
    further: tuple[Statement, ...] = ()
    after: tuple[str, ...] = ()
    operator: str = ""
    at: tuple[int, int] = (-1, 0)
    order: tuple[int, ...] = ()
    exchanged: Statement | None = None
    right_from: Statement | None = None
    calls: Statement | None = None
    hands: bool = False
    number: HandedNumber | None = None
    written: str = ""


def alike(one: Statement | None, other: Statement | None) -> bool:
    """Whether both are the same line, whoever calls its function."""
    return (
        one is not None and other is not None and (one.file, one.line) == (other.file, other.line)
    )


def by_hand(statement: Statement) -> Statement | None:
    """Where the class that a statement stands in makes its gradient by hand; None: it does not.

    That is the one `return` of the method, or where the method begins.
    """
    try:
        tree = ast.parse("".join(linecache.getlines(statement.file)))
    except SyntaxError:  # such as the cell of a notebook, with its magic commands
        return None
    for each in ast.walk(tree):
        if isinstance(each, ast.ClassDef) and _spans(each, statement.line):
            methods = [node for node in each.body if isinstance(node, ast.FunctionDef)]
            within = next((m.name for m in methods if _spans(m, statement.line)), None)
            made = next((m for m in methods if m.name in BACKWARD), None)
            if made and within and within not in BACKWARD:
                returns = [node for node in ast.walk(made) if isinstance(node, ast.Return)]
                line = (returns if len(returns) == 1 else [made])[0].lineno
                return at_line(statement.file, line, statement.layer)
    return None


def _spans(node: ast.ClassDef | ast.FunctionDef, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


@dataclass
class Effort:
    """How much a search has done, in operator calls: a busy machine finds what an idle one does.

    limit: how much it may do.
    done: how much it has done.
    """

    limit: float = PATIENCE
    done: float = 0.0

    @property
    def over(self) -> bool:
        """Whether it has done all that it may."""
        return self.done > self.limit

    def add(self, calls: float, elements: int) -> None:
        """Count calls, and the elements that they take and give."""
        self.done += calls + elements / LARGE


class Code:
    """The code of a network: a user's own, and that of the packages that its layers come from.

    A port may be installed. A framework's code is never a network's, and no other library is.

    layers: path -> layer, for all layers of the network.
    """

    def __init__(self, layers: Mapping[str, object]):
        self.paths = {id(layer): path for path, layer in layers.items()}
        modules = [type(layer).__module__ for layer in layers.values()]
        # A function that stands for a network is held by it.
        modules += [
            getattr(getattr(each, "call", None), "__module__", "") for each in layers.values()
        ]
        self.packages = {package(each) for each in modules if not framework(each)}
        self._own: dict[str, bool] = {}

    def here(self) -> Statement | None:
        """The innermost statement of the network's code that is running now."""
        frame: FrameType | None = sys._getframe(1)
        found: FrameType | None = None
        caller: Statement | None = None
        layer, outer, inside, direct, line = "", None, False, False, 0
        for _ in range(DEPTH):
            # Behind the network is the engine, and behind that whoever runs it. A stand-in is in
            # front of the network, in the place of a function of MindSpore.
            file = frame.f_code.co_filename if frame else ""
            engine = of_engine(file) and not of_stand_in(file)
            if frame is None or (inside and engine and not in_stream(frame)):
                break
            inside = inside or not engine
            if self.is_own(frame):
                if found is None:
                    found, line, behind = frame, frame.f_lineno, frame.f_back
                    if behind is not None and self.is_own(behind):
                        direct = True
                        caller = at_line(behind.f_code.co_filename, behind.f_lineno)
                elif caller is None:
                    caller = at_line(frame.f_code.co_filename, frame.f_lineno)
            if found is not None:
                path = self.paths.get(id(_first_argument(frame)))
                layer = layer or path or ""
                if path == "" and self.is_own(frame):
                    outer = at_line(frame.f_code.co_filename, frame.f_lineno)
                    break
            frame = frame.f_back
        if found is None:
            return None
        at = at_line(found.f_code.co_filename, line, layer, caller, direct, outer)
        return replace(at, given=_numbers(_arguments(found)), held=_numbers(_held(found)))

    def called(self, is_it: Callable[[object], bool]) -> str:
        """What the innermost statement of the network's code calls a value; "" if it has no name.

        That is a local variable, an attribute of the object whose method runs, or a global one.
        """
        frame: FrameType | None = sys._getframe(1)
        for _ in range(DEPTH):
            if frame is None or self.is_own(frame):
                break
            frame = frame.f_back
        if frame is None or not self.is_own(frame):
            return ""
        prefix = f"{frame.f_code.co_varnames[0]}." if frame.f_code.co_argcount else ""
        held = getattr(_first_argument(frame), "__dict__", {})
        inside = [each for name, each in held.items() if name[:1] == "_" and isinstance(each, dict)]
        places = [("", frame.f_locals), *((prefix, each) for each in (held, *inside))]
        named = (
            f"{before}{name}"
            for before, values in (*places, ("", frame.f_globals))
            for name, each in values.items()
            if is_it(each)
        )
        return next(named, "")

    def is_own(self, frame: FrameType) -> bool:
        """Whether a frame runs the code of the network."""
        file = frame.f_code.co_filename
        if file not in self._own:
            installed = package(frame.f_globals.get("__name__", "")) in self.packages
            own = of_models(os.path.abspath(file)) or (installed and not of_engine(file))
            self._own[file] = own and not file.startswith("<")
        return self._own[file]


def _arguments(frame: FrameType) -> Mapping[str, object]:
    """The arguments of the function that a frame runs, by name."""
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {name: values[name] for name in names if name in values}


def _held(frame: FrameType) -> Mapping[str, object]:
    """The attributes of the object whose method a frame runs."""
    return getattr(_first_argument(frame), "__dict__", {})


def _numbers(values: Mapping[str, object]) -> tuple[tuple[str, Number], ...]:
    return tuple((n, each) for n, each in values.items() if isinstance(each, Number))


def _first_argument(frame: FrameType) -> object:
    """The first argument of the function that a frame runs; of a method, its object."""
    names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
    return frame.f_locals.get(names[0]) if names else None


def package(module: str) -> str:
    """The package that a module belongs to."""
    return module.partition(".")[0]


def framework(module: str) -> bool:
    """Whether a module is a framework's.

    >>> framework("mindspore.nn.layer.basic"), framework("mindcv.models.resnet")
    (True, False)
    """
    return package(module) in FRAMEWORKS


def at_line(
    file: str,
    line: int,
    layer: str = "",
    caller: Statement | None = None,
    direct: bool = False,
    outer: Statement | None = None,
) -> Statement:
    """The statement at a line of a file."""
    outer = outer if outer and (outer.file, outer.line) != (file, line) else None
    text = linecache.getline(file, line).strip()
    return Statement(file, line, text, layer, caller, direct, outer)


def _place(file: str, line: int) -> str:
    return f"{shown(file)}:{line}"

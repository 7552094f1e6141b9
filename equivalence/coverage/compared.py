"""Which arguments of a function are compared: those of the examples that its operators draw."""

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from equivalence.coverage import defaults
from equivalence.coverage.reader import INDEX, CallSite, ToldArgument
from equivalence.coverage.torch_names import TENSOR, is_class
from equivalence.declare.operator import Counterpart, Example, Operator
from equivalence.errors import SignatureError
from equivalence.operators.drawing import Exploration, draw_examples
from equivalence.targets import resolve

DRAWN = 60
"""How many examples of an operator are looked at."""

PLACES = {  # of results, not of what they are
    *("device", "requires_grad", "layout", "memory_format", "non_blocking", "pin_memory"),
    *("generator", "foreach", "fused", "copy", "inplace"),
}
"""Arguments that change no number."""

SEVERAL = ("size", "dims", "shape", "repeats", "tensors")
"""Arguments that may be given one by one, as in `x.view(2, 3)`."""

Bound = dict[Any, Any]
"""Argument, or 0 for the tensor of an index -> its value, or a `ToldArgument`."""


@functools.cache
def signatures(api: str) -> tuple[Mapping[str, Any], ...]:
    """The signatures of a function, of a method as the function has it, or of a class."""
    names, last = [api], api.rpartition(".")[2]
    if api.startswith(f"{TENSOR}."):
        names += [f"torch.{last.strip('_') if '__' in last else last}"]
    found: list[Mapping[str, Any]] = []
    for name in names:
        with contextlib.suppress(SignatureError):
            found += defaults.of_torch(name)
    return tuple(found)


def bindings(call: CallSite) -> Iterator[tuple[Bound, Mapping[str, Any]]]:
    """(arguments by name, the signature), for each signature that fits a call."""
    given = call.given or {}
    if INDEX in given:
        yield {0: given[0], "index": given[INDEX]}, {}
        return
    for signature in signatures(call.api):
        names = [name for name in signature if not name.startswith("*")]
        bound: Bound = {key: value for key, value in given.items() if isinstance(key, str)}
        places = [value for key, value in given.items() if isinstance(key, int)]
        if (several := _several(signature, places, bound)) is not None:
            places[several:] = [tuple(places[several:])]
        if len(places) > len(names):
            continue
        bound |= dict(zip(names, places, strict=False))
        if not set(bound) - set(names) - {"*", "**"} - PLACES:
            yield {name: value for name, value in bound.items() if name not in PLACES}, signature


def shown(value: Any) -> str:
    """A value as code has it, `...` where it is known when it runs."""
    if isinstance(value, ToldArgument):
        return "..."
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))})"
    return repr(value)


def _several(signature: Mapping[str, Any], places: list, bound: Bound) -> int | None:
    """The position from which on positional arguments are one, as x.view(2, 3) is x.view((2, 3)).

    places: their values. bound: the others.
    """
    names, count = list(signature), len(places)
    first = next((n for n, name in enumerate(names) if name in SEVERAL), count)
    rest = [name for name in names[first + 1 :] if name not in bound]
    # What an axis follows is one argument: torch.stack(tensors, 1), x.repeat_interleave(2, 1).
    more = "dim" in rest or any(signature[name] is defaults.REQUIRED for name in rest)
    if more or count <= first + 1:
        return None
    # A tensor is none of several numbers: this signature is that of another call.
    other = names[first] != "tensors" and places[first] is ToldArgument.TENSOR
    return None if other else first


def gathered(call: CallSite) -> int | None:
    """The position from which on the arguments of a call are one tuple; None: nowhere."""
    given = call.given or {}
    keywords = {key: value for key, value in given.items() if isinstance(key, str)}
    places = [value for key, value in given.items() if isinstance(key, int)]
    for signature in signatures(call.api):
        if "*" in given:
            first = _unpacked(signature, len(places))
        elif (first := _several(signature, places, keywords)) is None:
            first = _alone(signature, places)
        if first is not None:
            return first
    return None


def _unpacked(signature: Mapping[str, Any], count: int) -> int | None:
    """The position of what x.view(2, *sizes) gives one by one. count: of those before the star."""
    names = list(signature)
    first = next((n for n, name in enumerate(names) if _of_numbers(signature, name)), None)
    return None if first is None or first > count or "dim" in names[first:] else first


def _alone(signature: Mapping[str, Any], places: list) -> int | None:
    """The last position, where it is the only number of several, as in x.reshape(-1)."""
    last, *rest = list(signature)[len(places) - 1 :] or [""]
    told = bool(places) and type(places[-1]) is int
    # x.repeat_interleave(2, 1) repeats, and takes a number.
    several = last and _of_numbers(signature, last) and "dim" not in rest
    return len(places) - 1 if told and several else None


def _of_numbers(signature: Mapping[str, Any], name: str) -> bool:
    """Whether an argument is several numbers; the `dims` of tensordot, 2 if not told, are one."""
    return name in SEVERAL and signature[name] is defaults.REQUIRED


class ComparedArguments:
    """The examples of one operator, as far as they tell of arguments.

    operator: the operator.
    """

    def __init__(self, operator: Operator):
        self.operator = operator
        free = replace(operator.counterparts[0], without={})
        exploration = Exploration(operator, free, "pynative", "cpu", DRAWN)
        self.examples = [*operator.always, *draw_examples(exploration, 0, DRAWN)]
        among = resolve("pt_reference.operators:AMONG_INPUTS").get(operator.torch)
        self.among = among[1] if among else None

    @functools.cached_property
    def floats(self) -> frozenset[str]:
        """The arguments of which all examples have floats, and some has one."""
        drawn: dict[str, list] = {}
        for example in self.examples:
            for name, value in example.arguments.items():
                several = isinstance(value, list | tuple)
                drawn.setdefault(name, []).extend(value if several else [value])
        kinds = {name: {type(each) for each in values} for name, values in drawn.items()}
        none = type(None)
        return frozenset(name for name in kinds if kinds[name] - {none} == {float})

    def fitting(self, call: CallSite) -> list[Example]:
        """The examples with arguments such as those of a call; empty: none are compared."""
        if call.given is None:
            return self.examples
        if INDEX in call.given:
            return [e for e in self.examples if call.given[INDEX] in _index(e)]
        best: list[Example] = []
        for bound, signature in bindings(call):
            found = [e for e in self.examples if self._fits(call, e, bound, signature)]
            numbers = [name for name, value in bound.items() if _number(value)]
            told = all(any(self._has(e, n, bound[n]) for e in self.examples) for n in numbers)
            best = max(best, found if told else [], key=len)
        return best

    def named(self, call: CallSite) -> dict[str, set[str]]:
        """The names that are compared for arguments that a call does not write out.

        Argument, such as `mode` -> the values that examples have; no other value is compared.
        """
        found: dict[str, set[str]] = {}
        for bound, _ in bindings(call):
            for name in (name for name, value in bound.items() if value is ToldArgument.UNKNOWN):
                drawn = (example.arguments.get(name) for example in self.examples)
                if names := {each for each in drawn if isinstance(each, str)}:
                    found.setdefault(name, set()).update(names)
        return found

    def strange(self, call: CallSite) -> list[str]:
        """The arguments of a call that no example has, spelled."""
        if INDEX in (call.given or {}):
            return ["such an index"]
        least: list[str] | None = None
        for bound, signature in bindings(call):
            odd = []
            for name, value in bound.items():
                alone = {name: value}
                has = [
                    e
                    for e in self.examples
                    if self._fits(call, e, alone, signature, name) and self._has(e, name, value)
                ]
                if not has:
                    odd.append(f"{name}={shown(value)}")
            if least is None or len(odd) < len(least):
                least = odd
        return least or []

    def _inputs(self, call: CallSite, example: Example, signature: Mapping[str, Any]) -> list[str]:
        """The names of the arguments that the inputs of an example are."""
        if is_class(call.api):
            return []
        count = 1 if self.operator.packed else len(example.inputs)
        return [name for name in signature if name != self.among][:count]

    def _all_inputs(
        self, call: CallSite, example: Example, bound: Bound, inputs: list[str]
    ) -> bool:
        """Whether a call gives all that an example has: torch.where(condition) has two less."""
        if is_class(call.api) or self.operator.packed:
            return True
        return len(inputs) == len(example.inputs) and set(inputs) <= set(bound)

    def _fits(
        self,
        call: CallSite,
        example: Example,
        bound: Bound,
        signature: Mapping[str, Any],
        only: str | None = None,
    ) -> bool:
        """Whether an example has these arguments; numbers need be of the same kind alone."""
        inputs = self._inputs(call, example, signature)
        for name, value in bound.items():
            if name in ("*", "**"):
                continue
            if name in example.arguments:
                # A tensor is another overload: x.to(other) is not x.to(dtype).
                if value is ToldArgument.TENSOR:
                    return False
                if not _number(value) and not fits(value, example.arguments[name]):
                    return False
            elif name in inputs:
                if not isinstance(value, ToldArgument | list | tuple):
                    return False
            elif not _default(value, signature.get(name, ...)):
                return False
        if only is not None:
            return True
        if not {"*", "**"} & set(bound) and not self._all_inputs(call, example, bound, inputs):
            return False
        for name, value in example.arguments.items():
            if name not in bound and "*" not in bound and "**" not in bound:
                default = signature.get(name)
                if default is defaults.REQUIRED and is_class(call.api):
                    continue  # as torch.nn.Softmax(), whose dim is told otherwise
                if not (_same(default, value) or (_number(default) and fits(default, value))):
                    return False
        return True

    def _has(self, example: Example, name: str, value: Any) -> bool:
        """Whether an example has such a number for an argument, or leaves it out as the default."""
        if name not in example.arguments:
            return True
        return fits(value, example.arguments[name])


def _index(example: Example) -> tuple[str, ...]:
    """What indices are such as that of an example."""
    slices = [each for each in example.arguments.get("index", ()) if isinstance(each, tuple)]
    steps = any(each[2] not in (None, 1) for each in slices)
    return ("steps",) if steps else ("places", "steps")


def fits(value: Any, drawn: Any) -> bool:
    """Whether a value is such as one that is drawn: for numbers, one of the same kind."""
    if isinstance(value, ToldArgument):
        return True
    if isinstance(value, list | tuple):
        if isinstance(drawn, list | tuple):
            # Each number need be among those drawn, not in its place.
            alike = (any(fits(each, other) for other in drawn) for each in value)
            return len(value) == len(drawn) and all(alike)
        return bool(value) and all(fits(each, drawn) for each in value)
    if isinstance(drawn, list | tuple):  # 3 for (3, 3)
        return _number(value) and bool(drawn) and all(fits(value, each) for each in drawn)
    if not (_number(value) and _number(drawn)):
        return _same(value, drawn)
    if not math.isfinite(value):
        return value == drawn
    if isinstance(drawn, float):
        return True
    # No axis, no size and no padding is a case of its own.
    return float(value).is_integer() and (value == 0) == (drawn == 0)


def _number(value: Any) -> bool:
    """Whether a value is a number, or several."""
    if isinstance(value, list | tuple):
        told = [each for each in value if not isinstance(each, ToldArgument)]
        return bool(told) and all(map(_number, told))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.removeprefix("torch.") == other
    return type(one) is type(other) and one == other


def _default(value: Any, default: Any) -> bool:
    """Whether a value is the default of an argument."""
    if isinstance(value, list):
        value = tuple(value)
    return not isinstance(value, ToldArgument) and (
        _same(value, default) or (_number(value) and _number(default) and value == default)
    )


def beyond(example: Example, counterpart: Counterpart, limits: Mapping[str, Any]) -> list[str]:
    """The limits of a counterpart that an example lies beyond."""
    return [name for name in counterpart.without if limits[name](example)]


def by_inputs(limit: Callable, outside: Sequence[Example], fitting: Sequence[Example]) -> bool:
    """Whether a limit is one of values or shapes, beyond which a call with any arguments may be.

    limit: whether an example lies beyond it. outside: examples that do, with other arguments than
    the call's. fitting: examples with the call's.
    """
    for one in outside:
        for other in fitting:
            # An example of these inputs and those arguments may make no sense.
            with contextlib.suppress(LookupError, TypeError, ValueError, ArithmeticError):
                moved = replace(other, inputs=one.inputs, dtype=one.dtype)
                if len(one.inputs) == len(other.inputs) and limit(moved):
                    return True
    return False

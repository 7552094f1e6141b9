"""Puts stand-ins in the place of operators that have no kernel on a CPU."""

import contextlib
import functools
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import mindspore as ms
from mindspore import ops
from mindspore.ops import functional_overload
from mindspore.ops.auto_generate import gen_ops_prim, pyboost_inner_prim

from equivalence.errors import causes
from equivalence.stand_ins.table import (
    COMPILED,
    FALLBACKS,
    LATE,
    METHODS,
    OVERLOADS,
    PARTLY,
    STAND_INS,
)
from equivalence.stream import mindspore_stream
from equivalence.stream.mindspore_stream import reading
from equivalence.stream.patches import patched

_LACKING = re.compile(
    r"[Kk]ernel \w+ unregistered|kernelmod for op \w+ failed|Not found op \w+ on device (?:CPU|\d)"
    r"|Unsupported op \[\w+\] on CPU|\w+ only supports Ascend|Not implement exception"
    r"|Select CPU operator\[\w+\] fail|The pointer\[input_tensor\] is null"
)
"""How MindSpore says that it has no kernel."""

_FUNCTION = re.compile(r"_Pyboost(\w+)Prim")
"""What MindSpore calls the class of a primitive that takes all of its settings in a call."""

_OWN = __name__.rpartition(".")[0]

T = TypeVar("T")


class StandIns:
    """Stand-ins for operators of MindSpore that have no kernel on a CPU.

    every: whether they stand for all of these operators; if not, for `FALLBACKS` alone, where they
    are compiled, and for `LATE`, where PyNative mode calls them.
    used: the functions of MindSpore that stand-ins have stood for -> how often. A compiled call is
    counted once, when it is compiled.

    PyNative mode calls an operator by its class, or by an object of several operators; there the
    stand-in is called before MindSpore records anything, so that its own gradient is recorded.
    """

    def __init__(self, *, every: bool = True) -> None:
        self.every = every
        self.used: Counter[str] = Counter()

    @contextlib.contextmanager
    def __call__(self) -> Iterator["StandIns"]:
        """A context in which they stand, on a CPU; on any other device nothing is replaced."""
        if not is_on_cpu():
            yield self
            return
        with contextlib.ExitStack() as stack:
            for place in [*self._places()]:
                stack.enter_context(patched(place.owner, **{place.name: place.value}))
            stack.enter_context(reading(self._compiled, _OWN))
            yield self

    def running(self, call: Callable[[], T], forget: Callable[[], object] = lambda: None) -> T:
        """What a call gives, with all of them in a second try where MindSpore lacks a kernel.

        Only there: what has all of its kernels runs as it is.

        forget: drops what the first try has left, before the second one.
        """
        before = self.every
        try:
            with self():
                return call()
        except Exception as error:
            if before or not is_on_cpu() or not lacks_kernel(error):
                raise
            self.every = True
        mindspore_stream.clear()
        forget()
        return self.running(call, forget)

    def _places(self) -> Iterator["_ReplacedAttribute"]:
        """What is replaced, and by what."""
        for name in STAND_INS if self.every else LATE:
            for owner in _classes(name):
                yield _ReplacedAttribute(owner, "__call__", self._calling(name, owner))
        if self.every:
            yield from self._functions()

    def _functions(self) -> Iterator["_ReplacedAttribute"]:
        """What PyNative mode calls that is no primitive."""
        for name, (api, stand_in) in OVERLOADS.items():
            before = getattr(functional_overload, name)
            yield _ReplacedAttribute(
                functional_overload, name, _Counted(self, name, api, stand_in, before)
            )
        for name, stand_in in METHODS.items():
            yield _ReplacedAttribute(ms.Tensor, name, self._method(name, stand_in))

    def _calling(self, name: str, owner: type) -> Callable:
        """What a class does when one of its primitives is called."""
        api, stand_in = STAND_INS[name]
        settings, kernel, takes = _settings(owner), owner.__call__, _inputs(owner)

        def call(primitive: Any, *inputs: Any, **named: Any) -> Any:
            if _has_kernel(name, *inputs, **named):
                return kernel(primitive, *inputs, **named)
            self.used[api] += 1
            if settings:  # they come after all inputs, also those that are left out
                given = takes.bind(*inputs, **named)
                given.apply_defaults()
                told = [getattr(primitive, name) for name in settings]
                return stand_in(*given.args, *told)
            return stand_in(*inputs, **named)

        return call

    def _method(self, name: str, stand_in: Callable) -> Callable:
        """What a tensor does when its method is called."""
        before = getattr(ms.Tensor, name)

        def call(*inputs: Any, **named: Any) -> Any:
            if _has_kernel(name, *inputs, **named):
                return before(*inputs, **named)
            self.used[f"Tensor.{name}"] += 1
            return stand_in(*inputs, **named)

        return call

    def _compiled(self, value: Any) -> Any:
        """The object that the compiler gets in place of one that a source names."""
        name = _name(value)
        if not self.every and name not in FALLBACKS:
            return value
        if isinstance(value, _Counted):
            if value.stand_in in COMPILED:
                return value.before
            if value.name in PARTLY:
                return self._partly(value.name, OVERLOADS[value.name], value.before)
            self.used[value.api] += 1
            return value.stand_in
        if name not in STAND_INS:
            return value
        if isinstance(value, type):
            return self._maker(name, value)
        if name in PARTLY:
            return self._partly(name, STAND_INS[name], value)
        api, stand_in = STAND_INS[name]
        self.used[api] += 1
        told = tuple(getattr(value, each) for each in _settings(value.__class__))
        rest, least = _optional(type(value)) if told else ((), 0)
        if rest:
            return lambda *inputs: stand_in(*inputs, *rest[len(inputs) - least :], *told)
        return (lambda *inputs: stand_in(*inputs, *told)) if told else stand_in

    def _partly(self, name: str, entry: tuple[str, Callable], kernel: Any) -> Callable:
        """A stand-in for the calls that have no kernel, and what was called for all others."""
        (api, stand_in), lacks = entry, PARTLY[name]

        @ops.constexpr(check=False)
        def without(*told):
            """Run by the compiler, which may come to a call more than once."""
            if lacks(*told):
                self.used.setdefault(api, 1)
            return lacks(*told)

        def call(x, *inputs):
            if without(x.dtype, *inputs):
                return stand_in(x, *inputs)
            return kernel(x, *inputs)

        return call

    def _maker(self, name: str, owner: type) -> Callable:
        """A function that gives the stand-in with its settings, in place of a primitive's class."""
        api, stand_in = STAND_INS[name]
        self.used[api] += 1

        rest, least = _optional(owner)

        def make(*settings, **named):
            return lambda *inputs: stand_in(*inputs, *settings, **named)

        def make_optional(*settings, **named):
            return lambda *inputs: stand_in(
                *inputs, *rest[len(inputs) - least :], *settings, **named
            )

        return make_optional if rest else make


class _ReplacedAttribute(NamedTuple):
    """An attribute that is replaced."""

    owner: Any
    name: str
    value: Any


class _Counted:
    """A stand-in for a function; its calls are counted."""

    def __init__(self, owner: StandIns, name: str, api: str, stand_in: Callable, before: Any):
        self.owner, self.name, self.api = owner, name, api
        self.stand_in, self.before = stand_in, before

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if _has_kernel(self.name, *arguments, **named):
            return self.before(*arguments, **named)
        self.owner.used[self.api] += 1
        return self.stand_in(*arguments, **named)


def _has_kernel(name: str, first: Any, *inputs: Any, **named: Any) -> bool:
    """Whether a call of what has a stand-in needs none; `PARTLY` says which do."""
    lacks = PARTLY.get(name)
    return lacks is not None and not lacks(getattr(first, "dtype", None), *inputs, **named)


def _classes(name: str) -> list[type]:
    """The classes of a primitive: of objects with settings, and of those that take all of them."""
    homes = ((gen_ops_prim, name), (pyboost_inner_prim, f"_Pyboost{name}Prim"))
    return [getattr(home, each) for home, each in homes if hasattr(home, each)]


def _name(value: Any) -> str | None:
    """The name of a primitive, of whichever class, or of a class of them; None for all others."""
    if isinstance(value, ops.Primitive):
        return value.name
    if isinstance(value, type):
        return value.__name__ if issubclass(value, ops.Primitive) else None
    found = _FUNCTION.fullmatch(type(value).__name__)
    return found and found[1]


def _optional(owner: type) -> tuple[tuple, int]:
    """What stands for inputs that a call leaves out, and how many it must have.

    The compiler understands it as constants alone.
    """
    inputs = _inputs(owner).parameters.values()
    optional = tuple(each.default for each in inputs if each.default is not each.empty)
    return optional, len(inputs) - len(optional)


@functools.cache
def _inputs(primitive: type) -> inspect.Signature:
    """What objects of a primitive's class are called with, before a stand-in takes their place."""
    called = inspect.signature(primitive.__call__)
    return called.replace(parameters=tuple(called.parameters.values())[1:])


@functools.cache
def _settings(primitive: Any) -> tuple[str, ...]:
    """What objects of a primitive's class are made with."""
    if not issubclass(primitive, ops.Primitive):
        return ()
    return tuple(inspect.signature(primitive.__init__).parameters)[1:]


@contextlib.contextmanager
def on_cpu() -> Iterator[StandIns]:
    """Run code of MindSpore that was written for an Ascend on a CPU, in this context.

    Operators without a kernel on a CPU, such as many of `mindspore.mint` and fused attention, are
    computed from those that have one; what it gives says in `used` which they were. On any other
    device it does nothing. `compare`, `train` and twins need no such context: they use it by
    themselves.

    >>> import mindspore
    >>> from equivalence import on_cpu
    >>> with on_cpu() as stand_ins:
    ...     places = mindspore.mint.arange(3)
    >>> places.asnumpy().tolist(), dict(stand_ins.used)
    ([0, 1, 2], {'mint.arange': 1})
    """
    with StandIns()() as stand_ins:
        yield stand_ins


def lacks_kernel(error: BaseException | None) -> bool:
    """Whether MindSpore has raised because it has no kernel for an operator on a CPU.

    error: what it raised, or what was raised from that.
    """
    return any(_LACKING.search(str(each)) for each in causes(error))


def is_on_cpu() -> bool:
    """Whether MindSpore computes on the CPU."""
    return ms.get_context("device_target") == "CPU"

"""What sees the calls of a run, of functions or of operators, or stands for them.

An observer of a framework is a context manager: while it is open, it is told of every call. Those
that are open form one stack, which `installed` enters in the order that the framework's stream has
as data (`ORDER`): the first is told of a call as the network makes it, and each later one of what
those before it have made of the call. What an observer calls itself is seen by those after it.
"""

import contextlib
import itertools
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from equivalence.errors import of_models

RUN: Any = object()
"""What `replace` gives where nothing stands for the call, which then runs."""


class Call(Protocol):
    """One call of a function or an operator; each framework has its own class of them."""

    @property
    def args(self) -> Sequence[Any]:
        """Its arguments; `before` may put others in their place."""

    @property
    def name(self) -> str:
        """The name of the operator."""

    def proceed(self) -> Any:
        """What it gives: what the observers after this one make of it, or the kernel."""


Seen = TypeVar("Seen", bound=Call)
"""A framework's own class of calls."""


class Observer(Generic[Seen]):
    """What sees every call of a run. A subclass overrides what it needs, and calls nothing else.

    slot: its place in the order of its framework's stream, see `ORDER` there.
    order: that order; the base class of a framework has it.
    """

    slot: ClassVar[str]
    order: ClassVar[Sequence[str]] = ()

    def begin(self) -> None:
        """A run begins: called when the context is entered."""

    def end(self) -> None:
        """The run has ended, or has raised."""

    def before(self, call: Seen) -> None:
        """See a call before it runs. It may put other arguments into it."""

    def replace(self, call: Seen) -> Any:  # noqa: ARG002
        """The result in place of the call's own; `RUN` lets it run."""
        return RUN

    def after(self, call: Seen, result: Any) -> Any:  # noqa: ARG002
        """See the result, and give what the caller gets: the result itself, or another."""
        return result

    def open(self) -> contextlib.AbstractContextManager:
        """The mode of the framework that tells this observer of calls."""
        raise NotImplementedError

    def __enter__(self) -> "Observer":
        self.begin()
        opened = self.__dict__.setdefault("_open", [])
        try:
            mode = self.open()
            mode.__enter__()
        except BaseException:
            self.end()
            raise
        opened.append(mode)
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self.__dict__["_open"].pop().__exit__(*error)
        finally:
            self.end()

    @property
    def rank(self) -> int:
        """Its place in the order; a smaller one is told of a call earlier.

        Raises ValueError where the order does not have its slot.
        """
        if self.slot not in self.order:
            raise ValueError(f"{type(self).__name__}: no slot {self.slot!r} in {self.order}")
        return self.order.index(self.slot)


Hooks = tuple[Callable | None, Callable | None, Callable | None]
"""What an observer has of `before`, `replace` and `after`; None for what it does not override."""


def hooks(observer: Observer) -> Hooks:
    """What a mode calls of an observer: it is told of every operator of a run."""
    own, base = type(observer), Observer
    return (
        observer.before if own.before is not base.before else None,
        observer.replace if own.replace is not base.replace else None,
        observer.after if own.after is not base.after else None,
    )


def deliver(call: Call, told: Hooks) -> Any:
    """What the caller gets of a call that an observer is told of."""
    before, replace, after = told
    if before:
        before(call)
    result = replace(call) if replace else RUN
    if result is RUN:
        result = call.proceed()
    return after(call, result) if after else result


@contextlib.contextmanager
def installed(*observers: Observer) -> Iterator[None]:
    """A context in which all of them are open, in the order of their stream."""
    with contextlib.ExitStack() as stack:
        for each in sorted(observers, key=lambda one: one.rank, reverse=True):
            stack.enter_context(each)
        yield


def demand_order(observer: Observer, inner: Observer | None) -> None:
    """Raise RuntimeError where an observer is opened on one that is to be told earlier.

    inner: the innermost of those that are open; None where none is.
    """
    if inner is not None and inner.rank < observer.rank:
        raise RuntimeError(
            f"{type(observer).__name__} ({observer.slot}) is opened inside "
            f"{type(inner).__name__} ({inner.slot}), which comes before it in the stream"
        )


@contextlib.contextmanager
def attached(hooks: Iterable[Any]) -> Iterator[None]:
    """A context in which hooks of layers stay; at its end, each is removed.

    hooks: what registering them gives.
    """
    with contextlib.ExitStack() as stack:
        for each in hooks:
            stack.callback(each.remove)
        yield


Entered = Callable[[str, Any, tuple], None]
"""Is told the path of a layer, the layer and its positional arguments, when its call begins."""

Left = Callable[[str, Any, tuple], None]
"""Is told the same when the call has ended."""


@contextlib.contextmanager
def running(
    layers: Iterable[tuple[str, Any]],
    entered: Entered | None = None,
    left: Left | None = None,
    **always: bool,
) -> Iterator[list[str]]:
    """A context in which the list has the paths of the layers that run now, the innermost last.

    layers: paths and layers.
    entered: is told of a layer before the list has it. left: when it has it no more.
    always: options of a hook that is called after an exception, too.
    """
    paths: list[str] = []

    def before(path: str) -> Callable[..., None]:
        def hook(layer: Any, inputs: tuple) -> None:
            if entered:
                entered(path, layer, inputs)
            paths.append(path)

        return hook

    def after(layer: Any, inputs: tuple, _: Any) -> None:
        path = paths.pop()
        if left:
            left(path, layer, inputs)

    def registered() -> Iterator[Any]:
        for path, layer in layers:
            yield layer.register_forward_pre_hook(before(path))
            yield layer.register_forward_hook(after, **always)

    with attached(registered()):
        yield paths


_HERE = os.path.dirname(__file__) + os.sep


def frames(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and those that have called it, the innermost first."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def callers() -> Iterator[FrameType]:
    """The frames behind the call that an observer is told of, the innermost first."""
    behind = itertools.dropwhile(lambda frame: not in_stream(frame), frames(sys._getframe(1)))
    yield from itertools.filterfalse(in_stream, behind)


def warn_models(message: str) -> None:
    """Warn at the line of the models' own code that runs now, once in a process for each file."""
    for frame in callers():
        file = frame.f_code.co_filename
        if of_models(file):
            if (message, file) not in _warned:
                _warned.add((message, file))
                warnings.warn_explicit(message, UserWarning, file, frame.f_lineno)
            return


_warned: set[tuple[str, str]] = set()
"""What models have been warned of: a message and a file."""


def in_stream(frame: FrameType) -> bool:
    """Whether a frame hands on a call, between a network and a framework, in the middle of it."""
    return frame.f_code.co_filename.startswith(_HERE)

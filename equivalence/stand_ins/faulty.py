"""Operators of MindSpore that compute something wrong without a word, and what is right instead.

A diagnosis puts what is right in the place of those that a wrong network calls, and runs it again.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import mindspore as ms
from mindspore import ops
from mindspore.ops.operations import nn_ops

from equivalence.randomness.interception import intercepted
from equivalence.stand_ins import making

SCALE, ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
"""The constants of a SELU."""


def selu(x):
    """A SELU with its gradient."""
    return SCALE * (ops.relu(x) + ALPHA * ops.expm1(ops.minimum(x, 0.0)))


def padded(x, padding, value):
    """A padding by a constant, one number, in pairs from the last axis on."""
    inside = making.pad(ops.ones_like(x), padding)
    return ops.where(inside > 0, making.pad(x, padding), value)


def pad(mode="constant", paddings_contiguous=True):
    """`padded` in place of a primitive that pads by a constant; any other pads as ever."""
    if mode == "constant" and paddings_contiguous:
        return padded
    return nn_ops.PadV3(mode=mode, paddings_contiguous=paddings_contiguous)


@dataclass(frozen=True)
class Fault:
    """An operator that is wrong.

    finding: the script in `findings/` that shows it.
    what: what is wrong, as a part of MindSpore.
    instead: what to write.
    primitive: the name of its primitive.
    compiled: whether it is wrong in a compiled graph alone.
    stand_in: what is right in its place; of a primitive that is made with settings, takes those.
    settings: the names of these settings.
    """

    finding: str
    what: str
    instead: str
    primitive: str
    compiled: bool
    stand_in: Callable
    settings: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """What is wrong and what to write, as a sentence of its own."""
        wrong = f"MindSpore's {self.what} is wrong (finding {self.finding})"
        return f"{wrong}; write {self.instead} instead"

    def __str__(self) -> str:
        return (
            f"MindSpore's {self.what} is not (finding {self.finding}); write {self.instead} instead"
        )


FAULTS = (
    Fault(
        "pad_gradient_in_graph_called_again",
        "gradient of ops.pad in a compiled graph that is called again",
        "nn.Pad, or ops.cat with what is added,",
        "PadV3",
        True,
        pad,
        ("mode", "paddings_contiguous"),
    ),
    Fault(
        "selu_gradient",
        "gradient of ops.selu",
        f"{SCALE:.9f} * (ops.relu(x) + {ALPHA:.9f} * ops.expm1(ops.minimum(x, 0.0)))",
        "SeLU",
        False,
        selu,
    ),
)
"""The faults that are tried."""


class Mended:
    """What is right stands in the place of operators that are wrong.

    faults: the operators.
    """

    def __init__(self, faults: Iterable[Fault]):
        self.faults = {fault.primitive: fault for fault in faults}

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """A context in which no run of MindSpore has these faults."""
        with contextlib.ExitStack() as places:
            places.enter_context(intercepted(_as_ever, self._replace, __name__))
            for fault in self.faults.values():
                if not fault.compiled:
                    # Before MindSpore records anything, so that its own gradient is recorded.
                    owner = getattr(ops, fault.primitive)
                    places.callback(setattr, owner, "__call__", owner.__call__)
                    owner.__call__ = self._calling(fault)
            yield

    def _calling(self, fault: Fault) -> Callable:
        """What a class does when one of its primitives is called in PyNative mode."""

        def call(primitive: Any, *inputs: Any) -> Any:
            return self._made(fault, primitive)(*inputs)

        return call

    def _replace(self, value: Any) -> Any:
        """The object that the compiler gets in place of one that a source names."""
        if isinstance(value, ops.Primitive):
            fault = self.faults.get(value.name)
            return value if fault is None else self._made(fault, value)
        if isinstance(value, type) and issubclass(value, ops.Primitive):
            fault = self.faults.get(value.__name__)
            if fault is None:
                return value
            return fault.stand_in if fault.settings else _making(fault)
        return value

    def _made(self, fault: Fault, primitive: ms.ops.Primitive) -> Callable:
        """What stands for an object with its settings."""
        told = [getattr(primitive, name) for name in fault.settings]
        return fault.stand_in(*told) if told else fault.stand_in


def _as_ever(func: Callable, arguments: tuple) -> Any:
    return func(*arguments)


def _making(fault: Fault) -> Callable:
    """A function that gives the stand-in, in place of a primitive's class without settings."""
    stand_in = fault.stand_in

    def make():
        return stand_in

    return make

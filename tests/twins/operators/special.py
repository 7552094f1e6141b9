"""Special values that every run of an operator meets, whatever it draws: `ALWAYS`.

Public reports of wrong operators are mostly about these: NaN and infinities, rows that are wholly
masked, exponentials that overflow, long axes, integers beyond 32 bits.
"""

import functools

from equivalence.declare.draws import Draw, gaps, infinite, masked, normal, uniform, whole
from equivalence.declare.operator import Example
from equivalence.declare.spaces import Values

DECLARES_NOTHING = True


def missing(*shape: int) -> Draw:
    """NaN between numbers. Only values are compared: at NaN, gradients are a matter of taste."""
    return gaps(*shape).constant()


def odd(*shapes: tuple[int, ...], dtype: str = "float32", **arguments) -> tuple[Example, ...]:
    """A call with NaN in its inputs, and one with infinities."""
    return tuple(
        Example(tuple(kind(*shape) for shape in shapes), arguments, dtype)
        for kind in (missing, infinite)
    )


def of(kind: Values, *shape: int, **arguments) -> Example:
    """A call with one input."""
    return Example((kind(*shape),), arguments)


EACH = odd((4, 9))
EACH_HALF = odd((4, 9), dtype="float16")
"""Where MindSpore's kernels are too coarse to be compared in float32."""

PAIRS = odd((9, 1), (1, 7))
"""Each of nine values beside each of seven."""

ROWS = odd((40, 2), dim=1)
"""Rows short enough that some have numbers alone."""

OVERFLOWING = functools.partial(uniform, low=89.0, high=200.0)
SCORES = (of(masked, 5, 7, dim=-1), of(OVERFLOWING, 4, 9, dim=-1))
LONG = (of(normal, 2, 1500, dim=1), of(normal, 2, 1, 3, 2, 3, dim=3))
"""An axis of more than a thousand elements; five axes."""

WIDE = functools.partial(whole, low=2**31, high=2**40)
"""Integers of more than 32 bits."""

WIDE_EACH = (Example((WIDE(4, 9),)),)
WIDE_PAIRS = (Example((WIDE(9, 1), WIDE(1, 7))),)
WIDE_ROWS = (of(WIDE, 5, 7, dim=1),)

UNARY = """
    abs acos acosh asin asinh atan atanh ceil celu cos cosh deg2rad digamma erf erfc erfinv exp2
    floor frac hardsigmoid hardswish lgamma log log10 log1p log2 logsigmoid neg rad2deg
    reciprocal relu relu6 round rsqrt selu sign sin sinc sinh softsign softshrink hardshrink
    hardtanh sqrt square tan trunc isnan isinf isfinite
"""
UNARY_HALF = "exp expm1 sigmoid silu tanh tanhshrink"
BINARY = """
    add sub mul true_divide maximum minimum fmax atan2 hypot copysign logaddexp logaddexp2 xlogy
    remainder fmod floor_divide eq ne lt le gt ge
"""
REDUCTIONS = "sum nansum mean nanmean prod max min argmax argmin amax amin cumsum cummax cummin"

ALWAYS: dict[str, tuple[Example, ...]] = {
    **dict.fromkeys(UNARY.split(), EACH),
    **dict.fromkeys(UNARY_HALF.split(), EACH_HALF),
    **dict.fromkeys(BINARY.split(), PAIRS),
    **dict.fromkeys(REDUCTIONS.split(), ROWS),
    **dict.fromkeys(("abs", "neg", "sign", "square"), EACH + WIDE_EACH),
    **dict.fromkeys(("add", "sub", "maximum", "minimum", "eq", "lt"), PAIRS + WIDE_PAIRS),
    **dict.fromkeys(("sum", "max", "min", "amax", "amin", "argmax"), ROWS + LONG + WIDE_ROWS),
    **dict.fromkeys(("mean", "cumsum", "nansum", "prod", "cummax", "cummin"), ROWS + LONG),
    "elu": odd((4, 9), dtype="float16", alpha=1.0),
    "gelu": odd((4, 9), dtype="float16", approximate="none"),
    "leaky_relu": odd((4, 9), negative_slope=0.1),
    "softplus": odd((4, 9), dtype="float16", beta=1, threshold=20),
    "nan_to_num": odd((4, 9), nan=1.5, posinf=2.0, neginf=-3.0),
    "threshold": odd((4, 9), threshold=0.5, value=20.0),
    "clamp": odd((4, 9), min=-1, max=1.5),
    "glu": odd((4, 8), dim=1),
    "logsumexp": (*ROWS, *SCORES),
    "softmax": ROWS + SCORES + LONG,
    "softmin": ROWS + LONG,
    "log_softmax": (
        *SCORES,
        *LONG,
        *odd((40, 2), dim=1, dtype="float16"),
        Example((masked(5, 7),), {"dim": -1}, "float16"),
    ),
}
"""Name of an operator -> the examples that it always compares."""

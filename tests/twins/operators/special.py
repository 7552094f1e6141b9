"""Special values that every run of an operator meets, whatever it draws: `ALWAYS`.

Public reports of wrong operators are mostly about these: NaN and infinities, rows that are wholly
masked, exponentials that overflow, long axes, integers beyond 32 bits.
"""

import functools
from collections.abc import Collection

from equivalence.declare.draws import gaps, given, infinite, masked, normal, uniform, whole
from equivalence.declare.operator import Example
from equivalence.declare.spaces import Values

DECLARES_NOTHING = True


def odd(
    *shapes: tuple[int, ...],
    dtype: str = "float32",
    ungraded: Collection[Values] = (),
    **arguments,
) -> tuple[Example, ...]:
    """A call with NaN in its inputs, and one with infinities.

    ungraded: for which of the two no gradient is compared.
    """
    made = []
    for kind in (gaps, infinite):
        inputs = [kind(*shape) for shape in shapes]
        inputs = [each.constant() for each in inputs] if kind in ungraded else inputs
        made.append(Example(tuple(inputs), arguments, dtype))
    return tuple(made)


def of(kind: Values, *shape: int, **arguments) -> Example:
    """A call with one input."""
    return Example((kind(*shape),), arguments)


BOTH = (gaps, infinite)
UNGRADED = {
    **dict.fromkeys(("celu", "hardsigmoid", "hardswish"), (gaps,)),
    **dict.fromkeys(("digamma", "softsign"), (infinite,)),
    **dict.fromkeys(("acosh", "copysign", "floor_divide"), BOTH),
}
"""Where there is no one gradient: PyTorch's own depends on the place in the array (celu, hardswish,
acosh at NaN), there is none (floor_divide), or MindSpore has another and neither is wrong."""

EACH = odd((4, 9))
EACH_HALF = odd((4, 9), dtype="float16")
"""Where MindSpore's kernels are too coarse to be compared in float32."""

SIDES = ((9, 1), (1, 7))
"""Each of nine values beside each of seven."""

PAIRS = odd(*SIDES)

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

EXTREME = functools.partial(uniform, low=-100.0, high=100.0)
"""Scores whose exponentials overflow, and underflow."""

LIKELIHOODS = functools.partial(uniform, low=-4.0, high=-0.05)
ROWS_OF_LABELS = given(6, values=(0, -100, 3, 1, -100, 2))
MAPS_OF_LABELS = given(2, 3, 2, values=(0, 255, 3, 1, 255, 2, 1, 1, 0, 255, 2, 3))


def labelled(kind: Values, weighted: bool = False, **arguments) -> tuple[Example, ...]:
    """Scores of four classes beside labels of which some are ignored, in rows and in maps."""
    weights = (uniform(4, low=0.1, high=4.0).constant(),) if weighted else ()
    return tuple(
        Example(
            (kind(*shape), labels, *weights),
            {"reduction": reduction, "ignore_index": ignored, **arguments},
        )
        for reduction in ("mean", "none")
        for shape, labels, ignored in (
            ((6, 4), ROWS_OF_LABELS, -100),
            ((2, 4, 3, 2), MAPS_OF_LABELS, 255),
        )
    )


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
    **{name: odd((4, 9), ungraded=UNGRADED.get(name, ())) for name in UNARY.split()},
    **dict.fromkeys(UNARY_HALF.split(), EACH_HALF),
    **{name: odd(*SIDES, ungraded=UNGRADED.get(name, ())) for name in BINARY.split()},
    **dict.fromkeys(REDUCTIONS.split(), ROWS),
    **dict.fromkeys(("abs", "neg", "sign", "square"), EACH + WIDE_EACH),
    **dict.fromkeys(("add", "sub", "maximum", "minimum", "eq", "lt"), PAIRS + WIDE_PAIRS),
    **dict.fromkeys(("sum", "max", "min", "amax", "amin", "argmax"), ROWS + LONG + WIDE_ROWS),
    **dict.fromkeys(("mean", "cumsum", "nansum", "prod", "cummax", "cummin"), ROWS + LONG),
    "elu": odd((4, 9), dtype="float16", ungraded=(gaps,), alpha=1.0),
    "gelu": odd((4, 9), dtype="float16", approximate="none"),
    "leaky_relu": odd((4, 9), ungraded=BOTH, negative_slope=0.1),
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
    "cross_entropy": (
        *labelled(EXTREME, label_smoothing=0.0),
        *labelled(normal, weighted=True, label_smoothing=0.1),
    ),
    "nll_loss": (*labelled(LIKELIHOODS), *labelled(LIKELIHOODS, weighted=True)),
}
"""Name of an operator -> the examples that it always compares."""

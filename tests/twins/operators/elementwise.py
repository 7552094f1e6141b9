"""Operators that work element by element: arithmetic, bounds, rounding, functions."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from equivalence.declare import draws
from equivalence.declare.difference import Difference, Limit
from equivalence.declare.draws import booleans, logits, nonfinite, normal, ties, uniform, whole
from equivalence.declare.operator import LIMITS, Counterpart, Example, Operator, Space, to
from equivalence.declare.spaces import (
    LARGE,
    POSITIVE,
    REAL,
    WITHIN_ONE,
    Values,
    arguments,
    broadcast,
    unary,
    values,
)


def constant(kind: Values) -> Values:
    """The same values, without a gradient: PyTorch has written none."""
    return lambda *sizes: kind(*sizes).constant()


SPREAD = functools.partial(normal, scale=30.0)
SMALL_TIES = functools.partial(ties, largest=2)
FAR = functools.partial(uniform, low=5.0, high=10.0)
HALVES = functools.partial(ties, largest=7, step=0.5)
SATURATED = functools.partial(logits, largest=80.0)
TO_A_THOUSAND = functools.partial(uniform, low=1e-3, high=1e3)
ABOVE_ONE = functools.partial(uniform, low=1.01, high=9.0)
WITHIN_HALF = functools.partial(uniform, low=-0.5, high=0.5)
TO_ONE = functools.partial(uniform, low=0.65, high=0.95)
BEYOND = functools.partial(uniform, low=1.4, high=3.0)
MINUS_ONE = functools.partial(uniform, low=-0.9, high=-0.1)
PLUS = functools.partial(whole, low=1, high=8)
MINUS = functools.partial(whole, low=-8, high=0)


def widened(example: Example) -> bool:
    """Whether the first input is broadcast."""
    shapes = [draw.shape for draw in example.inputs]
    return np.broadcast_shapes(*shapes) != shapes[0]


def _widened_below_one(example: Example) -> bool:
    """Whether an input lacks an axis of size one, and is widened along one that it has."""
    shapes = [draw.shape for draw in example.inputs]
    full = np.broadcast_shapes(*shapes)
    return any(
        1 in full[: len(full) - len(each)]
        and any(own == 1 < side for own, side in zip(each[::-1], full[::-1], strict=False))
        for each in shapes
    )


LIMITS["widened_below_one"] = _widened_below_one
LIMITS["coarse"] = lambda example: (
    example.dtype == "float32" and any(d.kind in ("normal", "logits") for d in example.inputs)
)
LIMITS["coarser"] = lambda example: (
    example.dtype == "float32" and any(d.kind != "uniform" for d in example.inputs)
)
LIMITS["bell"] = lambda example: any(d.kind in ("normal", "logits") for d in example.inputs)
LIMITS["zeroth"] = lambda example: example.arguments["exponent"] == 0
LIMITS["vanishing"] = lambda example: (
    any(0 in draw.shape for draw in example.inputs)
    and any(0 not in draw.shape for draw in example.inputs)
)
LIMITS["lower"] = lambda example: len(example.inputs[0].shape) < len(example.inputs[1].shape)
LIMITS["float32"] = lambda example: example.dtype == "float32"
LIMITS["int_value"] = lambda example: isinstance(example.arguments["value"], int)
LIMITS["number"] = lambda example: len(example.inputs) == 1
LIMITS["rounded_number"] = lambda example: (
    len(example.inputs) == 1 and example.arguments["rounding_mode"] is not None
)
LIMITS["half_number"] = lambda example: example.dtype == "float16" and len(example.inputs) == 1
LIMITS["half_scalar_by_float"] = lambda example: (
    LIMITS["half_number"](example)
    and example.inputs[0].shape == ()
    and isinstance(example.arguments["other"], float)
)
LIMITS["half_truncated"] = lambda example: (
    example.dtype == "float16" and example.arguments["rounding_mode"] == "trunc"
)
LIMITS["fewer_axes"] = lambda example: len({len(draw.shape) for draw in example.inputs}) > 1
LIMITS["large_half"] = lambda example: (
    example.dtype == "float16"
    and any(
        max(abs(draw.options.get("low", 0)), draw.options.get("largest", 0)) > 11
        for draw in example.inputs
    )
)
LIMITS["widened"] = widened

COARSE = {"coarse": "exp is off by 3e-6"}
COARSER = {"coarser": "exp is off by 3e-6"}
COARSE_SUM = {
    "logaddexp(normal(40, scale=0.2, shift=-0.69), normal(40, scale=0.2, shift=-0.69))": Difference(
        "exp is off by 3e-6", {"output.0": 1e-5}
    ),
}
TO_NOTHING = {"vanishing": "unwritten gradients of what is broadcast to nothing"}
TURNED = {"widened_below_one": Limit("the gradient gets another shape", ">=2.8"), **TO_NOTHING}
TO_SINGLE = {"half_scalar_by_float": "is float32"}
SWALLOWS = {"nan": "NaN beside a number becomes the number"}
BY_INFINITY = {"infinite": "a number by an infinity is NaN"}
LIKE_INFINITIES = {"infinite": "two like infinities give NaN"}
UNTRUNCATED = {each: Limit("trunc refuses it", "<2.9") for each in ("whole", "float16")}
NO_EMPTY = {"empty": "crashes, at times, where shapes differ"}

NUMBERS = (*REAL, whole)
MIXED = (normal, ties, whole)
DIVISORS = (normal, LARGE, PLUS, MINUS)
CONSTANT = (*map(constant, REAL), whole)
CONSTANT_DIVISORS = (constant(normal), constant(LARGE), PLUS, MINUS)


def shapes(draw, without, number: int) -> list[tuple[int, ...]]:
    """Shapes that broadcast together; of one in five draws, one element to nothing."""
    if without & {"vanishing", "empty"} or draw(st.integers(0, 4)) < 4:
        return broadcast(draw, without, number)
    chosen: list[tuple[int, ...]] = [(0, 2)] * number
    chosen[draw(st.integers(0, number - 1))] = draw(st.sampled_from([(), (1, 1)]))
    return chosen


def together(*inputs: Sequence[Values], **given: Any) -> Space:
    """Inputs that broadcast together, each of a kind of its own."""

    def space(draw, without):
        made = [
            values(draw, without, *kinds)(*sizes)
            for kinds, sizes in zip(inputs, shapes(draw, without, len(inputs)), strict=True)
        ]
        return made, arguments(draw, given)

    return space


def alike(*kinds: Values, **given: Any) -> Space:
    """Two inputs of one kind that broadcast together."""

    def space(draw, without):
        kind = values(draw, without, *kinds)
        made = [kind(*sizes) for sizes in shapes(draw, without, 2)]
        return made, arguments(draw, given)

    return space


def operand(
    first: Sequence[Values],
    second: Sequence[Values],
    numbers: Sequence[Any],
    name: str = "other",
    **given: Any,
) -> Space:
    """Two inputs that broadcast, or one, and one of `numbers` as the argument `name`."""
    tensors = together(first, second, **given)
    number = unary(*first, **{name: list(numbers)}, **given)

    def space(draw, without):
        return (tensors if draw(st.booleans()) else number)(draw, without)

    return space


def near(x: float, scale: float = 0.005) -> Values:
    """Where a kernel is at its worst."""
    return functools.partial(normal, scale=scale, shift=x)


def same(name: str, **options: Any) -> tuple[Counterpart, Counterpart]:
    """`ops` and `mint` have it under torch's name."""
    return to(f"ops.{name}", **options), to(f"mint.{name}", **options)


ARITHMETIC = (
    Operator("torch.abs", unary(*NUMBERS), *same("abs")),
    Operator("torch.neg", unary(*NUMBERS), *same("neg")),
    Operator("torch.sign", unary(*NUMBERS), *same("sign")),
    Operator("torch.square", unary(*NUMBERS), *same("square")),
    Operator("torch.reciprocal", unary(normal, POSITIVE, PLUS), *same("reciprocal")),
    Operator("torch.add", operand(NUMBERS, MIXED, [2, -0.5]), *same("add", without=TO_NOTHING)),
    Operator(
        "torch.add",
        together(NUMBERS, MIXED, alpha=[2, -3]),
        to("mint.add", without=TO_NOTHING),
        name="add_scaled",
    ),
    Operator("torch.sub", operand(NUMBERS, MIXED, [2, -0.5]), *same("sub", without=TO_NOTHING)),
    Operator(
        "torch.subtract",
        together(NUMBERS, MIXED, alpha=[2, -3]),
        to("ops.subtract", without=TO_NOTHING),
        to("mint.sub", without=TO_NOTHING),
    ),
    Operator(
        "torch.mul",
        operand(NUMBERS, MIXED, [2, -0.5]),
        to("ops.mul", without={**TO_NOTHING, **TO_SINGLE}),
        to("mint.mul", without={**TO_NOTHING, "number": Limit("no kernel", "<2.8")}),
    ),
    Operator(
        "torch.div",
        operand(NUMBERS, DIVISORS, [2, -0.5, 3.0], rounding_mode=[None, "floor", "trunc"]),
        to(
            "ops.div",
            without={
                "half_number": "may be float32; no floor",
                **TO_NOTHING,
            },
        ),
        to(
            "mint.div",
            without={
                "number": Limit("no argument is called other", "<2.9"),
                "half_truncated": Limit("trunc refuses it", "<2.9"),
                "rounded_number": "crashes now and then: no kernel",
                **TO_NOTHING,
            },
        ),
    ),
    Operator(
        "torch.true_divide", together(NUMBERS, DIVISORS), to("ops.true_divide", without=TO_NOTHING)
    ),
    Operator(
        "torch.floor_divide",
        operand(CONSTANT, CONSTANT_DIVISORS, [2, -3, 0.5]),
        to("ops.floor_divide", without=BY_INFINITY),
        to("mint.floor_divide", without={"number": "no kernel divides by a number", **BY_INFINITY}),
    ),
    Operator(
        "torch.fmod",
        operand(NUMBERS, DIVISORS, [2, -3, 0.5]),
        to("ops.fmod", without={**TO_NOTHING, **TO_SINGLE, **BY_INFINITY, **UNTRUNCATED}),
        to(
            "mint.fmod",
            without={
                "graph": "no kernel takes a number",
                **TO_NOTHING,
                **TO_SINGLE,
                **BY_INFINITY,
                **UNTRUNCATED,
            },
        ),
    ),
    Operator(
        "torch.remainder",
        operand(NUMBERS, DIVISORS, [2, -3, 0.5]),
        *same(
            "remainder",
            without={"large_half": "the quotient is rounded", **TO_NOTHING, **BY_INFINITY},
            differs={
                "remainder[float16](ties(40, largest=16000), other=3)": Difference(
                    "a quotient above 2048 is rounded in half precision", {"output.0": 5.0}
                ),
            },
        ),
    ),
    Operator(
        "torch.pow",
        operand((POSITIVE, PLUS), (normal, ties), [2, 3, 0.5, -1.5, -2.0, 0, 1], "exponent"),
        *same("pow", without=TO_NOTHING),
    ),
    Operator(
        "torch.pow",
        unary(normal, ties, LARGE, whole, exponent=[2, 3, 1, 0]),
        to("ops.pow", without={"zeroth": "the gradient at zero is NaN"}),
        to("mint.pow"),
        name="pow_whole",
    ),
    Operator(
        "torch.addcmul",
        together(REAL, (normal, ties), (normal, ties), value=[1, -0.5]),
        to("ops.addcmul", without=TO_NOTHING),
    ),
    Operator(
        "torch.addcdiv",
        together(REAL, (normal, ties), (normal, POSITIVE), value=[1, -0.5]),
        to("ops.addcdiv", without=TO_NOTHING),
    ),
    Operator(
        "torch.lerp",
        together(REAL, REAL, (normal, uniform)),
        *same("lerp", without={**TURNED, "fewer_axes": Limit("is refused", "<2.8")}),
    ),
    Operator(
        "torch.lerp",
        together(REAL, REAL, weight=[0.1, 0.75, 1.5]),
        *same(
            "lerp",
            without={"float16": "the gradient is float32", **TURNED},
            differs={
                "lerp_by_number(ties(5, 1), normal(1, 1, 2), weight=0.75)": Difference(
                    "the gradient is turned below an axis of size one",
                    {"gradient:input[0]": "shape (1, 5)"},
                    releases=">=2.8",
                ),
            },
        ),
        name="lerp_by_number",
    ),
    Operator(
        "torch.hypot",
        alike(normal, LARGE),
        to("ops.hypot", without={"float16": "refused", **TO_NOTHING}),
    ),
    Operator("torch.atan2", alike(normal, SPREAD), to("ops.atan2", without=TO_NOTHING)),
    Operator(
        "torch.xlogy", together((normal, ties), (POSITIVE,)), *same("xlogy", without=TO_NOTHING)
    ),
    Operator(
        "torch.logaddexp",
        alike(SATURATED, FAR),
        to("ops.logaddexp", without=NO_EMPTY | COARSE | LIKE_INFINITIES, differs=COARSE_SUM),
    ),
    Operator(
        "torch.logaddexp2",
        alike(normal, ties, SATURATED),
        to("ops.logaddexp2", without=NO_EMPTY | LIKE_INFINITIES),
    ),
    Operator(
        "torch.copysign",
        alike(*REAL),
        to(
            "ops.copysign",
            without={
                "ties": "the sign of zero is not seen",
                "lower": "refused",
                "empty": "refused now and then",
            },
        ),
    ),
    Operator("torch.gcd", alike(whole), *same("gcd")),
    Operator("torch.lcm", alike(whole), to("ops.lcm")),
    Operator("torch.deg2rad", unary(), to("ops.deg2rad")),
    Operator("torch.rad2deg", unary(), to("ops.rad2deg")),
)

BOUNDS = (
    Operator(
        "torch.clamp",
        unary(HALVES, whole, *REAL, min=[None, -1, 0.5], max=[1, 2.5]),
        *same("clamp", without={"nan": "NaN becomes a bound"}),
    ),
    Operator(
        "torch.clamp",
        together(REAL, REAL, REAL),
        *same("clamp", without={"widened": "bounds with more elements are refused", **NO_EMPTY}),
        name="clamp_by_tensors",
    ),
    Operator("torch.minimum", alike(*NUMBERS), *same("minimum", without=NO_EMPTY | SWALLOWS)),
    Operator("torch.maximum", alike(*NUMBERS), *same("maximum", without=NO_EMPTY | SWALLOWS)),
    Operator("torch.fmax", alike(*NUMBERS, draws.gaps), to("ops.fmax", without=NO_EMPTY)),
    Operator(
        "torch.where", together((booleans,), NUMBERS, MIXED), *same("where", without=TO_NOTHING)
    ),
    Operator(
        "torch.masked_fill",
        together(NUMBERS, (booleans,), value=[0.5, -1e4, 0]),
        to(
            "ops.masked_fill",
            without={
                "whole": "int64 is refused",
                "int_value": "an int is refused",
                "vanishing": "refused",
            },
        ),
    ),
    Operator(
        "torch.nan_to_num",
        unary(normal, nonfinite, nan=[0.0, 1.5], posinf=[2.0, 100.0], neginf=[-3.0]),
        *same("nan_to_num"),
    ),
)

ROUNDING = (
    Operator("torch.floor", unary(HALVES, *REAL), *same("floor")),
    Operator("torch.ceil", unary(HALVES, *REAL), *same("ceil")),
    Operator("torch.round", unary(HALVES, *REAL), *same("round")),
    Operator("torch.trunc", unary(HALVES, *REAL), *same("trunc")),
    Operator("torch.frac", unary(HALVES, *REAL), to("ops.frac")),
)

FUNCTIONS = (
    Operator("torch.exp", unary(normal, ties, SATURATED, FAR), *same("exp", without=COARSER)),
    Operator("torch.exp2", unary(normal, ties, SATURATED), to("ops.exp2")),
    Operator(
        "torch.expm1",
        unary(normal, ties, SATURATED, POSITIVE, near(0.01, 0.001)),
        *same("expm1", without={"bell": "one is subtracted from exp"}),
    ),
    Operator("torch.log", unary(POSITIVE, TO_A_THOUSAND), *same("log")),
    Operator("torch.log2", unary(POSITIVE, TO_A_THOUSAND), to("ops.log2")),
    Operator("torch.log10", unary(POSITIVE, TO_A_THOUSAND), to("ops.log10")),
    Operator("torch.log1p", unary(POSITIVE, TO_A_THOUSAND, MINUS_ONE), *same("log1p")),
    Operator("torch.sqrt", unary(POSITIVE, TO_A_THOUSAND, draws.binary), *same("sqrt")),
    Operator("torch.rsqrt", unary(POSITIVE, TO_A_THOUSAND), *same("rsqrt")),
    Operator("torch.sin", unary(normal, ties, logits), *same("sin")),
    Operator("torch.cos", unary(normal, ties, logits), *same("cos")),
    Operator("torch.tan", unary(normal, ties, WITHIN_ONE), *same("tan")),
    Operator("torch.asin", unary(WITHIN_ONE), to("ops.asin")),
    Operator("torch.acos", unary(WITHIN_ONE), to("ops.acos")),
    Operator("torch.atan", unary(), to("ops.atan")),
    Operator("torch.sinh", unary(normal, ties, SATURATED), *same("sinh")),
    Operator("torch.cosh", unary(normal, ties, SATURATED), *same("cosh")),
    Operator("torch.asinh", unary(), to("ops.asinh")),
    Operator("torch.acosh", unary(ABOVE_ONE), to("ops.acosh")),
    Operator("torch.atanh", unary(WITHIN_ONE), *same("atanh")),
    Operator("torch.erf", unary(WITHIN_HALF, BEYOND), *same("erf")),
    Operator("torch.erfc", unary(WITHIN_HALF, BEYOND), *same("erfc")),
    Operator("torch.erfinv", unary(WITHIN_HALF, TO_ONE), *same("erfinv")),
    Operator("torch.logit", unary(uniform, normal, eps=[1e-2, 0.1]), to("ops.logit")),
    Operator("torch.sinc", unary(ties, POSITIVE), *same("sinc")),
    Operator("torch.digamma", unary(POSITIVE), to("ops.digamma", without={"empty": "refused"})),
    Operator(
        "torch.lgamma",
        unary(POSITIVE, TO_A_THOUSAND),
        to("ops.lgamma", without={"empty": "refused"}),
    ),
)

OPERATORS = (*ARITHMETIC, *BOUNDS, *ROUNDING, *FUNCTIONS)

"""Reductions, statistics, running sums and softmax."""

import functools
import math
from typing import Any

import hypothesis
from hypothesis import strategies as st

from equivalence.declare import draws
from equivalence.declare.difference import Difference, Raised
from equivalence.declare.draws import booleans, normal, ties, uniform, whole
from equivalence.declare.operator import LIMITS, Operator, Space, to
from equivalence.declare.spaces import REAL, Values, along, arguments, axes, axis, shape, values
from tests.twins.operators.elementwise import (
    COARSER,
    CONSTANT,
    NUMBERS,
    SATURATED,
    SPREAD,
    constant,
)
from tests.twins.operators.spaces_shapes import short

VARIED = 600
"""Numbers of which MindSpore's variance, which adds their squares one by one, is accurate."""

UNEQUAL = 3
"""So many random numbers are never all equal; of two in float16 one pair in some thousands is."""

FACTORS = 16
"""The product of hundreds vanishes."""

FURTHER = functools.partial(uniform, low=20.0, high=40.0)
ALIKE = functools.partial(uniform, low=30.0, high=31.0)
NEAR_ONE = functools.partial(uniform, low=0.5, high=1.5)
BITS = functools.partial(whole, low=0, high=2)
TRUTHS = (draws.binary, BITS, booleans)


def reduced(
    *kinds: Values,
    several: bool = True,
    everything: bool = True,
    least: int = 0,
    most: int = 1 << 20,
    **given: Any,
) -> Space:
    """One input and the axes `dim` to reduce: one, some if `several`, or all, untold.

    least: how many elements there are along each axis. most: how many in all.
    """

    def space(draw, without):
        form = draw(st.sampled_from(["one"] + ["several"] * several + ["all"] * everything))
        hidden = without | {"empty"} if least else without
        sizes = shape(draw, hidden if form == "all" else hidden | {"scalar"})
        sizes = tuple(side + least - 1 if least else side for side in sizes)
        hypothesis.assume(math.prod(sizes) <= most)
        told = {}
        if form != "all":
            one = form == "one"
            told["dim"] = axis(draw, len(sizes)) if one else axes(draw, len(sizes))
            told["keepdim"] = draw(st.booleans())
        return [values(draw, without, *kinds or REAL)(*sizes)], {**told, **arguments(draw, given)}

    return space


LIMITS["numbers"] = lambda example: example.inputs[0].kind != "booleans"
LIMITS["gradient"] = lambda example: any(draw.differentiable for draw in example.inputs)
LIMITS["wide"] = lambda example: example.dtype == "float16" or example.inputs[0].kind == "logits"
LIMITS["several"] = lambda example: isinstance(example.arguments.get("dim"), tuple)
LIMITS["several_from_the_end"] = lambda example: (
    LIMITS["several"](example)
    and min(example.arguments["dim"]) < 0
    and not example.arguments["keepdim"]
)
LIMITS["from_the_end"] = lambda example: example.arguments["dim"] < 0
LIMITS["everything"] = lambda example: "dim" not in example.arguments

AXIS = {"dim": "axis"}
KEEP_DIMS = {"dim": "axis", "keepdim": "keep_dims"}
KEEPDIMS = {"dim": "axis", "keepdim": "keepdims"}
VARIANCE = {"correction": "ddof", **KEEPDIMS}
BIASED = {"correction": (1, 0)}

EMPTY = {"empty": "unwritten results; the gradient is refused now and then"}
INDEX = {"everything": "gives an index, too"}
OVERLOOKS = {"nan": "NaN is overlooked where numbers stand beside it"}
NO_SUM = {"nan": "one NaN spoils all rows", "infinite": "one infinity spoils all rows"}
NO_LOG = {
    "nan": "minus infinity for NaN",
    "infinite": "minus infinity for NaN",
    "masked": "minus infinity for NaN",
}
EQUAL = {
    "ties": "the gradient is NaN where all values are equal",
    "scalar": "the gradient has another shape",
}
ZEROS = {"empty": "refused", "ties": "the gradient is NaN where one factor is zero"}
UNSTEADY = {"from_the_end": "unwritten, it seems: the gradient is now and then the cotangent"}
GRADIENT = {"gradient": "has no kernel"}
BYTES = {"numbers": "bytes of numbers are read as booleans", "empty": "any of nothing is true"}
UNSHIFTED = {"wide": "the maximum of all rows is subtracted from each"}

PEAKED = {
    "nan": "unwritten, it seems, where a row has NaN: now and then 0",
    "infinite": "unwritten, it seems, where a row has infinities: now and then 0",
    "masked": "unwritten, it seems, where all of a row is masked: now and then 0",
}
NO_DIM = {"dim": (None, -1)}

EXPONENTS = (normal, ties, SATURATED, ALIKE)

OPERATORS = (
    Operator(
        "torch.sum",
        reduced(*NUMBERS, booleans),
        to("ops.sum", without=EMPTY),
        to("mint.sum", without=EMPTY),
    ),
    Operator(
        "torch.nansum",
        reduced(draws.gaps, *REAL),
        to("ops.nansum", without=EMPTY, **KEEPDIMS),
    ),
    Operator(
        "torch.trapz",
        along(*REAL, dx=[1.0, 0.25]),
        to("ops.trapz", without={"empty": "the gradient is refused"}),
    ),
    Operator(
        "torch.nanmean",
        reduced(draws.gaps, normal),
        to(
            "ops.nanmean",
            without={"several_from_the_end": "the gradient is refused", **EMPTY},
            **KEEPDIMS,
        ),
    ),
    Operator(
        "torch.mean",
        reduced(),
        to("ops.mean", without={"empty": "a mean of no rows is refused"}, **KEEP_DIMS),
        to(
            "mint.mean",
            without={"empty": "the gradient is refused"},
            differs={
                "mean(normal(5, 0), dim=(0,), keepdim=False)": Difference(
                    "the gradient of a mean of no columns is refused",
                    Raised("RuntimeError", "For 'Tile', fast stride can not be equal to 0"),
                ),
            },
        ),
    ),
    Operator(
        "torch.prod",
        reduced(normal, ties, NEAR_ONE, whole, several=False),
        to("ops.prod", without=EMPTY, **KEEP_DIMS),
        to("mint.prod", without=EMPTY),
    ),
    *(
        Operator(
            f"torch.{name}",
            reduced(ties, *NUMBERS, several=False, least=1),
            to(f"ops.{name}", without=INDEX | OVERLOOKS, **KEEPDIMS),
            to(f"mint.{name}", without=OVERLOOKS),
        )
        for name in ("max", "min")
    ),
    *(
        Operator(
            f"torch.{name}",
            reduced(*NUMBERS, least=1),
            to(f"ops.{name}", without=OVERLOOKS, **KEEPDIMS),
            to(f"mint.{name}", without=OVERLOOKS),
        )
        for name in ("amax", "amin")
    ),
    Operator(
        "torch.argmax",
        reduced(*NUMBERS, several=False, least=1),
        to("ops.argmax", without=OVERLOOKS),
    ),
    Operator(
        "torch.argmin",
        reduced(*NUMBERS, several=False, least=1),
        to(
            "ops.argmin",
            integers="int32",
            without={"scalar": "gives int64", **OVERLOOKS},
            **KEEPDIMS,
        ),
    ),
    Operator(
        "torch.aminmax",
        reduced(*NUMBERS, several=False, everything=False, least=1),
        to(
            "ops.aminmax",
            without={"ties": "one of equal values gets the gradient"},
            defaults={"dim": (None, 0)},
            **KEEPDIMS,
        ),
    ),
    Operator("torch.all", reduced(*TRUTHS), to("ops.all", **KEEP_DIMS), to("mint.all")),
    Operator(
        "torch.any",
        reduced(*TRUTHS),
        to("ops.any", without=BYTES, **KEEP_DIMS),
        to("mint.any", without={"several": "refused", **BYTES}),
    ),
    Operator(
        "torch.count_nonzero",
        along(ties, whole, booleans),
        to(
            "ops.count_nonzero",
            integers="int32",
            without={"booleans": "refused", "empty": "unwritten counts of nothing"},
            **AXIS,
        ),
    ),
    *(
        Operator(
            f"torch.{name}",
            reduced(normal, ties, SPREAD, least=UNEQUAL, most=VARIED, correction=[0, 1]),
            to(f"ops.{name}", without=EQUAL, defaults=BIASED, **VARIANCE),
        )
        for name in ("var", "var_mean")
    ),
    *(
        Operator(
            f"torch.{name}",
            reduced(
                normal, SPREAD, everything=False, least=UNEQUAL, most=VARIED, correction=[0, 1]
            ),
            to(f"ops.{name}", defaults=BIASED, **VARIANCE),
        )
        for name in ("std", "std_mean")
    ),
    Operator(
        "torch.median",
        reduced(normal, SPREAD, several=False, everything=False, least=1),
        to("ops.median", without={"float16": "refused"}, **KEEPDIMS),
    ),
    Operator(
        "torch.logsumexp",
        reduced(SATURATED, FURTHER, everything=False, least=1),
        to(
            "ops.logsumexp",
            without={"masked": "NaN for minus infinity", "infinite": "NaN for an infinity"},
        ),
        to("nn.ReduceLogSumExp", without=UNSHIFTED | NO_SUM, **KEEP_DIMS),
    ),
    Operator(
        "torch.cumsum", along(*NUMBERS), to("ops.cumsum", without={"empty": "refused"}, **AXIS)
    ),
    Operator(
        "torch.cumprod",
        short(along(normal, ties, NEAR_ONE), FACTORS),
        to("ops.cumprod", without={**ZEROS, **UNSTEADY}),
        to("mint.cumprod", without={**ZEROS, **UNSTEADY}),
    ),
    Operator(
        "torch.cummax",
        along(*NUMBERS, *CONSTANT),
        to("ops.cummax", without=GRADIENT, **AXIS),
        to("mint.cummax", without=GRADIENT),
    ),
    Operator(
        "torch.cummin",
        along(*REAL, *map(constant, REAL)),
        to("ops.cummin", integers="int32", without=GRADIENT, **AXIS),
    ),
    Operator(
        "torch.logcumsumexp",
        along(SATURATED, constant(SATURATED), constant(FURTHER)),
        to("ops.logcumsumexp", without={"gradient": "NaN where values are far apart"}, **AXIS),
    ),
    Operator(
        "torch.softmax",
        along(SATURATED, FURTHER, SPREAD, ALIKE),
        to("ops.softmax", without=PEAKED, **AXIS),
        to("mint.nn.functional.softmax", without=PEAKED),
        to("nn.Softmax", without=PEAKED, **AXIS),
    ),
    Operator(
        "torch.log_softmax",
        along(*EXPONENTS),
        to("ops.log_softmax", without=COARSER | NO_LOG, **AXIS),
        to("nn.LogSoftmax", without=COARSER | NO_LOG, **AXIS),
    ),
    Operator(
        "torch.nn.functional.softmin",
        along(SATURATED, FURTHER, SPREAD, ALIKE),
        to("ops.softmin", without=PEAKED, defaults=NO_DIM, **AXIS),
        to("nn.Softmin", without=PEAKED, defaults=NO_DIM, **AXIS),
    ),
)

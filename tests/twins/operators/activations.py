"""Activations, element by element."""

import functools
from typing import Any

from hypothesis import strategies as st

from equivalence.declare.difference import Difference
from equivalence.declare.draws import normal, ties, uniform
from equivalence.declare.operator import LIMITS, Counterpart, Operator, to
from equivalence.declare.spaces import (
    LARGE,
    POSITIVE,
    REAL,
    WITHIN_ONE,
    along,
    shape,
    unary,
    values,
)
from tests.twins.operators.elementwise import (
    COARSE,
    COARSER,
    FAR,
    HALVES,
    SATURATED,
    SMALL_TIES,
    near,
)

F = "torch.nn.functional"
WIDE = functools.partial(ties, largest=8)
FAR_BELOW = functools.partial(uniform, low=-10.0, high=-4.0)

LIMITS["below_zero"] = lambda example: example.inputs[0].kind != "uniform"
LIMITS["far_half"] = lambda example: (
    example.dtype == "float16" and example.inputs[0].kind == "uniform"
)
LIMITS["alpha"] = lambda example: example.arguments["alpha"] != 1.0

SIGMOID = {"large_half": "zero below -11, where exp overflows", **COARSE}
GATE = {"large_half": "the gate is zero below -11"}
GATE_SHOWN = {
    "glu[float16](uniform(2, low=-14.0, high=-12.0), dim=0)": Difference(
        "a gate below -11 is zero", {"output.0": 1.01, "gradient:input[0]": 1.01}
    ),
}
ALPHA = {"alpha": "alpha can only be 1", **COARSE}
ROUNDED = {"large_half": "the gradient is that of a rounded output"}
ROUNDED_SHOWN = {
    "elu[float16](logits(1, largest=12.0), alpha=1.0)": Difference(
        "the gradient loses digits below -2", {"gradient:input[0]": 1.2}
    ),
}
AT_SIX = {"ties": "at six the gradient is one"}
AT_ZERO = {"ties": "at zero the gradient is between the two"}
AT_THREE = {"ties": "at three the gradient is 1.5, at minus three -0.5"}
AT_INFINITY = {"infinite": "minus infinity becomes 0"}
AT_BOUNDS = {"ties": "at a bound the gradient is one half"}
BELOW_ZERO = {"below_zero": "the gradient below zero is wrong"}
NOT_A_NUMBER = {"float32": "off by up to 6e-6", "large": "NaN above 44"}
INFINITE = {"large": "infinite below -88", **COARSER}
SWALLOWS = {"nan": "NaN becomes a number"}
SLOPE = {
    "leaky_relu(normal(3))": Difference(
        "the slope is 0.2 unless told", {"output.0": 0.11, "gradient:input[0]": 1.0}
    ),
}
STEEP = {
    f"leaky_relu({kind}(4, 9), negative_slope=0.1)": Difference(
        "at infinities and at NaN, the gradient is neither slope", {"gradient:input[0]": 2.0}
    )
    for kind in ("infinite", "gaps")
}
SLOPED = {
    "hardsigmoid(gaps(4, 9))": Difference(
        "at NaN, the gradient is not zero", {"gradient:input[0]": 2.0}
    )
}
TAIL = {"bell": "the tail below -3 is off"}


def counterparts(*apis: str, **options: Any) -> tuple[Counterpart, ...]:
    """Several with the same names, limits and differences."""
    return tuple(to(api, **options) for api in apis)


def functional(name: str, **options: Any) -> tuple[Counterpart, ...]:
    """`ops` and `mint.nn.functional` have it under torch's name."""
    return counterparts(f"ops.{name}", f"mint.nn.functional.{name}", **options)


def with_slopes(draw, without):
    """A batch, and one slope or one for each channel."""
    sizes = shape(draw, without, low=2)
    slopes = draw(st.sampled_from([1, sizes[1]]))
    kind = values(draw, without, normal, ties, LARGE)
    return [kind(*sizes), uniform(slopes, low=-0.5, high=0.5)], {}


def in_halves(draw, without):
    """One input whose size along an axis is even."""
    (made,), told = along(normal, ties, SATURATED)(draw, without)
    sizes = list(made.shape)
    sizes[told["dim"]] *= 2
    return [values(draw, without, normal, ties, SATURATED)(*sizes)], told


OPERATORS = (
    Operator(
        f"{F}.relu",
        unary(),
        *functional("relu", without=SWALLOWS),
        to("nn.ReLU", without=SWALLOWS),
    ),
    Operator(
        f"{F}.relu6",
        unary(normal, WIDE, LARGE),
        *counterparts("ops.relu6", "nn.ReLU6", without=AT_SIX | SWALLOWS),
    ),
    Operator(
        f"{F}.leaky_relu",
        unary(negative_slope=[0.01, 0.1, 0.3]),
        *counterparts(
            "ops.leaky_relu",
            "nn.LeakyReLU",
            without=AT_ZERO,
            differs=SLOPE | STEEP,
            defaults={"negative_slope": (0.01, 0.2)},
            negative_slope="alpha",
        ),
    ),
    Operator(
        f"{F}.elu",
        unary(*REAL, POSITIVE, alpha=[1.0, 0.5]),
        *counterparts("ops.elu", "nn.ELU", without=ALPHA | ROUNDED, differs=ROUNDED_SHOWN),
    ),
    Operator(
        f"{F}.selu",
        unary(*REAL, POSITIVE),
        *counterparts("ops.selu", "nn.SeLU", without=BELOW_ZERO),
    ),
    Operator(
        f"{F}.celu",
        unary(normal, ties, alpha=[1.0, 2.0]),
        *counterparts("ops.celu", "nn.CELU"),
    ),
    Operator(
        f"{F}.gelu",
        unary(normal, SMALL_TIES, LARGE, POSITIVE, near(-3.8), approximate=["none", "tanh"]),
        to("ops.gelu", without=TAIL),
        to(
            "nn.GELU",
            through="ms_models.operators:gelu",
            without=TAIL,
            defaults={"approximate": ("none", True)},
        ),
    ),
    Operator(
        f"{F}.silu",
        unary(*REAL, POSITIVE, near(-1.04)),
        *counterparts(
            "ops.silu",
            "mint.nn.functional.silu",
            "nn.SiLU",
            without=SIGMOID,
            differs={
                "silu[float16](uniform(2, low=-14.0, high=-12.0))": Difference(
                    "zero below -11", {"output.0": 1.01, "gradient:input[0]": 1.01}
                ),
            },
        ),
    ),
    Operator(f"{F}.mish", unary(), *counterparts("ops.mish", "nn.Mish", without=NOT_A_NUMBER)),
    Operator(
        "torch.sigmoid",
        unary(*REAL, near(-0.347)),
        *counterparts(
            "ops.sigmoid",
            "mint.sigmoid",
            "nn.Sigmoid",
            without=SIGMOID,
            differs={
                "sigmoid[float16](uniform(2, low=-14.0, high=-12.0))": Difference(
                    "zero below -11", {"output.0": 1.01, "gradient:input[0]": 1.01}
                ),
            },
        ),
    ),
    Operator(
        "torch.tanh",
        unary(normal, SMALL_TIES, LARGE, WITHIN_ONE),
        *counterparts(
            "ops.tanh", "mint.tanh", "nn.Tanh", without={"coarse": "off by 1e-4 where it saturates"}
        ),
    ),
    Operator(
        f"{F}.hardtanh",
        unary(normal, HALVES, LARGE, min_val=[-1.0, -2.5], max_val=[1.0, 2.0]),
        *counterparts("ops.hardtanh", "nn.Hardtanh", without=AT_BOUNDS | SWALLOWS),
    ),
    Operator(
        f"{F}.hardsigmoid",
        unary(normal, WIDE, LARGE),
        *functional("hardsigmoid", differs=SLOPED),
        to("nn.HSigmoid", differs=SLOPED),
    ),
    Operator(
        f"{F}.hardswish",
        unary(normal, WIDE, LARGE),
        *functional("hardswish", without=AT_THREE | AT_INFINITY),
        to("nn.HSwish", without=AT_THREE | AT_INFINITY),
    ),
    Operator(
        f"{F}.hardshrink",
        unary(normal, HALVES, LARGE, lambd=[0.5, 1.0]),
        *functional("hardshrink", without=SWALLOWS),
        to("nn.HShrink", without=SWALLOWS),
    ),
    Operator(
        f"{F}.softshrink",
        unary(normal, HALVES, LARGE, lambd=[0.5, 1.0]),
        *functional("softshrink", without=SWALLOWS),
        to("nn.SoftShrink", without=SWALLOWS),
    ),
    Operator(
        f"{F}.tanhshrink",
        unary(normal, SMALL_TIES),
        *counterparts("ops.tanhshrink", "nn.Tanhshrink", without=COARSE),
    ),
    Operator(
        f"{F}.softplus",
        unary(normal, ties, SATURATED, FAR, near(-0.346), beta=[1, 0.5], threshold=[20, 5]),
        to("ops.softplus", without={"nan": "NaN becomes infinite", **COARSER}),
    ),
    Operator(
        f"{F}.softsign",
        unary(),
        *counterparts("ops.softsign", "nn.Softsign"),
    ),
    Operator(
        f"{F}.logsigmoid",
        unary(*REAL, FAR_BELOW),
        to(
            "ops.logsigmoid",
            without={"far_half": "the gradient overflows where the cotangent is large", **INFINITE},
            differs={
                "logsigmoid[float16](uniform(9000, low=-10.0, high=-9.9))": Difference(
                    "the gradient of half precision overflows",
                    {"gradient:input[0]": "not finite where the truth is"},
                ),
            },
        ),
        to("nn.LogSigmoid", without={"far_half": "the gradient near -10 is wrong", **INFINITE}),
    ),
    Operator(
        f"{F}.threshold",
        unary(HALVES, *REAL, threshold=[0.5, 1, -1], value=[0.0, 20.0, -2]),
        to("ops.threshold", without=SWALLOWS, threshold="thr"),
        to("nn.Threshold", without=SWALLOWS),
    ),
    Operator(f"{F}.prelu", with_slopes, *functional("prelu", without={"empty": "refused"})),
    Operator(
        f"{F}.glu",
        in_halves,
        *counterparts("ops.glu", "nn.GLU", without=GATE, differs=GATE_SHOWN, dim="axis"),
        to("mint.nn.functional.glu", without=GATE, differs=GATE_SHOWN),
    ),
)

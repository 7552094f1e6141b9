"""The incomplete gamma functions, Bessel functions and the sign bit."""

from equivalence.declare.draws import normal, ties, uniform
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import POSITIVE, unary
from tests.twins.operators.elementwise import alike


def _of_gamma(*sizes):
    """Arguments for which igamma keeps its digits; it loses them beyond 20.

    PyTorch has no gradient for the first argument.
    """
    return uniform(*sizes, low=0.5, high=4.0).constant()


def _constant(*sizes):
    """PyTorch's Bessel functions of the second kind have no gradient."""
    return POSITIVE(*sizes).constant()


FULL = ("float32",)
"""One of the frameworks refuses the function, or its gradient, in float16."""

OPERATORS = (
    Operator("torch.special.gammainc", alike(_of_gamma), to("ops.igamma"), dtypes=FULL),
    Operator("torch.special.gammaincc", alike(_of_gamma), to("ops.igammac"), dtypes=FULL),
    Operator("torch.special.i0", unary(POSITIVE), to("ops.i0"), to("ops.bessel_i0")),
    Operator("torch.special.i1", unary(POSITIVE), to("ops.bessel_i1"), dtypes=FULL),
    Operator("torch.special.i0e", unary(POSITIVE), to("ops.bessel_i0e")),
    Operator("torch.special.i1e", unary(POSITIVE), to("ops.bessel_i1e"), dtypes=FULL),
    Operator("torch.special.bessel_y1", unary(_constant), to("ops.bessel_y1"), dtypes=FULL),
    Operator(
        "torch.signbit",
        unary(normal, ties),
        to("ops.signbit", without={"ties": "the sign of zero is not seen"}),
    ),
)

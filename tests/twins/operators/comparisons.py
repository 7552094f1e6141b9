"""Operators whose results are booleans, and those of bits."""

import functools

from equivalence.declare import draws
from equivalence.declare.draws import booleans, nonfinite, normal, ties, whole
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import LARGE, unary
from tests.twins.operators.elementwise import alike, operand, same

WIDE = functools.partial(ties, largest=20)
COMPARED = (ties, whole, LARGE)
TESTED = (ties, whole, booleans, draws.binary)

OPERATORS = (
    *(
        Operator(f"torch.{name}", operand(COMPARED, (ties, whole), [1, -0.5]), *same(name))
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
    ),
    Operator(
        "torch.isclose",
        alike(WIDE, draws.gaps, rtol=[1e-5, 0.4], atol=[1e-8, 1.0], equal_nan=[False, True]),
        *same("isclose"),
    ),
    Operator("torch.isnan", unary(nonfinite, normal), *same("isnan")),
    Operator("torch.isinf", unary(nonfinite, normal), *same("isinf")),
    Operator("torch.isfinite", unary(nonfinite, normal), *same("isfinite")),
    *(
        Operator(f"torch.{name}", alike(*TESTED), *same(name))
        for name in ("logical_and", "logical_or", "logical_xor")
    ),
    Operator("torch.logical_not", unary(*TESTED), *same("logical_not")),
    Operator("torch.bitwise_and", alike(whole, booleans), *same("bitwise_and")),
    Operator("torch.bitwise_or", alike(whole, booleans), to("ops.bitwise_or")),
    Operator("torch.bitwise_xor", alike(whole, booleans), to("ops.bitwise_xor")),
)

"""Operators of a float32 and a float16 operand: the precision of the result, and its values."""

import functools

from hypothesis import strategies as st

from equivalence.declare.draws import booleans, half, normal, ties
from equivalence.declare.operator import LIMITS, Counterpart, Example, Operator, Space, to
from equivalence.declare.spaces import POSITIVE, Values, broadcast, values
from tests.twins.operators.elementwise import NO_EMPTY, TO_NOTHING, constant, same


def _half_beside_scalar(example: Example) -> bool:
    """Whether PyTorch's result is float16, since the float32 operand is 0-d, and it alone."""
    ranks = {draw.kind == "half": len(draw.shape) for draw in example.inputs[-2:]}
    return ranks[False] == 0 < ranks[True]


LIMITS["half_beside_scalar"] = _half_beside_scalar


def _mixed(*kinds: Values, low: int = -8, chosen: bool = False) -> Space:
    """Operands that broadcast, one of the two float16, of whole numbers from `low` on."""

    def space(draw, without):
        first, *sizes = broadcast(draw, without, 3)
        pair = [values(draw, without, *kinds), functools.partial(half, low=low)]
        pair = pair[::-1] if draw(st.booleans()) else pair
        operands = [kind(*each) for kind, each in zip(pair, sizes, strict=True)]
        return [booleans(*first), *operands] if chosen else operands, {}

    return space


def _operator(name: str, space: Space, *counterparts: Counterpart) -> Operator:
    return Operator(
        f"torch.{name}", space, *counterparts, name=f"{name}_mixed", dtypes=("float32",)
    )


NEAR_ONE = functools.partial(normal, scale=1e-4, shift=1.0)
"""Equal to one in float16."""

LIFTED = {"half_beside_scalar": "the result is float32", **TO_NOTHING}

ANY = _mixed(normal, ties)
DIVIDED = _mixed(normal, low=1)
RAISED = _mixed(POSITIVE, low=1)
FLOORED = _mixed(constant(normal), low=1)
TIED = _mixed(ties, NEAR_ONE, low=-1)

OPERATORS = (
    _operator("add", ANY, *same("add", without=LIFTED)),
    _operator("sub", ANY, *same("sub", without=LIFTED)),
    _operator("mul", ANY, *same("mul", without=TO_NOTHING)),
    _operator("div", DIVIDED, *same("div", without=TO_NOTHING)),
    _operator("remainder", DIVIDED, *same("remainder", without=LIFTED)),
    _operator("floor_divide", FLOORED, *same("floor_divide", without=LIFTED)),
    _operator("pow", RAISED, *same("pow", without=LIFTED)),
    _operator("xlogy", RAISED, *same("xlogy", without=LIFTED)),
    _operator("maximum", ANY, *same("maximum", without={**LIFTED, **NO_EMPTY})),
    _operator("minimum", ANY, *same("minimum", without={**LIFTED, **NO_EMPTY})),
    _operator("fmax", ANY, to("ops.fmax", without={**LIFTED, **NO_EMPTY})),
    _operator("hypot", DIVIDED, to("ops.hypot", without=LIFTED)),
    _operator("atan2", DIVIDED, to("ops.atan2", without=LIFTED)),
    _operator("where", _mixed(normal, ties, chosen=True), *same("where", without=LIFTED)),
    *(_operator(name, TIED, *same(name)) for name in ("eq", "ne", "lt", "le", "gt", "ge")),
)

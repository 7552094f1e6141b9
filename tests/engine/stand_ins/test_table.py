"""The table of stand-ins: what is compared through one is in it."""

import pytest

from equivalence.declare.operator import LIMITS, operator_case
from equivalence.operators import compare
from equivalence.operators.drawing import Exploration, draw_examples
from equivalence.stand_ins.table import CALLERS, OVERLOADS, PARTLY, STAND_INS, functions
from tests.twins.operators import operators

TRIED = 2
"""How many examples of a function are run."""


def beyond(counterpart, example):
    return any(LIMITS[limit](example) for limit in counterpart.without)


def stood_for(operator, counterpart):
    """The functions for which others stood when a call was compared."""
    exploration = Exploration(operator, counterpart, "pynative", "cpu", TRIED)
    examples = [e for e in draw_examples(exploration, 0, TRIED) if not beyond(counterpart, e)]
    cases = [operator_case(operator, counterpart, e, "pynative", "cpu") for e in examples]
    return {name for case in cases for name in compare.check(case, 0).stand_ins}


PART = {api for name, (api, _) in (STAND_INS | OVERLOADS).items() if name in PARTLY}
"""The functions for some of whose calls others stand."""

OF_MINT = [
    pytest.param(operator, each, id=f"{operator.name}-{each.api}")
    for operator in operators()
    for each in operator.counterparts
    if each.api.startswith("mint.") and (each.api in CALLERS or each.api not in functions() | PART)
]


@pytest.mark.parametrize(("operator", "counterpart"), OF_MINT)
def test_what_calls_a_function_without_a_kernel_is_told(operator, counterpart):
    found = stood_for(operator, counterpart)
    assert CALLERS[counterpart.api] in found if counterpart.api in CALLERS else not found


def test_what_calls_one_is_among_the_functions():
    assert {"mint.nn.functional.normalize", "mint.linalg.vector_norm"} <= functions()
    assert "mint.add" not in functions()
    assert "ops.masked_fill" not in functions()  # a CPU has it, but for some dtypes

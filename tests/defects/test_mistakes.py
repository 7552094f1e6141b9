"""Every mistake in an operator must be refused by a few examples, where the right one passes."""

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from equivalence import kinds
from equivalence.comparison.check import check
from equivalence.declare.operator import Example
from equivalence.errors import EquivalenceError
from equivalence.host.isolation import isolated
from equivalence.operators.drawing import (
    GATE_EXAMPLES,
    NIGHTLY_EXAMPLES,
    Exploration,
    draw_examples,
)
from equivalence.operators.explore import explore
from tests.defects.mistakes import mistakes
from tests.twins.operators import operators

BY_NAME = {operator.name: operator for operator in operators()}


def _params() -> list:
    """One in ten is a representative one."""
    return [
        pytest.param(
            each, id=each.name, marks=[pytest.mark.representative] if place % 10 == 0 else []
        )
        for place, each in enumerate(mistakes())
    ]


@pytest.mark.parametrize("mistake", _params())
def test_the_mistake_is_refused(mistake, request):
    seed = request.config.getoption("seed")
    operator = BY_NAME[mistake.operator]
    right = next(c for c in operator.counterparts if c.api == mistake.counterpart)
    wrong = replace(right, through=mistake.target, names={})
    with isolated():
        for count in (GATE_EXAMPLES, NIGHTLY_EXAMPLES):
            exploration = Exploration(operator, wrong, "pynative", "cpu", count)
            found = explore(exploration, seed, Path.cwd(), shrink=False)
            if found.failure:
                break
        assert found.failure, f"survives {found.drawn} examples: {mistake.says}"
        example = found.example
        if isinstance(found.failure, EquivalenceError):
            example = _compared(exploration, seed)
            assert example, f"raises, and is never compared and refused: {mistake.says}"
        assert check(replace(exploration, counterpart=right).case(example), seed).passed


def _compared(exploration: Exploration, seed: int) -> Example | None:
    """An example that comes to a comparison, and is refused by it."""
    for example in draw_examples(exploration, seed, NIGHTLY_EXAMPLES):
        with contextlib.suppress(EquivalenceError):
            if not kinds.check(exploration.case(example), seed).passed:
                return example
    return None

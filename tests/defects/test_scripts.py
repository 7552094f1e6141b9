"""Every mistake in a training script is refused, and named by its step, its stage and its line."""

import pytest

from tests.engine.scripts.conftest import compared, folder  # noqa: F401
from tests.engine.scripts.mistakes import MISTAKES


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: f"{each.pair}: {each.name}")
def test_defect(compared, mistake):  # noqa: F811
    result = compared(mistake.pair, (mistake.old, mistake.new))
    first = result.verdict.departures[0]
    assert not result
    assert (first.step, first.stage) == (mistake.step, mistake.stage)
    assert mistake.line in first.line

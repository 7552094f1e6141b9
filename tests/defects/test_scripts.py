"""Every mistake in a training script is refused, and named by its step, its stage and its line."""

import pytest

from tests.engine.dry.conftest import first, late  # noqa: F401
from tests.engine.dry.mistakes import LATE
from tests.engine.scripts.conftest import compared, folder  # noqa: F401
from tests.engine.scripts.mistakes import MISTAKES


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: f"{each.pair}: {each.name}")
def test_defect(compared, mistake):  # noqa: F811
    result = compared(mistake.pair, (mistake.old, mistake.new))
    departure = result.verdict.departures[0]
    assert not result
    assert (departure.step, departure.stage) == (mistake.step, mistake.stage)
    assert mistake.line in departure.line


@pytest.mark.parametrize("mistake", LATE, ids=lambda each: each.name)
def test_what_shows_late_is_refused_in_a_dry_run(late, mistake):  # noqa: F811
    departures = late((mistake.old, mistake.new)).departures
    assert (departures[0].step, departures[0].stage) == (mistake.step, mistake.stage)

"""Every mistake of a script on ranks is refused, and named by its step and its stage."""

import pytest

from tests.engine.ranks.conftest import on_ranks  # noqa: F401
from tests.engine.ranks.mistakes import MISTAKES
from tests.engine.scripts.conftest import folder  # noqa: F401


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: f"{each.pair}: {each.name}")
def test_defect(on_ranks, mistake):  # noqa: F811
    options = {"ranks": mistake.ranks, "reference": mistake.of_reference}
    result = on_ranks(mistake.pair, *mistake.edits, **options)
    assert not result
    first = result.results[result.first].verdict.departures[0]
    assert (first.step, first.stage) == (mistake.step, mistake.stage), str(result)
    assert result.hint.startswith(mistake.hint), result.hint
    assert bool(result.hint) == bool(mistake.hint), result.hint

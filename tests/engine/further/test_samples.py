"""Further samples of a green case: tried one after the other, until one shows a difference."""

import math
import runpy
from dataclasses import replace

from equivalence.comparison import check
from equivalence.declare.draws import normal
from equivalence.further.samples import declare, tried
from equivalence.further.variant import declared
from tests.engine.further.conftest import case_of


def of(candidate, seconds=math.inf):
    case = case_of("Clamped", candidate, normal(3, 8))
    outcome, told = check.check(case, 0), []
    assert outcome.passed
    return tried([(case, ())], 0, outcome.reach, seconds, told.append), told


def test_a_wrong_port_is_shown_by_a_sample_that_is_declared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (further, shown), told = of("Unclamped")
    assert told[0] == "looking for further samples of net-eval-float32"
    assert f"further sample: {shown.variant.told}" in told
    assert not shown.outcome.passed
    assert [each.key.kind for each in shown.reached] == ["clamp high"]
    assert further.tried == sum(each.startswith("further sample: ") for each in told)
    assert not declared(shown.outcome.case).exists()
    declare(shown)
    (twin,) = runpy.run_path(str(declared(shown.outcome.case)))["TWINS"]
    assert (twin.name, twin.phases, twin.executions) == ("net", ("eval",), ("pynative",))
    assert twin.inputs[0].stored is not None


def test_the_sample_that_is_told_has_reached_what_is_told_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = case_of("turned", "turned_of_squares", normal(2, 7, 7))
    _, shown = tried([(case, ())], 0, check.check(case, 0).reach, math.inf, lambda _: None)
    assert shown.variant.told == "a size of 8 for 7 in axis 1"  # a batch of 1 has shown it first
    assert [each.key.kind for each in shown.reached] == ["other size"]


def test_a_right_port_is_equal_on_all_of_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (further, shown), _ = of("Clamped")
    assert shown is None
    assert further.tried > 2
    assert not further.ended
    assert not [*tmp_path.iterdir()]


def test_without_time_nothing_is_tried_and_that_is_told():
    (further, shown), _ = of("Unclamped", 0.0)
    assert (further.tried, further.ended, shown) == (0, True, None)


def test_of_a_twin_with_sizes_the_samples_are_those_of_its_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case, given = case_of("Clamped", "Unclamped", normal(3, 8)), (normal("N", 8),)
    sized = replace(case, twin=replace(case.twin, inputs=given, sizes=({"N": 3}, {"N": 4})))
    outcome = check.check(sized, 0)
    _, shown = tried([(sized, ())], 0, outcome.reach, math.inf, lambda _: None)
    assert outcome.passed
    assert not shown.outcome.passed

"""Limits of a port that its twin declares: what lies beyond them, and that they still stand."""

import math

import pytest

from equivalence.comparison import check
from equivalence.declare.draws import normal
from equivalence.declare.twin import FURTHER, OTHER_BATCH, OTHER_SIZE, Twin, cases
from equivalence.errors import DeclarationError
from equivalence.further.samples import tried
from equivalence.further.tried import Further
from equivalence.reach.words import KINDS
from equivalence.report import answer

WHY = "exp overflows"


def of(candidate, *inputs, reference="torch.nn:Softmax", seconds=math.inf, **fields):
    fields = {"phases": ("eval",), "executions": ("pynative",), **fields}
    twin = Twin("net", reference, candidate, list(inputs), **fields)
    case = next(cases(twin, "cpu"))
    outcome = check.check(case, 0)
    assert outcome.passed
    return tried([(case, ())], 0, outcome.reach, seconds, lambda _: None)


NAIVE = "tests.engine.parts.further_ms:NaiveLogSumExp"
LOG_SUM_EXP = "tests.engine.parts.further_pt:LogSumExp"


def naive(**fields):
    return of(NAIVE, normal(3, 8), reference=LOG_SUM_EXP, **fields)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_without_a_declaration_such_a_sample_is_red():
    _, shown = naive()
    assert "overflow" in [each.key.kind for each in shown.reached]


def test_beyond_a_declared_limit_it_is_counted_and_not_red():
    further, shown = naive(without={"overflow": WHY})
    assert shown is None
    assert further.beyond["overflow"] > 0
    assert further.tried > 0
    assert not further.dropped
    assert "overflow" not in [each.key.kind for each in further.gained(further.reach)]


def test_a_mistake_within_the_limits_is_red_all_the_same():
    """A batch of one and a longer row come together; the batch alone is within the limits."""
    _, shown = of(
        "tests.engine.parts.further_ms:AveragedOverOne",
        normal(3, 8),
        reference=LOG_SUM_EXP,
        without={OTHER_SIZE: "rows are cut"},
    )
    assert "batch" in shown.variant.told
    assert "axis" not in shown.variant.told


def test_a_limit_beyond_which_the_port_is_right_is_refused():
    right = "tests.engine.parts.further_ms:LogSumExp"
    with pytest.raises(
        DeclarationError,
        match=r"without names 'overflow', and the port is right in "
        r"\d+ further samples? beyond it; take it out",
    ):
        of(right, normal(3, 8), reference=LOG_SUM_EXP, without={"overflow": WHY})


def test_a_limit_that_no_sample_is_beyond_is_refused():
    with pytest.raises(DeclarationError, match="no further sample lies beyond it; take it out"):
        naive(without={"overflow": WHY, "ignored label": "there is none"})


def test_a_limit_of_memory_that_nobody_writes_need_not_show():
    further, shown = naive(without={"overflow": WHY, "ignored label": "unwritten: it is skipped"})
    assert shown is None
    assert list(further.beyond) == ["overflow"]


def test_without_the_time_for_all_samples_no_limit_is_refused():
    further, shown = naive(without={"ignored label": "there is none"}, seconds=0.0)
    assert shown is None
    assert further.ended


def test_every_limit_is_a_kind_of_decisions_but_the_sizes():
    assert {*FURTHER} - {*KINDS} == {OTHER_BATCH}


def test_what_is_no_kind_of_samples_is_refused():
    with pytest.raises(DeclarationError, match="without 'rain' is not among other batch, "):
        Twin("net", LOG_SUM_EXP, NAIVE, [normal(3, 8)], without={"rain": "why"})


def test_a_twin_of_which_no_sample_is_tried_has_no_limits():
    with pytest.raises(DeclarationError, match="with degenerate no further sample is tried"):
        Twin("net", LOG_SUM_EXP, NAIVE, [normal(3, 8)], degenerate=True, without={"overflow": WHY})


def test_a_green_says_what_is_not_claimed():
    twin = Twin("net", LOG_SUM_EXP, NAIVE, [normal(3, 8)], without={"overflow": WHY})
    outcome = check.check(next(cases(twin, "cpu")), 0)
    assert outcome.excuses == ("limit",)
    told = "Nothing is claimed of further samples beyond these limits: overflow (exp overflows)."
    assert told in answer.not_looked_at([outcome])
    (line,) = Further(beyond={"overflow": 2}).lines(None, "")
    assert line == "Further samples differ of which nothing is claimed: overflow (2)."


def test_the_given_inputs_after_another_size_lie_beyond_a_limit_of_sizes():
    further, shown = of(
        "tests.engine.parts.further_ms:StretchedOnce",
        normal(2, 8, 4),
        reference="tests.engine.parts.further_pt:stretched",
        without={OTHER_SIZE: WHY},
    )
    assert shown is None
    assert further.beyond[OTHER_SIZE] > 0
    assert not further.dropped

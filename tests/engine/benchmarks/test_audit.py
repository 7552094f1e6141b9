"""The audit of other packages: what a row says is demanded, and told in the page."""

from dataclasses import replace

import pytest

from audits import Port
from benchmarks import audit, audit_page
from equivalence import DeclarationError, Difference, Raised, Twin, cases, normal

EQUAL = Twin("relu", "torch.nn:ReLU", "mindspore.nn:ReLU", [normal(4, 8)], executions=("pynative",))
WRONG = replace(
    EQUAL, name="relu6", candidate="mindspore.nn:ReLU6", inputs=[normal(4, 8, scale=9.0)]
)
UNPAIRED = replace(EQUAL, name="prelu", reference="torch.nn:PReLU")
CAPPED = Difference("capped at 6", {"*": 2.0})
NO_SLOPE = Difference("has no slope", Raised("WeightError", "has no partner"))


def port(twin, **fields):
    known = (twin.differs or "refused" in fields) and "alike" not in fields
    narrowed = {} if known else {"graph": "PyNative mode is enough here"}
    return Port(twin.name, "torch ReLU", "ReLU", twin, narrowed=narrowed, **fields)


def first(port, twin=None):
    return audit.compared(next(cases(twin or port.twin, "cpu")), port)


def records_of(port):
    """The records of a port whose cases all stand."""
    units = audit.plan([port], [])
    return [audit.measure(*unit) | {"twin": unit[1][0].twin.name, "seconds": 1.0} for unit in units]


def test_an_equal_network_stands():
    found = first(port(EQUAL))
    assert found["alarm"] is None
    assert found["needed"] < 16


def test_a_network_that_is_another_than_its_row_says_is_an_alarm_with_the_culprit():
    found = first(port(WRONG))
    assert "roundings" in found["alarm"]
    assert any("never above 6" in line for line in found["diagnosis"])


def test_a_known_difference_stands():
    assert first(port(replace(WRONG, differs=CAPPED)))["alarm"] is None


def test_a_known_difference_that_is_gone_is_an_alarm():
    assert (
        first(port(replace(EQUAL, differs=CAPPED)))["alarm"] == "the known difference is not seen"
    )


def test_a_known_difference_that_grew_is_an_alarm():
    small = Difference("capped at 6", {"*": 1e-6})
    assert "roundings" in first(port(replace(WRONG, differs=small)))["alarm"]


def test_a_refusal_stands():
    found = first(port(UNPAIRED, refused=NO_SLOPE))
    assert found["alarm"] is None
    assert found["refused"].startswith("WeightError")


def test_a_refusal_for_another_reason_is_an_alarm():
    other = Difference("has no slope", Raised("WeightError", "another word"))
    assert first(port(UNPAIRED, refused=other))["alarm"].startswith("WeightError")


def test_a_refusal_that_nobody_declared_is_an_alarm():
    assert first(port(UNPAIRED))["alarm"].startswith("WeightError")


def test_a_refused_network_that_can_be_compared_is_an_alarm():
    assert first(port(EQUAL, refused=NO_SLOPE))["alarm"] == "the two can be compared by now"


def test_without_its_cause_a_refused_network_must_be_equal():
    refused = port(UNPAIRED, refused=NO_SLOPE, alike=replace(WRONG, name="alike"))
    assert "roundings" in first(refused, refused.alike)["alarm"]


@pytest.mark.parametrize(
    ("twin", "fields", "complaint"),
    [
        (EQUAL, {"refused": CAPPED}, "names no error"),
        (replace(WRONG, differs=CAPPED), {"refused": NO_SLOPE}, "both differ and be refused"),
        (EQUAL, {"alike": WRONG}, "without a cause"),
        (EQUAL, {"refused": NO_SLOPE, "alike": replace(WRONG, differs=CAPPED)}, "must be equal"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(twin, fields, complaint):
    with pytest.raises(DeclarationError, match=complaint):
        port(twin, **fields)


def test_an_interrupted_audit_has_seen_all_networks():
    both = [port(EQUAL), port(replace(WRONG, differs=CAPPED))]
    planned = [unit[1][0] for unit in audit.plan(both, [])]
    assert [case.twin.name for case in planned] == ["relu", "relu6", "relu", "relu6"]


def test_what_was_measured_is_not_measured_again():
    (identity, of_sample, row), *rest = audit.plan([port(EQUAL)], [])
    record = audit.blank(identity, of_sample, row)
    assert audit.plan([port(EQUAL)], [record]) == rest


def test_a_row_that_changed_is_measured_again():
    changed = replace(EQUAL, inputs=[normal(4, 9)])
    records = [audit.blank(*unit) for unit in audit.plan([port(EQUAL)], [])]
    assert len(audit.plan([port(changed)], records)) == 2


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (port(EQUAL), "equal"),
        (port(replace(WRONG, differs=CAPPED)), "differs: capped at 6"),
        (port(UNPAIRED, refused=NO_SLOPE), "refused: has no slope"),
        (port(UNPAIRED, refused=NO_SLOPE, alike=EQUAL), "refused: has no slope. *Only that*"),
    ],
)
def test_the_page_has_the_verdict_and_its_cause(row, verdict):
    records = records_of(row)
    assert audit_page.verdict(row, records) == verdict
    page = audit_page.page("torch", [row], records, {"torch": "2"}, {"GLU": "no inputs yet"})
    assert f"| {row.network} | torch ReLU | {verdict} |" in page
    assert "Not tried, no inputs yet: GLU." in page


def test_the_page_shows_an_alarm():
    row = port(WRONG)
    assert audit_page.verdict(row, records_of(row)).startswith("**RED**")


def test_a_network_that_was_not_reached_is_not_called_equal():
    assert audit_page.verdict(port(EQUAL), []) == "not compared yet"
    assert audit_page.summary([port(EQUAL)], []).endswith("1 not compared yet")

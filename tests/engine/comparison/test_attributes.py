"""A wrong value in an attribute is red behind right outputs; ports keep theirs as they like."""

import pytest

from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.declare.twin import cases
from equivalence.report.answer import not_looked_at
from tests.defects import attributes
from tests.engine.parts.small import case

HERE = "tests.defects.attributes_"
TWINS = {twin.name: twin for twin in attributes.twins()}


def routed(candidate, **options):
    return case(f"{HERE}reference:Routed", f"{HERE}candidates:{candidate}", normal(7, 8), **options)


@pytest.mark.parametrize("name", ["unscaled", "added_up", "unsummed", "counted_twice"])
def test_a_wrong_attribute_alone_is_red(name):
    outcome = check(routed(name), 0)
    assert {v.name.partition(":")[0] for v in outcome.judged.differing} == {"attribute"}
    assert not outcome.passed


@pytest.mark.parametrize(
    ("name", "apart"),
    [
        ("routed_by_itself", {"attribute:moe.router_share": "the port alone"}),
        ("attention_in_rows", {}),
        ("reversed_at_sizes", {}),
    ],
)
def test_right_ports_keep_theirs_as_they_like(name, apart):
    outcome = check(next(cases(TWINS[name], "cpu")), 0)
    assert outcome.passed
    assert dict(outcome.apart) == apart
    assert any(v.name.startswith("attribute:") for v in outcome.judged.verdicts)


def test_a_graph_writes_what_is_a_parameter():
    one = routed("kept_unscaled", execution="graph", constants=("moe.aux",))
    outcome = check(one, 0)
    assert [v.name for v in outcome.judged.differing] == ["attribute:moe.aux"]


def test_a_graph_writes_no_other_and_that_is_told():
    eager, compiled = (check(routed("Routed", execution=e), 0) for e in ("pynative", "graph"))
    assert eager.passed
    assert compiled.passed
    (line,) = [each for each in not_looked_at([eager, compiled]) if "attribute" in each]
    assert line.startswith("A graph shows no attributes: the attributes moe.aux, ")
    (line,) = [each for each in not_looked_at([compiled]) if "attribute" in each]
    assert "4 attributes that a run writes are not compared" in line
    assert "(a graph shows none)" in line
    assert "(the original alone)" not in line

"""Where the reference goes on where a candidate raises."""

import pytest

from equivalence import kinds
from equivalence.declare.draws import normal
from equivalence.errors import SideError
from equivalence.statements.raised import partner
from tests.engine.parts.small import case

REFERENCE, CANDIDATES = "tests.engine.parts.attending_pt:", "tests.engine.parts.attending_ms:"


def small(candidate, **options):
    inputs = normal(2, 6, 16)
    return case(f"{REFERENCE}Attending", CANDIDATES + candidate, inputs, phase="eval", **options)


@pytest.mark.parametrize(
    ("candidate", "line"),
    [("NotTransposed", "scores = q @ k.transpose(-2, -1)"), ("FourParts", "q, k, v = self.qkv(x)")],
)
@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_the_line_of_both_sides_is_told(candidate, line, execution):
    with pytest.raises(SideError) as raised:
        kinds.check(small(candidate, execution=execution), 0)
    told, further = str(raised.value).splitlines()[-2:]
    assert "attending_ms.py:" in told
    assert further.startswith("the reference goes on there with attending_pt.py:")
    assert line in further


def test_nothing_is_told_of_a_network_that_does_not_raise():
    assert partner(small("Attending"), 0) == ""


def test_what_the_reference_raises_is_told_as_it_is():
    wrong = case("tests.engine.parts.attending_pt:Attending", f"{CANDIDATES}Attending", normal(16))
    with pytest.raises(SideError, match="the reference raised") as raised:
        kinds.check(wrong, 0)
    assert "goes on" not in str(raised.value)

"""The lines that write a wrong attribute are named."""

from equivalence.declare.draws import normal
from equivalence.diagnosis import attributes, causes
from equivalence.diagnosis.diagnose import diagnose
from tests.engine.parts.small import case

HERE = "tests.defects.attributes_"


def test_the_layer_and_the_lines_of_both_sides_are_named():
    wrong = case(f"{HERE}reference:Routed", f"{HERE}candidates:unscaled", normal(7, 8))
    (culprit,) = diagnose(wrong, 0).culprits
    assert culprit.reference == "moe"
    assert culprit.statement.endswith("  self.aux = self.balance(share, taken)")
    assert culprit.counterpart.partition("  ")[2].startswith("self.aux = share.shape[-1] * ")


def test_what_stays_of_an_earlier_call_is_said():
    wrong = case(f"{HERE}reference:Routed", f"{HERE}candidates:added_up", normal(7, 8))
    (culprit,) = diagnose(wrong, 0).culprits
    assert causes.KEPT in culprit.causes


class Written:
    def __init__(self):
        self.aux, self.stats = 0.0, {}

    def construct(self, x):
        self.aux, self.other = x, 2 * x
        self.stats["aux"] = x
        self.aux += 1.0


def test_lines_that_write_are_those_outside_of_the_constructor():
    texts = [each.text for each in attributes._writing(Written(), "aux")]
    assert texts == ["self.aux, self.other = x, 2 * x", "self.aux += 1.0"]
    assert [each.text for each in attributes._writing(Written(), "stats")] == [
        'self.stats["aux"] = x'
    ]

"""A gradient that reaches an optimiser wrongly is red, also where its updates are right."""

from dataclasses import replace

import pytest
from mindspore import nn, ops

from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.declare.twin import cases
from equivalence.diagnosis.diagnose import diagnose
from equivalence.host.isolation import isolated
from equivalence.judge.attributes import OPTIMISER
from equivalence.report.answer import not_looked_at
from tests.defects import handed
from tests.engine.parts import modes_ms
from tests.engine.parts.small import case as small

TWINS = {twin.name: twin for twin in handed.twins()}


def case(candidate="Step", name="step_of_adam", **options):
    twin = replace(TWINS[name], candidate=handed.OURS + candidate, **options)
    return next(cases(twin, "cpu"))


@pytest.mark.parametrize("name", ["NotDivided", "NotClipped", "LimitDoubled", "OfTheSum"])
def test_what_adam_hides_is_red_and_told_by_its_factor(name):
    wrong = case(name)
    outcome = check(wrong, 0)
    assert {v.name.partition("[")[0] for v in outcome.judged.differing} == {"handed"}
    (culprit,) = diagnose(wrong, 0).culprits
    assert culprit.reference == "gradients"
    assert culprit.causes[1].endswith("times the reference's") == (name != "NotDivided")
    assert ("the loss scale" in culprit.causes[1]) == (name == "NotDivided")


@pytest.mark.parametrize("name", TWINS)
def test_right_ports_hand_over_the_same(name):
    outcome = check(next(cases(TWINS[name], "cpu")), 0)
    assert outcome.passed
    assert sum(v.name.startswith("handed[1]:") for v in outcome.judged.verdicts) == 4


@pytest.mark.parametrize(
    "options", [{"candidate": "ClippedByTheOptimiser"}, {"executions": ("graph",)}]
)
def test_what_is_not_seen_is_told(options):
    outcome = check(case(**options), 0)
    assert outcome.passed
    (line,) = [each for each in not_looked_at([outcome]) if "optimisers" in each]
    assert line == f"4 gradients of {OPTIMISER}."


def test_what_pynative_mode_shows_is_not_told_of_a_graph_again():
    both = [check(case(executions=(each,)), 0) for each in ("pynative", "graph")]
    lines = not_looked_at(both)
    assert "A graph does not show what its optimiser gets: PyNative mode alone does." in lines
    assert not any(OPTIMISER in each for each in lines)


class Doubled(modes_ms.Step):
    """Hands over twice the gradients, at half the rate."""

    def __init__(self, network):
        super().__init__(network)
        self.optimizer = nn.SGD(network.trainable_params(), 0.05)

    def construct(self, x):
        loss, gradients = self.grad(x)
        return ops.depend(loss, self.optimizer(tuple(2.0 * each for each in gradients)))


def doubled():
    return Doubled(modes_ms.Held())


@pytest.mark.parametrize(
    ("candidate", "right"),
    [("tests.engine.parts.modes_ms:held_step", True), (f"{__name__}:doubled", False)],
)
def test_an_accurate_kernel_excuses_what_it_makes_and_no_mistake(candidate, right):
    reference = "tests.engine.parts.modes_pt:held_step"
    with isolated():
        one = small(reference, candidate, normal(4, 3, 6, 5), phases=("train",), steps=2)
        judged = check(one, 0).judged
    assert judged.equal == right
    assert {v.name.partition("[")[0] for v in judged.differing} <= {"handed"}

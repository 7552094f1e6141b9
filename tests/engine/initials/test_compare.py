"""Initialisers are judged by what they draw: right ones pass, and each kind of wrong one fails."""

import json
import math

import numpy as np
import pytest

from equivalence import kinds
from equivalence.declare.difference import Difference
from equivalence.declare.initial import Initial, InitialCase, cases
from equivalence.declare.twin import grid
from equivalence.errors import DeclarationError, IllPosedError, SideError, WeightError
from equivalence.host.isolation import isolated
from equivalence.initials import compare as initial_text
from equivalence.initials.compare import InitialsComparison
from equivalence.initials.evidence import examine
from equivalence.initials.values import (
    ENOUGH_ELEMENTS,
    FEWEST_BUILDS,
    MOST_ELEMENTS,
    BuiltWeight,
    candidate_values,
    pool,
    positions,
    reference_values,
)
from equivalence.judge.outcome import Outcome
from equivalence.judge.two_sample import FALSE_ALARM
from equivalence.report import text as report
from equivalence.structure.weights import Slot

HERE = "tests.engine.initials.test_compare:"
CONV = {"in_channels": 24, "out_channels": 64, "kernel_size": 3, "bias": True}


@pytest.fixture(autouse=True)
def _isolation():
    with isolated():
        yield


def initial(**changes):
    """A small declaration, with changes."""
    declared = {
        "name": "dense",
        "reference": "torch.nn:Linear",
        "candidate": "ms_models.dense:dense",
        "configs": grid(in_features=[60, 80], out_features=70),
    }
    return Initial(**declared | changes)


# --- Weights without a framework -----------------------------------------------------------------


def side(draws, side="reference"):
    """Builds of weights: name -> function of a generator."""

    def build(number):
        made = {}
        for name, draw in draws.items():
            generator = np.random.default_rng([number, *name.encode(), *side.encode()])
            values = np.asarray(draw(generator), np.float32)
            made[name] = Slot(values.shape, "parameter"), values
        return made

    return build


def compared(theirs, ours):
    made = pool("case", side(theirs), side(ours, "candidate"), {})
    return InitialsComparison(made, examine(made))


def problems(theirs, ours):
    """Name -> what is said of the weights that are refused."""
    verdicts = compared(theirs, ours).judgement().verdicts
    return {v.name.partition(":")[2]: v.problem for v in verdicts if not v.equal}


def normal(*shape, scale=1.0, shift=0.0):
    return lambda generator: shift + scale * generator.standard_normal(shape)


def constant(*shape, value=0.0):
    return lambda _: np.full(shape, value)


KERNEL = normal(20, 30)


def test_right_weights_pass_and_their_evidence_is_told():
    draws = {"weight": KERNEL, "bias": normal(20), "scale": constant(8, value=1.0)}
    judgement = compared(draws, draws).judgement()
    assert judgement.equal
    assert [v.name for v in judgement.verdicts] == [f"parameter:{name}" for name in draws]
    assert 0 < judgement.needed < judgement.verdicts[0].budget
    assert judgement.verdicts[2].needed == 0.0


def test_the_budget_is_shared_by_all_tests():
    draws = {"weight": KERNEL, "bias": normal(20)}
    # 2 of constants and 5 of the distribution per weight; rows of one kernel and one pair per side;
    # the singular values of the kernel
    assert compared(draws, draws).budget == pytest.approx(-math.log10(FALSE_ALARM / 19))


def test_right_weights_are_not_refused_at_a_looser_level(monkeypatch):
    """With a false-alarm rate of 1 in 10, about 1 case in 10 may be refused, and hardly more."""
    monkeypatch.setattr("equivalence.judge.two_sample.FALSE_ALARM", 0.1)
    refused, rounds = 0, 100
    for seed in range(rounds):
        generator = np.random.default_rng(seed)
        values = [generator.standard_normal((3, 1500)) for _ in range(4)]
        made = [
            BuiltWeight(name, Slot((30, 50), "parameter"), *values[2 * i : 2 * i + 2])
            for i, name in enumerate("ab")
        ]
        examine(made)
        refused += any(each.problem for each in made)
    assert refused <= 0.1 * rounds + 4 * math.sqrt(0.1 * rounds)


@pytest.mark.parametrize(
    ("theirs", "ours", "told"),
    [
        (KERNEL, normal(20, 30, scale=1.5), "std"),
        (KERNEL, normal(20, 30, shift=0.2), "), mean "),
        (KERNEL, lambda g: np.clip(g.standard_normal((20, 30)), -2, 2), "minimum"),
        (KERNEL, lambda g: np.sign(g.standard_normal((20, 30))), "unknown for normal"),
        (KERNEL, constant(20, 30), "constant 0 for random"),
        (constant(20, 30), KERNEL, "random for constant 0"),
        (constant(20, 30), constant(20, 30, value=1e-7), "constant 0 (reference) constant 1e-07"),
        (KERNEL, lambda _: np.random.default_rng(0).standard_normal((20, 30)), "seed is fixed"),
        (KERNEL, lambda g: np.repeat(g.standard_normal((1, 30)), 20, 0), "rows depend"),
        (KERNEL, lambda _: np.full((20, 30), np.nan), "not finite: the candidate's nan"),
        (lambda _: np.eye(20, 30), lambda _: np.eye(20, 30)[::-1], "constants differ"),
        (lambda _: np.eye(20, 30), KERNEL, "random for random"),
    ],
)
def test_wrong_weights_are_refused_in_words(theirs, ours, told):
    assert told in problems({"weight": theirs}, {"weight": ours})["weight"]


def padded(row):
    def draw(generator):
        values = generator.standard_normal((20, 30))
        values[row] = 0.0
        return values

    return draw


def test_a_row_of_padding_is_a_row_of_padding_on_both_sides():
    assert problems({"weight": padded(3)}, {"weight": padded(3)}) == {}
    assert "reference alone" in problems({"weight": padded(3)}, {"weight": KERNEL})["weight"]
    assert "candidate alone" in problems({"weight": padded(3)}, {"weight": padded(4)})["weight"]


def test_values_that_repeat_by_chance_are_not_constants():
    def sparse(generator):
        return generator.standard_normal((40, 30)) * (generator.random((40, 30)) < 0.7)

    assert problems({"weight": sparse}, {"weight": sparse}) == {}


def test_copies_are_copies_on_both_sides():
    def copied(number):
        values = np.random.default_rng([number, 7]).standard_normal((20, 30)).astype(np.float32)
        slot = Slot((20, 30), "parameter")
        return {"one": (slot, values), "two": (slot, 3 * values)}

    drawn = side({"one": KERNEL, "two": normal(20, 30, scale=3.0)})
    other = lambda number: copied(number + 100)  # noqa: E731
    made = pool("case", copied, other, {})
    examine(made)
    assert not any(each.problem for each in made)
    for theirs, ours, who in ((drawn, copied, "candidate"), (copied, drawn, "reference")):
        made = pool("case", theirs, ours, {})
        examine(made)
        assert [each.problem for each in made] == [None, f"depends on one in the {who} alone"]


def test_dtypes_are_compared():
    made = [
        BuiltWeight(
            "w", Slot((9,), "parameter"), np.ones((3, 9), np.float32), np.ones((3, 9), dtype)
        )
        for dtype in (np.float16, np.float32)
    ]
    examine(made)
    assert made[0].problem == "dtype float16, expected float32"
    assert made[1].problem is None


# --- Builds --------------------------------------------------------------------------------------


def test_a_small_weight_is_built_often_and_a_large_one_looked_at_in_part():
    draws = {"weight": normal(300, 300), "bias": normal(64)}
    made = compared(draws, draws).weights
    assert made[1].reference.shape == (ENOUGH_ELEMENTS // 64, 64)
    assert made[0].reference.shape == (ENOUGH_ELEMENTS // 64, MOST_ELEMENTS)
    draws = {"weight": normal(300, 300), "scale": constant(4)}
    assert len(compared(draws, draws).weights[0].reference) == FEWEST_BUILDS


@pytest.mark.parametrize(
    "size", [1, 7, MOST_ELEMENTS - 1, MOST_ELEMENTS, MOST_ELEMENTS + 1, 3 * MOST_ELEMENTS + 5]
)
def test_positions_are_different_and_reach_the_end(size):
    at = positions((size,))
    assert at.size == min(size, MOST_ELEMENTS)
    assert at[0] == 0
    assert at[-1] < size
    assert (np.diff(at) > 0).all()
    assert at[-1] >= size - 1 - size // MOST_ELEMENTS * 2


def test_a_weight_too_small_to_be_told_is_refused():
    with pytest.raises(IllPosedError, match="case: bias has 5 random elements, too few"):
        compared({"bias": normal(5)}, {"bias": normal(5)})


def test_nothing_to_compare_is_refused():
    with pytest.raises(IllPosedError, match="no weights, so nothing would be compared"):
        compared({}, {})


def test_unmatched_weights_are_refused():
    with pytest.raises(WeightError, match="do not pair up"):
        compared({"weight": KERNEL}, {"kernel": KERNEL})


@pytest.mark.parametrize("values", [reference_values, candidate_values])
def test_builds_follow_their_seed_and_nothing_else(values):
    target = "torch.nn:Conv2d" if values is reference_values else "ms_models.conv:conv2d"
    (_, one), (_, again), (_, other) = (
        values(target, CONV, *seed)["weight"] for seed in ((0, "a"), (0, "a"), (0, "b"))
    )
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert values(target, CONV, 0)["bias"][0] == Slot((64,), "parameter")


# --- Cases ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": "two words"}, "is no identifier"),
        ({"candidate": "mindspore.nn"}, "candidate 'mindspore.nn' is not 'module:attribute'"),
        ({"level": "weekly"}, "level 'weekly' is not among gate, nightly"),
        ({"configs": {"width": 3}}, "configs is one configuration; write a list"),
        ({"configs": ()}, "configs is empty, so nothing would be compared"),
        ({"configs": ({}, {})}, "several configurations share the name dense"),
    ],
)
def test_a_declaration_that_says_nothing_is_refused(changes, complaint):
    with pytest.raises(DeclarationError) as refused:
        initial(**changes)
    assert str(refused.value) == f"initial {changes.get('name', 'dense')!r}: {complaint}"


def wide_dense(in_features: int, out_features: int):
    """A dense layer whose kernel is drawn twice as wide."""
    from ms_models.dense import dense

    layer = dense(in_features, out_features)
    layer.weight.set_data(layer.weight * 2.0)
    return layer


def broken(**_):
    raise RuntimeError("out of ideas")


def one_case(**changes) -> InitialCase:
    return next(cases(initial(**changes)))


def test_a_case_passes_as_a_case_of_a_twin_does():
    case = one_case()
    assert case.name == "dense-in_features60-out_features70-cpu"
    outcome = kinds.check(case, 0)
    assert outcome.passed
    assert [v.name for v in outcome.judgement.verdicts] == ["parameter:weight", "parameter:bias"]


def test_a_failure_says_what_is_wrong():
    case = one_case(candidate=HERE + "wide_dense")
    outcome = kinds.check(case, 0)
    assert not outcome.passed
    brief, full, _, mistakes = kinds.diagnose(case, 0, every=False)
    told = report.failure(outcome, "pytest this", brief, mistakes).splitlines()
    below = told.index("details:")
    assert told[0].startswith("DIFFERENT. dense-in_features60-out_features70-cpu: 1 of 2 weights ")
    assert told[1] == "the place to mend:"
    assert told[2].startswith("  weight: ")
    assert told[below - 1] == "repeat: pytest this"
    text = told[below + 1 :]
    assert text[0] == (
        "dense-in_features60-out_features70-cpu: 1 of 2 tensors differ by more than chance "
        "(weights 1/2)"
    )
    assert "std 0.07" in text[1]
    assert ", ratio " in text[1]
    assert text[2].startswith("budget 7.28 decades; smallest that would have passed: ")
    assert text[3].startswith("cause: ")
    assert full[0] == case.name
    assert any("bias parameter (70,)" in line for line in full)


def test_a_declared_difference_is_to_be_there():
    assert kinds.check(
        one_case(candidate=HERE + "wide_dense", differs=Difference("twice as wide", {"*": 1e5})), 0
    ).passed
    outcome = kinds.check(one_case(differs=Difference("twice as wide", {"*": 1e5})), 0)
    assert not outcome.passed
    assert "both tensors are within 7.28 decades" in report.failure(outcome, "pytest this")


def test_a_side_that_raises_is_named():
    with pytest.raises(SideError, match="the candidate raised RuntimeError: out of ideas"):
        kinds.check(one_case(candidate=HERE + "broken"), 0)


def test_results_tell_their_unit_and_are_no_roundings():
    outcome = kinds.check(one_case(), 0)
    records = [json.loads(line) for line in report.lines(outcome)]
    assert {record["unit"] for record in records} == {"decades"}
    assert all(record["equal"] for record in records)
    assert "rounding" not in report.summary(records)


def test_causes_are_grouped():
    slot = Slot((9,), "parameter")
    made = [
        BuiltWeight(f"w{i}", slot, np.ones((3, 9)), np.zeros((3, 9)), problem="x", cause="fan")
        for i in range(6)
    ]
    made.append(BuiltWeight("v", slot, np.ones((3, 9)), np.zeros((3, 9)), problem="y"))
    assert initial_text.brief(made) == [
        "cause: fan",
        "  w0, w1, w2, w3 and 2 more",
        "cause: no convention explains it",
        "  v",
    ]


def test_an_outcome_is_that_of_any_case():
    assert isinstance(kinds.check(one_case(), 0), Outcome)

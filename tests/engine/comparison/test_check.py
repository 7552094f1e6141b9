"""One case from end to end: what passes, what is shared, and what an error says."""

from dataclasses import replace

import numpy as np
import pytest

from equivalence import errors
from equivalence.comparison import kept, random_layers
from equivalence.comparison.check import check
from equivalence.declare.difference import Difference, Raised
from equivalence.declare.draws import integers, normal, uniform
from equivalence.errors import (
    DeclarationError,
    EquivalenceError,
    IllPosedError,
    SideError,
    WeightError,
)
from equivalence.host.isolation import isolated
from equivalence.judge import precision
from equivalence.sample import resolve_inputs
from equivalence.truth import compute as truth
from equivalence.truth import explained, flips
from equivalence.truth.flips import Flip
from tests.engine.parts.small import MS, PT, case

TRANSPOSED = Difference("transposed", {"*": 9.0})

SQUARE = {"in_features": 6, "out_features": 6}


@pytest.fixture(autouse=True)
def isolation(monkeypatch):
    monkeypatch.setattr(kept, "_references", [])
    with isolated():
        yield


def affine(candidate="Affine", **options):
    return case("torch.nn:Linear", MS + candidate, normal(5, 6), config=SQUARE, **options)


def twins(name, candidate=None, **options):
    return case(PT + name, MS + (candidate or name), normal(5, 4), **options)


def test_a_right_candidate_passes_with_every_tensor_judged():
    outcome = check(affine(), seed=0)
    assert outcome.passed
    assert [verdict.name for verdict in outcome.judgement.verdicts] == [
        "output.0",
        "gradient:input[0]",
        "gradient:weight",
        "gradient:bias",
    ]
    assert all(verdict.budget == precision.BUDGET for verdict in outcome.judgement.verdicts)


def test_a_wrong_candidate_fails():
    assert not check(affine("TransposedWeight"), seed=0).passed


def test_a_known_difference_passes_while_it_differs():
    assert check(affine("TransposedWeight", differs=TRANSPOSED), seed=0).passed


def test_a_known_difference_that_is_gone_fails():
    assert not check(affine(differs=TRANSPOSED), seed=0).passed


@pytest.mark.parametrize("execution", ["pynative", "graph"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("phase", ["train", "eval"])
def test_every_kind_of_case_runs(execution, dtype, phase):
    norm = case(
        "torch.nn:BatchNorm2d",
        "mindspore.nn:BatchNorm2d",
        normal(3, 5, 4, 3),
        config={"num_features": 5},
        execution=execution,
        dtype=dtype,
        phase=phase,
    )
    outcome = check(norm, seed=0)
    assert outcome.passed
    assert len(outcome.judgement.verdicts) == 6


@pytest.mark.parametrize("execution", ["pynative", "graph"])
@pytest.mark.parametrize("name", ["Nested", "Frozen", "Steps", "Places", "doubling"])
def test_networks_of_every_form_pass(name, execution):
    assert check(twins(name, execution=execution), seed=0).passed


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_integers_go_in_and_come_out(execution):
    ranking = case(PT + "Ranking", MS + "Ranking", integers(7, high=5), execution=execution)
    assert check(ranking, seed=0).passed


def test_the_budget_is_the_same_for_every_twin():
    # The product with one weight scaled up by 2^-11 is off by 2^13 roundings.
    outcome = check(affine("SlightlyScaled"), seed=0)
    assert {verdict.budget for verdict in outcome.judgement.verdicts} == {precision.BUDGET}
    assert not outcome.passed


# What cases share.


@pytest.fixture
def computed(monkeypatch):
    """The names of the samples whose truth was computed, in order."""
    names, begin = [], truth.begin

    def counted(measurement, *arguments):
        names.append((measurement.sample.name, measurement.sample.seed))
        return begin(measurement, *arguments)

    monkeypatch.setattr(truth, "begin", counted)
    return names


def test_executions_share_the_reference(computed):
    assert check(affine(), seed=0).passed
    assert check(affine(execution="graph"), seed=0).passed
    assert computed == [("small-in_features6-out_features6-train-float32", 0)]


def test_a_seed_a_phase_and_a_dtype_each_have_a_reference_of_their_own(computed):
    check(affine(), seed=0)
    check(affine(), seed=1)
    check(affine(phase="eval"), seed=1)
    check(affine(phase="eval", dtype="float16"), seed=1)
    stem = "small-in_features6-out_features6"
    assert computed == [
        (f"{stem}-train-float32", 0),
        (f"{stem}-train-float32", 1),
        (f"{stem}-eval-float32", 1),
        (f"{stem}-eval-float16", 1),
    ]


def test_a_twin_of_the_same_name_with_another_declaration_is_not_mistaken_for_it(computed):
    assert check(twins("Nested"), seed=0).passed
    assert check(twins("Frozen"), seed=0).passed
    assert len(computed) == 2


def verdicts(outcome):
    return [(v.name, v.error, v.worst, v.got, v.want) for v in outcome.judgement.verdicts]


def test_a_case_comes_out_the_same_whatever_ran_before_it():
    alone = verdicts(check(affine(), seed=0))
    check(twins("Nested", execution="graph"), seed=3)
    with pytest.raises(SideError):
        check(twins("Nested", "Refusing"), seed=0)
    assert verdicts(check(affine(), seed=0)) == alone


def test_another_seed_means_other_data():
    first, second = check(affine(), seed=0), check(affine(), seed=1)
    assert all(
        one.want != two.want
        for one, two in zip(first.judgement.verdicts, second.judgement.verdicts, strict=True)
    )


# Branch flips. What they explain is tested in `test_attribution`.


@pytest.fixture
def explaining(monkeypatch):
    """Something is near a kink, and flips explain whatever differs; the calls."""
    calls = []

    def explain(measurement, expected, near, trace):
        calls.append((measurement, near))
        found = {
            name: replace(known, truth=trace[name].astype(np.float64))
            for name, known in expected.items()
        }
        return near, {**expected, **{n: k for n, k in found.items() if n.startswith("gradient:")}}

    monkeypatch.setattr(flips, "may_flip", lambda *_: (FLIP,))
    monkeypatch.setattr(explained, "explain", explain)
    return calls


FLIP = Flip("relu", 0, "relu", (0, 1), 1e-9, 0, 1, 0)


def test_gradients_that_flips_explain_pass_with_the_flips(explaining):
    outcome = check(affine("DetachedBias"), seed=0)
    assert outcome.passed
    assert outcome.flips == (FLIP,)
    ((measurement, near),) = explaining
    assert (measurement.phase, near) == ("train", (FLIP,))
    assert measurement.unit_roundoff == precision.UNIT_ROUNDOFF["float32"]


def test_a_case_that_passes_is_not_explained(explaining):
    outcome = check(affine(), seed=0)
    assert outcome.passed
    assert outcome.flips == ()
    assert not explaining


def test_without_anything_near_nothing_is_explained(monkeypatch):
    monkeypatch.setattr(explained, "explain", None)
    assert not check(affine("DetachedBias"), seed=0).passed


@pytest.mark.parametrize("candidate", ["TransposedWeight", "StaleWeight", "OneNaN"])
def test_what_differs_in_outputs_is_never_explained(explaining, candidate):
    assert not check(affine(candidate), seed=0).passed
    assert not explaining


def test_a_gradient_that_is_not_finite_is_never_explained(explaining, monkeypatch):
    from equivalence.sides.mindspore_network import MindSporeNetwork

    run = MindSporeNetwork.run

    def spoiled(*arguments):
        trace = run(*arguments)
        trace["gradient:bias"][0] = np.nan
        return trace

    monkeypatch.setattr(MindSporeNetwork, "run", spoiled)
    assert not check(affine(), seed=0).passed
    assert not explaining


def test_what_explains_must_pass_the_whole_judge(explaining, monkeypatch):
    explain = explained.explain

    def partly(*arguments):
        near, found = explain(*arguments)
        return near, {
            **found,
            "gradient:weight": replace(found["gradient:weight"], truth=np.zeros((6, 6))),
        }

    monkeypatch.setattr(explained, "explain", partly)
    outcome = check(affine("DetachedBias"), seed=0)
    assert len(explaining) == 1
    assert not outcome.passed
    assert outcome.flips == ()
    assert [v.name for v in outcome.judgement.differing] == ["gradient:bias"]


def test_an_ill_posed_case_is_not_explained(explaining, monkeypatch):
    measure = truth._measure_own

    def lost(measurement, known):
        own = measure(measurement, known)
        known["gradient:weight"].own_error = 1e9
        return own

    monkeypatch.setattr(truth, "_measure_own", lost)
    assert check(affine("DetachedBias"), seed=0).judgement.ill_posed
    assert not explaining


def test_a_known_difference_that_flips_explain_is_gone(explaining):
    outcome = check(affine("DetachedBias", differs=Difference("detached", {"*": 9.0})), seed=0)
    assert explaining
    assert not outcome.passed


# What a side raises.


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_an_error_of_the_candidate_names_it_and_its_line(execution):
    with pytest.raises(SideError) as caught:
        check(twins("Nested", "Refusing", execution=execution), seed=0)
    text = str(caught.value)
    assert text.startswith(f"small-train-float32-{execution}-cpu: the candidate raised ValueError")
    assert "no shape pleases me" in text
    assert "C++ Call Stack" not in text
    assert isinstance(caught.value.__cause__, ValueError)


def test_the_line_is_the_innermost_of_the_model():
    with pytest.raises(SideError, match=r"networks_ms\.py:\d+ in construct: raise .*\)$"):
        check(twins("Nested", "Refusing"), seed=0)
    with pytest.raises(SideError, match=r"networks_pt\.py:\d+ in forward: raise .*\)$"):
        check(twins("Refusing", "Nested"), seed=0)


def test_the_line_is_found_in_a_folder_of_any_name(monkeypatch):
    monkeypatch.setattr(errors, "_ENGINE", "/home/equivalence/equivalence/")
    source = "def broken(): raise ValueError('broken')"
    space = {}
    exec(compile(source, "/home/equivalence/ms_models/x.py", "exec"), space)
    with pytest.raises(ValueError, match="broken") as caught:
        space["broken"]()
    assert errors.words(caught.value) == "broken (/home/equivalence/ms_models/x.py:1 in broken)"


def test_the_line_is_never_one_of_the_engine():
    with pytest.raises(SideError, match=r"test_check\.py:\d+ in test_the_line"):  # noqa: SIM117
        with errors.blaming("candidate", "a case"):
            resolve_inputs(None, {})


@pytest.mark.parametrize("odd", ["logarithm", "infinite"])
def test_an_ill_posed_case_is_told_as_it_is(odd):
    negative = uniform(5, 4, low=-2.0, high=-1.0)
    with pytest.raises(IllPosedError, match=r"the truth has no finite number in output\.0"):
        check(case(PT + odd, MS + "doubling", negative), seed=0)


def test_an_error_of_the_reference_names_it():
    with pytest.raises(SideError, match="the reference raised ValueError: no shape pleases me"):
        check(twins("Refusing", "Nested"), seed=0)


def test_an_error_while_building_names_the_side():
    broken = case(
        "torch.nn:Linear",
        MS + "Affine",
        normal(5, 6),
        config={"in_features": 6, "out_features": -1},
    )
    with pytest.raises(SideError, match="the reference raised RuntimeError"):
        check(broken, seed=0)


def test_weights_that_do_not_pair_up_are_told_as_they_are():
    with pytest.raises(WeightError, match="weights do not pair up"):
        check(affine("RenamedWeight"), seed=0)


def test_random_layers_must_be_pinned_only_for_training():
    with pytest.raises(
        DeclarationError, match="declare random_layers='eval', or 'replay' for the same"
    ):
        check(twins("Dropping"), seed=0)
    assert check(twins("Dropping", phase="eval"), seed=0).passed
    assert check(twins("Dropping", random_layers="eval"), seed=0).passed


def test_that_draws_are_not_known_is_noted(monkeypatch):
    def fail(*_):
        raise RuntimeError("graph mode alone")

    monkeypatch.setattr(random_layers, "_of_candidate", fail)
    outcome = check(affine("TransposedWeight"), seed=0)
    assert not outcome.passed
    assert outcome.note == (
        "whether the candidate draws random numbers is not known: RuntimeError: graph mode alone"
    )


def test_random_layers_of_one_side_alone_must_be_pinned_too():
    one_side = case(PT + "Dropping", MS + "Dense", normal(5, 4))
    with pytest.raises(DeclarationError, match=r"reference: dropout \(dropout\); candidate: none"):
        check(one_side, seed=0)


# Twins whose sides must raise.


REFUSED = Raised("ValueError", "no shape pleases me")


def raising(reference, candidate, raises=REFUSED, **options):
    return twins(reference, candidate, raises=raises, **options)


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_both_sides_raising_what_is_declared_passes_without_a_judgement(execution):
    outcome = check(raising("Refusing", "Refusing", execution=execution), seed=0)
    assert outcome.passed
    assert outcome.judgement is None


@pytest.mark.parametrize(
    ("reference", "candidate", "silent"),
    [("Refusing", "Nested", "candidate"), ("Nested", "Refusing", "reference")],
)
def test_a_side_that_does_not_raise_is_named(reference, candidate, silent):
    with pytest.raises(EquivalenceError, match=f"the {silent} did not raise ValueError"):
        check(raising(reference, candidate), seed=0)


def test_another_exception_than_the_declared_is_named():
    with pytest.raises(EquivalenceError, match=r"the reference raised ValueError .*, not KeyError"):
        check(raising("Refusing", "Refusing", raises=Raised("KeyError", "no shape")), seed=0)


def test_a_side_that_raises_leaves_no_trace_in_the_next_case():
    before = verdicts(check(affine(), seed=0))
    check(raising("Refusing", "Refusing"), seed=0)
    assert verdicts(check(affine(), seed=0)) == before

"""The looks at a reference: cheap first, and the same verdict and figures in any order."""

from dataclasses import replace

import pytest

from equivalence.comparison import kept
from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.declare.operator import Operator, operator_case, to
from equivalence.declare.spaces import along
from equivalence.errors import WeightError
from equivalence.sides.torch_network import TorchNetwork
from equivalence.truth import compute
from tests.engine.parts.small import MS, case

LINEAR = {"in_features": 6, "out_features": 6}


@pytest.fixture(autouse=True)
def looked(monkeypatch):
    """The looks that were computed, in order."""
    monkeypatch.setattr(kept, "_references", [])
    calls = []
    for name in ("begin", "_draw", "add_noise"):
        step = getattr(compute, name)

        def counted(*arguments, name=name, step=step):
            calls.append(name)
            return step(*arguments)

        monkeypatch.setattr(compute, name, counted)
    return calls


def affine(candidate="Affine", **options):
    return case("torch.nn:Linear", MS + candidate, normal(5, 6), config=LINEAR, **options)


def test_what_is_equal_by_the_first_runs_costs_no_more(looked):
    assert check(affine(), 0).passed
    assert check(affine(execution="graph"), 0).passed
    assert looked == ["begin", "_draw"]


def test_what_differs_is_judged_by_all(looked):
    assert not check(affine("TransposedWeight"), 0).passed
    assert looked == ["begin", "_draw", "add_noise"]


def test_a_later_look_is_at_least_as_sensitive_and_changes_no_earlier_one():
    looks = kept.looks(affine(), 0)
    begun = next(looks).expected
    before = {name: (each.spread, each.spread_peak) for name, each in begun.items()}
    later = [each.expected for each in looks]
    assert len(later) == 1
    for name, spreads in before.items():
        assert (begun[name].spread, begun[name].spread_peak) == spreads
        for expected in later:
            assert expected[name].truth is begun[name].truth
            assert expected[name].spread >= spreads[0]
            assert expected[name].spread_peak >= spreads[1]


def test_the_figures_do_not_depend_on_earlier_cases():
    alone = check(affine(), 0).judgement
    kept.forget()
    assert not check(affine("TransposedWeight"), 0).passed  # asks for every look
    assert check(affine(), 0).judgement == alone


def test_a_candidate_that_must_not_be_too_exact_is_judged_by_the_last_alone():
    computing = affine()
    computing = replace(computing, twin=replace(computing.twin, computes="float16"))
    assert not check(computing, 0).passed
    assert [len(list(kept.looks(each, 0))) for each in (computing, affine())] == [1, 2]


def test_weights_that_do_not_pair_are_refused_before_anything_runs(looked, monkeypatch):
    def run(*_):
        raise AssertionError("the reference has run")

    monkeypatch.setattr(TorchNetwork, "run", run)
    with pytest.raises(WeightError, match="weight"):
        check(case("torch.nn:Linear", MS + "RenamedWeight", normal(5, 6), config=LINEAR), 0)
    assert not looked


def test_an_operator_is_looked_at_as_it_is_drawn(looked):
    counterpart = to("ops.softmax", dim="axis")
    softmax = Operator("torch.softmax", along(), counterpart)
    example = softmax.example("softmax(normal(2, 3), dim=1)")
    assert check(operator_case(softmax, counterpart, example, "pynative", "cpu"), 0).passed
    assert looked == ["begin"]

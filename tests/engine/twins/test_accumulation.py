"""Rounding of long sums is told from a mistake by neighbouring samples."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from equivalence.declare.draws import normal
from equivalence.host.isolation import isolated
from equivalence.judge import excuses as table
from equivalence.judge.expected import Expected
from equivalence.judge.verdict import TensorVerdict
from equivalence.runs import kept
from equivalence.sample import Neighbour, OtherCotangents
from equivalence.sides.torch_network import TorchNetwork
from equivalence.truth.measurement import Measurement
from equivalence.truth.products import longest_sum
from equivalence.twins import accumulation, excuses
from equivalence.twins.check import check
from tests.engine.parts.small import case, sample

MS = "tests.engine.parts.sums_ms:"
ROWS = 100_352


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


def linear(candidate: str, rows: int = ROWS):
    config = {"in_features": 4, "out_features": 4}
    return case("torch.nn:Linear", MS + candidate, normal(rows, 4), config=config)


def bias(outcome) -> TensorVerdict:
    return next(v for v in outcome.judgement.verdicts if v.name == "gradient:bias")


@pytest.mark.parametrize("seed", range(2))
def test_a_right_sum_of_many_terms_is_equal_though_it_is_over_the_budget(seed, monkeypatch):
    outcome = check(linear("Linear"), seed)
    assert bias(outcome).needed > 16.0 > bias(outcome).own_error
    assert outcome.passed
    assert bias(outcome).excuses == (table.ACCUMULATION.name,)
    assert bias(outcome).budget == 64.0
    acts = tuple(act for act in excuses.ACTS if act[0] is not table.ACCUMULATION)
    monkeypatch.setattr(excuses, "ACTS", acts)
    assert not check(linear("Linear"), seed).passed


def test_what_accurate_kernels_leave_may_be_rounding_of_sums(monkeypatch):
    config = {"in_features": 4, "out_features": 4}
    target = "tests.engine.parts.sums_pt:Squashed"
    squashed = case(target, MS + "Squashed", normal(ROWS, 4), config=config)
    outcome = check(squashed, 0)
    assert outcome.passed
    assert bias(outcome).excuses == (table.ACCUMULATION.name,)
    assert {table.INACCURATE_KERNEL.name, table.ACCUMULATION.name} <= set(outcome.excuses)
    assert [kernel.name for kernel in outcome.kernels] == ["Tanh"]

    monkeypatch.setattr(accumulation, "limit", lambda *_: 0.0)
    assert not check(squashed, 0).passed


@pytest.mark.parametrize("seed", range(3))
def test_an_error_that_comes_again_is_a_mistake_however_small(seed):
    """It is smaller than what the right sum of many terms is off by."""
    outcome = check(linear("SlightlyLarger", rows=64), seed)
    assert 16.0 < bias(outcome).needed < 64.0
    assert not outcome.passed
    assert outcome.excuses == ()


@pytest.mark.parametrize("rows", [64, ROWS])
def test_half_precision_is_no_accumulation(rows):
    outcome = check(linear("Halved", rows), 0)
    assert bias(outcome).needed > 64.0
    assert not outcome.passed


def verdict(**figures) -> TensorVerdict:
    figures = {"error": 20.0, "worst": 20.0, "own_error": 1.0} | figures
    return TensorVerdict("gradient:bias", 16.0, **figures)


@pytest.mark.parametrize(
    ("figures", "half", "terms", "limit"),
    [
        ({}, math.inf, 100.0, 64.0),
        ({}, math.inf, 90000.0, 600.0),  # a sum that runs through n terms
        ({"own_error": 100.0}, math.inf, 1000.0, 400.0),
        ({"own_error": 100.0}, math.inf, 300.0, 300.0),
        ({"own_error": 100.0}, math.inf, 10.0, 64.0),
        ({}, 32.0, math.inf, 32.0),
        ({"problem": "shape"}, math.inf, math.inf, 0.0),
    ],
)
def test_the_largest_error_that_sums_explain(figures, half, terms, limit):
    assert accumulation.limit(verdict(**figures), half, terms) == limit


@pytest.mark.parametrize(
    ("name", "faint", "half"),
    [
        ("output", False, 2.0**22),  # of a rounding of 2^-24 of 4, and as much sensitivity
        ("output", True, 2.0**21),  # of a rounding of 2^-31 of the faint element, 2^-9
        ("labels", False, 0.0),
        ("zeros", False, 0.0),
        ("missing", False, 0.0),
    ],
)
def test_half_of_what_differs(name, faint, half):
    output = Expected.whole(np.array([4.0, 2.0**-9]))
    output.widen(np.array([4.0 + 2.0**-22, 2.0**-9 + 3 * 2.0**-33]))
    others = {"labels": Expected.whole(np.arange(3)), "zeros": Expected.whole(np.zeros(3))}
    made = SimpleNamespace(reference=SimpleNamespace(expected={"output": output, **others}))
    differs = TensorVerdict(name, 16.0, faint=faint)
    assert accumulation._half(made, differs, 2.0**-24) == pytest.approx(half, rel=1e-6)


def test_the_share_of_an_error_that_comes_again():
    first = np.array([3.0, 4.0])
    assert accumulation._share(first, first) == (1.0, 1.0)
    assert accumulation._share(first, -first) == (-1.0, -1.0)
    assert accumulation._share(first, np.array([4.0, -3.0])) == (0.0, -0.75)
    assert accumulation._share(first, 5.0 * first) is None
    assert accumulation._share(first, np.array([math.nan, 0.0])) is None


def test_neighbours_that_are_enough_to_tell():
    """The worst element alone may come again by chance; the whole error of it then does not."""
    again, other = (0.06, 0.95), (0.0, 0.1)
    assert not accumulation._clear([again] * 3)
    assert accumulation._clear([again] * 4)
    assert not accumulation._clear([other] * 5)
    assert accumulation._clear([other] * 6)


def test_a_neighbour_out_of_the_domain_tells_nothing(monkeypatch):
    """With too few neighbours nothing is excused."""
    monkeypatch.setattr(accumulation, "_share", lambda *_: None)
    assert not check(linear("Linear"), 0).passed


@pytest.mark.parametrize(
    ("candidate", "rows", "right"),
    [
        ("Linear", ROWS, True),
        ("SlightlyLarger", 64, False),
    ],
)
def test_others_are_tried_for_neighbours_that_tell_nothing(candidate, rows, right, monkeypatch):
    """As where three of four took another branch."""
    share, calls = accumulation._share, itertools.count()
    monkeypatch.setattr(accumulation, "_share", lambda *a: None if next(calls) % 4 else share(*a))
    assert check(linear(candidate, rows), 0).passed == right


@pytest.mark.parametrize(
    ("told", "tried"),
    [
        ([(0.3, 0.3)], [16]),
        ([(0.7, 0.7)], [6, 16]),
        ([(0.95, 0.95)], [4, 4]),
        ([(0.3, 0.3)] + 99 * [None], [48, 16]),
        ([None], [16, 16]),  # none of the first ones tells anything
    ],
)
def test_neighbours_are_not_tried_without_end(told, tried, monkeypatch):
    errors, ran = accumulation._errors, []

    def counting(*arguments):
        ran.append(0)
        for each in errors(*arguments):
            ran[-1] += 1
            yield each

    shares = itertools.cycle(told)
    monkeypatch.setattr(accumulation, "_errors", counting)
    monkeypatch.setattr(accumulation, "_share", lambda *_: next(shares))
    check(linear("Linear"), 0)
    assert ran == tried  # with other cotangents; moved as a whole


@pytest.fixture
def factors(monkeypatch):
    """By how much the errors at each kind of neighbour are larger; and the kinds that were run."""
    errors, larger, ran = accumulation._errors, {}, []

    def scaled(*arguments):
        ran.append(arguments[-1])
        for each in errors(*arguments):
            yield {key: larger.get(ran[-1], 1.0) * error for key, error in each.items()}

    monkeypatch.setattr(accumulation, "_errors", scaled)
    return larger, ran


@pytest.mark.parametrize(
    ("candidate", "rows", "right"),
    [("Linear", ROWS, True), ("SlightlyLarger", 64, False), ("SlightlyLarger", ROWS, False)],
)
def test_a_gradient_is_told_by_other_cotangents_where_others_take_other_branches(
    candidate, rows, right, factors
):
    larger, ran = factors
    larger[Neighbour] = 1000.0
    assert check(linear(candidate, rows), 0).passed == right
    assert ran == ([OtherCotangents] if right else [OtherCotangents, Neighbour])


def test_what_a_forward_pass_has_rounded_is_told_by_neighbours_moved_as_a_whole(monkeypatch):
    """Its error comes again where the cotangents alone are moved."""
    ran = []

    def of_forward(made, _drawn, _measurement, expected, kind):
        ran.append(kind)
        first = {key: accumulation._error(p, made.trace[key[0]]) for key, p in expected.items()}
        for _ in range(9):
            if kind is Neighbour:
                yield {key: rng.standard_normal(e.shape) * abs(e) for key, e in first.items()}
            else:
                yield first

    rng = np.random.Generator(np.random.SFC64(0))
    monkeypatch.setattr(accumulation, "_errors", of_forward)
    assert check(linear("Linear"), 0).passed
    assert ran == [OtherCotangents, Neighbour]


def test_other_cotangents_tell_nothing_of_an_output(factors):
    assert not check(linear("LargerOutput", 64), 0).passed
    assert factors[1] == [Neighbour]


def test_neighbours_are_moved_off_kinks_before_either_side_runs_them(monkeypatch):
    """Another branch would make their errors far larger, and they would tell nothing."""
    moved, run = [], []
    monkeypatch.setattr(TorchNetwork, "shift", lambda _, sample, *__: moved.append(sample))
    monkeypatch.setattr(accumulation, "_error", lambda *_: run.append(len(moved)) or np.ones(4))
    config = {"in_features": 4, "out_features": 4}
    target = "tests.engine.parts.sums_pt:Rectified"
    check(case(target, MS + "Rectified", normal(ROWS, 4), config=config), 0)
    assert {type(each) for each in moved} == {Neighbour}
    assert len(moved) == len(set(map(id, moved))) > 1
    unmoved = 2 + accumulation.SURE_AFTER  # the sample, twice, and those of other cotangents
    assert run == unmoved * [0] + list(range(1, len(moved) + 1))


@pytest.mark.parametrize(
    ("target", "config", "inputs", "terms"),
    [
        ("torch.nn:Linear", {"in_features": 300, "out_features": 4}, normal(2, 300), 300),
        ("torch.nn:Linear", {"in_features": 4, "out_features": 4}, normal(900, 4), 900),
        ("torch.nn:LayerNorm", {"normalized_shape": 4}, normal(50, 10, 4), 500),
        ("torch.nn:ReLU", {}, normal(50, 40), 1),
    ],
)
def test_the_terms_of_the_longest_sum(target, config, inputs, terms):
    network = TorchNetwork(target, config)
    assert longest_sum(Measurement(network, sample(inputs), "train", 2.0**-24)) == terms

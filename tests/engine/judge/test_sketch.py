"""A sketch keeps the norm of every difference; a tensor is judged by it as by all its elements."""

from dataclasses import replace

import numpy as np
import pytest

from equivalence.declare.draws import normal
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.judge.sketch import BUCKETS, CHUNK, WHOLE_SIZE, Sketch
from equivalence.judge.verdict import judge
from equivalence.sides.torch_network import TorchNetwork
from equivalence.truth import compute as truth
from equivalence.truth.known import sketch_large
from equivalence.truth.measurement import Measurement
from tests.engine.parts.small import sample

U = UNIT_ROUNDOFF["float32"]
SIZE = 100_000


def gaussian(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def known_of(values: np.ndarray, *roundings: float, dtype: str = "float32") -> Expected:
    """What is expected of a tensor, sketched, from a few runs that rounding has moved."""
    (known,) = sketch_large(sample())({"x": values}).values()
    known.dtype = dtype
    for seed, size in enumerate(roundings or (1.0, 1.0)):
        known.widen(values * (1.0 + size * U * np.sign(gaussian(*values.shape, seed=seed + 100))))
    return known


def verdict_of(known: Expected, got: np.ndarray):
    (verdict,) = judge({"x": known}, {"x": got}, U, BUDGET).verdicts
    return verdict


# The sketch.


@pytest.mark.parametrize(
    "values",
    [
        gaussian(64, 50),
        np.ones((64, 50)),
        np.where(np.arange(3200).reshape(64, 50) < 50, 1.0, 0.0),  # one row
        np.logspace(-8, 0, 3200),
    ],
    ids=["gaussian", "constant", "row", "uneven"],
)
def test_its_norm_is_that_of_the_tensor_within_the_stated_error(values):
    norms = [
        np.linalg.norm(Sketch(values.shape, (seed, "norm")).of(values)) / np.linalg.norm(values)
        for seed in range(400)
    ]
    stated = 1 / np.sqrt(2 * BUCKETS)
    assert stated == pytest.approx(0.044, abs=5e-4)
    assert np.std(norms) < 1.15 * stated
    assert abs(np.mean(np.square(norms)) - 1) < 4 * 2 * stated / np.sqrt(400)
    assert np.max(np.abs(np.subtract(norms, 1))) < 5 * stated


def test_it_is_linear():
    one, two, way = gaussian(30, 40), gaussian(30, 40, seed=1), Sketch((30, 40), ("linear",))
    np.testing.assert_allclose(way.of(one) - way.of(two), way.of(one - two), atol=1e-12)


def test_a_single_element_keeps_its_size():
    one = np.zeros(5000)
    one[1234] = -3.0
    assert sorted(np.abs(Sketch(one.shape, ("one",)).of(one)))[-2:] == [0.0, 3.0]


def test_every_tensor_has_signs_of_its_own_that_are_always_the_same():
    values = gaussian(CHUNK + 1000)
    first = Sketch(values.shape, (0, "case", "weight")).of(values)
    assert np.array_equal(first, Sketch(values.shape, (0, "case", "weight")).of(values))
    assert first.shape == (BUCKETS,)
    for key in ((1, "case", "weight"), (0, "other", "weight"), (0, "case", "bias")):
        other = Sketch(values.shape, key).of(values)
        assert abs(np.corrcoef(first, other)[0, 1]) < 0.3


def test_elements_beyond_the_first_chunk_count_in_sums_of_their_own():
    values = np.zeros(2 * CHUNK)
    values[CHUNK:] = 1.0
    shape = values.shape
    flipped = values[::-1].copy()
    assert np.linalg.norm(Sketch(shape, ("chunks",)).of(values)) > 0
    one, two = Sketch(shape, ("chunks",)).of(values), Sketch(shape, ("chunks",)).of(flipped)
    assert abs(np.corrcoef(one, two)[0, 1]) < 0.3


@pytest.mark.parametrize("dtype", ["int64", "int32", "bool"])
def test_integers_are_kept_as_a_digest_that_any_change_changes(dtype):
    values = (gaussian(1000) > 0).astype(dtype)
    way = Sketch(values.shape, ("integers",))
    other = values.copy()
    other[777] = 1 - other[777]
    assert way.of(values).dtype.kind != "f"
    assert np.array_equal(way.of(values), way.of(values.astype("int64")))
    assert not np.array_equal(way.of(values), way.of(other))


def test_a_tensor_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"shape \(3, 2\), sketched are \(2, 3\)"):
        Sketch((2, 3), ("x",)).of(np.zeros((3, 2)))


def test_small_tensors_and_those_that_are_not_finite_are_kept_whole():
    odd = gaussian(WHOLE_SIZE + 1)
    odd[3] = np.inf
    given = {
        "small": gaussian(WHOLE_SIZE),
        "large": gaussian(WHOLE_SIZE + 1),
        "integers": np.arange(WHOLE_SIZE + 1),
        "odd": odd,
        "complex": gaussian(WHOLE_SIZE + 1) * 1j,
    }
    kept = sketch_large(sample())(given)
    assert [*kept] == [*given]
    assert {name for name, known in kept.items() if known.sketch} == {"large", "integers"}
    for name, values in given.items():
        assert kept[name].shape == values.shape
        assert kept[name].size == values.size
        assert kept[name].sketch or kept[name].truth is values


# The verdict.


def test_what_is_rounded_once_passes_and_has_no_worst_element():
    values = gaussian(SIZE)
    verdict = verdict_of(known_of(values), values.astype(np.float32))
    assert verdict.equal
    assert 0.1 < verdict.error < 1.5
    assert verdict.sketched
    assert verdict.index == ()
    assert np.isnan(verdict.got)
    assert np.isnan(verdict.want)


def test_the_error_is_that_of_the_whole_tensor_within_the_stated_error():
    values = gaussian(SIZE)
    known = known_of(values)
    whole = Expected(values, "float32")
    for seed in (100, 101):
        whole.widen(values * (1.0 + U * np.sign(gaussian(SIZE, seed=seed))))
    for size in (1.0, 3.0, 1e4):
        got = (values * (1.0 + size * U * gaussian(SIZE, seed=7))).astype(np.float32)
        one, two = verdict_of(known, got), verdict_of(whole, got)
        assert one.equal is two.equal
        assert one.error == pytest.approx(two.error, rel=4 * 0.044 * 2)


def test_one_wrong_element_in_a_million_is_refused():
    values = gaussian(1 << 20)
    got = values.astype(np.float32)
    got[654321] = 0.0
    verdict = verdict_of(known_of(values), got)
    assert not verdict.equal
    assert verdict.worst > 10 * BUDGET


def test_the_reach_of_a_single_element_is_as_stated():
    values = gaussian(1 << 20)
    known = known_of(values)
    noise = U * np.sqrt(values.size / BUCKETS)  # of a bucket, where elements are about one
    for size, equal in ((4.0, True), (400.0, False)):
        got = values.copy()
        got[654321] += size * noise
        assert verdict_of(replace(known, dtype="float64"), got).equal is equal


def test_an_element_that_is_not_finite_is_found_and_placed():
    values = gaussian(20, 50)
    for odd in (np.nan, np.inf, -np.inf):
        got = values.astype(np.float32)
        got[[3, 7], [4, 1]] = odd
        verdict = verdict_of(known_of(values), got)
        assert not verdict.equal
        assert verdict.index == (3, 4)
        assert verdict.problem == (
            f"2 of 1000 elements are not finite where the truth is; first at (3, 4): {odd}"
        )


def test_shape_and_dtype_are_compared_before_it():
    values = gaussian(20, 50)
    known = known_of(values)
    other = verdict_of(known, np.zeros((50, 20), np.float32))
    assert other.problem == "shape (50, 20), expected (20, 50)"
    assert verdict_of(known, known.truth).problem == f"shape ({BUCKETS},), expected (20, 50)"
    assert verdict_of(known, values).problem == "dtype float64, expected float32"


def test_integers_that_differ_are_refused():
    values = np.arange(1000)
    known = sketch_large(sample())({"x": values})["x"]
    assert verdict_of(known, values).equal
    other = values.copy()
    other[5] += 1
    verdict = verdict_of(known, other)
    assert not verdict.equal
    assert verdict.problem == (
        "some of its 1000 integers differ; which, their digest does not tell"
    )


# The truth of a case.


def test_a_truth_in_sketches_knows_what_the_whole_one_does():
    def made(expect):
        drawn = sample(normal(40, 30))
        network = TorchNetwork("torch.nn:Linear", {"in_features": 30, "out_features": 25})
        return truth.compute(Measurement(network, drawn, "train", U), expect(drawn))

    whole, kept = made(lambda _: truth.whole), made(sketch_large)
    assert [*whole] == [*kept]
    assert {name for name, known in kept.items() if known.sketch} == {
        "output.0",
        "gradient:input[0]",
        "gradient:weight",
    }
    for name, known in whole.items():
        mine = kept[name]
        assert (mine.dtype, mine.shape) == (known.dtype, known.shape)
        if not mine.sketch:
            assert np.array_equal(mine.truth, known.truth)
            assert (mine.spread, mine.own_needed) == (known.spread, known.own_needed)
        assert mine.spread == pytest.approx(known.spread, rel=0.2)
        assert mine.own_error == pytest.approx(known.own_error, rel=0.35)
    assert whole.pulled_back == kept.pulled_back == {"0": (40, 25)}

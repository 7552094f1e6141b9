"""Where a reference overflows in half precision, a port in more bits is judged by float64."""

import numpy as np
import pytest
import torch

from equivalence import compare, uniform
from equivalence.host.isolation import isolated
from equivalence.judge import excuses as table
from equivalence.runs.drawn import Drawn
from equivalence.truth import compute
from equivalence.truth.overflow import InRangeOfFloat32, beyond_half
from equivalence.twins import excuses
from tests.engine.parts import small

PT, MS = "tests.engine.parts.overflow_pt:", "tests.engine.parts.overflow_ms:"
LARGE = uniform(4, 6, low=-400.0, high=400.0)
ROWS = uniform(5, 8, low=-180.0, high=180.0)


def compared(reference, candidate, *given):
    return compare(PT + reference, MS + candidate, *given, phase="train", execution="pynative")


@pytest.mark.parametrize(
    ("name", "given", "where"),
    [("Energy", [LARGE], "of output.0"), ("Attended", [ROWS, ROWS], "of gradient:input[1]")],
)
def test_a_port_in_more_bits_is_right_and_it_is_told(name, given, where):
    result = compared(name, name, *given)
    assert result
    assert result.outcomes[0].excuses == ("overflow",)
    assert "the reference overflows in half precision, and float64 tells what is" in str(result)
    assert where in str(result)


@pytest.mark.parametrize(
    ("reference", "candidate", "given"),
    [
        ("Energy", "Capped", [LARGE]),
        ("Energy", "Scaled", [LARGE]),
        ("Energy", "Holed", [LARGE]),
        ("Attended", "OtherScale", [ROWS, ROWS]),
        # What overflows in float32 is a number of the reference's own.
        ("Narrow", "Narrow", [uniform(4, 6, low=80.0, high=95.0)]),
    ],
)
def test_a_port_that_is_finite_and_wrong_differs(reference, candidate, given):
    result = compared(reference, candidate, *given)
    assert not result
    assert result.outcomes[0].judgement.differing


def test_without_the_excuse_it_is_red(monkeypatch):
    acts = tuple(act for act in excuses.ACTS if act[0] is not table.OVERFLOW)
    monkeypatch.setattr(excuses, "ACTS", acts)
    assert not compared("Energy", "Energy", LARGE)


def test_only_where_the_candidate_is_finite_float64_stands():
    case = small.case(PT + "Energy", MS + "Energy", LARGE)
    with isolated():
        drawn = Drawn(case, 0)
        measurement = drawn.measurement(drawn.sample())
        expected = compute.begin(measurement)
        own = measurement.run_own()
        infinite = np.argwhere(np.isinf(own["output.0"]))
        candidate = {name: values.copy() for name, values in own.items()}
        first, second = map(tuple, infinite[:2])
        candidate["output.0"][first] = 1.0
        truth = beyond_half(measurement, expected, candidate)["output.0"]
    x = measurement.sample.inputs()[0]
    assert truth.truth[first] == x[first].astype(float) ** 2 / 1024
    assert np.isinf(truth.truth[second])
    assert truth.spread > 0.0
    assert beyond_half(measurement, expected, own) is None


def test_the_range_of_float32_is_that_of_its_kernels():
    masked = torch.finfo(torch.float64).max
    x = torch.tensor([3e38, 4e38, -4e38, 1e-40, 1e-46, masked], dtype=torch.float64)
    with InRangeOfFloat32():
        found = x * 1.0
    assert found.tolist() == [3e38, np.inf, -np.inf, 1e-40, 0.0, masked]

"""The benchmark of the noise: a right port is within it, a wrong one is not."""

import numpy as np
import pytest

from benchmarks import noise
from equivalence.declare.draws import normal
from equivalence.host.isolation import isolated
from equivalence.runs import kept
from tests.engine.parts.small import MS, case

LINEAR = {"in_features": 6, "out_features": 6}


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


@pytest.mark.parametrize(("candidate", "right"), [("Affine", True), ("TransposedWeight", False)])
def test_a_right_port_is_within_the_noise_and_a_wrong_one_is_not(candidate, right):
    affine = case("torch.nn:Linear", MS + candidate, normal(5, 6), config=LINEAR)
    expected, trace, own = noise.noisy(affine, 0)
    assert all(tensor.spread > 0.0 for tensor in expected.values())
    error, name = noise.worst(expected, trace, 2.0**-24)
    assert (error < noise.LIMIT) is right
    assert noise.worst(expected, own, 2.0**-24)[0] < noise.LIMIT
    assert np.isfinite(error)
    assert name in expected


def test_the_cases_of_the_gate_are_listed_with_both_errors(capsys):
    assert noise.main(["-k", "conv1x1"]) == 0
    *rows, last = capsys.readouterr().out.splitlines()
    assert all("conv1x1" in row for row in rows)
    assert last.startswith(f"{len(rows)} right cases: median ")
    assert ", 0 beyond 8 roundings; " in last


def test_no_case_of_these_words_is_an_error(capsys):
    assert noise.main(["-k", "no such case"]) == 1
    assert capsys.readouterr().out == "no case was compared\n"

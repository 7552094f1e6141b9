"""The rules that the matrix compares with are what they are said to be."""

import numpy as np
import pytest

from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.judge.verdict import judge
from tests.defects import rivals

ONES = np.ones(1000, np.float32)


def off_by(*changes: float) -> np.ndarray:
    """Ones, with the first elements moved."""
    moved = ONES.copy()
    moved[: len(changes)] += np.array(changes, np.float32)
    return moved


@pytest.mark.parametrize(
    ("rule", "accepted", "not_accepted"),
    [
        (rivals.allclose, off_by(1.9e-4), off_by(2.1e-4)),
        (rivals.assert_close, off_by(1.0e-5), off_by(1.3e-5)),
        (rivals.frobenius, off_by(0.015), off_by(0.017)),
        (rivals.cosine, 2 * ONES, off_by(*[-2.0] * 6)),
        (rivals.dynamo, off_by(3.1e-4), off_by(3.3e-4)),
    ],
)
def test_each_rule_accepts_up_to_its_tolerance(rule, accepted, not_accepted):
    truth = ONES.astype(np.float64)
    assert rule(accepted, ONES, truth)
    assert not rule(not_accepted, ONES, truth)
    assert not rule(np.full_like(ONES, np.nan), ONES, truth)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_rule_of_dynamo_is_the_installed_one(dtype):
    import torch
    from torch._dynamo.utils import same

    rng = np.random.default_rng(0)
    answers = []
    for _ in range(200):
        shape = [(40,), (50, 40), (2, 8, 1, 1), (30, 70, 1, 1)][rng.integers(4)]
        truth = rng.standard_normal(shape)
        noise = 10.0 ** rng.uniform(-7, -1 if dtype == "float16" else -3, 2)
        own, got = ((truth + n * rng.standard_normal(shape)).astype(dtype) for n in noise)
        tensors = [torch.from_numpy(each) for each in (own, got, truth)]
        installed = same(*tensors, log_error=lambda *_: None)
        answers.append(installed)
        assert rivals.dynamo(got, own, truth) == installed
    assert 20 < sum(answers) < 180


def judged(candidate: dict, truth: dict):
    expected = {name: Expected(values, "float32") for name, values in truth.items()}
    return judge(expected, candidate, UNIT_ROUNDOFF["float32"], BUDGET)


def test_a_wrong_gradient_is_seen_by_the_whole_trace_and_not_by_outputs():
    own = {"output.0": ONES, "gradient:weight": ONES}
    truth = {name: values.astype(np.float64) for name, values in own.items()}
    candidate = own | {"gradient:weight": -ONES}
    judgement = judged(candidate, truth)
    whole = rivals.refused(judgement, candidate, own, truth)
    outputs = rivals.refused(judgement, candidate, own, truth, outputs_alone=True)
    assert set(whole) == {rivals.OURS, *rivals.RULES}
    assert all(whole.values())
    assert not any(outputs.values())


@pytest.mark.parametrize("candidate", [{}, {"output.0": ONES[:1]}])
def test_what_is_missing_or_of_another_shape_is_refused_by_all(candidate):
    own = {"output.0": ONES}
    truth = {"output.0": ONES.astype(np.float64)}
    assert all(rivals.refused(judged(candidate, truth), candidate, own, truth).values())


def test_weights_of_a_half_precision_case_are_compared_as_pytorch_has_them():
    own = {"output.0": ONES.astype(np.float16), "gradient:weight": ONES.astype(np.float16)}
    truth = {name: values.astype(np.float64) for name, values in own.items()}
    candidate = own | {"gradient:weight": off_by(1e-4)}
    refused = rivals.refused(judged(candidate, truth), candidate, own, truth)
    assert not any(refused[rule] for rule in rivals.RULES)

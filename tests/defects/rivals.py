"""Rules by which public suites compare, run on the traces that the judge sees.

Each rule compares a candidate's tensor with PyTorch's own run in the same precision, as its users
do. It gets its best: every tensor of the trace is looked at, and what is missing or of another
shape counts as seen by all rules. A rule catches a candidate when it refuses one tensor or more.
"""

from collections.abc import Callable

import numpy as np
import torch

from equivalence.judge import tensors
from equivalence.judge.tensors import Trace
from equivalence.judge.verdict import Judgement

Rule = Callable[[np.ndarray, np.ndarray, np.ndarray], bool]
"""(candidate, PyTorch's own, truth in float64) -> whether the candidate is accepted."""


def allclose(got: np.ndarray, own: np.ndarray, truth: np.ndarray) -> bool:  # noqa: ARG001
    """`numpy.allclose` with rtol = atol = 1e-4."""
    return np.allclose(got, own, rtol=1e-4, atol=1e-4)


def assert_close(got: np.ndarray, own: np.ndarray, truth: np.ndarray) -> bool:  # noqa: ARG001
    """`torch.testing.assert_close` as it stands: tolerances by dtype, dtypes equal."""
    try:
        torch.testing.assert_close(torch.from_numpy(got), torch.from_numpy(own))
    except AssertionError:
        return False
    return True


def frobenius(got: np.ndarray, own: np.ndarray, truth: np.ndarray) -> bool:  # noqa: ARG001
    """A relative Frobenius norm of at most 5e-4, in half precision 5e-3."""
    got, wanted = got.astype(np.float64), own.astype(np.float64)
    tolerance = 5e-3 if own.dtype == np.float16 else 5e-4
    return bool(np.linalg.norm(got - wanted) <= tolerance * np.linalg.norm(wanted))


def cosine(got: np.ndarray, own: np.ndarray, truth: np.ndarray) -> bool:  # noqa: ARG001
    """A cosine similarity of at least 0.99; two tensors of zeros are alike."""
    got, own = got.astype(np.float64).reshape(-1), own.astype(np.float64).reshape(-1)
    if not got.any() and not own.any():
        return True
    return bool(got @ own >= 0.99 * np.linalg.norm(got) * np.linalg.norm(own) > 0.0)


def dynamo(got: np.ndarray, own: np.ndarray, truth: np.ndarray, tol: float = 1e-4) -> bool:
    """`torch._dynamo.utils.same` with the truth in float64, at its default tolerance.

    Accepted is what is close to PyTorch's own run, and else what is hardly farther from the truth
    than that is. Written out, since to import the original takes its compiler along.
    """
    if got.dtype != own.dtype:
        return False
    # Of torch.allclose(own, got): relative to the second.
    if np.allclose(own, got, rtol=tol, atol=tol):
        return True
    pointwise = own.ndim == 4 and own.shape[-1] == own.shape[-2] == 1
    lenient = got.dtype == np.float16 or truth.size < 1000 or pointwise
    multiplier = 3.0 if lenient else 2.0
    return bool(_rmse(truth, got) <= multiplier * _rmse(truth, own) + tol / 10.0)


def _rmse(one: np.ndarray, two: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(one - two))))


OURS = "this suite"

RULES: dict[str, Rule] = {
    "numpy allclose, rtol = atol = 1e-4": allclose,
    "torch.testing.assert_close, defaults": assert_close,
    "relative Frobenius norm 5e-4 (half: 5e-3)": frobenius,
    "cosine >= 0.99": cosine,
    "torch._dynamo.utils.same, float64, tol 1e-4": dynamo,
}


def refused(
    judgement: Judgement, candidate: Trace, own: Trace, truth: Trace, outputs_alone: bool = False
) -> dict[str, bool]:
    """Whether this suite, by its judgement, and each rule refuse the candidate's trace.

    own: PyTorch's run in the case's precision, all of it: also gradients of weights, which the
    candidate of a half precision case has in float32. They are compared as PyTorch has them.
    """
    if outputs_alone:
        candidate, own = _outputs(candidate), _outputs(own)
    ours = any(v.name in own or v.name in candidate for v in judgement.differing)
    if candidate.keys() != own.keys() or any(candidate[n].shape != own[n].shape for n in own):
        return {OURS: ours} | dict.fromkeys(RULES, True)
    pairs = [(_like(name, candidate[name], own[name]), own[name], truth[name]) for name in own]
    with np.errstate(all="ignore"):
        refusals = {name: not all(rule(*p) for p in pairs) for name, rule in RULES.items()}
    return {OURS: ours} | refusals


OUTPUTS = ("output.", "loss[")


def _outputs(recorded: Trace) -> Trace:
    return {name: values for name, values in recorded.items() if name.startswith(OUTPUTS)}


def _like(name: str, got: np.ndarray, own: np.ndarray) -> np.ndarray:
    """`got`, and of a weight in the precision that PyTorch's own has it in."""
    single = got.dtype == np.float32 and own.dtype == np.float16
    return got.astype(np.float16) if single and tensors.of_weight(name) else got

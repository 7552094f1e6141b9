"""The truth of an evaluation: PyTorch in float64, and how far rounding moves its results."""

from dataclasses import dataclass

import numpy as np
import torch

from equivalence.evaluation.ranking import TopK, top_k
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.judge.verdict import Judgement, judge
from equivalence.sample import Sample
from equivalence.seeds import stream
from pt_reference.inference import evaluate

U = UNIT_ROUNDOFF["float32"]
PROBES = 5
KS = (1, 5)


def weights(module, name):
    """Random float32 weights and statistics for a module, none at its default."""
    sample = Sample(name, 0, [], "float32")
    return {
        key: torch.from_numpy(sample.weight(key, tuple(tensor.shape)).copy())
        for key, tensor in module.state_dict().items()
    }


def images(name, sizes, *shape):
    """Batches of N(0, 1) images, float32, of those sizes."""
    rng = stream(name, "images")
    return [rng.standard_normal((size, *shape)).astype(np.float32) for size in sizes]


def logits(module, state, batches):
    """N,K logits of a module in float64, in the evaluation phase."""
    module.load_state_dict(state)
    with torch.no_grad():
        found = [module(torch.from_numpy(x).double()).numpy() for x in batches]
    return np.concatenate(found)


def rounded(values, rng):
    return values * (1.0 + U * (2.0 * rng.integers(0, 2, values.shape, np.int8) - 1.0))


@dataclass
class Truth:
    """What a right evaluation gives. batches: images and labels. moved: logits, perturbed."""

    batches: list
    logits: np.ndarray
    moved: list
    expected: dict

    @property
    def labels(self):
        return np.concatenate([labels for _, labels in self.batches])

    def judged(self, found) -> tuple[Judgement, list[TopK]]:
        """The verdicts on losses, their mean, and the counts of an Evaluation."""
        trace = {"losses": found.losses, "loss": np.float32(found.loss).reshape(1)}
        counts = [top_k(self.logits, self.moved, self.labels, found.ranks, k, U) for k in KS]
        return judge(self.expected, trace, U, BUDGET), counts


def truth(build, state, name, sizes, *shape) -> Truth:
    """Of a network and its float32 weights; in two thirds of the samples it is right."""
    inputs, module = images(name, sizes, *shape), build().double().eval()
    exact = logits(module, state, inputs)
    rng = stream(name, "labels")
    drawn = rng.integers(0, exact.shape[1], len(exact))
    labels = np.where(rng.uniform(size=len(exact)) < 2 / 3, exact.argmax(axis=1), drawn)
    ends = np.cumsum(sizes)[:-1]
    batches = list(zip(inputs, np.split(labels.astype(np.int32), ends), strict=True))
    moved = []
    for probe in range(PROBES):
        coins = stream(name, "probe", probe)
        other = {
            key: torch.from_numpy(rounded(tensor.double().numpy(), coins))
            if tensor.is_floating_point()
            else tensor
            for key, tensor in state.items()
        }
        moved.append(logits(module, other, [rounded(x.astype(float), coins) for x in inputs]))
    expected = {}
    for values in (exact, *moved):
        losses = torch.nn.functional.cross_entropy(
            torch.from_numpy(values), torch.from_numpy(labels), reduction="none"
        ).numpy()
        for key, found in (("losses", losses), ("loss", losses.mean(keepdims=True))):
            if key in expected:
                expected[key].widen(found)
            else:
                expected[key] = Expected(found, "float32")
    module.float().load_state_dict(state)
    known = Truth(batches, exact, moved, expected)
    own, _ = known.judged(evaluate(module, batches))
    for verdict in own.verdicts:
        expected[verdict.name].own_error = verdict.error
        expected[verdict.name].own_worst = verdict.worst
    return known

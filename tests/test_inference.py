"""A checkpoint that was converted by the command infers the same, over a whole evaluation set."""

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

from equivalence.__main__ import main
from equivalence.host.isolation import isolated
from ms_models.inference import Evaluation, evaluate
from ms_models.resnet import ResNet

torch = pytest.importorskip("torch", reason="torch is not installed, and this is not recorded")

from pt_reference.inference import evaluate as reference_evaluate  # noqa: E402
from tests import evaluations  # noqa: E402

pytestmark = [pytest.mark.cpu, pytest.mark.gate]

NAME = "inference-resnet-4-blocks"
SIZES = (10, 10, 10, 4)
LAYERS, CLASSES = (1, 1, 1, 1), 10


def reference():
    # Only now: pt_reference makes torchvision importable where it would not be.
    from torchvision.models.resnet import BasicBlock
    from torchvision.models.resnet import ResNet as TorchResNet

    return TorchResNet(BasicBlock, list(LAYERS), num_classes=CLASSES)


@pytest.fixture(scope="module")
def known():
    """The truth of the evaluation, made once, and the weights."""
    state = evaluations.weights(reference(), NAME)
    return evaluations.truth(reference, state, NAME, SIZES, 3, 33, 35), state


@pytest.fixture(scope="module")
def checkpoint(known, tmp_path_factory):
    """The .ckpt that the command makes of the .pth."""
    folder = tmp_path_factory.mktemp("inference")
    torch.save(known[1], folder / "r.pth")
    arguments = ["block=BasicBlock", f"layers={LAYERS}", f"num_classes={CLASSES}"]
    command = ["convert", f"{folder}/r.pth", f"{folder}/r.ckpt"]
    options = ["--network", "ms_models.resnet:ResNet", "--arguments", *arguments]
    assert main([*command, *options]) == 0
    return folder / "r.ckpt"


@pytest.fixture(autouse=True)
def alone():
    with isolated():
        yield


def loaded(path):
    """MindSpore's network with the converted weights, as MindSpore loads them."""
    cell = ResNet("BasicBlock", LAYERS, CLASSES)
    weights = ms.load_checkpoint(str(path), crc_check=True)
    assert ms.load_param_into_net(cell, weights, strict_load=True) == ([], [])
    return cell


@pytest.fixture(scope="module")
def found(known, checkpoint):
    """The candidate's evaluation."""
    return evaluate(loaded(checkpoint), known[0].batches)


@pytest.fixture(scope="module")
def logits(known, checkpoint):
    """The candidate's logits, batch by batch."""
    network = loaded(checkpoint).set_train(False)
    return [network(ms.Tensor(images)).asnumpy() for images, _ in known[0].batches]


def passes(truth, found):
    judgement, counts = truth.judged(found)
    return judgement.equal and all(count.equal for count in counts)


def test_counts_are_equal_and_losses_within_rounding(known, found):
    truth, state = known
    judgement, counts = truth.judged(found)
    assert judgement.equal, judgement.differing or judgement.ill_posed
    module = reference()
    module.load_state_dict(state)
    theirs = reference_evaluate(module, truth.batches)
    for count in counts:
        assert count.equal, count
        assert not count.undecided, "the sample must decide each count"
        assert found.top(count.k) == theirs.top(count.k) == count.truth
        assert 0 < count.truth < len(truth.labels)


# --- Mistakes of evaluations ---------------------------------------------------------------------


def of_logits(logits, batches, axis=1, shift=0):
    """The evaluation of NumPy logits, with ranks along `axis` and labels shifted."""
    ranks, losses = [], []
    for values, (_, labels) in zip(logits, batches, strict=True):
        target = (labels + shift) % values.shape[1]
        rows = np.arange(len(labels))
        place = np.argsort(np.argsort(-values, axis=axis), axis=axis)
        ranks.append(place[rows, target])
        shifted = values - values.max(axis=1, keepdims=True)
        losses.append(np.log(np.exp(shifted).sum(axis=1)) - shifted[rows, target])
    return Evaluation(np.concatenate(ranks), np.concatenate(losses).astype(np.float32))


def wrong_axis(logits, batches):
    return of_logits(logits, batches, axis=0)


def softmax_first(logits, batches):
    softmax = nn.Softmax(axis=1)
    return of_logits([softmax(ms.Tensor(values)).asnumpy() for values in logits], batches)


def labels_from_one(logits, batches):
    return of_logits(logits, batches, shift=1)


def labels_of_the_next(logits, batches):
    moved = np.roll(np.concatenate([labels for _, labels in batches]), 1)
    labels = np.split(moved, np.cumsum(SIZES)[:-1])
    return of_logits(logits, list(zip(logits, labels, strict=True)))


class Means(Evaluation):
    """The mean over batches of their means: the last one counts as much as a full one."""

    @property
    def loss(self):
        parts = np.split(self.losses, np.cumsum(SIZES)[:-1])
        return float(np.mean([part.mean(dtype=np.float64) for part in parts]))


class Full(Evaluation):
    """The sum divided by the number of batches times their size."""

    @property
    def loss(self):
        return float(self.losses.sum(dtype=np.float64) / (len(SIZES) * SIZES[0]))


@pytest.mark.parametrize(
    "mistake", [wrong_axis, softmax_first, labels_from_one, labels_of_the_next]
)
def test_a_mistaken_evaluation_is_seen(known, logits, mistake):
    assert not passes(known[0], mistake(logits, known[0].batches))


@pytest.mark.parametrize("mistake", [Means, Full])
def test_a_mistaken_mean_is_seen(known, found, mistake):
    judgement, counts = known[0].judged(mistake(*found))
    assert [verdict.name for verdict in judgement.differing] == ["loss"]
    assert all(count.equal for count in counts)


def test_the_same_by_hand_passes(known, logits):
    assert passes(known[0], of_logits(logits, known[0].batches))


def test_an_evaluation_in_training_is_seen(known, checkpoint):
    batches, network = known[0].batches, loaded(checkpoint).set_train(True)
    logits = [network(ms.Tensor(images)).asnumpy() for images, _ in batches]
    assert not passes(known[0], of_logits(logits, batches))


def test_a_last_batch_that_is_dropped_or_filled_up_is_an_error(known, found):
    last = SIZES[-1]
    for wrong in (
        Evaluation(found.ranks[:-last], found.losses[:-last]),
        Evaluation(*(np.concatenate([part, part[-last:]]) for part in found)),
    ):
        with pytest.raises(ValueError, match="samples of the candidate, 34 of the truth"):
            known[0].judged(wrong)


def test_only_the_ranks_of_a_wrong_axis_differ(known, logits):
    judgement, counts = known[0].judged(wrong_axis(logits, known[0].batches))
    assert judgement.equal
    assert not any(count.equal for count in counts)

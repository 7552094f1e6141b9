"""A twin can be fed what a data pipeline gives."""

from dataclasses import replace

import numpy as np
import pytest

from equivalence.comparison import check, sides
from equivalence.declare.batches import Batches
from equivalence.declare.pipeline import Pipeline
from equivalence.declare.twin import Twin, TwinCase, cases
from equivalence.errors import DeclarationError
from equivalence.sample import Perturbed

SIDE = "tests.engine.declare.test_batches:pipeline"
PIPELINE = Pipeline(
    "numbers", reference=SIDE, candidate=SIDE, files="tests.engine.declare.test_batches:files"
)
FED = Twin(
    "classifier",
    reference="tests.engine.parts.steps_pt:classifier",
    candidate="tests.engine.parts.steps_ms:classifier",
    configs=[{"weight_decay": 0.0}],
    inputs=Batches(PIPELINE, {"batches": 4}),
    phases=("train",),
    executions=("pynative",),
    steps=2,
)


def files(folder, seed):
    (folder / "seed").write_text(str(seed))


class Numbered:
    """Batches of two images of 3 x 7 x 6 that are told apart by their number."""

    stages = ("read", "batch")

    def __init__(self, folder, batches, boxes):
        self.seed, self.batches = int((folder / "seed").read_text()), batches
        self.boxes = boxes

    def run(self, until, dtype="float64", perturb=None):  # noqa: ARG002
        for number in range(self.batches):
            images = np.random.default_rng(10 * self.seed + number).normal(size=(2, 3, 7, 6))
            label = np.full((2, 5), number + 0.5, dtype) if self.boxes else np.array([number, 1])
            yield {"image": images.astype(dtype), "label": label}


def pipeline(folder, batches, boxes=False):
    return Numbered(folder, batches, boxes)


def one_case(twin: Twin = FED) -> TwinCase:
    return next(iter(cases(twin, "cpu")))


def test_each_step_gets_the_next_batch():
    sample = sides.draw(one_case(), 5)
    for step in (1, 2, 3):
        images, labels = sample.inputs(step)
        assert (images.dtype, labels.dtype) == (np.float32, np.int32)
        expected = np.random.default_rng(50 + step - 1).normal(size=(2, 3, 7, 6))
        assert np.array_equal(images, expected.astype(np.float32))
        assert labels.tolist() == [step - 1, 1]


def test_only_images_have_gradients():
    assert sides.draw(one_case(), 0).differentiable == [0]


def test_labels_of_boxes_stay_floats_that_are_exact_and_have_no_gradient():
    boxes = Batches(PIPELINE, {"batches": 4, "boxes": True})
    sample = sides.draw(one_case(replace(FED, inputs=boxes)), 0)
    _, labels = sample.inputs(2)
    assert labels.dtype == np.float32
    assert np.array_equal(labels, np.full((2, 5), 1.5))
    assert np.array_equal(Perturbed(sample, 0, 2.0**-24).inputs(2)[1], labels)
    assert sample.differentiable == [0]


def test_another_seed_makes_other_files():
    first, second = (sides.draw(one_case(), seed).inputs()[0] for seed in (0, 1))
    assert not np.array_equal(first, second)


def test_weights_are_drawn_and_perturbed_as_ever():
    sample = sides.draw(one_case(), 0)
    before = sample.weight("bn.weight", (6,)).copy()
    assert not np.array_equal(before, np.ones(6))
    perturbed = Perturbed(sample, 0, 2.0**-24).inputs(2)
    assert not np.array_equal(perturbed[0], sample.inputs(2)[0])
    assert np.array_equal(perturbed[1], sample.inputs(2)[1])
    sample.draw_again()
    assert not np.array_equal(sample.weight("bn.weight", (6,)), before)


def test_batches_together_make_one_input():
    twin = replace(FED, inputs=replace(FED.inputs, together=2))
    single, epochs = sides.draw(one_case(), 0), sides.draw(one_case(twin), 0)
    images, labels = epochs.inputs(2)
    assert (images.shape, labels.shape) == ((2, 2, 3, 7, 6), (2, 2))
    assert np.array_equal(images[1], single.inputs(4)[0])


def test_the_network_of_an_epoch_is_fed_single_batches():
    twin = replace(FED, inputs=replace(FED.inputs, together=2))
    assert sides.draw(one_case(twin).network, 0).inputs()[0].shape == (2, 3, 7, 6)


def test_too_few_batches_are_said():
    with pytest.raises(DeclarationError, match="step 5 has no batch; the pipeline gives 4"):
        sides.draw(one_case(), 0).inputs(5)


def test_a_fed_training_is_compared():
    outcome = check.check(one_case(), 0)
    assert outcome.passed
    wrong = replace(FED, candidate="tests.engine.parts.steps_ms:classifier_of_another_epsilon")
    assert not check.check(one_case(wrong), 0).passed

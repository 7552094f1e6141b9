"""Both libraries' pipelines: they read what was written, and are what they are said to be."""

import re

import mindspore.dataset as ds
import numpy as np
import pytest
import torch
from mindspore.dataset import vision
from PIL import Image

import ms_models.data
import pt_reference.data
from equivalence.declare.pipeline import cases
from equivalence.host.isolation import isolated
from equivalence.pipelines.diagnose import diagnose
from tests import image_files
from tests.pipelines.differences import PIPELINES as DIFFERENT

transforms = pt_reference.data.transforms  # torchvision, importable since then

BOTH = (ms_models.data, pt_reference.data)


@pytest.fixture(autouse=True)
def isolation():
    with isolated():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """CIFAR-10 files, those of CIFAR-100 in `fine`, and an image folder in `classes`."""
    made = tmp_path_factory.mktemp("files")
    image_files.cifar10(made, 0)
    for name in ("fine", "classes"):
        (made / name).mkdir()
    image_files.cifar100(made / "fine", 0)
    image_files.image_folder(made / "classes", 0)
    return made


def test_the_same_statistics_and_sizes_are_written_down_on_both_sides():
    for name in ("IMAGENET_MEAN", "IMAGENET_STD", "CIFAR_MEAN", "CIFAR_STD", "SIDE", "PADDING"):
        assert getattr(ms_models.data, name) == getattr(pt_reference.data, name)
    assert (pt_reference.data.SIDE, pt_reference.data.PADDING) == (
        image_files.SIDE,
        image_files.PADDING,
    )


@pytest.mark.parametrize("side", BOTH)
@pytest.mark.parametrize(
    ("function", "part", "file", "labels"),
    [("cifar10_train", "", "data_batch_1.bin", 1), ("cifar100_eval", "fine", "test.bin", 2)],
)
def test_records_are_read_as_they_were_written(folder, side, function, part, file, labels):
    records = np.fromfile(folder / part / file, np.uint8).reshape(10_000, -1)[:20]
    planes = records[:, labels:].reshape(20, 3, 32, 32)
    read = [*getattr(side, function)(folder / part, num_samples=20).run("read")]
    assert [int(item["label"]) for item in read] == records[:, labels - 1].tolist()
    assert np.array_equal([item["image"].transpose(2, 0, 1) for item in read], planes)


@pytest.mark.parametrize("side", BOTH)
@pytest.mark.parametrize(("shards", "twice"), [(3, 0), (4, 1)])
def test_every_file_is_read_once_over_the_ranks_or_twice_to_make_them_even(
    folder, side, shards, twice
):
    read = [
        item["image"].tobytes()
        for rank in range(shards)
        for item in side.imagenet_eval(folder / "classes", num_shards=shards, shard_id=rank).run(
            "read"
        )
    ]
    files = [path.read_bytes() for path in (folder / "classes").rglob("*.*")]
    assert set(read) == set(files)
    assert len(read) == len(files) + twice


def test_what_a_training_loop_takes_is_what_is_compared(folder):
    arguments = {"num_samples": 20, "batch_size": 8}
    theirs = pt_reference.data.cifar10_train(folder, **arguments)
    for item, (image, label) in zip(theirs.run(), theirs.loader(), strict=True):
        assert np.array_equal(item["image"], image.numpy())
        assert np.array_equal(item["label"], label.numpy())
    ours = ms_models.data.cifar10_train(folder, **arguments)
    taken = ms_models.data.cifar10_train(folder, **arguments).dataset()
    batches = taken.create_tuple_iterator(num_epochs=1, output_numpy=True)
    for item, (image, label) in zip(ours.run(), batches, strict=True):
        assert np.array_equal(item["image"], image)
        assert np.array_equal(item["label"], label)
        assert label.dtype == np.int32


def test_the_reference_computes_in_float64_and_puts_the_dtype_back(folder):
    pipeline = pt_reference.data.cifar10_eval(folder, num_samples=3)
    assert pipeline.run("scale", "float64")[0]["image"].dtype == np.float64
    assert pipeline.run("scale")[0]["image"].dtype == np.float32
    pipeline.transforms["scale"] = lambda image: 1 / 0  # noqa: ARG005
    with pytest.raises(ZeroDivisionError):
        pipeline.run("batch", "float64")
    assert torch.get_default_dtype() == torch.float32


def test_a_perturbation_changes_the_first_floating_array_alone(folder):
    pipeline = pt_reference.data.cifar10_eval(folder, num_samples=2)
    seen = []

    def double(values):
        seen.append(values)
        return 2.0 * values

    plain, perturbed = (
        pipeline.run("normalize", "float64", perturb)[0]["image"] for perturb in (None, double)
    )
    scaled = pipeline.run("scale", "float64")
    assert len(seen) == 2
    assert np.array_equal(seen[0], scaled[0]["image"])
    std = np.array(pt_reference.data.CIFAR_STD)[:, None, None]
    np.testing.assert_allclose(perturbed - plain, scaled[0]["image"] / std)


def picture():
    return np.random.default_rng(0).integers(256, size=(32, 32, 3), dtype=np.uint8)


@pytest.mark.parametrize("choice", [(0, 0), (8, 8), (4, 4), (1, 7)])
def test_a_pinned_crop_is_the_random_one_with_that_choice(choice, monkeypatch):
    image = Image.fromarray(picture())
    start = lambda *_: (*choice, 32, 32)  # noqa: E731
    monkeypatch.setattr(transforms.RandomCrop, "get_params", staticmethod(start))
    random = np.asarray(transforms.RandomCrop(32, padding=4)(image))
    row = np.array([[*choice, 0]])
    theirs = np.asarray(pt_reference.data.PinnedCrop(row)(image, 0))
    ours = ms_models.data.PinnedCrop()(picture(), *choice)[0]
    assert np.array_equal(theirs, random)
    assert np.array_equal(ours, random)


def test_random_crops_of_mindspore_are_among_the_pinned_ones():
    pinned = {
        ms_models.data.PinnedCrop()(picture(), top, left)[0].tobytes()
        for top in range(9)
        for left in range(9)
    }
    crop = vision.RandomCrop((32, 32), (4, 4, 4, 4))
    random = {crop(picture()).tobytes() for _ in range(1000)}
    assert random == pinned


@pytest.mark.parametrize("flip", [0, 1])
def test_a_pinned_flip_is_the_random_one_with_that_choice(flip):
    image = Image.fromarray(picture())
    random = np.asarray(transforms.RandomHorizontalFlip(flip)(image))
    theirs = pt_reference.data.PinnedFlip(np.array([[0, 0, flip]]))(image, 0)
    assert np.array_equal(np.asarray(theirs), random)
    assert np.array_equal(ms_models.data.PinnedFlip()(picture(), flip)[0], random)
    assert np.array_equal(vision.RandomHorizontalFlip(float(flip))(picture()), random)


@pytest.mark.parametrize(
    "pipeline", [p for p in DIFFERENT if p.level == "gate"], ids=lambda pipeline: pipeline.name
)
def test_a_known_difference_is_in_the_stage_and_of_the_size_that_it_states(pipeline):
    (case,) = cases(pipeline)
    (culprit,) = diagnose(case, seed=0).culprits
    stage, _, cause = str(pipeline.differs).partition(": ")
    assert culprit.reference == stage
    found = "; ".join(culprit.causes)
    stated = re.findall(r"up to \d+|shifted by \d+ pixels down", cause)
    assert all(figure in found for figure in stated), found
    assert bool(stated) == (stage != "shard")


def test_pipelines_leave_mindspores_settings_alone(folder):
    settings = ds.config.get_num_parallel_workers(), ds.config.get_seed()
    [*ms_models.data.cifar10_train(folder, num_samples=4).run()]
    assert (ds.config.get_num_parallel_workers(), ds.config.get_seed()) == settings

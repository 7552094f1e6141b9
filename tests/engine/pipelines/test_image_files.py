"""The files are the same for a seed, and show what pipelines may do wrong."""

import numpy as np
import pytest
from PIL import Image

from tests import image_files

RECORD = 3 * image_files.SIDE**2


def made(tmp_path, name, seed=0, part="a", **arguments):
    """A folder of files."""
    folder = tmp_path / part
    folder.mkdir()
    getattr(image_files, name)(folder, seed, **arguments)
    return folder


def contents(folder):
    """Every file below a folder, by its path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def cifar(tmp_path_factory):
    """Folders of both CIFAR sets."""
    return {name: made(tmp_path_factory.mktemp(name), name) for name in ("cifar10", "cifar100")}


@pytest.mark.parametrize("name", ["cifar10", "cifar100", "image_folder", "image_formats"])
def test_files_are_those_of_their_seed(tmp_path, monkeypatch, name):
    monkeypatch.setattr(image_files, "RECORDS", 100)
    zero, again, one = (
        contents(made(tmp_path, name, seed, part)) for seed, part in ((0, "a"), (0, "b"), (1, "c"))
    )
    assert zero == again
    assert zero.keys() == one.keys()
    assert all(zero[file] != one[file] for file in zero)


@pytest.mark.parametrize(
    ("name", "file", "labels", "classes"),
    [
        ("cifar10", "data_batch_1.bin", 1, [10]),
        ("cifar10", "test_batch.bin", 1, [10]),
        ("cifar100", "test.bin", 2, [20, 100]),
    ],
)
def test_cifar_files_hold_ten_thousand_records(cifar, name, file, labels, classes):
    records = np.fromfile(cifar[name] / file, np.uint8).reshape(-1, labels + RECORD)
    assert len(records) == 10_000
    assert [len(np.unique(records[:, column])) for column in range(labels)] == classes
    if labels == 2:
        assert np.array_equal(records[:, 0], records[:, 1] // 5)
    assert len({record.tobytes() for record in records}) == 10_000


def test_choices_use_the_whole_range(cifar):
    top, left, flip = np.load(cifar["cifar10"] / image_files.CHOICES).T
    assert np.array_equal(np.unique(top), np.arange(9))
    assert np.array_equal(np.unique(left), np.arange(9))
    assert 0.45 < flip.mean() < 0.55


def test_the_folder_has_every_kind_of_picture(tmp_path):
    folder = made(tmp_path, "image_folder")
    images = {}
    for path in folder.rglob("*.*"):
        with Image.open(path) as image:
            images[str(path.relative_to(folder))] = image
    assert len(images) == 15
    assert {image.format for image in images.values()} == {"JPEG", "PNG"}
    assert [path for path, image in images.items() if image.mode == "L"] == ["class_9/11.JPEG"]
    sizes = {image.size for image in images.values()}
    assert {w > h for w, h in sizes} == {True, False}
    assert {(w % 2, h % 2) for w, h in sizes} >= {(0, 0), (1, 1), (0, 1)}
    names = sorted(path.name for path in folder.iterdir())
    assert names != sorted(names, key=lambda name: int(name.rpartition("_")[2]))


def test_sizes_scale(tmp_path):
    sizes = []
    for part, scale in (("a", 1.0), ("b", 3.0)):
        folder = made(tmp_path, "image_folder", part=part, scale=scale)
        with Image.open(folder / "class_2/8.JPEG") as image:
            sizes.append(image.size)
    assert sizes[1] == tuple(3 * side for side in sizes[0])


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p[:, :, ::-1],
        lambda p: p[:, ::-1],
        lambda p: p[..., ::-1],
        lambda p: np.roll(p, 1, 1),
        lambda p: np.roll(p, 1, 2),
        lambda p: p.swapaxes(1, 2),
    ],
)
def test_a_change_of_geometry_or_channels_shows_in_every_picture(change):
    rng = np.random.default_rng(0)
    pictures = image_files.pictures(rng, np.arange(10).repeat(10), 32, 32)
    changed = (pictures != change(pictures)).mean((1, 2, 3))
    assert changed.min() > 0.5


def test_classes_can_be_told_apart_and_not_by_their_colours_alone():
    rng = np.random.default_rng(0)
    labels = rng.integers(10, size=1500)
    pictures = image_files.pictures(rng, labels, 32, 32) / 255.0
    spectra = np.abs(np.fft.rfft2(pictures @ [[1, 0], [0, 1], [-1, -1]], axes=(1, 2)))[:, :8, :8]
    features = np.concatenate([spectra.reshape(1500, -1), pictures.mean((1, 2))], axis=1)
    assert _accuracy(features, labels) > 0.9
    assert _accuracy(pictures.mean((1, 2)), labels) < 0.5


def _accuracy(features, labels):
    """Of a linear classifier by least squares, on what it was not fitted to."""
    features = np.concatenate([features, np.ones((len(features), 1))], axis=1)
    weights = np.linalg.lstsq(features[:1000], np.eye(10)[labels[:1000]], rcond=None)[0]
    return float(((features[1000:] @ weights).argmax(1) == labels[1000:]).mean())

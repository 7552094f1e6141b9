"""Pictures of classes that can be told apart, in the file formats of real data sets.

NumPy and Pillow only. A picture has a shape and colours of its class, a ramp of brightness, and
noise: resizing, cropping, flipping, shifting it or exchanging its channels shows in most pixels.
Each function fills an empty folder from a seed and returns nothing.
"""

from pathlib import Path

import numpy as np
from PIL import Image

from equivalence.seeds import stream

CLASSES = 10

RECORDS = 10_000
"""Pictures in a CIFAR file; readers take no other number."""

SIDE = 32
"""Height and width of a CIFAR picture."""

PADDING = 4
"""Border that CIFAR training adds before it crops, so that crops start at 0 to 2 * PADDING."""

CHOICES = "choices.npy"
"""Beside CIFAR files: row i is (top, left, flip) of the augmentation of picture i."""

FOLDERS = ("class_10", "class_2", "class_9")
"""Class folders: sorted by text and by number they stand in another order."""

SIZES = ((47, 61), (64, 48), (53, 53), (75, 40), (41, 82))
"""Heights and widths in a class folder at scale 1."""

GREY = 3
"""The file of the last class folder that has one channel."""


def pictures(rng: np.random.Generator, labels: np.ndarray, height: int, width: int) -> np.ndarray:
    """One picture for each label in 0 ... CLASSES - 1: uint8, shape (n, height, width, 3)."""
    y = (np.arange(height, dtype=np.float32) / height)[:, None]
    x = (np.arange(width, dtype=np.float32) / width)[None, :]
    count = len(labels)
    top, left = rng.uniform(0.35, 0.65, (2, count, 1, 1)).astype(np.float32)
    start = rng.uniform(0.0, 2.0, (count, 1, 1)).astype(np.float32)
    shapes = (
        lambda of: np.broadcast_to((8 * y + start[of]) % 2 < 1, (len(of), height, width)),
        lambda of: np.broadcast_to((8 * x + start[of]) % 2 < 1, (len(of), height, width)),
        lambda of: ((8 * y + start[of]) % 2 < 1) ^ ((8 * x + start[of]) % 2 < 1),
        lambda of: np.hypot(y - top[of], x - left[of]) < 0.3,
        lambda of: abs(np.maximum(abs(y - top[of]), abs(x - left[of])) - 0.28) < 0.08,
    )
    inside = np.empty((count, height, width), bool)
    for shape, drawn in enumerate(shapes):
        of = np.flatnonzero(labels % len(shapes) == shape)
        inside[of] = drawn(of)
    colours = np.array([[72, -38, -88], [-58, 82, -18]], np.float32)[labels // len(shapes)]
    colours *= rng.uniform(0.5, 1.0, (count, 1)).astype(np.float32)
    values = np.where(inside[..., None], colours[:, None, None], -colours[:, None, None])
    ramp = 60 * (x - 0.5)[..., None] * np.array([1, 1, 0]) + 40 * (y - 0.5)[..., None] + 128
    values += ramp.astype(np.float32)
    values += rng.integers(-20, 21, values.shape, dtype=np.int8)
    return np.clip(values, 0, 255, out=values).astype(np.uint8)


def cifar10(folder: Path, seed: int) -> None:
    """`data_batch_1.bin` and `test_batch.bin`, one label byte before each picture's three planes,
    and the choices of the augmentation."""
    for name in ("data_batch_1.bin", "test_batch.bin"):
        rng = stream(seed, "cifar10", name)
        labels = rng.integers(CLASSES, size=RECORDS)
        _planes(folder / name, rng, labels, labels[:, None])
    rng = stream(seed, "cifar10", CHOICES)
    starts = rng.integers(2 * PADDING + 1, size=(RECORDS, 2))
    flips = rng.integers(2, size=(RECORDS, 1))
    np.save(folder / CHOICES, np.concatenate([starts, flips], axis=1).astype(np.int32))


def cifar100(folder: Path, seed: int) -> None:
    """`test.bin`: the bytes of a coarse label (0 - 19) and a fine one (0 - 99), then the planes."""
    rng = stream(seed, "cifar100")
    fine = rng.integers(100, size=RECORDS)
    _planes(folder / "test.bin", rng, fine % CLASSES, np.stack([fine // 5, fine], axis=1))


def _planes(path: Path, rng: np.random.Generator, labels: np.ndarray, head: np.ndarray) -> None:
    with path.open("wb") as file:
        for start in range(0, len(labels), 1000):  # the floating pictures of a part fit in cache
            part = slice(start, start + 1000)
            made = pictures(rng, labels[part], SIDE, SIDE).transpose(0, 3, 1, 2)
            records = [head[part].astype(np.uint8), made.reshape(len(made), -1)]
            file.write(np.concatenate(records, axis=1).tobytes())


def image_folder(folder: Path, seed: int, scale: float = 1.0) -> None:
    """Three class folders of five files: JPEG of several qualities and PNG, upright, wide and
    square, even and odd; one JPEG is grey. `scale` multiplies the sizes."""
    for label, name in enumerate(FOLDERS):
        (folder / name).mkdir()
        for place, size in enumerate(SIZES):
            rng = stream(seed, "image_folder", name, place)
            height, width = (round(scale * each) for each in size)
            image = Image.fromarray(pictures(rng, np.array([label]), height, width)[0])
            if place == 1:
                image.save(folder / name / "9.png")
                continue
            if place == GREY and name == FOLDERS[-1]:
                image = image.convert("L")
            image.save(folder / name / f"{8 + place}.JPEG", quality=60 + 9 * place)


def image_formats(folder: Path, seed: int) -> None:
    """Two class folders of one picture each in the many forms that JPEG, PNG and others have."""
    for label, name in enumerate(("a", "b")):
        (folder / name).mkdir()
        rng = stream(seed, "image_formats", name)
        image = Image.fromarray(pictures(rng, np.array([label]), 43, 57)[0])
        turned = Image.Exif()
        turned[0x112] = 6  # orientation: to be shown turned by a right angle
        forms = {
            "progressive.jpg": (image, {"progressive": True}),
            "full_chroma.jpg": (image, {"subsampling": 0}),
            "turned.jpg": (image, {"exif": turned.tobytes()}),
            "print.jpg": (image.convert("CMYK"), {}),
            "grey.jpg": (image.convert("L"), {}),
            "grey.png": (image.convert("L"), {}),
            "palette.png": (image.convert("P"), {}),
            "transparent.png": (_transparent(image, rng), {}),
            "plain.bmp": (image, {}),
            "plain.ppm": (image, {}),
            "plain.tiff": (image, {}),
        }
        for file, (form, options) in forms.items():
            form.save(folder / name / file, **options)


def _transparent(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    made = image.copy()
    alpha = rng.integers(256, size=(image.height, image.width), dtype=np.uint8)
    made.putalpha(Image.fromarray(alpha))
    return made


def deep_grey(folder: Path, seed: int) -> None:
    """A class folder with a grey PNG of 16 bits, over the whole range."""
    (folder / "a").mkdir()
    made = pictures(stream(seed, "deep_grey"), np.array([3]), 43, 57)[0, ..., 0]
    Image.fromarray(made.astype(np.uint16) * 257).save(folder / "a" / "deep.png")

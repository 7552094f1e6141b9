"""Picture files of the kinds that a folder may hold, drawn. NumPy and Pillow only."""

import io
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image

from equivalence.declare.pipeline import Pictures
from equivalence.seeds import stream

Size = tuple[int, int]
"""Height and width in pixels."""

SIZES: dict[str, Sequence[Size]] = {
    "pixel": ((1, 1),),
    "odd": ((37, 53), (53, 37), (45, 67), (63, 33), (51, 75), (71, 43), (39, 39), (49, 35)),
    "wide": ((9, 180), (12, 131), (7, 97), (16, 201)),
    "tall": ((180, 9), (131, 12), (97, 7), (201, 16)),
}
"""Kind -> the sizes that it is about; the files have them by turns."""

LARGEST = 512
"""The longer side, in pixels, of pictures that stand for larger ones."""

ORIENTATION, ORIENTATIONS = 0x112, (6, 3, 8, 2, 5, 7, 4)
"""The number of an entry of EXIF, and values of it that turn or mirror a picture."""

BLOCK = 7
"""Pixels of an edge of the squares that share a colour, but for noise."""


def encode(pictures: Pictures, number: int, size: Size, seed: int) -> bytes:
    """The content of one picture file.

    pictures: its kind; their size, if they have one, is that of the picture.
    number: of the file, by which its size and EXIF take turns.
    size: of the picture that it stands for.
    """
    kind = pictures.kind
    if kind in SIZES:
        size = SIZES[kind][number % len(SIZES[kind])]
    height, width = pictures.size or _at_most(size)
    rng = stream(seed, "pictures", kind, number, height, width)
    made, form, options = _MADE.get(kind, _plain)(rng, height, width, number)
    file = io.BytesIO()
    made.save(file, form, **options)
    return file.getvalue()


def size_of(kind: str, number: int, size: Size) -> Size:
    """The size that `encode` gives a picture whose kind has none of its own choice."""
    return SIZES[kind][number % len(SIZES[kind])] if kind in SIZES else _at_most(size)


def _at_most(size: Size) -> Size:
    share = min(1.0, LARGEST / max(size))
    return max(1, round(size[0] * share)), max(1, round(size[1] * share))


Made = tuple[Image.Image, str, dict[str, Any]]
"""A picture, the format of its file, and options of the format."""


def _levels(rng: np.random.Generator, height: int, width: int, channels: int) -> np.ndarray:
    """Squares of random colours with noise, uint8 (height, width, channels)."""
    rows, columns = (-(-side // BLOCK) for side in (height, width))
    coarse = rng.integers(20, 236, (rows, columns, channels))
    whole = coarse.repeat(BLOCK, 0).repeat(BLOCK, 1)[:height, :width]
    return (whole + rng.integers(-20, 20, whole.shape)).astype(np.uint8)


def _plain(rng: np.random.Generator, height: int, width: int, _number: int) -> Made:
    return Image.fromarray(_levels(rng, height, width, 3)), "JPEG", {"quality": 90}


def _grey(rng: np.random.Generator, height: int, width: int, _number: int) -> Made:
    return Image.fromarray(_levels(rng, height, width, 1)[..., 0]), "PNG", {}


def _alpha(rng: np.random.Generator, height: int, width: int, _number: int) -> Made:
    return _veiled(Image.fromarray(_levels(rng, height, width, 3)), rng), "PNG", {}


def _grey_alpha(rng: np.random.Generator, height: int, width: int, _number: int) -> Made:
    return _veiled(_grey(rng, height, width, 0)[0], rng), "PNG", {}


def _veiled(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """The picture with an alpha from invisible to opaque."""
    image.putalpha(Image.fromarray(rng.integers(256, size=image.size[::-1], dtype=np.uint8)))
    return image


def _palette(rng: np.random.Generator, height: int, width: int, _number: int) -> Made:
    image = Image.fromarray(_levels(rng, height, width, 1)[..., 0], "P")
    image.putpalette(rng.integers(256, size=3 * 256, dtype=np.uint8).tolist())
    return image, "PNG", {}


def _palette_alpha(rng: np.random.Generator, height: int, width: int, _number: int) -> Made:
    image = _palette(rng, height, width, 0)[0]
    return image, "PNG", {"transparency": int(np.array(image)[0, 0])}


def _bits(rng: np.random.Generator, height: int, width: int, _number: int) -> Made:
    levels = _levels(rng, height, width, 1)[..., 0]
    return Image.fromarray(np.where(levels > 127, 255, 0).astype(np.uint8)).convert("1"), "PNG", {}


def _deep(rng: np.random.Generator, height: int, width: int, _number: int) -> Made:
    high, low = _levels(rng, height, width, 1)[..., 0], rng.integers(256, size=(height, width))
    return Image.fromarray((high.astype(np.uint16) * 256 + low).astype(np.uint16)), "PNG", {}


def _cmyk(rng: np.random.Generator, height: int, width: int, _number: int) -> Made:
    return Image.fromarray(_levels(rng, height, width, 4), "CMYK"), "JPEG", {"quality": 90}


def _turned(rng: np.random.Generator, height: int, width: int, number: int) -> Made:
    image, form, options = _plain(rng, height, width, number)
    exif = Image.Exif()
    exif[ORIENTATION] = ORIENTATIONS[number % len(ORIENTATIONS)]
    return image, form, {**options, "exif": exif.tobytes()}


_MADE: dict[str, Callable[[np.random.Generator, int, int, int], Made]] = {
    "grey": _grey,
    "grey_alpha": _grey_alpha,
    "alpha": _alpha,
    "palette": _palette,
    "palette_alpha": _palette_alpha,
    "bits": _bits,
    "deep": _deep,
    "cmyk": _cmyk,
    "turned": _turned,
}
"""Kind -> what draws a picture of it; those of sizes are plain."""

"""Pipelines of Pillow alone over a folder of pictures, right and wrong, as sides with stages."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

SIZE = 12, 16
"""Height and width of the pictures."""

ROOT = ""
"""The folder of `by_name`; tests set it."""


def files(folder: Path, seed: int) -> None:
    """Three pictures, upright and RGB, in a folder of a folder, and a list of them."""
    (folder / "inner").mkdir()
    rng = np.random.default_rng(seed)
    for number in range(3):
        levels = rng.integers(256, size=(*SIZE, 3), dtype=np.uint8)
        Image.fromarray(levels).save(folder / "inner" / f"{number}.png")
    (folder / "list.txt").write_text("0 1 2")


def no_pictures(folder: Path, seed: int) -> None:  # noqa: ARG001
    """A folder without pictures."""
    (folder / "list.txt").write_text("")


class Read:
    """Pictures as floating levels; a side with stages, of the samples that its list names."""

    stages = ("read", "scale", "batch")

    def __init__(self, folder):
        self.folder = Path(folder)

    def open(self, image):
        """A picture of Pillow as the pipeline takes it."""
        return image.convert("RGB")

    def run(self, until="batch", dtype="float32", perturb=None):
        found = []
        for name in (self.folder / "list.txt").read_text().split() or ["0"]:
            with Image.open(self.folder / "inner" / f"{name}.png") as image:
                values = np.asarray(self.open(image))
            if until != "read":
                values = values.astype(dtype) / np.asarray(255, dtype)
                values = values if perturb is None else perturb(values)
            found.append({"image": values, "label": np.array(int(name))})
        if until != "batch":
            return found
        return [{n: v[None] for n, v in item.items()} for item in found]


class Strict(Read):
    """Takes RGB alone, as a reference may."""

    def open(self, image):
        if image.mode != "RGB":
            raise ValueError(f"mode {image.mode}, expected RGB")
        return image


class Even(Read):
    """Takes pictures of one size alone, as a batch does."""

    def run(self, *args, **kwargs):
        found = super().run(*args, **kwargs)
        if len({each["image"].shape for each in found}) > 1:
            raise ValueError("pictures of several sizes")
        return found


class Named(Read):
    """Of a mode that a configuration names."""

    def __init__(self, folder, mode):
        super().__init__(folder)
        self.mode = mode

    def open(self, image):
        return image.convert(self.mode)


class Upright(Read):
    """Turns pictures as EXIF says."""

    def open(self, image):
        return ImageOps.exif_transpose(image).convert("RGB")


class Wide(Read):
    """Flips pictures of 9 columns or more that are 8 times as wide as high."""

    def open(self, image):
        image = super().open(image)
        return ImageOps.mirror(image) if image.width >= max(9, 8 * image.height) else image


def by_name():
    """A side that reads the folder of this module."""
    return Read(ROOT)


def by_default(root="", size=3):  # noqa: ARG001
    """A side that takes its folder as an argument."""
    return Read(root)

"""Draws each random transform of torchvision beside MindSpore's: `python benchmarks/transforms.py`.

Writes docs/transforms.md: whether both draw by one law, of pictures of Pillow and of arrays. No CI
runs it; it takes a minute.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore.dataset as ds
import numpy as np
from PIL import Image

from equivalence.loaders.mindspore_loader import ONE
from equivalence.loaders.stages import array
from equivalence.pipelines import laws
from equivalence.torchvision_schemas import declare_missing

declare_missing()

import torch  # noqa: E402
from mindspore.dataset import transforms as compose  # noqa: E402
from mindspore.dataset import vision as ms  # noqa: E402
from torchvision import transforms as pt  # noqa: E402

PAGE = Path(__file__).parents[1] / "docs" / "transforms.md"

RANGE = (-0.1, 0.1, -0.1, 0.1)

# torchvision's, MindSpore's, as a port writes them. The same texts are in the table.
PAIRS = (
    ("RandomCrop(32, padding=4)", "RandomCrop(32, padding=4)"),
    ("RandomResizedCrop(24)", "RandomResizedCrop(24)"),
    ("RandomHorizontalFlip()", "RandomHorizontalFlip()"),
    ("RandomVerticalFlip(0.3)", "RandomVerticalFlip(0.3)"),
    ("RandomRotation(30)", "RandomRotation(30)"),
    ("RandomAffine(20, (0.1, 0.1))", "RandomAffine(20, (-0.1, 0.1, -0.1, 0.1))"),
    ("RandomAffine(20, (0.1, 0.1))", "RandomAffine(20, (0.1, 0.1))"),
    ("RandomAffine(0, shear=10)", "RandomAffine(0, shear=10)"),
    ("RandomPerspective()", "RandomPerspective()"),
    ("ColorJitter(0.4)", "RandomColorAdjust((0.6, 1.4))"),
    ("ColorJitter(contrast=0.4)", "RandomColorAdjust(contrast=(0.6, 1.4))"),
    ("ColorJitter(saturation=0.4)", "RandomColorAdjust(saturation=(0.6, 1.4))"),
    ("ColorJitter(hue=0.1)", "RandomColorAdjust(hue=(-0.1, 0.1))"),
    ("ColorJitter(0.4, 0.4, 0.4)", "RandomColorAdjust((0.6, 1.4), (0.6, 1.4), (0.6, 1.4))"),
    ("RandomGrayscale(0.3)", "RandomGrayscale(0.3)"),
    ("RandomInvert(0.3)", "RandomInvert(0.3)"),
    ("RandomPosterize(3)", "RandomPosterize((3, 3))"),
    ("RandomPosterize(3)", "RandomApply([ms.RandomPosterize((3, 3))], 0.5)"),
    ("RandomSolarize(128)", "RandomSolarize((128, 255))"),
    ("RandomSolarize(128)", "RandomApply([ms.RandomSolarize((128, 255))], 0.5)"),
    ("RandomAdjustSharpness(2)", "RandomAdjustSharpness(2)"),
    ("RandomAutocontrast()", "RandomAutoContrast()"),
    ("RandomEqualize()", "RandomEqualize()"),
    ("RandomErasing()", "RandomErasing()"),
    (
        "RandomApply([pt.RandomHorizontalFlip(1.0)], 0.3)",
        "RandomApply([ms.RandomHorizontalFlip(1.0)], 0.3)",
    ),
    (
        "RandomChoice([pt.RandomHorizontalFlip(1.0), pt.RandomVerticalFlip(1.0)])",
        "RandomChoice([ms.RandomHorizontalFlip(1.0), ms.RandomVerticalFlip(1.0)])",
    ),
    ("AutoAugment()", "AutoAugment()"),
    ("RandAugment()", "RandAugment()"),
    ("TrivialAugmentWide()", "TrivialAugmentWide()"),
)

TENSORS = ("RandomErasing",)
"""Transforms that follow `ToTensor`."""

ALONE = (
    *("RandomColor", "RandomLighting", "RandomSharpness", "RandomResize", "RandomSelectSubpolicy"),
    *("UniformAugment", "RandomCropDecodeResize", "MixUp", "CutMixBatch"),
    *("RandomCropWithBBox", "RandomHorizontalFlipWithBBox", "RandomResizeWithBBox"),
    *("RandomResizedCropWithBBox", "RandomVerticalFlipWithBBox", "BoundingBoxAugment"),
)
"""MindSpore's without one of torchvision's that takes the same and draws the same."""


def pictures() -> list[Image.Image]:
    """Two smooth pictures with noise, 40 by 48."""
    rows, columns = np.mgrid[0:40, 0:48]
    waves = (
        80 + 60 * np.sin(columns / 5.0) + 40 * np.cos(rows / 7.0),
        120 + 50 * np.cos((columns + rows) / 6.0),
        100 + 70 * np.sin(rows / 4.0),
    )
    noise = np.random.default_rng(0).normal(0, 12, (2, 40, 48, 3))
    return [
        Image.fromarray((np.stack(waves, -1) + each).clip(0, 255).astype(np.uint8))
        for each in noise
    ]


def seed() -> None:
    """Seed all that draws."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    ds.config.set_seed(1)


def of_torch(step: Callable, value: Any) -> list[np.ndarray]:
    """What torchvision's transform makes of a picture, many times."""
    seed()
    return [array(step(value)) for _ in range(laws.DRAWS)]


def of_mindspore(step: Callable, value: Any) -> list[np.ndarray]:
    """What MindSpore's makes of it, in a data set: with Pillow for a picture of Pillow."""
    seed()
    data = ds.NumpySlicesDataset(np.arange(laws.DRAWS), ["image"], shuffle=False)
    given = [lambda _: value]
    if isinstance(value, Image.Image):
        data = data.map([*given, step], "image", **ONE)
    else:
        data = data.map(given, "image", **ONE).map(step, "image", **ONE)
    return [np.array(row["image"]) for row in data.create_dict_iterator(1, output_numpy=True)]


def verdict(theirs: Callable, ours: Callable, tensors: bool, arrays: bool) -> str:
    """Whether both draw by one law, or why they do not."""
    made = []
    for picture in pictures():
        before = pt.ToTensor()(picture) if tensors else picture
        value = np.array(before) if tensors or arrays else picture
        try:
            made.append((of_torch(theirs, before), of_mindspore(ours, value)))
        except RuntimeError:  # of the data set, whatever the operator raised
            return "raises"
    found = laws.difference(made)
    return "one law" if found is None else found.replace("the reference", "torchvision")


def built(text: str, package: Any, other: Any = None) -> Callable:
    """The transform that a text of PAIRS writes."""
    names = {"pt": pt, "ms": ms, "package": package}
    owner = "package" if hasattr(package, text.partition("(")[0]) else "other"
    return eval(f"{owner}.{text}", names | {"other": other})


def main() -> None:
    """Compare them all, and write the page."""
    rows = []
    for theirs, ours in PAIRS:
        tensors = theirs.startswith(TENSORS)
        columns = []
        for arrays in (False, True):
            each = built(theirs, pt), built(ours, ms, compose)
            columns.append(
                "as arrays" if tensors and not arrays else verdict(*each, tensors, arrays)
            )
        print(theirs, ours, *columns, sep=" | ", flush=True)
        mine, other = (text.replace("ms.", "").replace("pt.", "") for text in (ours, theirs))
        rows.append(f"| `{other}` | `{mine}` | {columns[0]} | {columns[1]} |")
    PAGE.write_text(
        "# Random transforms\n\n"
        "For those who port a training's augmentation. Each random transform of torchvision was "
        f"drawn {laws.DRAWS} times for two pictures, and MindSpore's likewise, as\n"
        "[the command `data`](data.md) does it: *one law* means that no figure of what comes out "
        "tells them apart. In a map of a data set, an operator runs on\n"
        "Pillow's pictures behind `ToPIL` or `Decode(to_pil=True)`, and on arrays otherwise.\n\n"
        "| torchvision | MindSpore | of a picture of Pillow | of an array |\n|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n\nWithout one of torchvision's that takes the same and draws the same: "
        + ", ".join(f"`{name}`" for name in ALONE)
        + ".\n\n`python benchmarks/transforms.py` writes this page.\n"
    )


if __name__ == "__main__":
    main()

"""Pictures with boxes, and the choices of a detector's augmentation. NumPy and Pillow only."""

from pathlib import Path

import numpy as np
from PIL import Image

from equivalence.seeds import stream
from tests.image_files import CLASSES, pictures

SIZES = ((47, 61), (64, 48), (53, 53), (75, 40), (41, 82), (60, 60))
"""Heights and widths of the pictures at scale 1."""

OBJECTS = 3
"""The most objects of a picture; one picture has none."""


def detection(folder: Path, seed: int, scale: float = 1.0) -> None:
    """`0.png` and so on, `labels.npy` and `choices.npz`.

    labels.npy: float32 (pictures, OBJECTS, 5), rows of class and corners (left, top, right, bottom)
    in pixels, padded with zeros.
    choices.npz: for each picture the three others of its mosaic, where they meet (as a share of the
    size, right and down), how far the mosaic is turned (degrees) and scaled, its partner in a
    mixup, how that is scaled, whether it is flipped, and where it is cut (shares, right and down).
    """
    count = len(SIZES)
    labels = np.zeros((count, OBJECTS, 5), np.float32)
    for number, size in enumerate(SIZES):
        rng = stream(seed, "detection", number)
        height, width = (round(scale * each) for each in size)
        image = pictures(rng, np.array([number % CLASSES]), height, width)[0]
        Image.fromarray(image).save(folder / f"{number}.png")
        for row in labels[number, : number % (OBJECTS + 1)]:
            least = rng.uniform(0.0, 0.5, 2) * (width, height)
            most = least + rng.uniform(0.25, 0.5, 2) * (width, height)
            row[:] = rng.integers(CLASSES), *least, *most
    np.save(folder / "labels.npy", labels)
    rng = stream(seed, "detection", "choices")
    np.savez(
        folder / "choices.npz",
        others=rng.integers(count, size=(count, 3)),
        meeting=rng.uniform(0.5, 1.5, (count, 2)),
        turned=rng.uniform(-10.0, 10.0, count),
        scaled=rng.uniform(0.5, 1.5, count),
        partner=rng.integers(count, size=count),
        mixup_scaled=rng.uniform(0.5, 1.5, count),
        flipped=rng.integers(2, size=count),
        cut=rng.uniform(size=(count, 2)),
    )

"""How YOLOX gets its pictures: mosaic, mixup, letterbox; random choices are read from a file.

What needs several pictures is done in the source of the data set, by NumPy and the PIL operators of
`mindspore.dataset`; what needs one, in maps. Labels are rows of class and corners (left, top,
right, bottom) in pixels, until the last stage makes them rows of class, centre, width and height.
"""

from collections.abc import Iterator
from pathlib import Path

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import vision
from mindspore.dataset.vision import Inter
from PIL import Image

GREY = 114
"""What stands where no picture is."""

COLUMNS = ["image", "label"]

Sample = tuple[np.ndarray, np.ndarray]
"""A picture, uint8 H,W,3, and its labels G,5."""


def resized(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """A picture of another size, by Pillow: MindSpore's own operator does not antialias."""
    return np.array(vision.Resize((height, width), Inter.BILINEAR)(Image.fromarray(image)))


def fitted(image: np.ndarray, size: int) -> tuple[np.ndarray, float]:
    """A picture as large as fits into a square, with its ratio kept, and how it is scaled."""
    height, width = image.shape[:2]
    scale = min(size / height, size / width)
    return resized(image, int(height * scale), int(width * scale)), scale


def moved(labels: np.ndarray, scale: float, right: int = 0, down: int = 0) -> np.ndarray:
    """Labels of a picture that is scaled, then moved."""
    offset = np.array([0, right, down, right, down], np.float32)
    factor = np.array([1, scale, scale, scale, scale], np.float32)
    return labels * factor + offset


def clipped(labels: np.ndarray, size: int) -> np.ndarray:
    """Labels within a square; those of which less than a pixel is left go."""
    boxes = np.clip(labels[:, 1:], 0, size)
    kept = np.logical_and(boxes[:, 2] - boxes[:, 0] > 1, boxes[:, 3] - boxes[:, 1] > 1)
    return np.concatenate((labels[:, :1], boxes), axis=1)[kept]


def mosaic(samples: list[Sample], meeting: np.ndarray, size: int) -> Sample:
    """Four pictures that meet in a point of a square of twice the size, cut off at its sides."""
    canvas = np.full((2 * size, 2 * size, 3), GREY, np.uint8)
    x, y = int(meeting[0] * size), int(meeting[1] * size)
    kept = []
    for place, (image, labels) in enumerate(samples):
        image, scale = fitted(image, size)
        height, width, _ = image.shape
        left, top = (x - width, y - height) if place == 0 else (x, y)
        if place == 1:
            top = y - height
        if place == 2:
            left = x - width
        right, bottom = min(left + width, 2 * size), min(top + height, 2 * size)
        cut_left, cut_top = max(-left, 0), max(-top, 0)
        canvas[top + cut_top : bottom, left + cut_left : right] = image[
            cut_top : bottom - top, cut_left : right - left
        ]
        kept.append(moved(labels, scale, left, top))
    return canvas, clipped(np.concatenate(kept), 2 * size)


def turned(sample: Sample, degrees: float, scale: float, size: int) -> Sample:
    """A mosaic, turned and scaled about its centre, and the middle of it of the size asked for."""
    image, labels = sample
    centre, half = image.shape[0] / 2, size / 2
    cos, sin = scale * np.cos(np.deg2rad(degrees)), scale * np.sin(np.deg2rad(degrees))
    # By Pillow itself: `vision.RandomAffine` of a PIL picture has a centre half a pixel off.
    across, down = cos / scale**2, sin / scale**2
    right, below = centre * (1 - across - down), centre * (1 - across + down)
    image = Image.fromarray(image).transform(
        (2 * int(centre), 2 * int(centre)),
        Image.Transform.AFFINE,
        (across, down, right, -down, across, below),
        Image.Resampling.BILINEAR,
        fillcolor=(GREY,) * 3,
    )
    image = vision.CenterCrop((size, size))(image)
    x, y = labels[:, [1, 3, 3, 1]] - centre, labels[:, [2, 2, 4, 4]] - centre
    x, y = cos * x - sin * y + half, sin * x + cos * y + half
    boxes = np.stack((x.min(1), y.min(1), x.max(1), y.max(1)), axis=1)
    made = np.concatenate((labels[:, :1], boxes), axis=1).astype(np.float32)
    return np.array(image), clipped(made, size)


def mixup(sample: Sample, other: Sample, scale: float, flipped: bool, cut: np.ndarray) -> Sample:
    """The mean of a square picture and of a window of another one, and the labels of both."""
    image, labels = sample
    size = image.shape[0]
    small, share = fitted(other[0], size)
    square = np.full_like(image, GREY)
    square[: small.shape[0], : small.shape[1]] = small
    side = int(size * scale)
    square, theirs = resized(square, side, side), moved(other[1], share * scale)
    if flipped:
        square = vision.HorizontalFlip()(square)
        theirs = np.stack(
            (theirs[:, 0], side - theirs[:, 3], theirs[:, 2], side - theirs[:, 1], theirs[:, 4]),
            axis=1,
        )
    more = max(side - size, 0)
    canvas = np.zeros((size + more, size + more, 3), np.uint8)
    canvas[:side, :side] = square
    right, down = int(cut[0] * more), int(cut[1] * more)
    window = canvas[down : down + size, right : right + size]
    # In floats: the sum of two pictures of uint8 would overflow.
    mean = 0.5 * image.astype(np.float32) + 0.5 * window.astype(np.float32)
    theirs = clipped(moved(theirs, 1.0, -right, -down), size)
    return mean.astype(np.uint8), np.concatenate((labels, theirs))


class Pictures:
    """The samples of a folder after the stages that need several pictures."""

    def __init__(self, folder: Path, stages: list[str], size: int):
        self.folder, self.stages, self.size = folder, stages, size
        self.labels = np.load(folder / "labels.npy")
        self.choices = dict(np.load(folder / "choices.npz"))

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Sample:
        """A picture as it is in its file, with its labels."""
        labels = self.labels[index]
        image = vision.Decode(to_pil=True)((self.folder / f"{index}.png").read_bytes())
        return np.array(image), labels[labels[:, 3] > 0]

    def __getitem__(self, index: int) -> Sample:
        sample = self.read(index)
        chosen = {name: values[index] for name, values in self.choices.items()}
        if "mosaic" in self.stages:
            others = [self.read(other) for other in chosen["others"]]
            sample = mosaic([sample, *others], chosen["meeting"], self.size)
        if "affine" in self.stages:
            sample = turned(sample, float(chosen["turned"]), float(chosen["scaled"]), self.size)
        if "mixup" in self.stages:
            scale, flipped = float(chosen["mixup_scaled"]), bool(chosen["flipped"])
            partner = self.read(chosen["partner"])
            sample = mixup(sample, partner, scale, flipped, chosen["cut"])
        return sample


class Letterbox:
    """A picture fitted into the upper left of a grey square, float32 3,size,size from 0 to 255."""

    def __init__(self, size: int):
        self.size = size

    def __call__(self, image: np.ndarray, labels: np.ndarray) -> Sample:
        image, scale = fitted(image, self.size)
        square = np.full((self.size, self.size, 3), GREY, np.uint8)
        square[: image.shape[0], : image.shape[1]] = image
        labels = moved(labels, scale)
        sizes = labels[:, 3:] - labels[:, 1:3]
        labels = np.concatenate((labels[:, :1], labels[:, 1:3] + sizes / 2, sizes), axis=1)
        return vision.HWC2CHW()(square).astype(np.float32), labels


class Padded:
    """Labels with rows of zeros behind them, so that they make a batch; those beyond `rows` go."""

    def __init__(self, rows: int):
        self.rows = rows

    def __call__(self, labels: np.ndarray) -> np.ndarray:
        made = np.zeros((self.rows, 5), np.float32)
        made[: len(labels)] = labels[: self.rows]
        return made


class Loader:
    """A folder's pictures by named stages, in batches."""

    def __init__(self, folder: str | Path, used: list[str], size: int, rows: int, batch_size: int):
        self.stages = ("read", *used, "batch")
        self.folder, self.size, self.rows, self.batch_size = Path(folder), size, rows, batch_size

    def dataset(self, until: str = "batch") -> ds.Dataset:
        """The MindSpore dataset up to and with a stage; what a training loop takes."""
        used = self.stages[: self.stages.index(until) + 1]
        pictures = Pictures(self.folder, used, self.size)
        made = ds.GeneratorDataset(pictures, COLUMNS, shuffle=False, num_parallel_workers=1)
        if "letterbox" in used:
            made = made.map(Letterbox(self.size), COLUMNS, num_parallel_workers=1)
        made = made.map(Padded(self.rows), ["label"], num_parallel_workers=1)
        if until == "batch":
            made = made.batch(self.batch_size, num_parallel_workers=1)
        return made

    def run(self, until: str = "batch") -> Iterator[dict[str, np.ndarray]]:
        """What comes out of a stage, in order."""
        return self.dataset(until).create_dict_iterator(num_epochs=1, output_numpy=True)


def train(folder: str | Path, size: int = 64, rows: int = 20, batch_size: int = 2) -> Loader:
    """The pictures of a training: with mosaic and mixup."""
    return Loader(folder, ["mosaic", "affine", "mixup", "letterbox"], size, rows, batch_size)


def last_epochs(folder: str | Path, size: int = 64, rows: int = 20, batch_size: int = 2) -> Loader:
    """Those of its last epochs, and of an evaluation: neither."""
    return Loader(folder, ["letterbox"], size, rows, batch_size)

"""How YOLOX gets its pictures: mosaic, mixup, letterbox; random choices are read from a file.

Labels are rows of class and corners (left, top, right, bottom) in pixels, until the last stage
makes them rows of class, centre, width and height.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import InterpolationMode
from torchvision.transforms import functional as F

GREY = 114
"""What stands where no picture is."""

Sample = tuple[np.ndarray, np.ndarray]
"""A picture, uint8 H,W,3, and its labels G,5."""


def resized(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """A picture of another size, by Pillow."""
    return np.array(F.resize(Image.fromarray(image), [height, width], antialias=True))


def fitted(image: np.ndarray, size: int) -> tuple[np.ndarray, float]:
    """A picture as large as fits into a square, with its ratio kept, and how it is scaled."""
    height, width = image.shape[:2]
    scale = min(size / height, size / width)
    return resized(image, int(height * scale), int(width * scale)), scale


def moved(labels: np.ndarray, scale: float, right: int = 0, down: int = 0) -> np.ndarray:
    """Labels of a picture that is scaled, then moved."""
    made = labels.copy()
    made[:, 1:] = labels[:, 1:] * scale + np.array([right, down, right, down])
    return made


def clipped(labels: np.ndarray, size: int) -> np.ndarray:
    """Labels within a square; those of which less than a pixel is left go."""
    labels = labels.copy()
    labels[:, 1:] = labels[:, 1:].clip(0, size)
    return labels[(labels[:, 3:] - labels[:, 1:3] > 1).all(1)]


def mosaic(samples: list[Sample], meeting: np.ndarray, size: int) -> Sample:
    """Four pictures that meet in a point of a square of twice the size, cut off at its sides."""
    canvas = np.full((2 * size, 2 * size, 3), GREY, np.uint8)
    x, y = (int(share * size) for share in meeting)
    kept = []
    for place, (image, labels) in enumerate(samples):
        image, scale = fitted(image, size)
        height, width = image.shape[:2]
        left = x if place % 2 else x - width
        top = y if place >= 2 else y - height
        inner_top, inner_left = max(top, 0), max(left, 0)
        part = canvas[inner_top : top + height, inner_left : left + width]
        start = inner_top - top, inner_left - left
        part[:] = image[start[0] : start[0] + part.shape[0], start[1] : start[1] + part.shape[1]]
        kept.append(moved(labels, scale, left, top))
    return canvas, clipped(np.concatenate(kept), 2 * size)


def turned(sample: Sample, degrees: float, scale: float, size: int) -> Sample:
    """A mosaic, turned and scaled about its centre, and the middle of it of the size asked for."""
    image, labels = sample
    affine = F.affine(
        Image.fromarray(image),
        degrees,
        [0, 0],
        scale,
        [0.0, 0.0],
        InterpolationMode.BILINEAR,
        fill=[GREY] * 3,
    )
    centre, half = image.shape[0] / 2, size / 2
    angle = np.deg2rad(degrees)
    turn = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    corners = labels[:, [1, 2, 3, 2, 3, 4, 1, 4]].reshape(-1, 4, 2)
    corners = (corners - centre) @ turn.T.astype(labels.dtype) + half
    boxes = np.concatenate([corners.min(1), corners.max(1)], axis=1)
    made = np.concatenate([labels[:, :1], boxes], axis=1).astype(labels.dtype)
    return np.array(F.center_crop(affine, [size, size])), clipped(made, size)


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
        square = square[:, ::-1]
        theirs[:, [1, 3]] = side - theirs[:, [3, 1]]
    canvas = np.zeros((max(side, size), max(side, size), 3), np.uint8)
    canvas[:side, :side] = square
    right, down = (int(part * max(side - size, 0)) for part in cut)
    window = canvas[down : down + size, right : right + size]
    mean = 0.5 * image.astype(np.float32) + 0.5 * window.astype(np.float32)
    theirs = clipped(moved(theirs, 1.0, -right, -down), size)
    return mean.astype(np.uint8), np.concatenate([labels, theirs])


def letterboxed(sample: Sample, size: int, dtype: np.dtype) -> Sample:
    """A picture fitted into the upper left of a grey square, floating 3,size,size from 0 to 255."""
    image, scale = fitted(sample[0], size)
    square = np.full((size, size, 3), GREY, np.uint8)
    square[: image.shape[0], : image.shape[1]] = image
    labels = moved(sample[1], scale)
    sizes = labels[:, 3:] - labels[:, 1:3]
    labels = np.concatenate([labels[:, :1], labels[:, 1:3] + sizes / 2, sizes], axis=1)
    return np.ascontiguousarray(square.transpose(2, 0, 1)).astype(dtype), labels


def padded(labels: np.ndarray, rows: int) -> np.ndarray:
    """Labels with rows of zeros behind them; those beyond `rows` go."""
    made = np.zeros((rows, 5), labels.dtype)
    made[: len(labels)] = labels[:rows]
    return made


class Pictures(Dataset):
    """The samples of a folder after a stage.

    perturb: changes the floating picture, where there is one.
    """

    def __init__(self, folder: str | Path, stages: list[str], size: int, rows: int, dtype: str):
        self.folder, self.stages, self.size, self.rows = Path(folder), stages, size, rows
        self.dtype = np.dtype(dtype)
        self.labels = np.load(self.folder / "labels.npy").astype(self.dtype)
        self.choices = dict(np.load(self.folder / "choices.npz"))
        self.perturb: Callable | None = None

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Sample:
        """A picture as it is in its file, with its labels."""
        labels = self.labels[index]
        image = Image.open(self.folder / f"{index}.png").convert("RGB")
        return np.array(image), labels[(labels[:, 3:] > 0).all(1)]

    def __getitem__(self, index: int) -> Sample:
        sample = self.read(index)
        chosen = {name: values[index] for name, values in self.choices.items()}
        for stage in self.stages:
            sample = getattr(self, stage)(sample, chosen)
        image, labels = sample
        if self.perturb and image.dtype.kind == "f":
            image = self.perturb(image)
        return image, padded(labels, self.rows)

    def mosaic(self, sample: Sample, chosen: dict) -> Sample:
        """With three others."""
        others = [self.read(index) for index in chosen["others"]]
        return mosaic([sample, *others], chosen["meeting"], self.size)

    def affine(self, sample: Sample, chosen: dict) -> Sample:
        """Turned, scaled, cut."""
        return turned(sample, float(chosen["turned"]), float(chosen["scaled"]), self.size)

    def mixup(self, sample: Sample, chosen: dict) -> Sample:
        """With a partner."""
        partner = self.read(chosen["partner"])
        scale, flipped = float(chosen["mixup_scaled"]), bool(chosen["flipped"])
        return mixup(sample, partner, scale, flipped, chosen["cut"])

    def letterbox(self, sample: Sample, _: dict) -> Sample:
        """As the network takes it."""
        return letterboxed(sample, self.size, self.dtype)


class Loader:
    """A folder's pictures by named stages, in batches."""

    def __init__(self, folder: str | Path, used: list[str], size: int, rows: int, batch_size: int):
        self.stages = ("read", *used, "batch")
        self.settings, self.batch_size = (folder, size, rows), batch_size

    def run(
        self, until: str = "batch", dtype: str = "float32", perturb: Callable | None = None
    ) -> list[dict[str, np.ndarray]]:
        """What comes out of a stage, in order."""
        folder, size, rows = self.settings
        used = [
            s for s in self.stages[: self.stages.index(until) + 1] if s not in ("read", "batch")
        ]
        pictures = Pictures(folder, used, size, rows, dtype)
        pictures.perturb = perturb
        items = (pictures[i] for i in range(len(pictures)))
        if until == "batch":
            items = DataLoader(pictures, self.batch_size)
        return [{"image": np.asarray(image), "label": np.asarray(label)} for image, label in items]


def train(folder: str | Path, size: int = 64, rows: int = 20, batch_size: int = 2) -> Loader:
    """The pictures of a training: with mosaic and mixup."""
    return Loader(folder, ["mosaic", "affine", "mixup", "letterbox"], size, rows, batch_size)


def last_epochs(folder: str | Path, size: int = 64, rows: int = 20, batch_size: int = 2) -> Loader:
    """Those of its last epochs, and of an evaluation: neither."""
    return Loader(folder, ["letterbox"], size, rows, batch_size)

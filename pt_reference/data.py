"""Data pipelines of torchvision's transforms and torch's loaders, with stages that have names.

CIFAR's binary files, which torchvision does not read, have a reader of their own.
"""

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset, DistributedSampler
from torchvision import datasets, transforms
from torchvision.transforms import functional as F

IMAGENET_MEAN, IMAGENET_STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
CIFAR_MEAN, CIFAR_STD = [0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010]
SIDE, PADDING = 32, 4

Perturb = Callable[[np.ndarray], np.ndarray]


class StagedLoader:
    """A dataset, named transforms of its pictures, the order of its samples, and batches.

    stages: name -> transform of the picture; a `Pinned` one is given the sample's index, too.
    indices: samples in the order in which they are read, all of them unless given.
    """

    def __init__(
        self,
        dataset: Dataset,
        stages: dict[str, Callable],
        batch_size: int,
        indices: Iterable[int] | None = None,
        drop_remainder: bool = False,
    ):
        self.dataset, self.transforms = dataset, stages
        self.indices = list(range(len(dataset)) if indices is None else indices)
        self.batch_size, self.drop_remainder = batch_size, drop_remainder

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages, from `read` to `batch`."""
        return ("read", *self.transforms, "batch")

    def loader(self, perturb: Perturb | None = None) -> DataLoader:
        """The DataLoader of the whole pipeline; what a training loop takes."""
        return DataLoader(
            _Transformed(self.dataset, list(self.transforms.values()), perturb),
            self.batch_size,
            sampler=self.indices,
            drop_last=self.drop_remainder,
        )

    def run(
        self, until: str = "batch", dtype: str = "float32", perturb: Perturb | None = None
    ) -> list[dict[str, np.ndarray]]:
        """What comes out of a stage, in order: batches, and before `batch` single samples, each
        with `image` and `label`.

        dtype: what is computed in once a picture is no longer uint8, float32 or float64. perturb:
        changes the first floating array of each picture, which all that follows is computed from.
        """
        before = torch.get_default_dtype()
        torch.set_default_dtype(getattr(torch, dtype))
        try:
            if until == "batch":
                batches = list(self.loader(perturb))
            else:
                used = self.stages[1 : self.stages.index(until) + 1]
                samples = _Transformed(
                    self.dataset, [self.transforms[name] for name in used], perturb
                )
                batches = [samples[i] for i in self.indices]
        finally:
            torch.set_default_dtype(before)
        return [{"image": _array(image), "label": np.array(label)} for image, label in batches]


class _Transformed(Dataset):
    """The samples of a dataset after some transforms."""

    def __init__(self, dataset: Dataset, transforms: list[Callable], perturb: Perturb | None):
        self.dataset, self.transforms, self.perturb = dataset, transforms, perturb

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        image, label = self.dataset[index]
        perturb = self.perturb
        for transform in self.transforms:
            pinned = isinstance(transform, Pinned)
            image = transform(image, index) if pinned else transform(image)
            if perturb and isinstance(image, torch.Tensor) and image.is_floating_point():
                image, perturb = torch.from_numpy(perturb(image.numpy())), None
        return (np.array(image) if isinstance(image, Image.Image) else image), label


def _array(image: Any) -> np.ndarray:
    return np.frombuffer(image, np.uint8) if isinstance(image, bytes) else np.array(image)


class Pinned:
    """A random transform whose choices are given: row i is (top, left, flip) of sample i."""

    def __init__(self, choices: np.ndarray):
        self.choices = choices


class PinnedCrop(Pinned):
    """RandomCrop(SIDE, padding=PADDING) that starts where it is told to."""

    def __call__(self, image: Image.Image, index: int) -> Image.Image:
        top, left, _ = map(int, self.choices[index])
        return F.crop(F.pad(image, PADDING), top, left, SIDE, SIDE)


class PinnedFlip(Pinned):
    """RandomHorizontalFlip that flips where it is told to."""

    def __call__(self, image: Image.Image, index: int) -> Image.Image:
        return F.hflip(image) if self.choices[index][2] else image


class Cifar(Dataset):
    """A binary CIFAR file: PIL images of 32 x 32 with labels.

    Records are `label_bytes` labels, of which the last is taken, and three planes of SIDE x SIDE.
    """

    def __init__(self, path: Path, label_bytes: int = 1):
        records = np.fromfile(path, np.uint8).reshape(-1, label_bytes + 3 * SIDE * SIDE)
        self.labels = records[:, label_bytes - 1].tolist()
        planes = records[:, label_bytes:].reshape(-1, 3, SIDE, SIDE)
        self.images = planes.transpose(0, 2, 3, 1)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        return Image.fromarray(np.ascontiguousarray(self.images[index])), self.labels[index]


def decode(encoded: bytes) -> Image.Image:
    """As torchvision's own loader does."""
    return Image.open(io.BytesIO(encoded)).convert("RGB")


def scaled(mean: list[float], std: list[float]) -> dict[str, Callable]:
    """uint8 HWC to floating CHW in units of the standard deviation."""
    return {"scale": transforms.ToTensor(), "normalize": transforms.Normalize(mean, std)}


def image_files(folder: str | Path) -> Dataset:
    """The encoded files below `folder`, a class per folder, in the order of their names."""
    return datasets.ImageFolder(str(folder), loader=lambda path: Path(path).read_bytes())


def shard(
    dataset: Dataset, num_shards: int, shard_id: int, drop_last: bool = False
) -> DistributedSampler:
    """The indices of a rank, without shuffling."""
    return DistributedSampler(dataset, num_shards, shard_id, shuffle=False, drop_last=drop_last)


def imagenet_eval(
    folder: str | Path,
    resize: int = 256,
    crop: int = 224,
    batch_size: int = 32,
    num_shards: int = 1,
    shard_id: int = 0,
    drop_remainder: bool = False,
    drop_uneven: bool = False,
) -> StagedLoader:
    """ImageNet evaluation: float32 (batch_size, 3, crop, crop).

    drop_uneven: leave samples out until all ranks have as many, instead of repeating some.
    """
    files = image_files(folder)
    stages = {
        "decode": decode,
        "resize": transforms.Resize(resize),
        "crop": transforms.CenterCrop(crop),
        **scaled(IMAGENET_MEAN, IMAGENET_STD),
    }
    indices = shard(files, num_shards, shard_id, drop_uneven)
    return StagedLoader(files, stages, batch_size, indices, drop_remainder)


def imagenet_eval_dropping_uneven(folder: str | Path, **arguments: Any) -> StagedLoader:
    """The same, with as many samples on each rank by leaving some out."""
    return imagenet_eval(folder, drop_uneven=True, **arguments)


def aliased_resize(folder: str | Path, resize: int = 256) -> StagedLoader:
    """Pictures resized without antialiasing: uint8 (1, height, width, 3)."""

    def without_antialiasing(image: Image.Image) -> Image.Image:
        tensor = F.resize(F.pil_to_tensor(image), resize, antialias=False)
        return F.to_pil_image(tensor)

    stages = {"decode": decode, "resize": without_antialiasing}
    return StagedLoader(image_files(folder), stages, batch_size=1)


def center_crop(folder: str | Path, crop: int = 224, batch_size: int = 32) -> StagedLoader:
    """The middle of each picture as it is: uint8 (batch_size, crop, crop, 3)."""
    stages = {"decode": decode, "crop": transforms.CenterCrop(crop)}
    return StagedLoader(image_files(folder), stages, batch_size)


def normalized(folder: str | Path) -> StagedLoader:
    """Whole pictures, normalised: float32 (1, 3, height, width)."""
    stages = {"decode": decode, **scaled(IMAGENET_MEAN, IMAGENET_STD)}
    return StagedLoader(image_files(folder), stages, batch_size=1)


def decoded(folder: str | Path) -> StagedLoader:
    """Pictures as they are in their files: uint8 (1, height, width, 3)."""
    return StagedLoader(image_files(folder), {"decode": decode}, batch_size=1)


def cifar10_train(
    folder: str | Path,
    size: int = SIDE,
    batch_size: int = 32,
    num_samples: int | None = None,
    num_shards: int = 1,
    shard_id: int = 0,
    drop_remainder: bool = True,
) -> StagedLoader:
    """CIFAR-10 training: crop and flip as `choices.npy` says, normalise; (N, 3, size, size).

    num_samples: at most so many of each shard. size: of the pictures after a resize.
    """
    records = Cifar(Path(folder, "data_batch_1.bin"))
    choices = np.load(Path(folder, "choices.npy"))
    stages = {"crop": PinnedCrop(choices), "flip": PinnedFlip(choices), **resized(size)}
    stages |= scaled(CIFAR_MEAN, CIFAR_STD)
    indices = list(shard(records, num_shards, shard_id))[:num_samples]
    return StagedLoader(records, stages, batch_size, indices, drop_remainder)


def resized(size: int) -> dict[str, Callable]:
    """A resize where the size is another than that of the files."""
    return {} if size == SIDE else {"resize": transforms.Resize(size)}


def cifar10_eval(
    folder: str | Path,
    size: int = SIDE,
    batch_size: int = 32,
    num_samples: int | None = None,
    drop_remainder: bool = False,
) -> StagedLoader:
    """CIFAR-10 evaluation: neither crop nor flip."""
    records = Cifar(Path(folder, "test_batch.bin"))
    stages = resized(size) | scaled(CIFAR_MEAN, CIFAR_STD)
    indices = range(len(records))[:num_samples]
    return StagedLoader(records, stages, batch_size, indices, drop_remainder)


def cifar100_eval(
    folder: str | Path, batch_size: int = 32, num_samples: int | None = None
) -> StagedLoader:
    """CIFAR-100 evaluation by the fine labels."""
    records = Cifar(Path(folder, "test.bin"), label_bytes=2)
    indices = range(len(records))[:num_samples]
    return StagedLoader(records, scaled(CIFAR_MEAN, CIFAR_STD), batch_size, indices)

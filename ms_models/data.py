"""Data pipelines of the `mindspore.dataset` API, with stages that have names.

A picture passes the same stages as its PyTorch twin's by the same names; the layout may change at
any of them. Decoding to PIL is what makes resizing and cropping equal to torchvision's: MindSpore
then uses Pillow too, instead of its own image operators.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import transforms, vision
from mindspore.dataset.vision import Inter

IMAGENET_MEAN, IMAGENET_STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
CIFAR_MEAN, CIFAR_STD = [0.4914, 0.4822, 0.4465], [0.2023, 0.1994, 0.2010]
SIDE, PADDING = 32, 4

ONE = {"num_parallel_workers": 1}


class StagedDataset:
    """A source of samples, named operators on their pictures, and batches.

    source: a dataset with columns `image` and `label`. stages: name -> operator on the image, or
    on the columns that its attribute `columns` lists, the image first. They run in one map where
    they can: between two maps a PIL image becomes an array, and what follows would not be PIL's.
    """

    def __init__(
        self,
        source: ds.Dataset,
        stages: dict[str, Any],
        batch_size: int,
        drop_remainder: bool = False,
    ):
        self.source, self.operators = source, stages
        self.batch_size, self.drop_remainder = batch_size, drop_remainder

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages, from `read` to `batch`."""
        return ("read", *self.operators, "batch")

    def dataset(self, until: str = "batch") -> ds.Dataset:
        """The MindSpore dataset up to and with a stage; what a training loop takes."""
        made = self.source
        for columns, operators in itertools.groupby(self._used(until), key=_columns):
            made = made.map(list(operators), list(columns), **ONE)
        if until == "batch":
            made = made.project(["image", "label"])
            made = made.batch(self.batch_size, drop_remainder=self.drop_remainder, **ONE)
        return made

    def run(self, until: str = "batch") -> Iterator[dict[str, np.ndarray]]:
        """What comes out of a stage, in order: batches, and before `batch` single samples, each
        with `image` and `label`."""
        dataset = self.dataset(until)
        for item in dataset.create_dict_iterator(num_epochs=1, output_numpy=True):
            yield {"image": item["image"], "label": item["label"]}

    def _used(self, until: str) -> list[Any]:
        names = self.stages[1 : self.stages.index(until) + 1]
        return [self.operators[name] for name in names if name != "batch"]


def _columns(operator: Any) -> tuple[str, ...]:
    return getattr(operator, "columns", ("image",))


class PinnedCrop:
    """RandomCrop(SIDE, padding=PADDING) that starts where it is told to."""

    columns = ("image", "top", "left")

    def __call__(self, image: np.ndarray, top: np.ndarray, left: np.ndarray) -> tuple:
        padded = vision.Pad(PADDING)(image)
        return vision.Crop((int(top), int(left)), SIDE)(padded), top, left


class PinnedFlip:
    """RandomHorizontalFlip that flips where it is told to."""

    columns = ("image", "flip")

    def __call__(self, image: np.ndarray, flip: np.ndarray) -> tuple:
        return vision.HorizontalFlip()(image) if flip else image, flip


def scaled(mean: list[float], std: list[float]) -> dict[str, Any]:
    """uint8 HWC to float32 CHW in units of the standard deviation."""
    return {
        "scale": vision.Rescale(1.0 / 255.0, 0.0),
        "normalize": vision.Normalize(mean, std),
        "layout": vision.HWC2CHW(),
    }


def image_files(folder: str | Path, num_shards: int = 1, shard_id: int = 0) -> ds.Dataset:
    """The encoded files below `folder`, a class per folder, in the order of their names."""
    return labelled(
        ds.ImageFolderDataset(
            str(folder), shuffle=False, num_shards=num_shards, shard_id=shard_id, **ONE
        )
    )


def labelled(dataset: ds.Dataset, column: str = "label") -> ds.Dataset:
    """Columns `image` and `label`, the label as the int32 that losses take."""
    if column != "label":
        dataset = dataset.rename([column], ["label"])
    return dataset.map(transforms.TypeCast(ms.int32), ["label"], **ONE)


def imagenet_eval(
    folder: str | Path,
    resize: int = 256,
    crop: int = 224,
    batch_size: int = 32,
    num_shards: int = 1,
    shard_id: int = 0,
    drop_remainder: bool = False,
) -> StagedDataset:
    """ImageNet evaluation by PIL: float32 (batch_size, 3, crop, crop), labels int32."""
    stages = {
        "decode": vision.Decode(to_pil=True),
        "resize": vision.Resize(resize, Inter.BILINEAR),
        "crop": vision.CenterCrop(crop),
        "scale": vision.ToTensor(),
        "normalize": vision.Normalize(IMAGENET_MEAN, IMAGENET_STD, is_hwc=False),
    }
    return StagedDataset(
        image_files(folder, num_shards, shard_id), stages, batch_size, drop_remainder
    )


def native_imagenet_eval(
    folder: str | Path, resize: int = 256, crop: int = 224, batch_size: int = 32
) -> StagedDataset:
    """The same by MindSpore's own operators."""
    stages = {
        "decode": vision.Decode(),
        "resize": vision.Resize(resize, Inter.BILINEAR),
        "crop": vision.CenterCrop(crop),
        **scaled(IMAGENET_MEAN, IMAGENET_STD),
    }
    return StagedDataset(image_files(folder), stages, batch_size)


def native_resize(folder: str | Path, resize: int = 256) -> StagedDataset:
    """MindSpore's own operators as far as resizing."""
    stages = {"decode": vision.Decode(), "resize": vision.Resize(resize, Inter.BILINEAR)}
    return StagedDataset(image_files(folder), stages, batch_size=1)


def center_crop(folder: str | Path, crop: int = 224, batch_size: int = 32) -> StagedDataset:
    """The middle of each picture as it is, by PIL; uint8 (batch_size, crop, crop, 3)."""
    stages = {"decode": vision.Decode(to_pil=True), "crop": vision.CenterCrop(crop)}
    return StagedDataset(image_files(folder), stages, batch_size)


def native_center_crop(folder: str | Path, crop: int = 224, batch_size: int = 32) -> StagedDataset:
    """The same by MindSpore's own operators."""
    stages = {"decode": vision.Decode(), "crop": vision.CenterCrop(crop)}
    return StagedDataset(image_files(folder), stages, batch_size)


def normalized(folder: str | Path) -> StagedDataset:
    """Whole pictures, normalised: float32 (1, 3, height, width)."""
    stages = {"decode": vision.Decode(), **scaled(IMAGENET_MEAN, IMAGENET_STD)}
    return StagedDataset(image_files(folder), stages, batch_size=1)


def normalized_in_levels(folder: str | Path) -> StagedDataset:
    """The same in one go, by a mean and a standard deviation in levels of 255."""
    mean, std = ([255.0 * value for value in values] for values in (IMAGENET_MEAN, IMAGENET_STD))
    stages = {
        "decode": vision.Decode(),
        "normalize": vision.Normalize(mean, std),
        "layout": vision.HWC2CHW(),
    }
    return StagedDataset(image_files(folder), stages, batch_size=1)


def decoded(folder: str | Path) -> StagedDataset:
    """Pictures by PIL as they are in their files: uint8 (1, height, width, 3)."""
    return StagedDataset(image_files(folder), {"decode": vision.Decode(to_pil=True)}, batch_size=1)


def native_decoded(folder: str | Path) -> StagedDataset:
    """The same by MindSpore's own operators."""
    return StagedDataset(image_files(folder), {"decode": vision.Decode()}, batch_size=1)


def cifar10_train(
    folder: str | Path,
    size: int = SIDE,
    batch_size: int = 32,
    num_samples: int | None = None,
    num_shards: int = 1,
    shard_id: int = 0,
    drop_remainder: bool = True,
) -> StagedDataset:
    """CIFAR-10 training: crop and flip as `choices.npy` says, normalise; (N, 3, size, size).

    num_samples: at most so many of each shard. size: of the pictures after a resize by PIL.
    """
    part = {"num_samples": num_samples, "num_shards": num_shards, "shard_id": shard_id}
    pictures = ds.Cifar10Dataset(str(folder), "train", shuffle=False, **part, **ONE)
    columns = np.load(Path(folder, "choices.npy")).T
    choices = ds.NumpySlicesDataset(
        tuple(columns), ["top", "left", "flip"], shuffle=False, **part, **ONE
    )
    stages = {"crop": PinnedCrop(), "flip": PinnedFlip(), **resized(size)}
    stages |= scaled(CIFAR_MEAN, CIFAR_STD)
    return StagedDataset(labelled(pictures.zip(choices)), stages, batch_size, drop_remainder)


def resized(size: int) -> dict[str, Any]:
    """A resize by PIL where the size is another than that of the files."""
    if size == SIDE:
        return {}
    return {"to_pil": vision.ToPIL(), "resize": vision.Resize(size, Inter.BILINEAR)}


def cifar10_eval(
    folder: str | Path,
    size: int = SIDE,
    batch_size: int = 32,
    num_samples: int | None = None,
    drop_remainder: bool = False,
) -> StagedDataset:
    """CIFAR-10 evaluation: neither crop nor flip."""
    pictures = ds.Cifar10Dataset(str(folder), "test", shuffle=False, num_samples=num_samples, **ONE)
    stages = resized(size) | scaled(CIFAR_MEAN, CIFAR_STD)
    return StagedDataset(labelled(pictures), stages, batch_size, drop_remainder)


def native_cifar10_eval(
    folder: str | Path, size: int, batch_size: int = 32, num_samples: int | None = None
) -> StagedDataset:
    """The same, resized by MindSpore's own operator."""
    made = cifar10_eval(folder, SIDE, batch_size, num_samples)
    made.operators = {"resize": vision.Resize(size, Inter.BILINEAR), **made.operators}
    return made


def cifar100_eval(
    folder: str | Path, batch_size: int = 32, num_samples: int | None = None
) -> StagedDataset:
    """CIFAR-100 evaluation by the fine labels."""
    pictures = ds.Cifar100Dataset(
        str(folder), "test", shuffle=False, num_samples=num_samples, **ONE
    )
    return StagedDataset(
        labelled(pictures, "fine_label"), scaled(CIFAR_MEAN, CIFAR_STD), batch_size
    )

"""Data pipelines with a mistake that is not one stage's, and operators with mistakes."""

import io
from pathlib import Path

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import vision
from PIL import Image

from ms_models import data

NUMBERED = {"class_2": 0, "class_9": 1, "class_10": 2}
"""The class folders in the order of their numbers."""


def contiguous_shards(
    folder: str | Path, num_shards: int, shard_id: int, **arguments
) -> data.StagedDataset:
    """Each rank a run of files instead of every num_shards-th."""
    made = data.imagenet_eval(folder, **arguments)
    whole = ds.ImageFolderDataset(str(folder), shuffle=False).get_dataset_size()
    size = -(-whole // num_shards)
    part = [index % whole for index in range(shard_id * size, (shard_id + 1) * size)]
    made.source = data.labelled(
        ds.ImageFolderDataset(str(folder), sampler=ds.SubsetSampler(part), num_parallel_workers=1)
    )
    return made


def numbered_classes(folder: str | Path, **arguments) -> data.StagedDataset:
    """Classes numbered in the order of the numbers in their names."""
    made = data.imagenet_eval(folder, **arguments)
    made.source = data.labelled(
        ds.ImageFolderDataset(
            str(folder), shuffle=False, class_indexing=NUMBERED, num_parallel_workers=1
        )
    )
    return made


def choices_of_the_first_shard(
    folder: str | Path, num_shards: int, shard_id: int, num_samples: int, **arguments
) -> data.StagedDataset:
    """Pictures of the rank, with the augmentation of rank 0."""
    made = data.cifar10_train(folder, num_samples=num_samples, **arguments)
    pictures, choices = (
        data.cifar10_train(
            folder, num_samples=num_samples, num_shards=num_shards, shard_id=rank
        ).source
        for rank in (shard_id, 0)
    )
    pictures = pictures.project(["image", "label"])
    made.source = pictures.zip(choices.project(["top", "left", "flip"]))
    return made


def trained_pictures(folder: str | Path, num_samples: int, **arguments) -> data.StagedDataset:
    """Evaluation on the pictures of the training."""
    made = data.cifar10_eval(folder, **arguments)
    made.source = data.labelled(
        ds.Cifar10Dataset(str(folder), "train", shuffle=False, num_samples=num_samples)
    )
    return made


def coarse_labels(folder: str | Path, num_samples: int, **arguments) -> data.StagedDataset:
    """The other column of CIFAR-100."""
    made = data.cifar100_eval(folder, **arguments)
    pictures = ds.Cifar100Dataset(str(folder), "test", shuffle=False, num_samples=num_samples)
    made.source = data.labelled(pictures, "coarse_label")
    return made


def opened(encoded: np.ndarray) -> Image.Image:
    """A picture with the channels that its file has."""
    return Image.open(io.BytesIO(encoded.tobytes()))


def opened_in_reverse(encoded: np.ndarray) -> Image.Image:
    """Channels in the order of OpenCV."""
    return Image.fromarray(np.array(opened(encoded).convert("RGB"))[..., ::-1].copy())


def opened_into_the_first_channel(encoded: np.ndarray) -> Image.Image:
    """A grey picture fills but one of three channels."""
    image = np.atleast_3d(np.array(opened(encoded)))
    filled = np.zeros((*image.shape[:2], 3), np.uint8)
    filled[..., : image.shape[2]] = image
    return Image.fromarray(filled)


def cropped_from_above(size: int):
    """A crop in the middle whose margins are halved to the next whole number, plus one."""

    def crop(image: Image.Image) -> Image.Image:
        top, left = ((side - size) // 2 + 1 for side in (image.height, image.width))
        return image.crop((left, top, left + size, top + size))

    return crop


def interleaved(planes: np.ndarray) -> np.ndarray:
    """The bytes of three planes as if they were those of pixels."""
    return np.ascontiguousarray(planes.transpose(2, 0, 1)).reshape(planes.shape)


class ReflectedCrop(data.PinnedCrop):
    """The border repeats the picture instead of being black."""

    def __call__(self, image, top, left):
        padded = vision.Pad(data.PADDING, padding_mode=vision.Border.REFLECT)(image)
        return vision.Crop((int(top), int(left)), data.SIDE)(padded), top, left


class TransposedCrop(data.PinnedCrop):
    """Left for top."""

    def __call__(self, image, top, left):
        return super().__call__(image, left, top)[0], top, left


class OppositeFlip(data.PinnedFlip):
    """Flips the others."""

    def __call__(self, image, flip):
        return super().__call__(image, 1 - flip)[0], flip

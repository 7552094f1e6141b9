"""The port of `data_torch.py`, and one that mixes up the channels' means."""

import numpy as np
from data_torch import PHOTOS
from mindspore import dataset
from mindspore.dataset import vision


def _loader(means: tuple[float, float, float]) -> dataset.Dataset:
    rows = [(photo, np.int32(index % 5)) for index, photo in enumerate(PHOTOS)]
    photos = dataset.GeneratorDataset(rows, ["image", "label"], shuffle=False)
    stages = [
        vision.ToPIL(),
        vision.CenterCrop(8),
        vision.ToTensor(),
        vision.Normalize(means, (0.2, 0.3, 0.4), is_hwc=False),
    ]
    return photos.map(stages, "image").batch(8)


def loader() -> dataset.Dataset:
    """The right port."""
    return _loader((0.5, 0.4, 0.3))


def wrong() -> dataset.Dataset:
    """A port with the means of BGR."""
    return _loader((0.3, 0.4, 0.5))

"""Ports of the loader of `files_data_pt`, right and wrong; each reads the folder ROOT."""

from pathlib import Path

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import vision
from PIL import Image, ImageOps

SIDE, CROP = 28, 24
ROOT = ""


def _end(size=None):
    first = size or [vision.Resize(SIDE)]
    return [*first, vision.CenterCrop(CROP), vision.ToTensor()]


def _mapped(*steps):
    return ds.ImageFolderDataset(ROOT, shuffle=False).map([*steps], "image").batch(2)


def loader(root):  # noqa: ARG001
    """Right: Pillow decodes."""
    return _mapped(vision.Decode(to_pil=True), *_end())


def native(root):  # noqa: ARG001
    """MindSpore's own decoder."""
    return _mapped(vision.Decode(), vision.ToPIL(), *_end())


def _rounded(image):
    width, height = image.size
    short = min(width, height)
    return image.resize((round(SIDE * width / short), round(SIDE * height / short)), Image.BILINEAR)


def rounded(root):  # noqa: ARG001
    """The longer side is rounded, where torchvision cuts it off."""
    return _mapped(vision.Decode(to_pil=True), *_end([_rounded, vision.ToPIL()]))


class Upright:
    """Photos as EXIF turns them."""

    def __init__(self):
        self.files = sorted(Path(ROOT).glob("*/*"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        with Image.open(self.files[index]) as image:
            turned = ImageOps.exif_transpose(image)
            return np.asarray(turned.convert("RGB")), np.int32(0)


def upright(root):  # noqa: ARG001
    """A source of one's own."""
    made = ds.GeneratorDataset(Upright(), ["image", "label"], shuffle=False)
    return made.map([vision.ToPIL(), *_end()], "image").batch(2)

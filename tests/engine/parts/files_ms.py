"""The ports of `files_pt`, and wrong ones."""

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import vision


def text(shuffle=False):
    return ds.TextFileDataset("lines.txt", shuffle=shuffle).batch(3)


def text_in_another_order():
    return text(True)


def text_in_other_letters():
    def upper(line):
        return np.array(str(line).upper())

    return ds.TextFileDataset("lines.txt", shuffle=False).map(upper, "text").batch(3)


def images(decode=None, inter=vision.Inter.BILINEAR, between=(), **options):
    data = ds.ImageFolderDataset("images", shuffle=False, decode=False, **options)
    decode = decode or vision.Decode(to_pil=True)
    stages = [decode, vision.Resize((12, 16), inter), *between, vision.ToTensor()]
    return data.map(stages, "image").batch(4)


def images_by_another_resize():
    return images(inter=vision.Inter.BICUBIC)


def images_in_bgr():
    def reverse(image):
        return np.asarray(image)[..., ::-1].copy()

    return images(between=[reverse])


def images_of_other_classes():
    return images(class_indexing={"cat": 1, "dog": 0})

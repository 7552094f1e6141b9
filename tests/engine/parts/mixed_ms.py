"""The same in MindSpore, right and with mistakes."""

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import transforms, vision

from tests.engine.parts.mixed_pt import (
    CLASSES,
    COUNT,
    IDS,
    LABELS,
    PICTURES,
    SIDE,
    box_of,
    mosaic_of,
)

ONE_HOT = np.eye(CLASSES, dtype="float32")


def photos():
    names = ["image", "label"]
    return ds.NumpySlicesDataset((PICTURES, LABELS.astype("int32")), names, shuffle=False)


def mixing(alpha=0.4, shares=1, orders=1, largest=False, lost=False):
    """A batched data set with MixUp.

    shares, orders: 2: the labels have others than the pictures.
    """

    def mixed(pictures, labels, _):
        x, y = np.stack(pictures), ONE_HOT[np.array(labels)]
        if lost:
            return list(x), list(y)
        share = [np.float32(np.random.beta(alpha, alpha)) for _ in range(shares)]
        if largest:
            share = [max(each, 1 - each) for each in share]
        order = [np.random.permutation(len(x)) for _ in range(orders)]
        made = share[0] * x + (1 - share[0]) * x[order[0]]
        return list(made), list(share[-1] * y + (1 - share[-1]) * y[order[-1]])

    return photos().batch(8, per_batch_map=mixed, input_columns=["image", "label"])


def cutting(adjusted=True):
    def cut(pictures, labels, _):
        x, y = np.stack(pictures), ONE_HOT[np.array(labels)]
        share, order = np.random.beta(1.0, 1.0), np.random.permutation(len(x))
        top, bottom, left, right = box_of(share)
        made = x.copy()
        made[:, :, top:bottom, left:right] = x[order][:, :, top:bottom, left:right]
        if adjusted:
            share = 1 - (bottom - top) * (right - left) / SIDE**2
        return list(made), list(np.float32(share) * y + np.float32(1 - share) * y[order])

    return photos().batch(8, per_batch_map=cut, input_columns=["image", "label"])


class Mosaic:
    fixed = False

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return mosaic_of(index, self.fixed), np.int32(LABELS[index])


class Fixed(Mosaic):
    fixed = True


def mosaic(workers=1, source=Mosaic, processes=True):
    names = ["image", "label"]
    more = {"num_parallel_workers": workers, "python_multiprocessing": processes}
    return ds.GeneratorDataset(source(), names, shuffle=False, **more).batch(8)


def masking(chance=0.15, others=True):
    def masked(rows, _):
        ids = np.stack(rows).astype("int32")
        labels, chosen = ids.copy(), np.random.rand(*ids.shape) < chance
        labels[~chosen] = -100
        which = np.random.rand(*ids.shape)
        ids[chosen & (which < (0.8 if others else 1.0))] = 3
        other = chosen & (which >= 0.8) & (which < 0.9) & others
        ids[other] = np.random.randint(60, size=ids.shape)[other]
        return list(ids), list(labels)

    made = ds.NumpySlicesDataset(IDS, ["ids"], shuffle=False)
    names = ["ids", "labels"]
    return made.batch(8, per_batch_map=masked, input_columns=["ids"], output_columns=names)


def mix():
    return mixing()


def mix_operator():
    made = photos().map(transforms.OneHot(CLASSES), ["label"]).batch(8)
    return made.map(vision.MixUpBatch(0.4), ["image", "label"])


def cutmix():
    return cutting()


def language():
    return masking()


def mosaic_in_threads(workers=2):
    return mosaic(workers, processes=False)


MISTAKES = {
    "mix_alpha": lambda: mixing(alpha=1.0),
    "mix_shares": lambda: mixing(shares=2),
    "mix_orders": lambda: mixing(orders=2),
    "mix_largest": lambda: mixing(largest=True),
    "mix_lost": lambda: mixing(lost=True),
    "cutmix_share": lambda: cutting(adjusted=False),
    "mosaic_fixed": lambda: mosaic(source=Fixed),
    "language_all": lambda: masking(others=False),
    "language_chance": lambda: masking(chance=0.2),
}


def __getattr__(name):
    """`broken_MISTAKE` builds the port with it."""
    mistake = name.removeprefix("broken_")
    if mistake not in MISTAKES or mistake == name:
        raise AttributeError(name)
    return MISTAKES[mistake]

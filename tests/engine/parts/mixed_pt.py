"""What draws beside the transforms: MixUp, CutMix, a masked language model, a mosaic."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, default_collate

COUNT, CLASSES, SIDE = 24, 4, 12
PICTURES = np.random.default_rng(0).normal(size=(COUNT, 3, SIDE, SIDE)).astype("float32")
LABELS = np.arange(COUNT) % CLASSES
IDS = np.random.default_rng(1).integers(5, 60, size=(COUNT, 16))


class Photos(Dataset):
    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return torch.from_numpy(PICTURES[index]), int(LABELS[index])


class Mosaic(Photos):
    """Four pictures in one."""

    def __getitem__(self, index):
        return torch.from_numpy(mosaic_of(index)), int(LABELS[index])


class Kept(Photos):
    """Draws from a generator of its own, which each worker gets a copy of."""

    def __init__(self):
        self.numbers = np.random.default_rng(0)

    def __getitem__(self, index):
        return torch.from_numpy(PICTURES[index] * np.float32(self.numbers.uniform())), 0


def mosaic_of(index, fixed=False):
    one, *others = [PICTURES[n] for n in (index, *np.random.randint(COUNT, size=3))]
    y, x = (6, 6) if fixed else np.random.randint(4, 9, size=2)
    made = one.copy()
    made[:, :y, x:] = others[0][:, :y, x:]
    made[:, y:, :x] = others[1][:, y:, :x]
    made[:, y:, x:] = others[2][:, y:, x:]
    return made


def collated(batch):
    pictures, labels = default_collate(batch)
    return pictures, torch.nn.functional.one_hot(labels, CLASSES).float()


def mixed(batch):
    x, y = collated(batch)
    share = float(np.random.beta(0.4, 0.4))
    order = torch.randperm(len(x))
    return share * x + (1 - share) * x[order], share * y + (1 - share) * y[order]


def cut(batch):
    x, y = collated(batch)
    order = torch.randperm(len(x))
    top, bottom, left, right = box_of(np.random.beta(1.0, 1.0))
    made = x.clone()
    made[:, :, top:bottom, left:right] = x[order][:, :, top:bottom, left:right]
    share = 1 - (bottom - top) * (right - left) / SIDE**2
    return made, share * y + (1 - share) * y[order]


def box_of(share):
    size = int(SIDE * (1 - share) ** 0.5)
    ends = []
    for centre in np.random.randint(SIDE, size=2):
        ends += [max(centre - size // 2, 0), min(centre + size // 2, SIDE)]
    return ends


def masked(batch):
    ids = torch.stack([each["ids"] for each in batch])
    labels, chosen = ids.clone(), torch.rand(ids.shape) < 0.15
    labels[~chosen] = -100
    which = torch.rand(ids.shape)
    ids = ids.masked_fill(chosen & (which < 0.8), 3)
    other = chosen & (which >= 0.8) & (which < 0.9)
    return {"ids": torch.where(other, torch.randint(60, ids.shape), ids), "labels": labels}


class Tokens(Dataset):
    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        return {"ids": torch.from_numpy(IDS[index])}


def mix():
    return DataLoader(Photos(), 8, collate_fn=mixed)


def cutmix():
    return DataLoader(Photos(), 8, collate_fn=cut)


def mosaic(workers=0):
    return DataLoader(Mosaic(), 8, num_workers=workers)


def kept(workers=2):
    return DataLoader(Kept(), 8, num_workers=workers)


def language():
    return DataLoader(Tokens(), 8, collate_fn=masked)


def plain():
    return DataLoader(Photos(), 8, collate_fn=collated)

"""Loaders as users write them: torchvision's transforms in a data set, MindSpore's in maps."""

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import transforms as columns
from mindspore.dataset import vision

from equivalence.torchvision_schemas import declare_missing

declare_missing()

from torch.utils.data import DataLoader, Dataset, DistributedSampler, IterableDataset  # noqa: E402
from torchvision import transforms  # noqa: E402

MEAN, STD = [0.49, 0.48, 0.45], [0.2, 0.19, 0.21]
COUNT, BATCH_SIZE, SIDE = 14, 4, 24


def pictures():
    """Smooth pictures, (14, 20, 22, 3), uint8, and labels of five classes."""
    rows, columns_ = np.mgrid[0:20, 0:22]
    waves = [np.sin(rows / (2 + n)) + np.cos(columns_ / (3 + n)) for n in range(3)]
    noise = np.random.default_rng(0).normal(0, 9, (COUNT, 20, 22, 3))
    return (110 + 50 * np.stack(waves, -1) + noise).clip(0, 255).astype(np.uint8), LABELS


LABELS = np.arange(COUNT, dtype=np.int32) % 5


class Pictures(Dataset):
    """A data set whose transforms are an attribute."""

    def __init__(self, steps):
        self.pictures, self.labels = pictures()
        self.transform = transforms.Compose(steps)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.transform(self.pictures[index]), int(self.labels[index])


class Named(Pictures):
    """A data set that gives dicts."""

    def __getitem__(self, index):
        image, label = super().__getitem__(index)
        return {"pixels": image, "class": label}


class Stream(IterableDataset):
    """A data set without indices."""

    def __init__(self):
        self.inner = Pictures([transforms.ToTensor()])

    def __iter__(self):
        return (self.inner[index] for index in range(COUNT))


def steps_of(train):
    drawn = [transforms.RandomCrop(20, padding=3), transforms.RandomHorizontalFlip()]
    end = [transforms.Resize((SIDE, SIDE)), transforms.ToTensor(), transforms.Normalize(MEAN, STD)]
    return [transforms.ToPILImage(), *(drawn if train else ()), *end]


def torch_loader(train=False, shuffle=False, named=False):
    made = (Named if named else Pictures)(steps_of(train))
    return DataLoader(made, batch_size=BATCH_SIZE, shuffle=shuffle, num_workers=2)


def torch_data(train=False):
    return Pictures(steps_of(train))


def torch_stream():
    return DataLoader(Stream(), batch_size=BATCH_SIZE)


def torch_rank(num_shards=1, shard_id=0):
    made = Pictures([transforms.ToTensor()])
    sampler = DistributedSampler(made, num_shards, shard_id, shuffle=True)
    return DataLoader(made, batch_size=2, sampler=sampler)


class Repeating(DistributedSampler):
    """A sampler that draws the same order in each epoch, whatever it is told."""

    def set_epoch(self, epoch):
        """Nothing."""


def torch_repeating(num_shards=1, shard_id=0):
    """The part of a rank, in one order that is drawn."""
    dataset = torch_rank().dataset
    return DataLoader(dataset, 2, sampler=Repeating(dataset, num_shards, shard_id, shuffle=True))


class Unsteady(Pictures):
    """A data set that draws outside of its transforms."""

    def __getitem__(self, index):
        image, label = super().__getitem__(index)
        return image * np.random.default_rng().uniform(), label


def torch_unsteady():
    return DataLoader(Unsteady([transforms.ToTensor()]), batch_size=BATCH_SIZE)


def source(shuffle=False, samples=None, names=("image", "label"), change=lambda images: images):
    images, labels = pictures()
    made = ds.NumpySlicesDataset((change(images), labels), list(names), shuffle=shuffle)
    return made.take(samples) if samples else made


def ms_loader(
    train=False,
    shuffle=False,
    names=("image", "label"),
    mistake="",
):
    """The port, right or with a mistake."""
    made = source(
        shuffle or mistake == "shuffled",
        10 if mistake == "fewer" else None,
        names,
        (lambda images: images[..., ::-1].copy()) if mistake == "bgr" else lambda images: images,
    )
    size = SIDE + 1 if mistake == "size" else SIDE
    chance = 0.9 if mistake == "chance" else 0.5
    steps = {
        "pil": vision.ToPIL(),
        "crop": vision.RandomCrop(20, padding=1 if mistake == "padding" else 3),
        "flip": vision.RandomHorizontalFlip(chance),
        "resize": vision.Resize((size, size)),
        "tensor": vision.ToTensor(),
        "normalize": vision.Normalize(
            MEAN[::-1] if mistake == "mean" else MEAN,
            [each**2 for each in STD] if mistake == "variance" else STD,
            is_hwc=False,
        ),
    }
    if mistake == "nearest":
        steps["resize"] = vision.Resize((size, size), vision.Inter.NEAREST)
    if mistake == "extra":
        steps = {"vertical": vision.RandomVerticalFlip(), **steps}
    if not train:
        del steps["crop"], steps["flip"]
    if mistake.startswith("no "):
        del steps[mistake[3:]]
    if mistake == "levels":
        steps["tensor"] = vision.HWC2CHW()
        steps["normalize"] = vision.Normalize(MEAN, STD, is_hwc=False)
    made = made.map([*steps.values()], names[0])
    if mistake == "labels":
        made = made.map(lambda label: label + 1, names[1])
    made = made.map(columns.TypeCast(np.int32), names[1])
    return made.batch(3 if mistake == "batch" else BATCH_SIZE, drop_remainder=mistake == "dropped")


def ms_arrays(train=True):
    """The port with MindSpore's own operators on arrays."""
    drawn = [vision.RandomCrop(20, padding=3), vision.RandomHorizontalFlip()] if train else []
    steps = [*drawn, vision.Rescale(1 / 255.0, 0.0), vision.Normalize(MEAN, STD), vision.HWC2CHW()]
    return source(shuffle=train).map(steps, "image").batch(BATCH_SIZE)


def torch_arrays(train=True):
    drawn = [transforms.RandomCrop(20, padding=3), transforms.RandomHorizontalFlip()]
    end = [transforms.ToTensor(), transforms.Normalize(MEAN, STD)]
    made = Pictures([transforms.ToPILImage(), *(drawn if train else ()), *end])
    return DataLoader(made, batch_size=BATCH_SIZE, shuffle=train)


def ms_rank(num_shards=1, shard_id=0):
    images, labels = pictures()
    made = ds.NumpySlicesDataset(
        (images, labels), ["image", "label"], num_shards=num_shards, shard_id=shard_id, shuffle=True
    )
    return made.map(vision.ToTensor(), "image").batch(2)


def ms_alone():
    """A data set of one column."""
    return ds.NumpySlicesDataset(pictures()[0], ["image"], shuffle=False).batch(BATCH_SIZE)


def nothing():
    return [1, 2, 3]


def ms_stream():
    return source().map(vision.ToTensor(), "image").batch(BATCH_SIZE)


def ms_samples(train=False):
    """The port without batches."""
    return ms_loader(train).children[0]


def ms_renamed():
    return ms_loader(names=("pixels", "class"))


def _broken(mistake):
    return lambda train=False: ms_loader(train, mistake=mistake)


for _mistake in (
    *("no pil", "size", "nearest", "mean", "variance", "no normalize", "levels", "bgr", "labels"),
    *("shuffled", "fewer", "batch", "dropped", "padding", "chance", "no flip", "no crop", "extra"),
):
    globals()[f"broken_{_mistake.replace(' ', '_')}"] = _broken(_mistake)

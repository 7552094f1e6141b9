"""Data pipelines of NumPy alone, right and wrong: "tests.engine.parts.pipelines_np:<name>"."""

from pathlib import Path

import numpy as np

MEAN, STD = np.array([0.5, 0.4, 0.3]), np.array([0.2, 0.25, 0.3])


def files(folder: Path, seed: int, count: int = 10) -> None:
    """`images.npy`, uint8 (count, 9, 7, 3), and `labels.npy`."""
    rng = np.random.default_rng(seed)
    np.save(folder / "images.npy", rng.integers(256, size=(count, 9, 7, 3), dtype=np.uint8))
    np.save(folder / "labels.npy", rng.integers(10, size=count))


def no_files(folder: Path, seed: int) -> None:  # noqa: ARG001
    """Leaves a part of a file behind."""
    (folder / "images.npy").touch()
    raise OSError("the disk is full")


class Staged:
    """Named functions of a picture over rows of the files, in batches."""

    def __init__(self, folder, batch_size=4, num_shards=1, shard_id=0, drop_remainder=False):
        self.pictures = np.load(folder / "images.npy")
        self.labels = np.load(folder / "labels.npy")
        self.order = [*range(shard_id, len(self.labels), num_shards)]
        self.rank, self.shards = shard_id, num_shards
        self.batch_size, self.drop_remainder = batch_size, drop_remainder
        self.dtype, self.perturb = "float32", None
        self.functions = {
            "crop": lambda image: image[1:],
            "scale": lambda image: self.first(image.astype(self.dtype) / self.array(255.0)),
            "normalize": lambda image: (image - self.array(MEAN)) / self.array(STD),
            "layout": lambda image: image.transpose(2, 0, 1),
        }

    def array(self, values):
        return np.asarray(values, self.dtype)

    def first(self, image):
        return image if self.perturb is None else self.perturb(image)

    @property
    def stages(self):
        return ("read", *self.functions, "batch")

    def run(self, until="batch", dtype="float32", perturb=None):
        self.dtype, self.perturb = dtype, perturb
        samples = []
        for row in self.order:
            image = self.pictures[row]
            for name in self.stages[1 : self.stages.index(until) + 1]:
                image = self.functions[name](image) if name != "batch" else image
            samples.append({"image": image, "label": self.labels[row]})
        if until != "batch":
            return samples
        batches = [
            samples[start : start + self.batch_size]
            for start in range(0, len(samples), self.batch_size)
        ]
        return [
            {part: np.stack([sample[part] for sample in batch]) for part in batch[0]}
            for batch in batches
            if len(batch) == self.batch_size or not self.drop_remainder
        ]


def reference(folder, **arguments):
    """The right pipeline."""
    return Staged(folder, **arguments)


def crude(folder, **arguments):
    """Far less exact in float32 than in float64."""
    made = Staged(folder, **arguments)
    normalize = made.functions["normalize"]
    made.functions["normalize"] = lambda image: (
        normalize(image) if made.dtype == "float64" else np.float32(normalize(image) + 1e-4)
    )
    return made


def after(stage, change):
    """Change what a stage gives."""

    def edit(made):
        function = made.functions[stage]
        made.functions[stage] = lambda image: change(function(image))

    return edit


def batches(change):
    """Change the list of batches."""

    def edit(made):
        run = made.run
        made.run = lambda until="batch": change(run(until)) if until == "batch" else run(until)

    return edit


def part(name, change):
    """Change images or labels of every batch."""
    return batches(lambda items: [{**item, name: change(item[name])} for item in items])


def holed(image):
    """Every seventh element is missing, and very large."""
    image = image.copy()
    image.reshape(-1)[::7] = 1e9
    return image


def put_crude_beside_holes(made):
    """With holes; what is beside them keeps two digits in the first batch."""
    after("layout", holed)(made)
    batches(lambda items: [{**items[0], "image": coarse(items[0]["image"])}, *items[1:]])(made)


def coarse(image):
    return np.where(image < 1e9, np.round(image, 2), image).astype(image.dtype)


def inserted(name, function, before):
    """One more stage."""

    def edit(made):
        found = made.functions
        names = [each for old in found for each in ((name, old) if old == before else (old,))]
        made.functions = {each: found.get(each, function) for each in names}

    return edit


def ordered(*names):
    def edit(made):
        made.functions = {name: made.functions[name] for name in names}

    return edit


def layout_first(made):
    """Channels first before they are normalised."""
    ordered("crop", "layout", "scale", "normalize")(made)
    normalize = made.functions["normalize"]
    made.functions["normalize"] = lambda image: normalize(image.transpose(1, 2, 0)).transpose(
        2, 0, 1
    )


def set_to(**values):
    def edit(made):
        for name, value in values.items():
            setattr(made, name, value(made))

    return edit


def without(name):
    return lambda made: made.functions.pop(name)


def raising(error):
    def edit(made):
        def run(*_):
            raise error

        made.run = run

    return edit


def one_nan(images):
    images = images.copy()
    images[0, 0, 0, 0] = np.nan
    return images


def off_by_roundings(count):
    """Every element of the result moved away from zero by that many units in the last place."""
    return lambda images: np.float32(images * (1.0 + count * 2.0**-24))


def with_one_level_off(image):
    image = image.copy()
    image[3, 2, 1] ^= 1
    return image


TOLD = "Exception thrown.\n\n----\n[ERROR] map operation: [Decode] failed.\n----\n- C++ Call Stack"


def in_rows(made):
    """Tuples for dicts."""
    run = made.run
    made.run = lambda *options: [tuple(item.values()) for item in run(*options)]


VARIANTS = {
    "right": lambda _: None,
    "rows": in_rows,
    "int32_labels": set_to(labels=lambda made: made.labels.astype(np.int32)),
    "unsigned_labels": set_to(labels=lambda made: made.labels.astype(np.uint32)),
    "few_roundings": part("image", off_by_roundings(5)),
    "float_labels": set_to(labels=lambda made: made.labels.astype(np.float32)),
    "many_roundings": part("image", off_by_roundings(60)),
    "not_a_number": part("image", one_nan),
    "double": part("image", lambda images: images.astype(np.float64)),
    "first_batch_missing": batches(lambda items: items[1:]),
    "last_batch_missing": batches(lambda items: items[:-1]),
    "batch_twice": batches(lambda items: [*items, items[0]]),
    "batches_exchanged": batches(lambda items: [items[1], items[0], *items[2:]]),
    "wrong_label": set_to(labels=lambda made: made.labels + (np.arange(10) == 3)),
    "labels_from_one": set_to(labels=lambda made: made.labels + 1),
    "with_holes": after("layout", holed),
    "crude_beside_holes": put_crude_beside_holes,
    "one_level": after("crop", with_one_level_off),
    "nothing": set_to(order=lambda _: []),
    "reversed_order": set_to(order=lambda made: made.order[::-1]),
    "last_sample_missing": set_to(order=lambda made: made.order[:-1]),
    "first_shard": set_to(order=lambda made: [*range(0, 10, made.shards)]),
    "other_shards": set_to(
        order=lambda made: [*range(made.shards - 1 - made.rank, 10, made.shards)]
    ),
    "other_pictures": set_to(pictures=lambda made: made.pictures[:, ::-1].copy()),
    "flipped": after("crop", lambda image: image[:, ::-1]),
    "flip_added": inserted("flip", lambda image: image[:, ::-1], "scale"),
    "copy_added": inserted("copy", np.copy, "scale"),
    "copy_added_before_flip": lambda made: (
        inserted("copy", np.copy, "scale")(made) or after("scale", lambda i: i[:, ::-1])(made)
    ),
    "without_crop": without("crop"),
    "without_scale": without("scale"),
    "without_normalize": without("normalize"),
    "without_layout": without("layout"),
    "early_layout": layout_first,
    "crop_last": ordered("scale", "normalize", "crop", "layout"),
    "normalize_first": ordered("crop", "normalize", "scale", "layout"),
    "batches_of_five": set_to(batch_size=lambda _: 5),
    "remainder_dropped": set_to(drop_remainder=lambda _: True),
    "remainder_kept": set_to(drop_remainder=lambda _: False),
    "raises": raising(ValueError("no such picture")),
    "raises_like_mindspore": raising(RuntimeError(TOLD)),
}


def renamed(make, columns):
    """The same pipeline with columns of other names."""

    def build(folder, **arguments):
        made = make(folder, **arguments)
        run = made.run
        made.run = lambda *options: [
            {columns[name]: values for name, values in item.items()} for item in run(*options)
        ]
        return made

    return build


COLUMNS = {"image": "pixels", "label": "y"}
OTHERS = {"image": "data", "label": "target"}


def __getattr__(name):
    for prefix, columns in (("columns_", COLUMNS), ("others_", OTHERS)):
        if name.startswith(prefix):
            return renamed(__getattr__(name.removeprefix(prefix)), columns)
    if name not in VARIANTS:
        raise AttributeError(name)

    def build(folder, **arguments):
        made = Staged(folder, **arguments)
        VARIANTS[name](made)
        return made

    return build

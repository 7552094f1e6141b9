"""The declared data pipelines, and the differences between the libraries that are known."""

from typing import Any

from equivalence.declare.twin import grid
from equivalence.errors import DeclarationError
from equivalence.pipelines.compare import Pipeline


def beside(name: str, reference: str, candidate: str, files: str, **options: Any) -> Pipeline:
    """Functions of the two `data` modules over files of `tests.image_files`."""
    return Pipeline(
        name,
        reference=f"pt_reference.data:{reference}",
        candidate=f"ms_models.data:{candidate}",
        files=f"tests.image_files:{files}",
        **options,
    )


SMALL = {"resize": 32, "crop": 27, "batch_size": 4}
FEW = {"batch_size": 8, "num_samples": 30}

RIGHT = (
    beside(
        "imagenet_eval",
        "imagenet_eval",
        "imagenet_eval",
        "image_folder",
        configs=[
            *grid(**SMALL, drop_remainder=[False, True]),
            *grid(**SMALL, num_shards=[3, 4]),  # of 15 files: evenly, and some twice
        ],
    ),
    beside("whole_pictures", "normalized", "normalized", "image_folder"),
    beside("in_levels", "normalized", "normalized_in_levels", "image_folder"),
    beside(
        "center_crop", "center_crop", "center_crop", "image_folder", configs=grid(crop=[39, 40])
    ),
    beside("decode", "decoded", "decoded", "image_formats"),
    beside("native_decode", "decoded", "native_decoded", "image_formats"),
    beside("decode_16_bits", "decoded", "decoded", "deep_grey"),
    beside(
        "cifar10_train",
        "cifar10_train",
        "cifar10_train",
        "cifar10",
        configs=[*grid(**FEW, size=[32, 56]), *grid(**FEW, num_shards=3)],
    ),
    beside(
        "cifar10_eval",
        "cifar10_eval",
        "cifar10_eval",
        "cifar10",
        configs=grid(**FEW, size=[32, 56]),
    ),
    beside("cifar100_eval", "cifar100_eval", "cifar100_eval", "cifar100", configs=grid(**FEW)),
    beside(
        "imagenet_eval_full",
        "imagenet_eval",
        "imagenet_eval",
        "image_folder",
        configs=grid(resize=256, crop=224, SCALE=6.3),
        level="nightly",
    ),
    beside(
        "cifar10_train_full",
        "cifar10_train",
        "cifar10_train",
        "cifar10",
        configs=grid(size=224, batch_size=32, num_samples=80),
        level="nightly",
    ),
    beside(
        "cifar10_shards_full",
        "cifar10_train",
        "cifar10_train",
        "cifar10",
        configs=grid(num_shards=8, batch_size=32, num_samples=256),
        level="nightly",
    ),
)

# Where MindSpore's own operators give other pictures than PIL; the same with PIL is above.
DIFFERENT = (
    beside(
        "native_imagenet_eval",
        "imagenet_eval",
        "native_imagenet_eval",
        "image_folder",
        configs=grid(**SMALL),
        differs="resize: MindSpore's own does not antialias; up to 41 levels",
    ),
    beside(
        "native_imagenet_eval_full",
        "imagenet_eval",
        "native_imagenet_eval",
        "image_folder",
        configs=grid(resize=256, crop=224, SCALE=6.3),
        level="nightly",
        differs="resize: MindSpore's own does not antialias; up to 37 levels",
    ),
    beside(
        "aliased_resize",
        "aliased_resize",
        "native_resize",
        "image_folder",
        configs=grid(resize=32),
        differs="resize: without antialiasing on both sides, rounded otherwise; up to 1 level",
    ),
    beside(
        "native_cifar10_eval",
        "cifar10_eval",
        "native_cifar10_eval",
        "cifar10",
        configs=grid(**FEW, size=56),
        differs="resize: enlarged by MindSpore's own, rounded otherwise; up to 1 level",
    ),
    beside(
        "native_center_crop",
        "center_crop",
        "native_center_crop",
        "image_folder",
        configs=grid(crop=40),
        differs="crop: odd margins, which torchvision halves to the even; shifted by 1 pixels down",
    ),
    beside(
        "native_decode_16_bits",
        "decoded",
        "native_decoded",
        "deep_grey",
        differs="decode: 16 bits are divided by 256, by PIL cut off; up to 249 levels",
    ),
    beside(
        "uneven_shards_dropped",
        "imagenet_eval_dropping_uneven",
        "imagenet_eval",
        "image_folder",
        configs=grid(**SMALL, num_shards=4),
        differs="shard: of 15 files on 4 ranks MindSpore repeats one, drop_last leaves out three",
    ),
)


def declared() -> list[Pipeline]:
    """Every pipeline. Raises DeclarationError when a name is taken twice."""
    pipelines: dict[str, Pipeline] = {}
    for pipeline in (*RIGHT, *DIFFERENT):
        if pipeline.name in pipelines:
            raise DeclarationError(f"pipeline {pipeline.name!r} is declared twice")
        pipelines[pipeline.name] = pipeline
    return list(pipelines.values())

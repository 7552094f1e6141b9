"""Folders of images, as ImageNet's are evaluated."""

from equivalence.declare.twin import grid
from tests.pipelines.making import SMALL, beside

PIPELINES = (
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
    beside(
        "imagenet_eval_full",
        "imagenet_eval",
        "imagenet_eval",
        "image_folder",
        configs=grid(resize=256, crop=224, SCALE=6.3),
        level="nightly",
    ),
)

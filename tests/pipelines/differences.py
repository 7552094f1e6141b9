"""Where MindSpore's own operators give other pictures than PIL; the same with PIL is elsewhere."""

from equivalence.declare.difference import Difference
from equivalence.declare.twin import grid
from tests.pipelines.making import FEW, SMALL, beside

PIPELINES = (
    beside(
        "native_imagenet_eval",
        "imagenet_eval",
        "native_imagenet_eval",
        "image_folder",
        configs=grid(**SMALL),
        differs=Difference(
            "resize: MindSpore's own does not antialias; up to 41 levels", {"image[*]": 1.2}
        ),
    ),
    beside(
        "native_imagenet_eval_full",
        "imagenet_eval",
        "native_imagenet_eval",
        "image_folder",
        configs=grid(resize=256, crop=224, SCALE=6.3),
        level="nightly",
        differs=Difference(
            "resize: MindSpore's own does not antialias; up to 37 levels", {"image[0]": 0.16}
        ),
    ),
    beside(
        "aliased_resize",
        "aliased_resize",
        "native_resize",
        "image_folder",
        configs=grid(resize=32),
        differs=Difference(
            "resize: without antialiasing on both sides, rounded otherwise; up to 1 level",
            {"image[*]": 0.006},
        ),
    ),
    beside(
        "native_cifar10_eval",
        "cifar10_eval",
        "native_cifar10_eval",
        "cifar10",
        configs=grid(**FEW, size=56),
        differs=Difference(
            "resize: enlarged by MindSpore's own, rounded otherwise; up to 1 level",
            {"image[*]": 0.02},
        ),
    ),
    beside(
        "native_center_crop",
        "center_crop",
        "native_center_crop",
        "image_folder",
        configs=grid(crop=40),
        differs=Difference(
            "crop: odd margins, which torchvision halves to the even; shifted by 1 pixels down",
            {"image[0]": 0.2},
        ),
    ),
    beside(
        "native_decode_16_bits",
        "decoded",
        "native_decoded",
        "deep_grey",
        differs=Difference(
            "decode: 16 bits are divided by 256, by PIL cut off; up to 249 levels",
            {"image[0]": 1.3},
        ),
    ),
    beside(
        "uneven_shards_dropped",
        "imagenet_eval_dropping_uneven",
        "imagenet_eval",
        "image_folder",
        configs=grid(**SMALL, num_shards=4),
        differs=Difference(
            "shard: of 15 files on 4 ranks MindSpore repeats one, drop_last leaves out three",
            {
                "image[0]@rank*": "shape (4, 3, 27, 27)",
                "label[0]@rank*": "shape (4,)",
                "count:samples": 0.4,
                "count:reads": 0.6,
            },
        ),
    ),
)

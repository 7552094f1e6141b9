"""Mistakes in data pipelines: stages, their order, samples, labels and batches."""

from collections.abc import Callable
from typing import Any

from mindspore.dataset import transforms, vision
from mindspore.dataset.vision import Inter

from ms_models.data import CIFAR_MEAN, CIFAR_STD, IMAGENET_MEAN, IMAGENET_STD, StagedDataset
from tests.defects import data_candidates as mistakes
from tests.defects.defect import Defect

HERE = "tests.defects.data_candidates:"
IMAGENET = {"twin": "imagenet_eval", "where": {"drop_remainder": False}}
THREE = {"twin": "imagenet_eval", "where": {"num_shards": 3}}
FOUR = {"twin": "imagenet_eval", "where": {"num_shards": 4}}
WHOLE = {"twin": "whole_pictures", "where": {}}
LEVELS = {"twin": "in_levels", "where": {}}
TRAIN = {"twin": "cifar10_train", "where": {"size": 32}}
EVAL = {"twin": "cifar10_eval", "where": {"size": 32}}

Edit = Callable[[StagedDataset], None]


def stage(name: str, operator: Any) -> Edit:
    """Another operator for a stage."""

    def edit(made: StagedDataset) -> None:
        assert name in made.operators
        made.operators[name] = operator

    return edit


def without(name: str) -> Edit:
    """No such stage."""
    return lambda made: made.operators.pop(name) and None


def added(name: str, operator: Any) -> Edit:
    """One more stage, the first."""

    def edit(made: StagedDataset) -> None:
        made.operators = {name: operator, **made.operators}

    return edit


def ordered(*names: str) -> Edit:
    """The same stages in this order."""

    def edit(made: StagedDataset) -> None:
        made.operators = {name: made.operators.pop(name) for name in names} | made.operators

    return edit


def mapped(column: str, operator: Callable) -> Edit:
    """Samples with one column changed as they are read."""

    def edit(made: StagedDataset) -> None:
        made.source = made.source.map(operator, [column], num_parallel_workers=1)

    return edit


def source(change: Callable) -> Edit:
    """Another source made of the right one."""

    def edit(made: StagedDataset) -> None:
        made.source = change(made.source)

    return edit


def times(factor: float, values: list[float]) -> list[float]:
    return [factor * value for value in values]


def normalized(mean: list[float], std: list[float], is_hwc: bool = True) -> Edit:
    return stage("normalize", vision.Normalize(mean, std, is_hwc))


VALUES = (
    Defect(
        "channels_in_the_order_of_opencv",
        "pictures are decoded to BGR",
        **IMAGENET,
        culprit=("decode",),
        cause="BGR for RGB",
        edit=stage("decode", mistakes.opened_in_reverse),
    ),
    Defect(
        "grey_into_the_first_channel",
        "grey pictures leave two channels black",
        **IMAGENET,
        culprit=("decode",),
        cause="only the first channel is left (in 1 of 15)",
        edit=stage("decode", mistakes.opened_into_the_first_channel),
    ),
    Defect(
        "grey_left_grey",
        "a grey picture keeps its one channel, and three means do not fit it",
        **IMAGENET,
        culprit=None,
        edit=stage("decode", mistakes.opened),
        raises="SideError",
    ),
    Defect(
        "not_divided_by_255",
        "levels are normalised by the statistics of shares",
        **WHOLE,
        culprit=("scale",),
        cause="not divided by 255",
        edit=without("scale"),
    ),
    Defect(
        "divided_by_255_twice",
        "ToTensor divides, and so does Rescale after it",
        **IMAGENET,
        culprit=("scale",),
        cause="divided by 255 twice",
        edit=stage(
            "scale", transforms.Compose([vision.ToTensor(), vision.Rescale(1.0 / 255.0, 0.0)])
        ),
    ),
    Defect(
        "mean_and_deviation_exchanged",
        "another order of the two arguments",
        **WHOLE,
        culprit=("normalize",),
        cause="mean and standard deviation are exchanged",
        edit=normalized(IMAGENET_STD, IMAGENET_MEAN),
    ),
    Defect(
        "mean_and_deviation_exchanged_in_levels",
        "another order of the two arguments, without a stage that scales",
        **LEVELS,
        culprit=("normalize",),
        cause="mean and standard deviation are exchanged",
        edit=normalized(times(255, IMAGENET_STD), times(255, IMAGENET_MEAN)),
    ),
    Defect(
        "deviation_in_levels",
        "the standard deviation is multiplied by 255, of a picture that is not",
        **IMAGENET,
        culprit=("normalize",),
        cause="the standard deviation is in levels",
        edit=normalized(IMAGENET_MEAN, times(255, IMAGENET_STD), is_hwc=False),
    ),
    Defect(
        "statistics_in_levels",
        "both are multiplied by 255, and the picture is divided by it",
        **WHOLE,
        culprit=("normalize",),
        cause="both are in levels",
        edit=normalized(times(255, IMAGENET_MEAN), times(255, IMAGENET_STD)),
    ),
    Defect(
        "statistics_of_reversed_channels",
        "mean and standard deviation are written down as B, G, R",
        **IMAGENET,
        culprit=("normalize",),
        cause="of the channels in reverse",
        edit=normalized(IMAGENET_MEAN[::-1], IMAGENET_STD[::-1], is_hwc=False),
    ),
    Defect(
        "statistics_of_another_data_set",
        "ImageNet's mean and deviation for CIFAR-10",
        **EVAL,
        culprit=("normalize",),
        cause="by mean 0.485",
        edit=normalized(IMAGENET_MEAN, IMAGENET_STD),
    ),
    Defect(
        "one_digit_of_the_deviation",
        "0.2023 is copied as 0.2032",
        **EVAL,
        culprit=("normalize",),
        cause="standard deviation 0.2032",
        edit=normalized(CIFAR_MEAN, [0.2032, *CIFAR_STD[1:]]),
    ),
    Defect(
        "mean_not_subtracted",
        "divided by the standard deviation alone",
        **EVAL,
        culprit=("normalize",),
        cause="the mean is not subtracted",
        edit=normalized([0.0] * 3, CIFAR_STD),
    ),
    Defect(
        "not_normalized",
        "the stage is forgotten",
        **IMAGENET,
        culprit=("normalize",),
        cause="no such stage",
        edit=without("normalize"),
    ),
    Defect(
        "layout_left_as_decoded",
        "channels stay last",
        **WHOLE,
        culprit=("layout",),
        cause="HWC for CHW",
        edit=without("layout"),
    ),
)

GEOMETRY = (
    Defect(
        "flip_kept_in_evaluation",
        "the transforms of the training are copied with their random flip",
        **EVAL,
        culprit=("flip",),
        cause="flipped left to right",
        edit=added("flip", vision.RandomHorizontalFlip(0.5)),
    ),
    Defect(
        "random_crop_kept_in_evaluation",
        "the transforms of the training are copied with their random crop",
        **EVAL,
        culprit=("crop",),
        cause="no such stage",
        edit=added("crop", vision.RandomCrop(32, 4)),
    ),
    Defect(
        "resized_to_a_square",
        "Resize((32, 32)) for Resize(32)",
        **IMAGENET,
        culprit=("resize",),
        cause="square",
        edit=stage("resize", vision.Resize((32, 32), Inter.BILINEAR)),
    ),
    Defect(
        "resized_without_pil",
        "MindSpore's own resize, which does not antialias",
        **IMAGENET,
        culprit=("resize",),
        cause="levels",
        edit=stage("decode", vision.Decode()),
    ),
    Defect(
        "enlarged_without_pil",
        "MindSpore's own resize is off by one level",
        twin="cifar10_eval",
        where={"size": 56},
        culprit=("resize",),
        cause="up to 1 of 255 levels",
        edit=without("to_pil"),
    ),
    Defect(
        "resized_bicubically",
        "another interpolation",
        **IMAGENET,
        culprit=("resize",),
        cause="levels",
        edit=stage("resize", vision.Resize(32, Inter.BICUBIC)),
    ),
    Defect(
        "crop_off_by_one",
        "the margin is rounded up",
        **IMAGENET,
        culprit=("crop",),
        cause="shifted by",
        edit=stage("crop", mistakes.cropped_from_above(27)),
    ),
    Defect(
        "cropped_before_resizing",
        "the two are exchanged",
        **IMAGENET,
        culprit=("resize",),
        cause="comes after crop",
        edit=ordered("decode", "crop", "resize"),
    ),
    Defect(
        "normalized_before_padding",
        "the border is grey in the units of the standard deviation instead of black",
        **TRAIN,
        culprit=("crop",),
        cause="comes after scale and normalize",
        edit=ordered("scale", "normalize", "crop", "flip"),
    ),
    Defect(
        "flipped_before_cropping",
        "the two are exchanged, so that the crop starts from the other side",
        **TRAIN,
        culprit=("crop",),
        cause="comes after flip",
        edit=ordered("flip", "crop"),
    ),
    Defect(
        "padded_by_reflection",
        "the border repeats the picture instead of being black",
        **TRAIN,
        culprit=("crop",),
        edit=stage("crop", mistakes.ReflectedCrop()),
    ),
    Defect(
        "crop_with_axes_exchanged",
        "left for top",
        **TRAIN,
        culprit=("crop",),
        cause="shifted by",
        edit=stage("crop", mistakes.TransposedCrop()),
    ),
    Defect(
        "flips_the_others",
        "the choice is read the other way round",
        **TRAIN,
        culprit=("flip",),
        cause="flipped left to right (in 30 of 30)",
        edit=stage("flip", mistakes.OppositeFlip()),
    ),
    Defect(
        "augmented_as_the_first_shard",
        "every rank draws the same choices",
        twin="cifar10_train",
        where={"num_shards": 3},
        culprit=("crop",),
        cause="shifted by",
        candidate=HERE + "choices_of_the_first_shard",
    ),
)

SAMPLES = (
    Defect(
        "planes_read_as_pixels",
        "CIFAR's planes are reshaped without being transposed",
        **EVAL,
        culprit=("read",),
        cause="three planes are read as if they were rows of pixels",
        edit=mapped("image", mistakes.interleaved),
    ),
    Defect(
        "evaluated_on_the_training_pictures",
        "the other file of the same folder",
        **EVAL,
        culprit=("read",),
        cause="none of the reference's",
        candidate=HERE + "trained_pictures",
    ),
    Defect(
        "shuffled",
        "evaluation in another order",
        **IMAGENET,
        culprit=("order",),
        cause="in another order",
        edit=source(lambda dataset: dataset.shuffle(15)),
    ),
    Defect(
        "first_sample_skipped",
        "an iterator is advanced once before the loop",
        **IMAGENET,
        culprit=("order",),
        cause="missing: 0",
        edit=source(lambda dataset: dataset.skip(1)),
    ),
    Defect(
        "samples_lost_between_shards",
        "each rank takes the whole part of a fourth",
        **FOUR,
        culprit=("shard",),
        cause="missing: 0, 12, 13, 14",
        edit=source(lambda dataset: dataset.take(15 // 4)),
    ),
    Defect(
        "every_rank_the_first_shard",
        "the rank is not handed on",
        **THREE,
        culprit=("shard",),
        cause="too often: 0, 0, 3, 3, 6, 6 and 4 more",
        arguments={"shard_id": 0},
    ),
    Defect(
        "not_sharded",
        "every rank reads all of it",
        **THREE,
        culprit=("shard",),
        cause="rank 0 reads 0, 1, 2, 3, 4, 5 and 9 more for 0, 3, 6, 9, 12",
        arguments={"num_shards": 1, "shard_id": 0},
    ),
    Defect(
        "contiguous_shards",
        "runs of files instead of every third",
        **THREE,
        culprit=("shard",),
        cause="rank 0 reads 0, 1, 2, 3, 4 for 0, 3, 6, 9, 12",
        candidate=HERE + "contiguous_shards",
    ),
    Defect(
        "more_shards_than_ranks",
        "five shards on three ranks",
        **THREE,
        culprit=("shard",),
        cause="missing: 3, 4, 8, 9, 13, 14",
        arguments={"num_shards": 5},
    ),
    Defect(
        "labels_from_one",
        "classes are counted from one",
        **IMAGENET,
        culprit=("label",),
        cause="1 more",
        edit=mapped("label", lambda label: label + 1),
    ),
    Defect(
        "classes_in_the_order_of_numbers",
        "class_10 comes last, where text sorts it first",
        **IMAGENET,
        culprit=("label",),
        cause="other numbers of the classes: 2 for 0, 0 for 1, 1 for 2",
        candidate=HERE + "numbered_classes",
    ),
    Defect(
        "coarse_labels_for_fine_ones",
        "the other of CIFAR-100's two labels",
        twin="cifar100_eval",
        where={},
        culprit=("label",),
        cause="divided by 5",
        candidate=HERE + "coarse_labels",
    ),
    Defect(
        "incomplete_batch_dropped_in_evaluation",
        "drop_remainder as in training",
        **IMAGENET,
        culprit=("batch",),
        cause="the last batch, of 3 where others have 4, is dropped",
        arguments={"drop_remainder": True},
    ),
    Defect(
        "incomplete_batch_kept_in_training",
        "drop_remainder is forgotten",
        **TRAIN,
        culprit=("batch",),
        cause="the last batch, of 6 where others have 8, is kept",
        arguments={"drop_remainder": False},
    ),
    Defect(
        "batch_of_all_ranks",
        "the batch size is not divided among the ranks",
        **THREE,
        culprit=("batch",),
        cause="batches of 5 for 4, 1",
        arguments={"batch_size": 12},
    ),
)

DEFECTS = (*VALUES, *GEOMETRY, *SAMPLES)

"""Mistakes in data pipelines: stages, their order, samples, labels and batches."""

from collections.abc import Callable
from typing import Any

from mindspore.dataset import transforms, vision
from mindspore.dataset.vision import Inter

from ms_models.data import CIFAR_MEAN, CIFAR_STD, IMAGENET_MEAN, IMAGENET_STD, StagedDataset
from tests.defects import data_candidates as wrong
from tests.defects import picture_candidates as decoded
from tests.defects.defect import Defect
from tests.defects.makers import built_with, candidate, edited
from tests.defects.victim import Victim, victim

HERE = "tests.defects.data_candidates:"
IMAGENET = victim("imagenet_eval", drop_remainder=False)
THREE = victim("imagenet_eval", num_shards=3)
FOUR = victim("imagenet_eval", num_shards=4)
PICTURES = victim("whole_pictures")
LEVELS = victim("in_levels")
TRAIN = victim("cifar10_train", size=32)
EVAL = victim("cifar10_eval", size=32)

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


def staged(name: str, victim: Victim, operator: Any, mistake: str, **outcome: str) -> Defect:
    """Another operator for the victim's stage."""
    return edited(name, victim, stage(*victim.layers, operator), mistake, **outcome)


def normalized(
    name: str,
    victim: Victim,
    mean: list[float],
    std: list[float],
    mistake: str,
    is_hwc: bool = True,
    **outcome: str,
) -> Defect:
    """Other statistics to normalize by."""
    operator = vision.Normalize(mean, std, is_hwc)
    return staged(name, victim.at("normalize"), operator, mistake, **outcome)


EXCHANGED = "mean and standard deviation are exchanged"

# fmt: off
VALUES = (
    staged("channels_in_the_order_of_opencv", IMAGENET.at("decode"), wrong.opened_in_reverse,
        "pictures are decoded to BGR", cause="BGR for RGB"),
    staged("grey_into_the_first_channel", IMAGENET.at("decode"),
        wrong.opened_into_the_first_channel, "grey pictures leave two channels black",
        cause="only the first channel is left (in 1 of 15)"),
    staged("grey_left_grey", IMAGENET.at("decode"), wrong.opened,
        "a grey picture keeps its one channel, and three means do not fit it", raises="SideError"),
    edited("not_divided_by_255", PICTURES.at("scale"), without("scale"),
        "levels are normalised by the statistics of shares", cause="not divided by 255"),
    staged("divided_by_255_twice", IMAGENET.at("scale"),
        transforms.Compose([vision.ToTensor(), vision.Rescale(1.0 / 255.0, 0.0)]),
        "ToTensor divides, and so does Rescale after it", cause="divided by 255 twice"),
    normalized("mean_and_deviation_exchanged", PICTURES, IMAGENET_STD, IMAGENET_MEAN,
        "another order of the two arguments", cause=EXCHANGED),
    normalized("mean_and_deviation_exchanged_in_levels", LEVELS,
        times(255, IMAGENET_STD), times(255, IMAGENET_MEAN),
        "another order of the two arguments, without a stage that scales", cause=EXCHANGED),
    normalized("deviation_in_levels", IMAGENET, IMAGENET_MEAN, times(255, IMAGENET_STD),
        "the standard deviation is multiplied by 255, of a picture that is not",
        is_hwc=False, cause="the standard deviation is in levels"),
    normalized("statistics_in_levels", PICTURES,
        times(255, IMAGENET_MEAN), times(255, IMAGENET_STD),
        "both are multiplied by 255, and the picture is divided by it", cause="both are in levels"),
    normalized("statistics_of_reversed_channels", IMAGENET, IMAGENET_MEAN[::-1], IMAGENET_STD[::-1],
        "mean and standard deviation are written down as B, G, R",
        is_hwc=False, cause="of the channels in reverse"),
    normalized("statistics_of_another_data_set", EVAL, IMAGENET_MEAN, IMAGENET_STD,
        "ImageNet's mean and deviation for CIFAR-10", cause="by mean 0.485"),
    normalized("one_digit_of_the_deviation", EVAL, CIFAR_MEAN, [0.2032, *CIFAR_STD[1:]],
        "0.2023 is copied as 0.2032", cause="standard deviation 0.2032"),
    normalized("mean_not_subtracted", EVAL, [0.0] * 3, CIFAR_STD,
        "divided by the standard deviation alone", cause="the mean is not subtracted"),
    edited("not_normalized", IMAGENET.at("normalize"), without("normalize"),
        "the stage is forgotten", cause="no such stage"),
    edited("layout_left_as_decoded", PICTURES.at("layout"), without("layout"),
        "channels stay last", cause="HWC for CHW"),
)

GEOMETRY = (
    edited("flip_kept_in_evaluation", EVAL.at("flip"),
        added("flip", vision.RandomHorizontalFlip(0.5)),
        "the transforms of the training are copied with their random flip",
        cause="flipped left to right"),
    edited("random_crop_kept_in_evaluation", EVAL.at("crop"),
        added("crop", vision.RandomCrop(32, 4)),
        "the transforms of the training are copied with their random crop", cause="no such stage"),
    staged("resized_to_a_square", IMAGENET.at("resize"), vision.Resize((32, 32), Inter.BILINEAR),
        "Resize((32, 32)) for Resize(32)", cause="square"),
    edited("resized_without_pil", IMAGENET.at("resize"), stage("decode", vision.Decode()),
        "MindSpore's own resize, which does not antialias", cause="levels"),
    edited("enlarged_without_pil", victim("cifar10_eval", size=56).at("resize"), without("to_pil"),
        "MindSpore's own resize is off by one level", cause="up to 1 of 255 levels"),
    staged("resized_bicubically", IMAGENET.at("resize"), vision.Resize(32, Inter.BICUBIC),
        "another interpolation", cause="levels"),
    staged("crop_off_by_one", IMAGENET.at("crop"), wrong.cropped_from_above(27),
        "the margin is rounded up", cause="shifted by"),
    edited("cropped_before_resizing", IMAGENET.at("resize"), ordered("decode", "crop", "resize"),
        "the two are exchanged", cause="comes after crop"),
    edited("normalized_before_padding", TRAIN.at("crop"),
        ordered("scale", "normalize", "crop", "flip"),
        "the border is grey in the units of the standard deviation instead of black",
        cause="comes after scale and normalize"),
    edited("flipped_before_cropping", TRAIN.at("crop"), ordered("flip", "crop"),
        "the two are exchanged, so that the crop starts from the other side",
        cause="comes after flip"),
    staged("padded_by_reflection", TRAIN.at("crop"), wrong.ReflectedCrop(),
        "the border repeats the picture instead of being black"),
    staged("crop_with_axes_exchanged", TRAIN.at("crop"), wrong.TransposedCrop(),
        "left for top", cause="shifted by"),
    staged("flips_the_others", TRAIN.at("flip"), wrong.OppositeFlip(),
        "the choice is read the other way round", cause="flipped left to right (in 30 of 30)"),
    candidate("augmented_as_the_first_shard", victim("cifar10_train", num_shards=3).at("crop"),
        HERE + "choices_of_the_first_shard",
        "every rank draws the same choices", cause="shifted by"),
)

SAMPLES = (
    edited("planes_read_as_pixels", EVAL.at("read"), mapped("image", wrong.interleaved),
        "CIFAR's planes are reshaped without being transposed",
        cause="three planes are read as if they were rows of pixels"),
    candidate("evaluated_on_the_training_pictures", EVAL.at("read"), HERE + "trained_pictures",
        "the other file of the same folder", cause="none of the reference's"),
    edited("shuffled", IMAGENET.at("order"), source(lambda dataset: dataset.shuffle(15)),
        "evaluation in another order", cause="in another order"),
    edited("first_sample_skipped", IMAGENET.at("order"), source(lambda dataset: dataset.skip(1)),
        "an iterator is advanced once before the loop", cause="missing: 0"),
    edited("samples_lost_between_shards", FOUR.at("shard"),
        source(lambda dataset: dataset.take(15 // 4)),
        "each rank takes the whole part of a fourth", cause="missing: 0, 12, 13, 14"),
    built_with("every_rank_the_first_shard", THREE.at("shard"),
        "the rank is not handed on", shard_id=0, cause="too often: 0, 0, 3, 3, 6, 6 and 4 more"),
    built_with("not_sharded", THREE.at("shard"), "every rank reads all of it", num_shards=1,
        shard_id=0, cause="rank 0 reads 0, 1, 2, 3, 4, 5 and 9 more for 0, 3, 6, 9, 12"),
    candidate("contiguous_shards", THREE.at("shard"), HERE, "runs of files instead of every third",
        cause="rank 0 reads 0, 1, 2, 3, 4 for 0, 3, 6, 9, 12"),
    built_with("more_shards_than_ranks", THREE.at("shard"),
        "five shards on three ranks", num_shards=5, cause="missing: 3, 4, 8, 9, 13, 14"),
    edited("labels_from_one", IMAGENET.at("label"), mapped("label", lambda label: label + 1),
        "classes are counted from one", cause="1 more"),
    candidate("classes_in_the_order_of_numbers", IMAGENET.at("label"), HERE + "numbered_classes",
        "class_10 comes last, where text sorts it first",
        cause="other numbers of the classes: 2 for 0, 0 for 1, 1 for 2"),
    candidate("coarse_labels_for_fine_ones", victim("cifar100_eval").at("label"),
        HERE + "coarse_labels", "the other of CIFAR-100's two labels", cause="divided by 5"),
    built_with("incomplete_batch_dropped_in_evaluation", IMAGENET.at("batch"),
        "drop_remainder as in training",
        drop_remainder=True, cause="the last batch, of 3 where others have 4, is dropped"),
    built_with("incomplete_batch_kept_in_training", TRAIN.at("batch"),
        "drop_remainder is forgotten",
        drop_remainder=False, cause="the last batch, of 6 where others have 8, is kept"),
    built_with("batch_of_all_ranks", THREE.at("batch"),
        "the batch size is not divided among the ranks",
        batch_size=12, cause="batches of 5 for 4, 1"),
)


def meeting(pictures: str, stage: str = "decode") -> Victim:
    """Evaluation on pictures of another kind than those of its folder, which show no mistake."""
    return victim("imagenet_eval", drop_remainder=False, pictures=pictures).at(stage)


def by_hand(name: str, victim: Victim, function: Callable, mistake: str, **outcome: str) -> Defect:
    """A function of Python for the victim's stage, which gives a picture of Pillow."""
    operator = transforms.Compose([function, vision.ToPIL()])
    return staged(name, victim, operator, mistake, **outcome)


OTHER_PICTURES = (
    by_hand("turned_upright", meeting("turned"), decoded.turned_upright,
        "OpenCV turns a picture as EXIF says, torchvision's ImageFolder does not"),
    by_hand("composited_on_white", meeting("alpha"), decoded.on_white,
        "alpha is drawn on a white page instead of being dropped", cause="levels"),
    by_hand("grey_times_its_alpha", meeting("grey_alpha"), decoded.premultiplied,
        "grey is multiplied by its alpha", cause="levels"),
    by_hand("palette_read_as_grey", meeting("palette"), decoded.numbers_of_colours,
        "the numbers of colours are taken for levels", cause="levels"),
    by_hand("transparent_colour_is_black", meeting("palette_alpha"), decoded.transparent_as_black,
        "the transparent colour of a palette is drawn black", cause="levels"),
    by_hand("white_is_one", meeting("bits"), decoded.bits_as_levels,
        "a picture of bits is read as 0 and 1", cause="times as much"),
    by_hand("sixteen_bits_divided", meeting("deep"), decoded.divided_by_256,
        "16 bits are divided by 256, where Pillow cuts them off", cause="levels"),
    by_hand("inks_taken_for_lights", meeting("cmyk"), decoded.inks_as_lights,
        "three of four inks are taken for red, green and blue", cause="levels"),
    by_hand("row_taken_for_a_channel", meeting("pixel"), decoded.layout_by_size,
        "an axis of size 1 that comes first is taken for channels", cause="shape"),
    by_hand("longer_side_cut_off_when_wide", meeting("wide", "resize"), decoded.within(200),
        "the longer side is kept at 200", cause="shape"),
    by_hand("longer_side_cut_off_when_tall", meeting("tall", "resize"), decoded.within(200),
        "the longer side is kept at 200", cause="shape"),
)

DEFECTS = (*VALUES, *GEOMETRY, *SAMPLES, *OTHER_PICTURES)

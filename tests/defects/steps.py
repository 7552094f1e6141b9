"""Mistakes in loss scaling, clipping, accumulation, and whole recipes.

No layer is to blame for any of them but for those of a recipe's loss.
"""

from tests.defects.defect import Defect
from tests.defects.places import LOSS, UPDATE, compiled

STEP = "tests.defects.step_candidates:"

SCALED = {"twin": "managed_loss_scale", "where": {}, "culprit": UPDATE}
DYNAMIC = {"twin": "dynamic_loss_scale", "where": {}, "culprit": UPDATE}
ACCUMULATED = {"twin": "accumulated_gradients", "where": {"clip": None}, "culprit": UPDATE}
IMAGENET = {"twin": "imagenet_recipe", "where": {}, "culprit": UPDATE}
CIFAR10 = {"twin": "cifar10_recipe", "where": {}, "culprit": UPDATE}


def clipped(**where) -> dict:
    return {"twin": "clipped_momentum", "where": where, "culprit": UPDATE}


SCALING = (
    Defect(
        "loss_scale_not_divided_out",
        "the optimiser is not told of the scale",
        **SCALED,
        candidate=STEP + "scale_not_divided_out",
    ),
    Defect(
        "loss_scale_divided_out_twice",
        "by the step and by the optimiser",
        **compiled(SCALED),
        candidate=STEP + "scale_divided_twice",
    ),
    Defect(
        "decay_divided_by_loss_scale",
        "decay is added to gradients that are divided afterwards",
        **SCALED,
        candidate=STEP + "decay_divided_by_scale",
    ),
    Defect(
        "overflow_used",
        "infinite gradients reach the weights",
        **DYNAMIC,
        candidate=STEP + "overflow_used",
    ),
    Defect(
        "overflow_zeroed",
        "the update is made without what overflows",
        **compiled(DYNAMIC),
        candidate=STEP + "overflow_zeroed",
    ),
    Defect(
        "scale_not_halved",
        "after an overflow the scale stays as it is",
        **DYNAMIC,
        candidate=STEP + "scale_not_halved",
    ),
    Defect(
        "scale_quartered",
        "the scale changes by another factor",
        **DYNAMIC,
        candidate=STEP + "scale_quartered",
    ),
    Defect(
        "scale_from_half",
        "another initial scale, which does not overflow in the first step",
        **compiled(DYNAMIC),
        candidate=STEP + "scale_from_half",
    ),
    Defect(
        "scale_grows_late",
        "a window of four updates for three",
        **DYNAMIC,
        arguments={"window": 4},
    ),
    Defect(
        "count_kept_on_overflow",
        "a skipped update counts towards the next growth",
        **DYNAMIC,
        candidate=STEP + "count_kept_on_overflow",
    ),
)

CLIPPING = (
    Defect(
        "clipped_before_unscaling",
        "the limit is compared with scaled gradients",
        **clipped(clip="clip_norm", limit=2.0),
        candidate=STEP + "clipped_before_unscaling",
    ),
    Defect(
        "values_clipped_before_unscaling",
        "the limit is compared with scaled gradients",
        **compiled(clipped(clip="clip_value")),
        candidate=STEP + "clipped_before_unscaling",
    ),
    Defect(
        "clipped_by_value",
        "for clipping by norm",
        **clipped(clip="clip_norm", limit=2.0),
        arguments={"clip": "clip_value"},
    ),
    Defect(
        "clipped_by_norm",
        "for clipping by value",
        **compiled(clipped(clip="clip_value")),
        arguments={"clip": "clip_norm"},
    ),
    Defect(
        "each_clipped_by_its_norm",
        "every gradient by its own norm, not by that of all",
        **clipped(clip="clip_norm", limit=2.0),
        candidate=STEP + "each_by_its_norm",
    ),
    Defect(
        "clipped_by_the_largest_element",
        "the maximum norm for the Euclidean",
        **clipped(clip="clip_norm", limit=2.0),
        candidate=STEP + "clipped_by_the_largest",
    ),
    Defect(
        "scaled_up_to_the_limit",
        "small gradients are scaled, too",
        **clipped(clip="clip_norm", limit=1e3),
        candidate=STEP + "clipped_to_the_limit",
    ),
    Defect(
        "clipped_from_above",
        "minimum without maximum",
        **clipped(clip="clip_value"),
        candidate=STEP + "clipped_from_above",
    ),
    Defect(
        "clipping_forgotten",
        "a limit that is never reached",
        **clipped(clip="clip_norm", limit=2.0),
        arguments={"limit": 1e6},
    ),
)

ACCUMULATION = (
    Defect(
        "accumulated_without_mean",
        "the sum of the micro-batches",
        **ACCUMULATED,
        candidate=STEP + "sum_of_micro_batches",
    ),
    Defect(
        "accumulation_not_zeroed",
        "gradients of earlier updates stay in the sum",
        **compiled(ACCUMULATED),
        candidate=STEP + "not_zeroed",
    ),
    Defect(
        "mean_taken_twice",
        "of the loss and of the gradients",
        **ACCUMULATED,
        candidate=STEP + "mean_twice",
    ),
    Defect(
        "last_set_as_complete",
        "what is left over is divided by the number of a complete set",
        **ACCUMULATED,
        candidate=STEP + "last_set_as_complete",
    ),
    Defect(
        "last_set_dropped",
        "what is left over waits for the next epoch",
        **ACCUMULATED,
        candidate=STEP + "last_set_dropped",
    ),
    Defect(
        "last_micro_batch_alone",
        "gradients are assigned where they were to be added",
        **compiled(ACCUMULATED),
        candidate=STEP + "last_micro_batch_alone",
    ),
    Defect(
        "each_micro_batch_clipped",
        "their mean is not",
        **{"twin": "accumulated_gradients", "where": {"clip": 2.0}, "culprit": UPDATE},
        candidate=STEP + "each_clipped",
    ),
)

RECIPES = (
    Defect(
        "trains_in_evaluation",
        "set_train is forgotten",
        **IMAGENET,
        candidate=STEP + "trains_in_evaluation",
    ),
    Defect(
        "recipe_smoothed_over_others",
        "s / (C - 1) for the other classes, not s / C for all",
        **compiled({**IMAGENET, "culprit": LOSS}),
        candidate=STEP + "smoothed_over_others",
    ),
    Defect(
        "recipe_not_smoothed",
        "label smoothing is not handed on",
        **{**IMAGENET, "culprit": LOSS},
        arguments={"label_smoothing": 0.0},
        cause="label_smoothing",
    ),
    Defect(
        "recipe_decays_everything",
        "gamma, beta and bias decay, too",
        **IMAGENET,
        candidate=STEP + "recipe_decays_everything",
    ),
    Defect(
        "head_alone_is_trained",
        "the optimiser has the parameters of the head alone",
        **compiled(IMAGENET),
        candidate=STEP + "head_alone_is_trained",
    ),
    Defect(
        "cifar10_decoupled",
        "AdamW for Adam with weight_decay",
        **CIFAR10,
        candidate=STEP + "cifar10_decoupled",
    ),
    Defect(
        "cifar10_by_sum",
        "the sum of the losses, which Adam hardly notices",
        **compiled({**CIFAR10, "culprit": LOSS}),
        candidate=STEP + "cifar10_by_sum",
        cause="reduction",
    ),
)

DEFECTS = SCALING + CLIPPING + ACCUMULATION + RECIPES

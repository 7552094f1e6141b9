"""Mistakes in loss scaling, clipping, accumulation, what a step keeps, and whole recipes.

No layer is to blame for any of them but for those of a recipe's loss.
"""

from tests.defects.makers import built_with, candidate, setting
from tests.defects.victim import Victim, victim

STEP = "tests.defects.step_candidates:"
HELD = "tests.defects.state_candidates:"

SCALED = victim("managed_loss_scale").at("update")
DYNAMIC = victim("dynamic_loss_scale").at("update")
ACCUMULATED = victim("accumulated_gradients").at("update")
CLIPPED_SUM = victim("accumulated_gradients_clipped").at("update")
IMAGENET = victim("imagenet_recipe").at("update")
AVERAGED = victim("averaged_weights").at("state")
LONG_WINDOW = victim("scaler_of_a_long_window").at("state")
SEVERAL_CALLS = victim("gradients_of_several_calls").at("state")
CIFAR10 = victim("cifar10_recipe").at("update")


def clipped(**where) -> Victim:
    return victim("clipped_momentum", **where).at("update")


# fmt: off
SCALING = (
    candidate("loss_scale_not_divided_out", SCALED, STEP + "scale_not_divided_out",
        "the optimiser is not told of the scale", cause="not divided by the loss scale"),
    candidate("loss_scale_divided_out_twice", SCALED.compiled, STEP + "scale_divided_twice",
        "by the step and by the optimiser", cause="once more by the loss scale"),
    candidate("decay_divided_by_loss_scale", SCALED, STEP + "decay_divided_by_scale",
        "decay is added to gradients that are divided afterwards",
        cause="weight decay divided by the loss scale"),
    candidate("overflow_used", DYNAMIC, STEP, "infinite gradients reach the weights"),
    candidate("overflow_zeroed", DYNAMIC.compiled, STEP,
        "the update is made without what overflows"),
    candidate("scale_not_halved", DYNAMIC, STEP, "after an overflow the scale stays as it is"),
    candidate("scale_quartered", DYNAMIC, STEP, "the scale changes by another factor"),
    candidate("scale_from_half", DYNAMIC.compiled, STEP,
        "another initial scale, which does not overflow in the first step"),
    built_with("scale_grows_late", DYNAMIC, "a window of four updates for three", window=4),
    candidate("count_kept_on_overflow", DYNAMIC, STEP,
        "a skipped update counts towards the next growth"),
)

CLIPPING = (
    candidate("clipped_before_unscaling", clipped(clip="clip_norm", limit=2.0), STEP,
        "the limit is compared with scaled gradients"),
    candidate("values_clipped_before_unscaling", clipped(clip="clip_value").compiled,
        STEP + "clipped_before_unscaling", "the limit is compared with scaled gradients"),
    built_with("clipped_by_value", clipped(clip="clip_norm", limit=2.0),
        "for clipping by norm", clip="clip_value"),
    built_with("clipped_by_norm", clipped(clip="clip_value").compiled,
        "for clipping by value", clip="clip_norm"),
    candidate("each_clipped_by_its_norm", clipped(clip="clip_norm", limit=2.0),
        STEP + "each_by_its_norm", "every gradient by its own norm, not by that of all"),
    candidate("clipped_by_the_largest_element", clipped(clip="clip_norm", limit=2.0),
        STEP + "clipped_by_the_largest", "the maximum norm for the Euclidean"),
    candidate("scaled_up_to_the_limit", clipped(clip="clip_norm", limit=1e3),
        STEP + "clipped_to_the_limit", "small gradients are scaled, too"),
    candidate("clipped_from_above", clipped(clip="clip_value"), STEP, "minimum without maximum"),
    built_with("clipping_forgotten", clipped(clip="clip_norm", limit=2.0),
        "a limit that is never reached", limit=1e6),
)

ACCUMULATION = (
    candidate("accumulated_without_mean", ACCUMULATED.at("gradients"),
        STEP + "sum_of_micro_batches", "the sum of the micro-batches"),
    candidate("accumulation_not_zeroed", ACCUMULATED.compiled, STEP + "not_zeroed",
        "gradients of earlier updates stay in the sum"),
    candidate("mean_taken_twice", ACCUMULATED.at("gradients"), STEP + "mean_twice",
        "of the loss and of the gradients"),
    candidate("last_set_as_complete", ACCUMULATED.at("gradients"), STEP,
        "what is left over is divided by the number of a complete set"),
    candidate("last_set_dropped", ACCUMULATED, STEP, "what is left over waits for the next epoch"),
    candidate("last_micro_batch_alone", ACCUMULATED.compiled, STEP,
        "gradients are assigned where they were to be added"),
    candidate("each_micro_batch_clipped", CLIPPED_SUM,
        STEP + "each_clipped", "their mean is not"),
)

RECIPES = (
    candidate("trains_in_evaluation", IMAGENET, STEP, "set_train is forgotten",
        cause="in evaluation mode"),
    candidate("recipe_smoothed_over_others", IMAGENET.compiled.at("loss"),
        STEP + "smoothed_over_others", "s / (C - 1) for the other classes, not s / C for all"),
    setting("recipe_not_smoothed", IMAGENET.at("loss"),
        "label smoothing is not handed on", label_smoothing=0.0),
    candidate("recipe_decays_everything", IMAGENET, STEP, "gamma, beta and bias decay, too",
        cause="the weight decay for every weight"),
    candidate("head_alone_is_trained", IMAGENET.compiled, STEP,
        "the optimiser has the parameters of the head alone"),
    candidate("cifar10_decoupled", CIFAR10, STEP, "AdamW for Adam with weight_decay",
        cause="decoupled weight decay for an L2"),
    candidate("cifar10_by_sum", CIFAR10.compiled.at("loss"), STEP,
        "the sum of the losses, which Adam hardly notices", cause="reduction"),
)

KEPT = (
    candidate("averaged_before_the_update", AVERAGED, HELD, "the average gets the old weights"),
    candidate("average_of_matrices_alone", AVERAGED, HELD,
        "shifts and scales are left out"),
    candidate("average_warmed_up", AVERAGED, HELD,
        "min(decay, (1 + step) / (10 + step)), as other averages have it"),
    candidate("finite_steps_not_counted", LONG_WINDOW.compiled, HELD,
        "the scaler is never told that a step was finite"),
    candidate("gradients_assigned", SEVERAL_CALLS, HELD,
        "from the second set on, gradients are assigned where they were to be added"),
)

DEFECTS = SCALING + CLIPPING + ACCUMULATION + RECIPES + KEPT

"""Mistakes in losses, and in the reductions and poolings that networks end with."""

import functools

from tests.defects.makers import built_with, candidate, setting
from tests.defects.victim import victim

HERE = "tests.defects.loss_candidates:"

PLAIN = victim("focal_loss", gamma=1.0)
SQUARED = victim("focal_loss_squared", alpha=0.25)
MISSHAPEN = victim("focal_loss_of_misshapen_weight", WEIGHT=(5,))
SMOOTHED = victim("cross_entropy_smoothed_over_others", reduction="mean")
IGNORING = victim("cross_entropy_with_ignored_label")
MEAN_POOL = victim("global_mean_pool")
weighted = functools.partial(victim, "focal_loss_weighted", reduction="mean")
averaged = functools.partial(victim, "focal_loss_averaged")
LABELLED = victim("sparse_cross_entropy")
without_mean = functools.partial(victim, "sparse_cross_entropy_without_mean")
summed = functools.partial(victim, "reduce_log_sum_exp")

# fmt: off
FOCAL = (
    setting("alpha_and_its_complement_exchanged", PLAIN, "1 - alpha for the positives", alpha=0.75),
    setting("alpha_and_gamma_exchanged", PLAIN,
        "another order of the two arguments", gamma=0.25, alpha=1.0),
    setting("gamma_at_its_default", PLAIN,
        "the exponent of the configuration is not handed on", gamma=2.0),
    candidate("alpha_of_positives_alone", SQUARED, HERE + "AlphaOfPositivesAlone",
        "negatives are left at a share of one"),
    candidate("alpha_ignored", victim("focal_loss_squared", alpha=0.75).compiled,
        HERE + "AlphaIgnored", "the loss of the paper's first equation"),
    candidate("easy_examples_in_focus", SQUARED, HERE + "FocusOnEasyExamples",
        "p for 1 - p under the exponent"),
    candidate("focus_detached", SQUARED, HERE + "DetachedFocus",
        "the factor is taken for a weight, without a gradient"),
    candidate("sigmoid_twice", PLAIN, HERE + "SigmoidTwice",
        "probabilities handed to a loss of logits"),
    candidate("logarithm_unclamped", PLAIN, HERE + "UnclampedLogarithm",
        "log(1 - p) of a saturated p", cause="not finite"),
    candidate("logarithm_clamped", PLAIN, HERE + "ClampedLogarithm",
        "p kept within 1e-6 of zero and one: saturated logits lose loss and gradient"),
    candidate("target_cast_to_integers", victim("focal_loss_of_soft_targets"),
        HERE + "IntegerTarget", "soft targets become zero"),
    candidate("weight_ignored", weighted(WEIGHT=(64,)), HERE + "WeightIgnored",
        "the call's weight does not reach the loss", cause="nothing depends on input"),
    candidate("weight_detached", weighted(WEIGHT=(64, 5)).compiled, HERE + "WeightDetached",
        "the weight gets no gradient, though it is learnt", cause="no gradient reaches input"),
    candidate("weight_unrolled_by_columns", weighted(WEIGHT=(320,)), HERE + "WeightByColumns",
        "the flattened weight in the other order"),
    candidate("weight_unchecked", MISSHAPEN, HERE + "WeightUnchecked",
        "one weight per class fits no case of the elif chain, and broadcasts",
        raises="EquivalenceError"),
    candidate("mean_over_samples", weighted(WEIGHT=None), HERE + "MeanOverSamples",
        "divided by N where the mean is over N times C"),
    candidate("mean_over_positives", weighted(WEIGHT=(64,)), HERE + "MeanOverPositives",
        "divided by the number of positives, as detectors do"),
    candidate("mean_over_weights", weighted(WEIGHT=(64, 5)), HERE + "MeanOverWeights",
        "a weighted mean, divided by the sum of the weights"),
    setting("sum_for_mean", weighted(WEIGHT=(64,)),
        "another reduction by default", reduction="sum"),
    candidate("average_factor_ignored", averaged(reduction="mean"), HERE + "FactorIgnored",
        "the mean is over all elements whatever the factor"),
    candidate("average_factor_besides_the_mean", averaged(reduction="mean"),
        HERE + "FactorBesidesMean", "the mean is divided by the factor once more"),
    candidate("average_factor_without_reduction", averaged(reduction="none"),
        HERE + "FactorWithoutReduction", "each element is divided by the factor"),
    candidate("average_factor_under_a_sum", victim("focal_loss_averaged_sum"),
        HERE + "FactorUnderSum",
        "accepted where the reference raises ValueError", raises="EquivalenceError"),
    candidate("alpha_in_double", PLAIN, HERE + "DoubleAlpha",
        "alpha is an array of NumPy, and makes the loss float64", cause="float64"),
)

CROSS_ENTROPY = (
    candidate("smoothed_over_all", SMOOTHED.compiled, "mindspore.nn:CrossEntropyLoss",
        "s / C as in PyTorch where the reference spreads s / (C - 1)"),
    candidate("smoothed_on_top", victim("cross_entropy_smoothed_over_all"), HERE + "SmoothedOnTop",
        "the label keeps all of its mass, so that the targets sum to more than one"),
    candidate("ignored_label_counted", IGNORING, HERE + "MaskedButCounted",
        "an ignored label adds nothing to the sum, and one to its divisor"),
    setting("ignored_label_not_ignored", IGNORING,
        "ignore_index is left at its default", ignore_index=-100),
    setting("sum_over_the_batch", LABELLED,
        "the reduction of the loss is another", reduction="sum"),
    candidate("normalised_over_the_batch", without_mean(reduction="none"),
        HERE + "NormalisedOverSamples", "log-softmax along axis 0"),
    candidate("softmax_twice", LABELLED, HERE + "SoftmaxTwice",
        "the network's probabilities go into a loss of logits"),
    candidate("likelihood_without_logarithm", LABELLED,
        HERE + "ProbabilitiesWithoutLogarithm",
        "NLLLoss of probabilities: what falls is minus the probability"),
    candidate("labels_counted_from_one", without_mean(reduction="sum"), HERE + "LabelsFromOne",
        "labels are moved by one; a label of -1 picks no class"),
    candidate("mean_over_classes_too", LABELLED, HERE + "MeanOverElements",
        "the mean of all products of targets and log-probabilities"),
    candidate("loss_in_half", without_mean(reduction="none"), HERE + "HalfLogits",
        "the logits are cast to float16"),
    candidate("distribution_to_its_largest", victim("dense_cross_entropy", reduction="none"),
        HERE + "HardestLabel", "soft targets become the label of the largest"),
)

REDUCTIONS = (
    candidate("maximum_not_subtracted", summed(axis=-1),
        "ms_models.reductions:NaiveReduceLogSumExp",
        "Exp, ReduceSum, Log as the r1.7 guide has it: overflows", cause="not finite"),
    candidate("maximum_not_added", summed(axis=(0, -1)), HERE + "MaximumNotAdded",
        "the maximum is subtracted and never added back"),
    candidate("maximum_half_detached", summed(axis=-1).compiled, HERE + "MaximumHalfDetached",
        "its gradient is cut where it is subtracted and not where it is added"),
    candidate("log_mean_exp", summed(axis=1), HERE + "LogMeanExp", "a mean for the sum"),
    candidate("logarithm_of_base_two", summed(axis=1), HERE + "BaseTwo", "log2 for log"),
    candidate("sum_in_half", victim("naive_reduce_log_sum_exp", axis=-1), HERE + "HalfSum",
        "the exponentials are added in float16"),
    built_with("dimensions_dropped", summed(axis=-1),
        "keep_dims is left at its default", keep_dims=False, cause="shape"),
    setting("axes_of_another_layout", summed(axis=(0, -1)),
        "the second axis for the last", axis=(0, 1)),
    candidate("mean_over_the_axes_of_nhwc", MEAN_POOL, HERE + "ChannelsLastMean",
        "axes 1 and 2 of a map in NCHW", cause="shape"),
    candidate("mean_in_half", MEAN_POOL.compiled, HERE + "HalfMean",
        "the map is averaged in float16"),
    candidate("flattened_channels_last", victim("flatten"), HERE + "FlattenedChannelsLast",
        "TensorFlow's order of H, W, C in front of a classifier"),
)

DEFECTS = FOCAL + CROSS_ENTROPY + REDUCTIONS

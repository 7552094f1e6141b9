"""Mistakes in losses, and in the reductions and poolings that networks end with."""

from tests.defects.defect import Defect

HERE = "tests.defects.loss_candidates:"
WHOLE = {"culprit": ("",)}
PLAIN = {"twin": "focal_loss", "where": {"gamma": 1.0}, **WHOLE}
SQUARED = {"twin": "focal_loss_squared", "where": {"alpha": 0.25}, **WHOLE}


def weighted(**where) -> dict:
    return {"twin": "focal_loss_weighted", "where": where, **WHOLE}


def averaged(**where) -> dict:
    return {"twin": "focal_loss_averaged", "where": where, **WHOLE}


def labelled(**where) -> dict:
    return {"twin": "sparse_cross_entropy", "where": where, **WHOLE}


def summed(**where) -> dict:
    return {"twin": "reduce_log_sum_exp", "where": where, **WHOLE}


FOCAL = (
    Defect(
        "alpha_and_its_complement_exchanged",
        "1 - alpha for the positives",
        **PLAIN,
        cause="alpha",
        arguments={"alpha": 0.75},
    ),
    Defect(
        "alpha_and_gamma_exchanged",
        "another order of the two arguments",
        **PLAIN,
        cause="gamma",
        arguments={"gamma": 0.25, "alpha": 1.0},
    ),
    Defect(
        "gamma_at_its_default",
        "the exponent of the configuration is not handed on",
        **PLAIN,
        cause="gamma",
        arguments={"gamma": 2.0},
    ),
    Defect(
        "alpha_of_positives_alone",
        "negatives are left at a share of one",
        **SQUARED,
        candidate=HERE + "AlphaOfPositivesAlone",
    ),
    Defect(
        "alpha_ignored",
        "the loss of the paper's first equation",
        twin="focal_loss_squared",
        where={"alpha": 0.75, "execution": "graph"},
        **WHOLE,
        candidate=HERE + "AlphaIgnored",
    ),
    Defect(
        "easy_examples_in_focus",
        "p for 1 - p under the exponent",
        **SQUARED,
        candidate=HERE + "FocusOnEasyExamples",
    ),
    Defect(
        "focus_detached",
        "the factor is taken for a weight, without a gradient",
        **SQUARED,
        candidate=HERE + "DetachedFocus",
    ),
    Defect(
        "sigmoid_twice",
        "probabilities handed to a loss of logits",
        **PLAIN,
        candidate=HERE + "SigmoidTwice",
    ),
    Defect(
        "logarithm_unclamped",
        "log(1 - p) of a saturated p",
        **PLAIN,
        cause="not finite",
        candidate=HERE + "UnclampedLogarithm",
    ),
    Defect(
        "logarithm_clamped",
        "p kept within 1e-6 of zero and one: saturated logits lose loss and gradient",
        **PLAIN,
        candidate=HERE + "ClampedLogarithm",
    ),
    Defect(
        "target_cast_to_integers",
        "soft targets become zero",
        twin="focal_loss_of_soft_targets",
        where={},
        **WHOLE,
        candidate=HERE + "IntegerTarget",
    ),
    Defect(
        "weight_ignored",
        "the call's weight does not reach the loss",
        **weighted(reduction="mean", WEIGHT=(64,)),
        cause="nothing depends on input",
        candidate=HERE + "WeightIgnored",
    ),
    Defect(
        "weight_detached",
        "the weight gets no gradient, though it is learnt",
        **weighted(reduction="mean", WEIGHT=(64, 5), execution="graph"),
        cause="no gradient reaches input",
        candidate=HERE + "WeightDetached",
    ),
    Defect(
        "weight_unrolled_by_columns",
        "the flattened weight in the other order",
        **weighted(reduction="mean", WEIGHT=(320,)),
        candidate=HERE + "WeightByColumns",
    ),
    Defect(
        "weight_unchecked",
        "one weight per class fits no case of the elif chain, and broadcasts",
        twin="focal_loss_of_misshapen_weight",
        where={"WEIGHT": (5,)},
        culprit=None,
        candidate=HERE + "WeightUnchecked",
        raises="EquivalenceError",
    ),
    Defect(
        "mean_over_samples",
        "divided by N where the mean is over N times C",
        **weighted(reduction="mean", WEIGHT=None),
        candidate=HERE + "MeanOverSamples",
    ),
    Defect(
        "mean_over_positives",
        "divided by the number of positives, as detectors do",
        **weighted(reduction="mean", WEIGHT=(64,)),
        candidate=HERE + "MeanOverPositives",
    ),
    Defect(
        "mean_over_weights",
        "a weighted mean, divided by the sum of the weights",
        **weighted(reduction="mean", WEIGHT=(64, 5)),
        candidate=HERE + "MeanOverWeights",
    ),
    Defect(
        "sum_for_mean",
        "another reduction by default",
        **weighted(reduction="mean", WEIGHT=(64,)),
        cause="reduction",
        arguments={"reduction": "sum"},
    ),
    Defect(
        "average_factor_ignored",
        "the mean is over all elements whatever the factor",
        **averaged(reduction="mean"),
        candidate=HERE + "FactorIgnored",
    ),
    Defect(
        "average_factor_besides_the_mean",
        "the mean is divided by the factor once more",
        **averaged(reduction="mean"),
        candidate=HERE + "FactorBesidesMean",
    ),
    Defect(
        "average_factor_without_reduction",
        "each element is divided by the factor",
        **averaged(reduction="none"),
        candidate=HERE + "FactorWithoutReduction",
    ),
    Defect(
        "average_factor_under_a_sum",
        "accepted where the reference raises ValueError",
        twin="focal_loss_averaged_sum",
        where={},
        culprit=None,
        candidate=HERE + "FactorUnderSum",
        raises="EquivalenceError",
    ),
    Defect(
        "alpha_in_double",
        "alpha is an array of NumPy, and makes the loss float64",
        **PLAIN,
        cause="float64",
        candidate=HERE + "DoubleAlpha",
    ),
)

CROSS_ENTROPY = (
    Defect(
        "smoothed_over_all",
        "s / C as in PyTorch where the reference spreads s / (C - 1)",
        twin="cross_entropy_smoothed_over_others",
        where={"reduction": "mean", "execution": "graph"},
        **WHOLE,
        candidate="mindspore.nn:CrossEntropyLoss",
    ),
    Defect(
        "smoothed_on_top",
        "the label keeps all of its mass, so that the targets sum to more than one",
        twin="cross_entropy_smoothed_over_all",
        where={},
        **WHOLE,
        candidate=HERE + "SmoothedOnTop",
    ),
    Defect(
        "ignored_label_counted",
        "an ignored label adds nothing to the sum, and one to its divisor",
        twin="cross_entropy_with_ignored_label",
        where={},
        **WHOLE,
        candidate=HERE + "MaskedButCounted",
    ),
    Defect(
        "ignored_label_not_ignored",
        "ignore_index is left at its default",
        twin="cross_entropy_with_ignored_label",
        where={},
        **WHOLE,
        cause="ignore_index",
        arguments={"ignore_index": -100},
    ),
    Defect(
        "sum_over_the_batch",
        "the reduction of the loss is another",
        **labelled(reduction="mean"),
        cause="reduction",
        arguments={"reduction": "sum"},
    ),
    Defect(
        "normalised_over_the_batch",
        "log-softmax along axis 0",
        **labelled(reduction="none"),
        candidate=HERE + "NormalisedOverSamples",
    ),
    Defect(
        "softmax_twice",
        "the network's probabilities go into a loss of logits",
        **labelled(reduction="mean"),
        candidate=HERE + "SoftmaxTwice",
    ),
    Defect(
        "likelihood_without_logarithm",
        "NLLLoss of probabilities: what falls is minus the probability",
        **labelled(reduction="mean"),
        candidate=HERE + "ProbabilitiesWithoutLogarithm",
    ),
    Defect(
        "labels_counted_from_one",
        "labels are moved by one; a label of -1 picks no class",
        **labelled(reduction="sum"),
        candidate=HERE + "LabelsFromOne",
    ),
    Defect(
        "mean_over_classes_too",
        "the mean of all products of targets and log-probabilities",
        **labelled(reduction="mean"),
        candidate=HERE + "MeanOverElements",
    ),
    Defect(
        "loss_in_half",
        "the logits are cast to float16",
        **labelled(reduction="none"),
        candidate=HERE + "HalfLogits",
    ),
    Defect(
        "distribution_to_its_largest",
        "soft targets become the label of the largest",
        twin="dense_cross_entropy",
        where={"reduction": "none"},
        **WHOLE,
        candidate=HERE + "HardestLabel",
    ),
)

REDUCTIONS = (
    Defect(
        "maximum_not_subtracted",
        "Exp, ReduceSum, Log as the r1.7 guide has it: overflows",
        **summed(axis=-1),
        cause="not finite",
        candidate="ms_models.reductions:NaiveReduceLogSumExp",
    ),
    Defect(
        "maximum_not_added",
        "the maximum is subtracted and never added back",
        **summed(axis=(0, -1)),
        candidate=HERE + "MaximumNotAdded",
    ),
    Defect(
        "maximum_half_detached",
        "its gradient is cut where it is subtracted and not where it is added",
        **summed(axis=-1, execution="graph"),
        candidate=HERE + "MaximumHalfDetached",
    ),
    Defect("log_mean_exp", "a mean for the sum", **summed(axis=1), candidate=HERE + "LogMeanExp"),
    Defect(
        "logarithm_of_base_two",
        "log2 for log",
        **summed(axis=1),
        candidate=HERE + "BaseTwo",
    ),
    Defect(
        "sum_in_half",
        "the exponentials are added in float16",
        twin="naive_reduce_log_sum_exp",
        where={"axis": -1},
        **WHOLE,
        candidate=HERE + "HalfSum",
    ),
    Defect(
        "dimensions_dropped",
        "keep_dims is left at its default",
        **summed(axis=-1),
        cause="shape",
        arguments={"keep_dims": False},
    ),
    Defect(
        "axes_of_another_layout",
        "the second axis for the last",
        **summed(axis=(0, -1)),
        cause="axis",
        arguments={"axis": (0, 1)},
    ),
    Defect(
        "mean_over_the_axes_of_nhwc",
        "axes 1 and 2 of a map in NCHW",
        twin="global_mean_pool",
        where={},
        **WHOLE,
        cause="shape",
        candidate=HERE + "ChannelsLastMean",
    ),
    Defect(
        "mean_in_half",
        "the map is averaged in float16",
        twin="global_mean_pool",
        where={"execution": "graph"},
        **WHOLE,
        candidate=HERE + "HalfMean",
    ),
    Defect(
        "flattened_channels_last",
        "TensorFlow's order of H, W, C in front of a classifier",
        twin="flatten",
        where={},
        **WHOLE,
        candidate=HERE + "FlattenedChannelsLast",
    ),
)

DEFECTS = FOCAL + CROSS_ENTROPY + REDUCTIONS

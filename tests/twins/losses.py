"""Losses. Logits reach from small to saturated; classes are few, so that smoothing shows."""

from equivalence.declare.difference import Raised
from equivalence.declare.draws import binary, distribution, integers, logits, uniform
from equivalence.declare.twin import Twin, grid

FOCAL = {
    "reference": "pt_reference.losses:SigmoidFocalLoss",
    "candidate": "ms_models.losses:SigmoidFocalLoss",
    "phases": ("train",),
}
CROSS_ENTROPY = {"reference": "torch.nn:CrossEntropyLoss", "phases": ("train",)}
# Moderate where the weight and the reduction are what is looked at: in single precision the
# gradient p (1 - p) of a saturated sigmoid is of few digits on either side.
SCORED = [logits(64, 5, largest=10.0), binary(64, 5), uniform("WEIGHT", low=0.5, high=1.5)]
LABELLED = [logits(8, 5), integers(8, high=5)]
UNIGNORED = {"ignored label": "nn.SoftmaxCrossEntropyWithLogits ignores none"}

TWINS = (
    Twin(
        "focal_loss",
        configs=grid(gamma=[0.0, 1.0], alpha=0.25, reduction="none"),
        inputs=[logits(64, 5), binary(64, 5)],
        **FOCAL,
    ),
    Twin(
        "focal_loss_squared",
        configs=grid(gamma=2.0, alpha=[0.25, 0.75], reduction="none"),
        # Of 1 - p a wrong and saturated prediction keeps no digits, on either side, and the
        # gradient has gamma times the logit times that: 17 roundings at the largest such logit.
        inputs=[logits(64, 5, largest=12.0), binary(64, 5)],
        **FOCAL,
    ),
    Twin(
        "focal_loss_of_soft_targets",
        configs=grid(gamma=0.5, alpha=0.25, reduction="none"),
        # The root of 1 - p has no slope where a saturated p rounds to one, as PyTorch's does.
        inputs=[logits(64, 5, largest=8.0), uniform(64, 5).constant()],
        **FOCAL,
    ),
    Twin(
        "focal_loss_weighted",
        configs=grid(reduction="mean", WEIGHT=[None, (64,), (64, 5), (320,)])
        + grid(reduction=["none", "sum"], WEIGHT=[(64,)]),
        inputs=SCORED,
        **FOCAL,
    ),
    Twin(
        "focal_loss_averaged",
        configs=grid(reduction=["none", "mean"], avg_factor=3.5, WEIGHT=[(64,)]),
        inputs=SCORED,
        **FOCAL,
    ),
    Twin(
        "focal_loss_averaged_sum",
        configs=grid(reduction="sum", avg_factor=3.5, WEIGHT=None),
        inputs=SCORED,
        raises=Raised("ValueError", "an avg_factor replaces the divisor of a mean"),
        **FOCAL,
    ),
    Twin(
        "focal_loss_of_misshapen_weight",
        # One entry per class, which would broadcast, and one per element, transposed.
        configs=grid(WEIGHT=[(5,), (1, 5), (5, 64)]),
        inputs=SCORED,
        raises=Raised(
            "ValueError",
            "does not fit loss (64, 5)",
            candidate="does not fit a loss of shape (64, 5)",
        ),
        **FOCAL,
    ),
    Twin(
        "sparse_cross_entropy_without_mean",
        candidate="ms_models.losses:sparse_cross_entropy",
        configs=grid(reduction=["none", "sum"]),
        inputs=LABELLED,
        without=UNIGNORED,
        **CROSS_ENTROPY,
    ),
    Twin(
        "sparse_cross_entropy",
        candidate="ms_models.losses:sparse_cross_entropy",
        configs=grid(reduction="mean"),
        inputs=LABELLED,
        # One kernel computes the mean; the other reductions take a log of softmax.
        without=UNIGNORED | {"overflow": "it takes the log of a probability that underflows"},
        **CROSS_ENTROPY,
    ),
    Twin(
        "dense_cross_entropy",
        candidate="ms_models.losses:dense_cross_entropy",
        configs=grid(reduction=["none", "mean"]),
        inputs=[logits(8, 5), distribution(8, 5)],
        **CROSS_ENTROPY,
    ),
    Twin(
        "cross_entropy_with_ignored_label",
        candidate="mindspore.nn:CrossEntropyLoss",
        configs=grid(ignore_index=2, reduction="mean"),
        inputs=[logits(40, 5), integers(40, high=5)],
        **CROSS_ENTROPY,
    ),
    Twin(
        "cross_entropy_smoothed_over_all",
        candidate="mindspore.nn:CrossEntropyLoss",
        configs=grid(label_smoothing=0.1, reduction="mean"),
        inputs=LABELLED,
        **CROSS_ENTROPY,
    ),
    Twin(
        "cross_entropy_smoothed_over_others",
        reference="pt_reference.losses:CrossEntropySmooth",
        candidate="ms_models.losses:CrossEntropySmooth",
        configs=grid(label_smoothing=0.1, reduction=["none", "mean"]),
        inputs=LABELLED,
        phases=("train",),
    ),
)

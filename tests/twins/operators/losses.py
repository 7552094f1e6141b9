"""Losses. Classes are few, so that smoothing and the weights of classes show."""

import functools

from hypothesis import strategies as st

from equivalence.declare.difference import Difference, Limit
from equivalence.declare.draws import (
    Draw,
    distribution,
    given,
    integers,
    logits,
    normal,
    ties,
    uniform,
)
from equivalence.declare.operator import LIMITS, Operator, to
from equivalence.declare.spaces import SIDE, arguments, shape, values
from tests.twins.operators.elementwise import COARSE
from tests.twins.operators.reductions import ALIKE
from tests.twins.operators.spaces_functional import REDUCTION, classified, pointwise_loss

SCORES = functools.partial(logits, largest=10.0)
PROBABILITIES = functools.partial(uniform, low=0.02, high=0.98)
LOG_PROBABILITIES = functools.partial(uniform, low=-4.0, high=-0.05)
NEAR_LN2 = functools.partial(uniform, low=0.6, high=0.8)
"""Where exp is accurate."""

ALIKE_AND_SMALL = functools.partial(uniform, low=-0.5, high=0.5)
"""Scores that differ as those of ALIKE do; one rounding of them is not as large."""

SOFT = functools.partial(uniform, low=0.05, high=1.0)
OF_MS = "ms_models.functional:"

F = "torch.nn.functional."


def _signs(draw, *sizes: int) -> Draw:
    """Labels that are 1 or -1."""
    count = 1
    for size in sizes:
        count *= size
    chosen = draw(st.lists(st.sampled_from([1, -1]), min_size=count, max_size=count))
    return given(*sizes, values=chosen)


def _signed_loss(*kinds, inputs: int = 1, by_rows: bool = False, **told):
    """Inputs of one shape and labels 1 or -1, one for each element or row."""

    def space(draw, without):
        low, high = (2, 2) if by_rows else (1, 3)
        least = 2 if by_rows else 1
        sizes = tuple(draw(st.integers(least, SIDE)) for _ in range(draw(st.integers(low, high))))
        kind = values(draw, without, *kinds or (normal, ties))
        made = [kind(*sizes) for _ in range(inputs)]
        made.append(_signs(draw, *(sizes[:1] if by_rows else sizes)))
        return made, arguments(draw, {"reduction": REDUCTION, **told})

    return space


def _probable_classes(draw, without):
    """Targets that are probabilities of the classes."""
    rows, classes = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    made = [SCORES(rows, classes), distribution(rows, classes)]
    if "weighted" not in without and draw(st.booleans()):
        made.append(uniform(classes, low=0.5, high=1.5).constant())
    told = {"reduction": REDUCTION, "label_smoothing": [0.0, 0.1]}
    return made, arguments(draw, told)


def _weighted(*kinds, **told):
    """Scores and labels of several classes, each class with a weight of its own, and their mean."""

    def space(draw, without):
        rows, classes = draw(st.integers(2, 6)), draw(st.integers(2, 5))
        sides = [draw(st.integers(1, 3)) for _ in range(draw(st.sampled_from((0, 1, 2))))]
        kind = values(draw, without, *kinds)
        made = [kind(rows, classes, *sides), integers(rows, *sides, high=classes)]
        made.append(uniform(classes, low=0.1, high=4.0).constant())
        return made, arguments(draw, {"reduction": ["mean"], **told})

    return space


def _triplets(draw, _):
    sizes = (draw(st.integers(1, 5)), draw(st.integers(2, 6)))
    told = {"margin": [1.0, 0.2], "swap": [False, True], "reduction": REDUCTION}
    return [normal(*sizes) for _ in range(3)], arguments(draw, told)


def _gaussian(draw, without):
    sizes = shape(draw, without | {"empty", "scalar"}, low=1, high=3)
    across = (*sizes[:-1], 1) if draw(st.booleans()) else sizes
    made = [normal(*sizes), normal(*sizes), uniform(*across, low=0.05, high=2.0)]
    return made, arguments(draw, {"full": [False, True], "reduction": REDUCTION})


def _ctc(draw, _):
    rows, classes, length = (
        draw(st.integers(1, 3)),
        draw(st.integers(2, 5)),
        draw(st.integers(1, 3)),
    )
    steps = draw(st.integers(2 * length + 1, 10))
    made = [
        LOG_PROBABILITIES(steps, rows, classes),
        integers(rows, length, low=1, high=classes),
        integers(rows, low=2 * length + 1, high=steps + 1),
        integers(rows, low=1, high=length + 1),
    ]
    return made, arguments(draw, {"reduction": REDUCTION, "zero_infinity": [False, True]})


SINGLE = ("float32",)
"""Where PyTorch's CPU kernels have no half precision."""

LIMITS["half_weighted_twice"] = lambda example: (
    example.dtype == "float16" and len(example.inputs) == 4
)
OVERFLOWING = {"half_weighted_twice": Limit("the gradient of the target overflows", "<2.10")}
BUILT = {"weighted": "its weight is given when it is built"}
NO_BATCH = {"mean_of_no_batch": "the batch mean of a 0-d input is refused"}
SINGLE_SCALAR = {"half_scalar": "the loss of a 0-d half is float32"}
TWICE = {"reduced_one": "the reduced loss of one element is twice what it should be"}
COARSE_LABELS = {"float16": "gradients lose digits", **COARSE}
COARSE_SHOWN = {
    (
        "multilabel_soft_margin_loss(normal(30, 1, scale=0.005, shift=0.347), "
        "uniform(30, 1, low=0.02, high=0.98).constant(), reduction='none')"
    ): Difference("exp is off by 3e-6", {"output.0": 4e-6}),
    (
        "multilabel_soft_margin_loss[float16](normal(4, 5, 257, 6), "
        "uniform(4, 5, 257, 6, low=0.02, high=0.98), reduction='mean')"
    ): Difference("small gradients lose digits in float16", {"gradient:input[*]": 0.02}),
}
KINK = {"at_margin": "the gradient at the margin is another"}
LEARNED = {"learned_target": "the gradient of the targets is wrong"}
PLANES = {"maps": "scores of maps have no kernel"}
UNREDUCED = {"ignored_label": "unwritten loss of an ignored label"}

OPERATORS = (
    Operator(
        F + "mse_loss",
        pointwise_loss(),
        to("ops.mse_loss"),
        to("nn.MSELoss"),
    ),
    Operator(
        F + "l1_loss",
        pointwise_loss(),
        to("ops.l1_loss"),
        to("nn.L1Loss"),
    ),
    Operator(
        F + "smooth_l1_loss",
        pointwise_loss(beta=[1.0, 0.5, 2.0]),
        to(
            "ops.smooth_l1_loss",
            defaults={"reduction": ("mean", "none")},
        ),
        to("mint.nn.functional.smooth_l1_loss"),
        to(
            "nn.SmoothL1Loss",
            defaults={"reduction": ("mean", "none")},
        ),
        to("mint.nn.SmoothL1Loss"),
    ),
    Operator(
        F + "huber_loss",
        pointwise_loss(delta=[1.0, 0.5, 2.0]),
        to("ops.huber_loss", without=SINGLE_SCALAR),
        to("nn.HuberLoss", without=SINGLE_SCALAR),
    ),
    Operator(
        F + "binary_cross_entropy",
        pointwise_loss(PROBABILITIES, target=PROBABILITIES, weights=1),
        to("ops.binary_cross_entropy", without=TWICE),
        to("mint.nn.functional.binary_cross_entropy", without=TWICE),
        to("nn.BCELoss", without=TWICE | BUILT),
    ),
    Operator(
        F + "binary_cross_entropy_with_logits",
        pointwise_loss(normal, SCORES, target=PROBABILITIES, weights=2),
        to("ops.binary_cross_entropy_with_logits", without=OVERFLOWING),
        to(
            "mint.nn.functional.binary_cross_entropy_with_logits",
            through=OF_MS + "binary_cross_entropy_with_logits",
            without=OVERFLOWING,
        ),
        to("nn.BCEWithLogitsLoss", without=BUILT),
    ),
    Operator(
        F + "cross_entropy",
        classified(
            SCORES, ALIKE_AND_SMALL, ALIKE, ignore_index=[-100, 1], label_smoothing=[0.0, 0.1]
        ),
        to("ops.cross_entropy"),
        to("nn.CrossEntropyLoss", without=BUILT),
    ),
    Operator(
        F + "cross_entropy",
        _weighted(ALIKE_AND_SMALL, label_smoothing=[0.0, 0.1]),
        to("ops.cross_entropy"),
        name="weighted_cross_entropy",
    ),
    Operator(
        F + "nll_loss",
        _weighted(LOG_PROBABILITIES, ignore_index=[1]),
        to("ops.nll_loss"),
        to("mint.nn.functional.nll_loss", without=PLANES | UNREDUCED),
        name="weighted_nll_loss",
    ),
    Operator(
        F + "cross_entropy",
        _probable_classes,
        to("ops.cross_entropy"),
        to("nn.CrossEntropyLoss", without=BUILT),
        name="cross_entropy_of_probabilities",
    ),
    Operator(
        F + "nll_loss",
        classified(LOG_PROBABILITIES, ignore_index=[-100, 1]),
        to("ops.nll_loss"),
        to("mint.nn.functional.nll_loss", without=PLANES | UNREDUCED),
        to("nn.NLLLoss", without=BUILT),
    ),
    Operator(
        F + "kl_div",
        pointwise_loss(
            LOG_PROBABILITIES,
            target=SOFT,
            reduction=["none", "mean", "sum", "batchmean", "batchmean"],
        ),
        to("ops.kl_div", without={**LEARNED, **NO_BATCH}),
        to("nn.KLDivLoss", without={**LEARNED, **NO_BATCH}),
    ),
    Operator(
        F + "hinge_embedding_loss",
        _signed_loss(margin=[1.0, 0.5]),
        to("ops.hinge_embedding_loss", through=OF_MS + "hinge_embedding_loss", without=KINK),
        to("nn.HingeEmbeddingLoss", through=OF_MS + "HingeEmbeddingLoss", without=KINK),
    ),
    Operator(
        F + "cosine_embedding_loss",
        _signed_loss(normal, inputs=2, by_rows=True, margin=[0.0, 0.3]),
        to("ops.cosine_embedding_loss"),
        to("nn.CosineEmbeddingLoss"),
    ),
    Operator(
        F + "margin_ranking_loss",
        _signed_loss(inputs=2, margin=[0.0, 1.0]),
        to("ops.margin_ranking_loss", through=OF_MS + "margin_ranking_loss"),
        to("nn.MarginRankingLoss", through=OF_MS + "MarginRankingLoss"),
    ),
    Operator(
        F + "triplet_margin_with_distance_loss",
        _triplets,
        to(
            "nn.TripletMarginWithDistanceLoss",
            through=OF_MS + "TripletMarginWithDistanceLoss",
        ),
    ),
    Operator(
        F + "multilabel_soft_margin_loss",
        pointwise_loss(normal, NEAR_LN2, target=PROBABILITIES, weights=1, low=1),
        to("ops.multilabel_soft_margin_loss", without=COARSE_LABELS, differs=COARSE_SHOWN),
        to("nn.MultiLabelSoftMarginLoss", without={**BUILT, **COARSE_LABELS}, differs=COARSE_SHOWN),
    ),
    Operator(
        F + "multi_margin_loss",
        classified(normal, ranks=(0,), weighted=False, p=[1, 2], margin=[1, 0.5]),
        to(
            "ops.multi_margin_loss",
            through=OF_MS + "multi_margin_loss",
            without={"fraction": "a margin that is no integer is refused"},
        ),
        to("nn.MultiMarginLoss", through=OF_MS + "MultiMarginLoss"),
        dtypes=SINGLE,
    ),
    Operator(
        F + "poisson_nll_loss",
        pointwise_loss(SOFT, log_input=[True, False], full=[False, True]),
        to(
            "nn.PoissonNLLLoss",
            without={"log_input": "exp is off by 3e-6"},
            differs={
                (
                    "poisson_nll_loss(uniform(9, low=0.33, high=0.36), uniform(9), "
                    "reduction='none', log_input=True, full=False)"
                ): Difference("near 0.35", {"output.0": 5e-6, "gradient:input[0]": 8e-6}),
            },
        ),
    ),
    Operator(
        F + "gaussian_nll_loss",
        _gaussian,
        to("ops.gaussian_nll_loss"),
        to("nn.GaussianNLLLoss"),
    ),
    Operator(
        F + "ctc_loss",
        _ctc,
        to("ops.ctc_loss", through=OF_MS + "ctc_loss"),
        to("nn.CTCLoss"),
        dtypes=SINGLE,
    ),
)

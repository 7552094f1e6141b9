"""Mistakes in networks that cast to half precision by themselves."""

from tests.defects.defect import Defect
from tests.defects.places import LOSS, UPDATE

HERE = "tests.defects.precision_candidates:"

ATTENTION = {"twin": "hand_cast_attention", "where": {}, "culprit": ("",)}
STEP = {"twin": "scaled_step", "where": {}, "culprit": UPDATE}

DEFECTS = (
    Defect(
        "loss_left_unscaled",
        "the loss is not scaled, and small gradients become zero in float16",
        **STEP,
        arguments={"loss_scale": 1.0},
    ),
    Defect(
        "loss_scaled_too_little",
        "the loss scale is 16, and the smallest gradients become zero in float16",
        **STEP,
        arguments={"loss_scale": 16.0},
    ),
    Defect(
        "loss_scaled_too_much",
        "the scaled gradients overflow in float16",
        **STEP,
        arguments={"loss_scale": 2.0**44},
    ),
    Defect(
        "scale_not_divided",
        "the loss scale is not divided out",
        **STEP,
        candidate=HERE + "scale_not_divided",
    ),
    Defect(
        "scale_divided_in_half",
        "the gradients are cast to float16 before the loss scale is divided out",
        **STEP,
        candidate=HERE + "scale_divided_in_half",
    ),
    Defect(
        "loss_weighted_in_half",
        "the loss is computed in float16, in which its small weight is next to nothing",
        **{**STEP, "culprit": LOSS},
        candidate=HERE + "loss_in_half",
    ),
    Defect(
        "loss_scale_never_divided",
        "the optimiser is not told the loss scale that the manager leaves to it",
        twin="model_step",
        where={},
        culprit=UPDATE,
        candidate=HERE + "never_divided",
    ),
    Defect(
        "output_left_in_half",
        "the result is not cast back",
        **ATTENTION,
        candidate=HERE + "LeftInHalf",
    ),
    Defect(
        "one_factor_cast",
        "the second matrix of a product is left in float32",
        twin="hand_cast_attention",
        where={},
        culprit=None,
        raises="SideError",
        candidate=HERE + "CastOfOne",
    ),
    Defect(
        "weight_cast_at_construction",
        "a weight is cast when the cell is built, and neither loaded nor trained from then on",
        **ATTENTION,
        candidate=HERE + "CastAtConstruction",
    ),
    Defect(
        "cast_to_integers",
        "scores are cast to whole numbers",
        **ATTENTION,
        candidate=HERE + "CastToIntegers",
    ),
    Defect(
        "last_layer_in_half",
        "the last layer is cast, too, and the output with it",
        twin="half_convolutions",
        where={},
        culprit=("",),
        candidate=HERE + "dense_in_half",
    ),
    Defect(
        "dense_not_widened",
        "to_float on the convolutions alone: the dense layer behind them is handed float16",
        twin="half_convolutions",
        where={},
        culprit=None,
        raises="SideError",
        candidate=HERE + "dense_not_widened",
    ),
)

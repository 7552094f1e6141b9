"""Mistakes in networks that cast to half precision by themselves."""

from tests.defects.makers import built_with, candidate
from tests.defects.victim import victim

HERE = "tests.defects.precision_candidates:"
NARROW = "tests.defects.bfloat16_candidates:"

ATTENTION = victim("hand_cast_attention")
MIXED = victim("half_convolutions")
ENERGY = victim("half_energy")
ROTARY = victim("rotary_bfloat16", dtype="bfloat16")
STEP = victim("scaled_step").at("update")

# fmt: off
DEFECTS = (
    built_with("loss_left_unscaled", STEP,
        "the loss is not scaled, and small gradients become zero in float16", loss_scale=1.0),
    built_with("loss_scaled_too_little", STEP,
        "the loss scale is 16, and the smallest gradients become zero in float16", loss_scale=16.0),
    built_with("loss_scaled_too_much", STEP,
        "the scaled gradients overflow in float16", loss_scale=2.0**44),
    candidate("scale_not_divided", STEP, HERE, "the loss scale is not divided out"),
    candidate("scale_divided_in_half", STEP, HERE,
        "the gradients are cast to float16 before the loss scale is divided out"),
    candidate("loss_weighted_in_half", STEP.at("loss"), HERE + "loss_in_half",
        "the loss is computed in float16, in which its small weight is next to nothing"),
    candidate("loss_scale_never_divided", victim("model_step").at("update"), HERE + "never_divided",
        "the optimiser is not told the loss scale that the manager leaves to it",
        cause="the loss scale)"),
    candidate("output_left_in_half", ATTENTION, HERE + "LeftInHalf", "the result is not cast back"),
    candidate("one_factor_cast", ATTENTION, HERE + "CastOfOne",
        "the second matrix of a product is left in float32", raises="SideError"),
    candidate("weight_cast_at_construction", ATTENTION, HERE + "CastAtConstruction",
        "a weight is cast when the cell is built, and neither loaded nor trained from then on"),
    candidate("cast_to_integers", ATTENTION, HERE + "CastToIntegers",
        "scores are cast to whole numbers"),
    candidate("last_layer_in_half", MIXED, HERE + "dense_in_half",
        "the last layer is cast, too, and the output with it"),
    candidate("dense_not_widened", MIXED, HERE,
        "to_float on the convolutions alone: the dense layer behind them is handed float16",
        raises="SideError"),
    candidate("largest_of_half_for_infinity", ENERGY, HERE + "CappedEnergy",
        "squares stop at the largest number of float16, where the reference overflows"),
    candidate("wrong_beyond_half", ENERGY, HERE + "OtherEnergy",
        "an absolute value for a square, which is wrong only where the reference overflows"),
    candidate("left_in_float32", ROTARY, NARROW + "LeftInFloat32",
        "the result is not cast back to bfloat16"),
    candidate("scores_in_eight_bits", victim("attention_bfloat16"), NARROW + "CastToEightBits",
        "scores are cast to int8"),
)

"""Mistakes in masks, tables and indices, which no sample draws."""

import numpy as np
from mindspore import Parameter, Tensor, nn

from tests.defects import tables_candidates as wrong
from tests.defects.edits import layer
from tests.defects.makers import built_with, candidate, edited, variant
from tests.defects.victim import victim

HERE = "tests.defects.tables_candidates:"

NEAR = victim("rotary", start=16, tables="buffer")
FAR = victim("rotary", start=100000, tables="buffer")
COMPUTED = victim("rotary", start=16, tables="forward")
COMPUTED_FAR = victim("rotary", start=100000, tables="forward")
KEPT_FAR = victim("rotary", start=100000, tables="constructor")
BLOCK = victim("rotary_block", start=16)
FAR_BLOCK = victim("rotary_block", start=100000)
WINDOW = victim("window_attention")
PIXELS = victim("normalised_pixels")
CENTRED = victim("centred")
TIMESTEPS = victim("timesteps")
PALETTE = victim("palette")
POSITIONS = victim("positions")
SAMPLER = victim("looked_up_sampler")
LOOKED_UP = "tests.engine.parts.looked_up_ms:"


def _with(path: str, name: str, change):
    """An edit that changes a tensor of a layer, whether it is a parameter or not."""

    def edit(cell: nn.Cell) -> None:
        owner = layer(cell, path)
        old = getattr(owner, name)
        values = Tensor(change(old.asnumpy().copy()), old.dtype)
        if isinstance(old, Parameter):
            old.set_data(values)
        else:
            (owner._buffers if name in owner._buffers else vars(owner))[name] = values

    return edit


# fmt: off
DEFECTS = (
    variant("causal_mask_unused", BLOCK.at("self_attn"), wrong.Unmasked,
        "the mask is registered and never used"),
    edited("mask_of_ones", FAR_BLOCK.compiled.at("self_attn"),
        _with("self_attn", "mask", lambda mask: mask | True),
        "ones(length, length), and tril forgotten"),
    edited("mask_off_by_one", BLOCK.at("self_attn"),
        _with("self_attn", "mask", lambda mask: mask & ~mask.T | mask & (mask.cumsum(1) == 1)),
        "tril(-1): a place does not see itself, but for the first"),
    edited("mask_transposed", BLOCK.compiled.at("self_attn"),
        _with("self_attn", "mask", lambda mask: mask.T.copy()), "triu for tril"),
    variant("keys_not_turned", FAR_BLOCK.at("self_attn"), wrong.KeysUnturned,
        "the rotary embedding is applied to the queries alone"),
    variant("interleaved_pairs", NEAR, wrong.Interleaved,
        "neighbouring channels are turned, for the two halves"),
    variant("interleaved_pairs_far_away", FAR.compiled, wrong.Interleaved,
        "neighbouring channels are turned, for the two halves"),
    variant("interleaved_pairs_in_a_block", FAR_BLOCK.at("self_attn.rotary"), wrong.Interleaved,
        "neighbouring channels are turned, for the two halves"),
    built_with("rotary_base", COMPUTED, "1,000 for 10,000", base=1e3),
    built_with("rotary_base_far_away", COMPUTED_FAR.compiled, "1,000 for 10,000", base=1e3),
    built_with("rotary_base_of_tables", KEPT_FAR, "1,000 for 10,000", base=1e3),
    built_with("rotary_base_nearly", NEAR, "9,999 for 10,000: only the frequencies tell",
        base=9999.0),
    built_with("position_from_one", COMPUTED, "positions are counted from one", start=17),
    built_with("position_from_one_far_away", COMPUTED_FAR, "positions are counted from one",
        start=100001),
    built_with("position_of_tables_from_one", KEPT_FAR.compiled, "positions are counted from one",
        start=100001),
    variant("angles_in_half", NEAR.compiled, wrong.TablesInHalf,
        "the angles are computed in half precision"),
    candidate("sines_first", TIMESTEPS, HERE + "Reversed", "sines, then cosines"),
    candidate("last_frequency_is_one_to_the_base", TIMESTEPS.compiled, HERE + "LastIsBase",
        "half - 1 for half"),
    edited("relative_position_transposed", WINDOW,
        _with("", "relative_position_index", lambda index: index.T.copy()),
        "the distance of a place is counted from the other one"),
    edited("relative_position_permuted", WINDOW.compiled,
        _with("", "relative_position_index", lambda index: index[::-1].copy()),
        "the rows of the index in another order"),
    edited("window_mask_forgotten", WINDOW, _with("", "attn_mask", lambda mask: 0 * mask),
        "windows are not masked after the shift"),
    edited("window_mask_too_weak", WINDOW.compiled, _with("", "attn_mask", lambda mask: mask / 10),
        "-10 for -100, which leaves a few shares"),
    edited("window_mask_of_the_others", WINDOW,
        _with("", "attn_mask", lambda mask: mask[::-1].copy()),
        "the even windows are masked, not the odd ones"),
    candidate("means_of_another_dataset", PIXELS, HERE + "OfAnotherDataset",
        "the means and deviations of CIFAR-10, for those of ImageNet"),
    edited("means_for_bytes", PIXELS.compiled, _with("", "mean", lambda mean: mean * 255),
        "means for pixels up to 255"),
    edited("deviations_in_bgr", PIXELS, _with("", "std", lambda std: std[::-1].copy()),
        "the channels of the deviations in OpenCV's order"),
    edited("colour_of_a_number_that_is_not_drawn", PALETTE.at(""),
        _with("", "table", lambda table: table * np.where(np.arange(20) == 17, -1, 1)[:, None]),
        "one row of a table that the port builds has the other sign", cause="table"),
    built_with("positions_repeated_beyond_the_sample", POSITIONS.compiled.at(""),
        "the table of positions ends before that of the original", cause="pe", last=40),
    candidate("alpha_of_a_global_that_no_step_reads", SAMPLER.at(""), LOOKED_UP + "OfAnother",
        "a point that slipped in a list of the module", cause="ALPHAS"),
    candidate("level_of_an_array_that_no_step_reads", SAMPLER.compiled.at(""),
        LOOKED_UP + "LastDoubled", "the last number of an array of the module", cause="SIGMAS"),
    candidate("guidance_of_a_module_that_no_step_reads", SAMPLER.at(""), LOOKED_UP + "GuidedLess",
        "digits swapped in a list of another module", cause="GUIDANCE"),
    candidate("beta_of_a_schedule_that_no_step_reads", SAMPLER.at("schedule"),
        LOOKED_UP + "last_beta", "the end of a list that an object of the network's keeps",
        cause="betas"),
    candidate("anchor_of_a_list_that_no_step_reads", SAMPLER.compiled.at(""),
        LOOKED_UP + "last_anchor", "one number in a list of lists", cause="anchors"),
    candidate("centre_from_zero", CENTRED.evaluated, HERE + "FromZero",
        "the centre starts at zero"),
    built_with("centre_follows_too_fast", CENTRED, "0.1 for 0.9: MindSpore's idea of a momentum",
        momentum=0.1),
)

"""Mistakes in attention and in the layers of a transformer."""

import functools

from mindspore import nn, ops

from tests.defects import attention_candidates as wrong
from tests.defects.edits import layer
from tests.defects.makers import built_with, edited, swapped, variant
from tests.defects.victim import victim

ENCODER = victim("transformer_encoder_layer", activation="gelu", norm_first=False)
NORM_FIRST = victim("transformer_encoder_layer", activation="relu", norm_first=True)
MASKED = victim("masked_attention")
STACK = victim("transformer_encoder")
DECODER = victim("transformer_decoder_layer", norm_first=False)
ATTENTION = victim("attention", num_heads=3)


def _tanh_gelu(cell) -> None:
    cell.activation = functools.partial(ops.gelu, approximate="tanh")


def _second_normalised_first(cell) -> None:
    layer(cell, "layers.1").norm_first = True


# fmt: off
DEFECTS = (
    built_with("attention_of_one_head", ATTENTION, "the number of heads left at one", num_heads=1),
    built_with("attention_of_one_head_in_an_encoder", ENCODER.compiled.at("self_attn"),
        "the number of heads left at one", nhead=1),
    built_with("attention_across_the_batch", ENCODER.at("self_attn"),
        "batch first, as the data now comes, and the weights' own order of axes forgotten",
        batch_first=True),
    built_with("normalised_after_the_residual", NORM_FIRST, "norm_first lost", norm_first=False),
    built_with("normalised_before_the_residual", DECODER.evaluated,
        "norm_first, as most transformers have it now", norm_first=True),
    edited("gelu_by_tanh_in_an_encoder", ENCODER, _tanh_gelu,
        "the approximate GELU for the exact one"),
    built_with("relu_for_gelu_in_an_encoder", ENCODER.compiled,
        "the activation left at its default", activation="relu"),
    built_with("epsilon_of_bert_in_an_encoder", ENCODER.at("norm1", "norm2"),
        "1e-12 for 1e-5", layer_norm_eps=1e-12, cause="eps"),
    swapped("epsilon_of_mindspore_after_an_encoder", STACK.evaluated.at("norm"),
        lambda _: nn.LayerNorm((12,)),
        "1e-7, the default of MindSpore's LayerNorm, for 1e-5", cause="eps"),
    edited("second_layer_of_an_encoder_normalised_first", STACK.at("layers.1"),
        _second_normalised_first, "norm_first in one of two layers"),
    variant("attention_to_padding", MASKED, wrong.Unpadded, "the padding mask lost"),
    variant("attention_to_what_is_later", MASKED.compiled, wrong.Uncaused, "the causal mask lost"),
    variant("attention_with_a_mask_of_ones", MASKED.evaluated, wrong.AddedMask,
        "a float mask is added to the scores: ones, where minus infinity is due"),
)

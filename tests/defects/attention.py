"""Mistakes in attention and in the layers of a transformer."""

import functools

from mindspore import nn, ops

from tests.defects import attention_candidates as wrong
from tests.defects.defect import Defect
from tests.defects.edits import layer, recast, replaced
from tests.defects.places import WHOLE, compiled, evaluated

ENCODER = {
    "twin": "transformer_encoder_layer",
    "where": {"activation": "gelu", "norm_first": False},
}
NORM_FIRST = {**ENCODER, "where": {"activation": "relu", "norm_first": True}}
MASKED = {"twin": "masked_attention", "where": {}}
STACK = {"twin": "transformer_encoder", "where": {}}
DECODER = {"twin": "transformer_decoder_layer", "where": {"norm_first": False}}
ATTENTION = {"twin": "attention", "where": {"num_heads": 3}}


def _tanh_gelu(cell) -> None:
    cell.activation = functools.partial(ops.gelu, approximate="tanh")


def _second_normalised_first(cell) -> None:
    layer(cell, "layers.1").norm_first = True


DEFECTS = (
    Defect(
        "attention_of_one_head",
        "the number of heads left at one",
        **ATTENTION,
        culprit=WHOLE,
        arguments={"num_heads": 1},
    ),
    Defect(
        "attention_of_one_head_in_an_encoder",
        "the number of heads left at one",
        **compiled(ENCODER),
        culprit=("self_attn",),
        arguments={"nhead": 1},
    ),
    Defect(
        "attention_across_the_batch",
        "batch first, as the data now comes, and the weights' own order of axes forgotten",
        **ENCODER,
        culprit=("self_attn",),
        arguments={"batch_first": True},
    ),
    Defect(
        "normalised_after_the_residual",
        "norm_first lost",
        **NORM_FIRST,
        culprit=WHOLE,
        arguments={"norm_first": False},
    ),
    Defect(
        "normalised_before_the_residual",
        "norm_first, as most transformers have it now",
        **evaluated(DECODER),
        culprit=WHOLE,
        arguments={"norm_first": True},
    ),
    Defect(
        "gelu_by_tanh_in_an_encoder",
        "the approximate GELU for the exact one",
        **ENCODER,
        culprit=WHOLE,
        edit=_tanh_gelu,
    ),
    Defect(
        "relu_for_gelu_in_an_encoder",
        "the activation left at its default",
        **compiled(ENCODER),
        culprit=WHOLE,
        arguments={"activation": "relu"},
    ),
    Defect(
        "epsilon_of_bert_in_an_encoder",
        "1e-12 for 1e-5",
        **ENCODER,
        culprit=("norm1", "norm2"),
        cause="eps",
        arguments={"layer_norm_eps": 1e-12},
    ),
    Defect(
        "epsilon_of_mindspore_after_an_encoder",
        "1e-7, the default of MindSpore's LayerNorm, for 1e-5",
        **evaluated(STACK),
        culprit=("norm",),
        cause="eps",
        edit=replaced(lambda _: nn.LayerNorm((12,)), "norm"),
    ),
    Defect(
        "second_layer_of_an_encoder_normalised_first",
        "norm_first in one of two layers",
        **STACK,
        culprit=("layers.1",),
        edit=_second_normalised_first,
    ),
    Defect(
        "attention_to_padding",
        "the padding mask lost",
        **MASKED,
        culprit=WHOLE,
        edit=recast(wrong.Unpadded, ""),
    ),
    Defect(
        "attention_to_what_is_later",
        "the causal mask lost",
        **compiled(MASKED),
        culprit=WHOLE,
        edit=recast(wrong.Uncaused, ""),
    ),
    Defect(
        "attention_with_a_mask_of_ones",
        "a float mask is added to the scores: ones, where minus infinity is due",
        **evaluated(MASKED),
        culprit=WHOLE,
        edit=recast(wrong.AddedMask, ""),
    ),
)

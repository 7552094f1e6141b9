"""Mistakes in language models: one line of a right network of `ms_models` is changed."""

import dataclasses

from ms_models import language, llama, mixture
from tests.defects.defect import Defect
from tests.defects.lines import Lines, Mistake

TWINS = {
    "RMSNorm": "rms_norm",
    "Rotary": "rotary_positions",
    "Attention": "grouped_queries",
    "Gated": "gated",
    "LanguageModel": "llama",
    "Greedy": "greedy_generation",
    "Mixture": "mixture_of_experts",
    "LatentAttention": "latent_attention",
    "T5Layer": "t5_layer",
    "Bert": "bert",
    "MergedLoRA": "merged_lora",
    "Mamba": "mamba",
}
"""Network -> the declared twin that it is part of."""

# ruff: noqa: E501  a mistake is one line
# fmt: off
OF_LLAMA = tuple(Mistake(*each) for each in (
    ("epsilon_outside_the_root", "RMSNorm", "ops.rsqrt(mean + self.eps)", "(1 / (ops.sqrt(mean) + self.eps))"),
    ("mean_subtracted_in_rms_norm", "RMSNorm", "ops.square(wide).mean(-1, keep_dims=True)", "ops.square(wide - wide.mean(-1, keep_dims=True)).mean(-1, keep_dims=True)"),
    ("scale_beside_one", "RMSNorm", "* self.gamma", "* (1 + self.gamma)"),
    ("scaling_of_frequencies_ignored", "Rotary", "if scaling is None:", "if True:", ("angles = positions",)),
    ("waves_for_turns", "Rotary", "turns = length * fast / (2 * math.pi)", "turns = length * fast", ("angles = positions",)),
    ("turned_the_other_way", "Rotary", "return ops.cat((one * cos - two * sin, two * cos + one * sin), -1)", "return ops.cat((one * cos + two * sin, two * cos - one * sin), -1)"),
    ("grouped_keys_tiled", "Attention", "k = ops.repeat_interleave(k, self.groups, axis=1)", "k = ops.tile(k, (1, self.groups, 1, 1))"),
    ("padding_attended", "Attention", "ops.logical_or(places > own, (attended == 0)[:, None, None])", "ops.logical_or(places > own, (attended < 0)[:, None, None])", ("ops.masked_fill", "unseen, places != own")),
    ("fused_mask_in_the_plain_form", "Attention", "ops.masked_fill(scores.astype(ms.float32), unseen,", "ops.masked_fill(scores.astype(ms.float32), ops.logical_not(unseen),"),
    ("gate_is_up", "Gated", "self.activate(self.gate_proj(x)) * self.up_proj(x)", "self.activate(self.up_proj(x)) * self.gate_proj(x)"),
    ("next_token_is_this_token", "LanguageModel", "logits[:, :-1], labels[:, 1:]", "logits[:, 1:], labels[:, 1:]", ("ops.cross_entropy",)),
    ("ignored_labels_in_the_mean", "LanguageModel", "labels.reshape(-1))", 'labels.reshape(-1), reduction="sum") / labels.size'),
    ("first_logits_for_last", "Greedy", "last = logits[:, -1]", "last = logits[:, 0]"),
))

OF_MIXTURES = tuple(Mistake(*each) for each in (
    ("shares_not_of_one", "Mixture", "weights = weights / weights.sum(-1, keepdims=True) * self.scale", "weights = weights * self.scale", ("ops.gather_elements(scores",)),
    ("correction_in_the_weights", "Mixture", "ops.gather_elements(scores, 1, chosen)", "ops.gather_elements(scores + self.e_score_correction_bias, 1, chosen)"),
    ("correction_not_used", "Mixture", "ops.topk(scores + self.e_score_correction_bias,", "ops.topk(scores,", ("ops.gather_elements(scores",)),
    ("scale_of_the_plain_part", "LatentAttention", "self.scale = (nope + rope) ** -0.5", "self.scale = nope**-0.5", ("wide = (scores * self.scale)",)),
    ("latent_not_normalised", "LatentAttention", "self.kv_a_layernorm(compressed[..., : self.rank])", "compressed[..., : self.rank]"),
    ("shared_key_not_turned", "LatentAttention", "self.rotary(compressed[..., self.rank :].expand_dims(1), positions).squeeze(1)", "compressed[..., self.rank :]"),
))

OF_OTHERS = tuple(Mistake(*each) for each in (
    ("t5_scaled_as_others", "T5Layer", "ops.matmul(q, k.swapaxes(2, 3)) + self.bias(t)", "ops.matmul(q, k.swapaxes(2, 3)) * q.shape[-1] ** -0.5 + self.bias(t)"),
    ("pooled_without_tanh", "Bert", "ops.tanh(self.pooler(x[:, 0]))", "self.pooler(x[:, 0])"),
    ("token_types_forgotten", "Bert", "self.norm(x + self.token_type_embeddings(types))", "self.norm(x)"),
    ("merged_without_scaling", "MergedLoRA", "ops.matmul(self.lora_B.weight, self.lora_A.weight) * self.scaling", "ops.matmul(self.lora_B.weight, self.lora_A.weight)", ("weight = self.base_layer.weight + weight", "ops.matmul(x, weight.T)")),
    ("scan_sees_what_comes", "Mamba", "[..., :tokens]", "[..., -tokens:]"),
    ("step_not_in_what_is_fed", "Mamba", "fed = (step * x).expand_dims(-1)", "fed = x.expand_dims(-1)"),
))
# fmt: on

_FAMILIES = tuple(
    Lines(__name__, right, f"pt_reference.{file}", mistakes, declared=TWINS)
    for file, right, mistakes in (
        ("llama", llama, OF_LLAMA),
        ("mixture", mixture, OF_MIXTURES),
        ("language", language, OF_OTHERS),
    )
)

LAYERS = {
    "shares_not_of_one": "gate",
    "correction_in_the_weights": "gate",
    "correction_not_used": "gate",
    "t5_scaled_as_others": "attention",
}
"""Mistake within a layer of the network -> that layer, which is named with the line."""


def _placed(defect: Defect) -> Defect:
    """The defect with the layer that its line is part of."""
    return dataclasses.replace(defect, culprit=(LAYERS.get(defect.name, ""),))


DEFECTS = tuple(_placed(defect) for lines in _FAMILIES for defect in lines.defects)


def __getattr__(name: str) -> type:
    """The network that has the mistake of this name. Raises AttributeError if there is none."""
    for lines in _FAMILIES:
        if name in lines.mistakes:
            return lines.network(name)
    raise AttributeError(f"there is no mistake {name!r}")

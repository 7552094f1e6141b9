"""Mistakes in language models: one line of a right network of `ms_models` is changed."""

from ms_models import language, llama, mixture
from tests.defects.lines import Lines, Mistake

TWINS = {
    "RMSNorm": "rms_norm",
    "Rotary": "rotary_positions",
    "Attention": "grouped_queries",
    "Gated": "gated",
    "LanguageModel": "llama",
    "InPieces": "llama_in_pieces",
    "Greedy": "greedy_generation",
    "Mixture": "mixture_of_experts",
    "LatentAttention": "latent_attention",
    "T5Layer": "t5_layer",
    "Bert": "bert",
    "LoRA": "lora",
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
    ("padding_has_positions", "Attention", "ops.cumsum(attended, 1)", "ops.cumsum(ops.ones_like(attended), 1)", ("positions = places(attended)",)),
    ("gate_is_up", "Gated", "self.activate(self.gate_proj(x)) * self.up_proj(x)", "self.activate(self.up_proj(x)) * self.gate_proj(x)"),
    ("next_token_is_this_token", "LanguageModel", "logits[:, :-1], labels[:, 1:]", "logits[:, 1:], labels[:, 1:]", ("ops.cross_entropy",)),
    ("ignored_labels_in_the_mean", "LanguageModel", "labels.reshape(-1))", 'labels.reshape(-1), reduction="sum") / labels.size'),
    ("positions_from_zero_in_decoding", "InPieces", "positions = places(attended)[:, -t:]", "positions = places(attended)[:, :t]"),
    ("mask_of_the_first_queries", "InPieces", "own = places[-tokens:]", "own = places[:tokens]", ("ops.masked_fill", "unseen, places != own", "unseen = ops.logical_or")),
    ("cache_of_values_for_keys", "InPieces", "ops.cat((past[0], k), 2)", "ops.cat((past[1], k), 2)"),
    ("first_logits_for_last", "Greedy", "last = logits[:, -1]", "last = logits[:, 0]"),
))

OF_MIXTURES = tuple(Mistake(*each) for each in (
    ("shares_not_of_one", "Mixture", "weights = weights / weights.sum(-1, keepdims=True) * self.scale", "weights = weights * self.scale"),
    ("correction_in_the_weights", "Mixture", "ops.gather_elements(scores, 1, chosen)", "ops.gather_elements(scores + self.e_score_correction_bias, 1, chosen)"),
    ("correction_not_used", "Mixture", "ops.topk(scores + self.e_score_correction_bias,", "ops.topk(scores,", ("ops.gather_elements(scores",)),
    ("balance_of_all_choices", "Mixture", "mean(0) / chosen.shape[1]", "mean(0)", ("return experts * (share",)),
    ("scale_of_the_plain_part", "LatentAttention", "self.scale = (nope + rope) ** -0.5", "self.scale = nope**-0.5", ("wide = (scores * self.scale)",)),
    ("halves_in_latent_attention", "LatentAttention", 'style="interleaved"', 'style="halves"', ("turned = self.rotary(turned",)),
    ("latent_not_normalised", "LatentAttention", "self.kv_a_layernorm(compressed[..., : self.rank])", "compressed[..., : self.rank]"),
    ("shared_key_not_turned", "LatentAttention", "self.rotary(compressed[..., self.rank :].expand_dims(1), positions).squeeze(1)", "compressed[..., self.rank :]"),
))

OF_OTHERS = tuple(Mistake(*each) for each in (
    ("t5_scaled_as_others", "T5Layer", "ops.matmul(q, k.swapaxes(2, 3)) + self.bias(t)", "ops.matmul(q, k.swapaxes(2, 3)) * q.shape[-1] ** -0.5 + self.bias(t)"),
    ("distance_from_key_to_query", "T5Layer", "places.expand_dims(0) - places.expand_dims(1)", "places.expand_dims(1) - places.expand_dims(0)"),
    ("token_types_forgotten", "Bert", "self.norm(x + self.token_type_embeddings(types))", "self.norm(x)"),
    ("pooled_without_tanh", "Bert", "ops.tanh(self.pooler(x[:, 0]))", "self.pooler(x[:, 0])"),
    ("gelu_of_tanh_in_bert", "Bert", 'approximate="none"', 'approximate="tanh"'),
    ("alpha_not_divided_by_rank", "LoRA", "self.scaling = alpha / rank", "self.scaling = alpha", ("return self.base_layer(x) + self.lora_B",)),
    ("merged_without_scaling", "MergedLoRA", "ops.matmul(self.lora_B.weight, self.lora_A.weight) * self.scaling", "ops.matmul(self.lora_B.weight, self.lora_A.weight)", ("weight = self.base_layer.weight + weight", "ops.matmul(x, weight.T)")),
    ("scan_sees_what_comes", "Mamba", "[..., :tokens]", "[..., -tokens:]"),
    ("rates_without_exp", "Mamba", "-ops.exp(self.A_log)", "-self.A_log"),
    ("step_not_in_what_is_fed", "Mamba", "fed = (step * x).expand_dims(-1)", "fed = x.expand_dims(-1)"),
    ("scan_without_skip", "Mamba", "ops.stack(found, 1) + x * self.D", "ops.stack(found, 1)"),
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

DEFECTS = tuple(defect for lines in _FAMILIES for defect in lines.defects)


def __getattr__(name: str) -> type:
    """The network that has the mistake of this name. Raises AttributeError if there is none."""
    for lines in _FAMILIES:
        if name in lines.mistakes:
            return lines.network(name)
    raise AttributeError(f"there is no mistake {name!r}")

"""Mistakes of one line in ports of diffusion models, as people make them.

The diagnosis must name the line, or the layer where the line only says how a layer is built.
"""

import dataclasses

from ms_models import autoencoder, diffusion, diffusion_unet, samplers
from tests.defects.defect import Defect
from tests.defects.lines import Lines, Mistake

TWINS = {
    "TimestepMLP": "timestep_mlp",
    "Patches": "patches",
    "DiTBlock": "dit_block",
    "DiT": "dit",
    "JointBlock": "joint_block",
    "ResnetBlock": "diffusion_resnet_block",
    "SpatialTransformer": "spatial_transformer",
    "Upsample": "unet_upsample",
    "UNet": "diffusion_unet",
    "AutoencoderKL": "autoencoder_kl",
    "CausalConv3d": "causal_conv3d",
    "DDIM": "ddim",
}
"""Network -> the declared twin that has it."""

# ruff: noqa: E501  a mistake is one line
# fmt: off
OF_TRANSFORMERS = tuple(Mistake(*each) for each in (
    ("sines_of_times_first", "TimestepMLP", "ops.cos(angles), ops.sin(angles)", "ops.sin(angles), ops.cos(angles)"),
    ("frequencies_reach_the_last", "TimestepMLP", "steps / self.half)", "steps / (self.half - 1))"),
    ("patch_transposed", "Patches", "x.transpose(0, 5, 1, 3, 2, 4)", "x.transpose(0, 5, 1, 4, 2, 3)"),
    ("channels_before_patch", "Patches", "patch, patch, channels)", "channels, patch, patch).transpose(0, 1, 2, 4, 5, 3)", ("x.transpose(0, 5, 1, 3, 2, 4)",)),
    ("scale_before_shift", "DiTBlock", "shift1, scale1, gate1, shift2, scale2, gate2 = parts", "scale1, shift1, gate1, shift2, scale2, gate2 = parts", ("modulate(self.norm1(x), shift1, scale1)",)),
    ("modulated_without_one", "DiTBlock", "(1 + scale.expand_dims(1))", "scale.expand_dims(1)"),
    ("gate_of_the_attention", "DiTBlock", "gate2.expand_dims(1) * self.mlp(h)", "gate1.expand_dims(1) * self.mlp(h)"),
    ("feed_forward_not_normalised", "DiTBlock", "modulate(self.norm2(x), shift2, scale2)", "modulate(x, shift2, scale2)"),
    ("scaled_by_number_of_tokens", "DiTBlock", "q.shape[-1] ** -0.5", "q.shape[-2] ** -0.5", (), "attn"),
    ("epsilon_of_layer_norm", "DiTBlock", "ops.LayerNorm(-1, -1, eps)", "ops.LayerNorm(-1, -1)", ("self.norm(x, self.ones, self.zeros)[0]",), "norm1"),
    ("rows_before_columns", "DiT", "for places in (along, down)", "for places in (down, along)", ("self.x_embedder(x) + self.pos_embed",)),
    ("added_keys_not_normalised", "JointBlock", "self.norm_added_k(added[1])", "added[1]", (), "attn"),
    ("keys_by_the_norm_of_queries", "JointBlock", "self.norm_k(qkv[1])", "self.norm_q(qkv[1])", ("ops.rsqrt(mean + self.eps) * self.weight",), "attn"),
    ("text_taken_from_the_front", "JointBlock", "self.to_out(y[:, : x.shape[1]]), self.to_add_out(y[:, x.shape[1] :])", "self.to_out(y[:, -x.shape[1] :]), self.to_add_out(y[:, : -x.shape[1]])", (), "attn"),
    ("exact_gelu_in_dit", "DiTBlock", "nn.GELU(approximate=True)", "nn.GELU(approximate=False)"),
))

OF_UNETS = tuple(Mistake(*each) for each in (
    ("time_not_activated", "ResnetBlock", "self.time_emb_proj(ops.silu(time))", "self.time_emb_proj(time)"),
    ("activation_before_norm", "ResnetBlock", "self.conv1(ops.silu(self.norm1(x)))", "self.conv1(self.norm1(ops.silu(x)))"),
    ("gate_before_value", "SpatialTransformer", "value, gate = ops.chunk", "gate, value = ops.chunk", ("value * ops.gelu(",), "block.ff.0"),
    ("gate_by_tanh", "SpatialTransformer", 'approximate="none"', 'approximate="tanh"', (), "block.ff.0"),
    ("pixels_by_reshape", "SpatialTransformer", "y.transpose(0, 2, 3, 1).reshape(b, h * w, c)", "y.reshape(b, h * w, c)"),
    ("pixels_back_by_reshape", "SpatialTransformer", "y.reshape(b, h, w, c).transpose(0, 3, 1, 2)", "y.reshape(b, c, h, w)"),
    ("bilinear_pixels", "Upsample", 'mode="nearest"', 'mode="bilinear"'),
    ("skip_in_front", "UNet", "ops.cat([h, skipped], 1)", "ops.cat([skipped, h], 1)"),
))

OF_AUTOENCODERS = tuple(Mistake(*each) for each in (
    ("variance_for_deviation", "AutoencoderKL", "ops.exp(0.5 * logvar)", "ops.exp(logvar)"),
    ("variance_before_mean", "AutoencoderKL", "mean, logvar = ops.chunk", "logvar, mean = ops.chunk", ("ops.clamp(logvar", "kl = 0.5")),
    ("latents_not_scaled_back", "AutoencoderKL", "z = latents / self.scaling_factor", "z = latents", ("self.post_quant_conv(z)",)),
    ("padded_behind", "CausalConv3d", "[x[:, :, :1]] * self.front + [x]", "[x] + [x[:, :, -1:]] * self.front"),
    ("zeros_in_front", "CausalConv3d", "[x[:, :, :1]] * self.front", "[ops.zeros_like(x[:, :, :1])] * self.front"),
))

OF_SAMPLERS = tuple(Mistake(*each) for each in (
    ("guided_from_the_label", "DDIM", "without + self.scale * (with_label - without)", "with_label + self.scale * (with_label - without)", (), "model"),
    ("labels_before_nothing", "DDIM", "ops.cat([nothing, labels])", "ops.cat([labels, nothing])", ("without, with_label = ops.chunk", "without + self.scale * (with_label"), "model"),
    ("fresh_noise_added_twice", "DDIM", "(1 - later - sigma**2) ** 0.5", "(1 - later) ** 0.5"),
))

# fmt: on

LAYERS = {
    "exact_gelu_in_dit": ("mlp.act", "approximate"),
}
"""Mistake that a layer shows -> the layer, and a word of the cause."""

_FAMILIES = tuple(
    Lines(__name__, right, f"pt_reference.{file}", mistakes, declared=TWINS)
    for file, right, mistakes in (
        ("diffusion", diffusion, OF_TRANSFORMERS),
        ("diffusion_unet", diffusion_unet, OF_UNETS),
        ("autoencoder", autoencoder, OF_AUTOENCODERS),
        ("samplers", samplers, OF_SAMPLERS),
    )
)


def _shown(defect: Defect) -> Defect:
    """The defect with the layer that shows it in the place of its line."""
    if defect.name not in LAYERS:
        return defect
    layer, cause = LAYERS[defect.name]
    return dataclasses.replace(defect, culprit=(layer,), cause=cause, statements=())


DEFECTS = tuple(_shown(defect) for lines in _FAMILIES for defect in lines.defects)


def __getattr__(name: str) -> type:
    """The network that has the mistake of this name. Raises AttributeError if there is none."""
    for lines in _FAMILIES:
        if name in lines.mistakes:
            return lines.network(name)
    raise AttributeError(f"there is no mistake {name!r}")

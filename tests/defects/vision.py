"""Mistakes in networks for vision and speech: one line of a right network of `ms_models`.

The twins are those that `tests/twins` declares; the diagnosis must name the line that was changed.
"""

from dataclasses import replace

from ms_models import convnets, detection, segmentation, speech, vision_transformers
from tests.defects.defect import Defect
from tests.defects.lines import Lines, Mistake

TWINS = {
    "EncoderBlock": "vit_block",
    "VisionTransformer": "vit",
    "SwinBlock": "swin_block",
    "Swin": "swin",
    "ConvNeXtBlock": "convnext_block",
    "InvertedResidual": "inverted_residual",
    "MBConv": "mbconv",
    "ASPP": "aspp",
    "UNet": "unet",
    "FeaturePyramid": "feature_pyramid",
    "AlignedRegions": "aligned_regions",
    "Suppression": "suppression",
    "ConformerBlock": "conformer_block",
    "Recogniser": "recogniser",
}
"""Network -> the twin that compares it."""


# ruff: noqa: E501  a mistake is one line
# fmt: off
MISTAKES = {
    vision_transformers: (
        ("residual_of_normalised_patches", "EncoderBlock", "x = x + self.dropout(y)", "x = self.ln_1(x) + self.dropout(y)"),
        ("class_token_last", "VisionTransformer", "ops.cat((token, x), axis=1)", "ops.cat((x, token), axis=1)"),
        ("logits_of_the_mean_place", "VisionTransformer", "self.heads(x[:, 0])", "self.heads(x.mean(1))"),
        ("patches_by_reshape", "VisionTransformer", "x.flatten(start_dim=2).swapaxes(1, 2)", "x.reshape(x.shape[0], -1, x.shape[1])"),
        ("swin_shifted_the_other_way", "SwinBlock", "x = rolled(rolled(x, down, 1), right, 2)", "x = rolled(rolled(x, -down, 1), -right, 2)"),
        ("swin_shift_not_undone", "SwinBlock", "x = rolled(rolled(x, -down, 1), -right, 2)", "pass", ("x = x.transpose(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)",)),
        ("swin_mask_lost", "SwinBlock", "(scores + mask[None, :, None])", "scores", ("weights = ops.softmax(scores, axis=-1)",)),
        ("swin_scaled_by_width", "SwinBlock", "math.sqrt(c // self.num_heads)", "math.sqrt(c)"),
        ("swin_windows_by_reshape", "SwinBlock", "x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, self.window**2, c)", "x.reshape(-1, self.window**2, c)"),
        ("swin_bias_of_heads_by_reshape", "SwinBlock", "bias.reshape(places, places, self.num_heads).transpose(2, 0, 1)", "bias.reshape(self.num_heads, places, places)"),
        ("merged_right_before_down", "Swin", "x.transpose(0, 1, 3, 4, 2, 5)", "x.transpose(0, 1, 3, 2, 4, 5)"),
    ),
    convnets: (
        ("layer_scale_lost", "ConvNeXtBlock", "x + self.layer_scale * self.block(x)", "x + self.block(x)"),
        ("layer_scale_of_the_residual", "ConvNeXtBlock", "x + self.layer_scale * self.block(x)", "self.layer_scale * (x + self.block(x))"),
        ("squeezed_by_maximum", "InvertedResidual", "scale = x.mean((2, 3), keep_dims=True)", "scale = ops.amax(x, (2, 3), keepdims=True)"),
        ("gate_of_soft_sigmoid", "InvertedResidual", "x * self.gate(self.fc2(scale))", "x * ops.sigmoid(self.fc2(scale))"),
        ("residual_forgotten", "InvertedResidual", "return x + y if self.residual else y", "return y", ("y = self.block(x)",)),
        ("squeezed_without_activation", "MBConv", "self.activation(self.fc1(scale))", "self.fc1(scale)"),
    ),
    segmentation: (
        ("pooled_branch_first", "ASPP", "ops.cat(parts, axis=1)", "ops.cat([parts[-1], *parts[:-1]], axis=1)"),
        ("upsampled_before_the_skip", "UNet", "ops.cat((skip, x), axis=1)", "ops.cat((x, skip), axis=1)"),
        ("padded_before_rather_than_behind", "UNet", "(rows // 2, rows - rows // 2), (columns // 2, columns - columns // 2)", "(rows - rows // 2, rows // 2), (columns - columns // 2, columns // 2)", ("x = ops.Pad(",)),
    ),
    detection: (
        ("pyramid_bilinear", "FeaturePyramid", 'mode="nearest"', 'mode="bilinear", align_corners=False'),
        ("pyramid_of_smoothed_maps", "FeaturePyramid", "ops.interpolate(inner,", "ops.interpolate(results[0],"),
        ("regions_not_aligned", "AlignedRegions", "start * self.scale - self.offset, end * self.scale - self.offset", "start * self.scale, end * self.scale"),
        ("regions_a_place_longer", "AlignedRegions", "ops.clamp(end - start,", "ops.clamp(end - start + 1,"),
        ("kept_in_the_order_of_scores", "Suppression", "kept[place]", "kept[order]"),
    ),
    speech: (
        ("whole_steps", "ConformerBlock", "0.5 * self.feed_forward1(x)", "self.feed_forward1(x)"),
        ("gate_and_line_exchanged", "ConformerBlock", "x, gate = ops.chunk", "gate, x = ops.chunk", ("x = x * ops.sigmoid(gate)",)),
        ("padding_begins_late", "ConformerBlock", ">= lengths[:, None]", "> lengths[:, None]", ("y = self.attention(", "x = x + self.convolution(", "x = x.masked_fill(")),
        ("padding_convolved", "ConformerBlock", "x = x.masked_fill(padding[:, None], 0.0)", "pass", ("x = ops.silu(self.batch_norm",)),
        ("blank_last", "Recogniser", "blank=0,", "blank=5,", ("return ops.ctc_loss(",)),
    ),
}
# fmt: on

WITHIN = {
    "swin_shifted_the_other_way": "attn",
    "swin_shift_not_undone": "attn",
    "swin_mask_lost": "attn",
    "swin_scaled_by_width": "attn",
    "swin_windows_by_reshape": "attn",
    "swin_bias_of_heads_by_reshape": "attn",
    "merged_right_before_down": "features.2",
    "squeezed_by_maximum": "block.2",
    "gate_of_soft_sigmoid": "block.2",
    "squeezed_without_activation": "block.2",
    "gate_and_line_exchanged": "convolution",
    "padding_convolved": "convolution",
}
"""Mistake -> the layer of the reference that has the line, where that is not the network itself."""

_FAMILIES = tuple(
    Lines(
        __name__,
        right,
        right.__name__.replace("ms_models", "pt_reference"),
        [Mistake(*each) for each in mistakes],
    )
    for right, mistakes in MISTAKES.items()
)


def _of_declared(lines: Lines, defect: Defect) -> Defect:
    """The defect of the twin that `tests/twins` declares."""
    twin = TWINS[lines.mistakes[defect.name][0].network]
    return replace(defect, twin=twin, culprit=(WITHIN.get(defect.name, ""),))


DEFECTS = tuple(_of_declared(lines, defect) for lines in _FAMILIES for defect in lines.defects)


def __getattr__(name: str) -> type:
    """The network that has the mistake of this name."""
    for lines in _FAMILIES:
        if name in lines.mistakes:
            return lines.network(name)
    raise AttributeError(f"there is no mistake {name!r}")

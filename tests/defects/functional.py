"""Mistakes in functional code: one line of a right network of `functional_candidates` is changed.

The diagnosis must name the statement that was changed: its line.
"""

from equivalence import given, integers, normal, uniform
from equivalence.declare.twin import Twin
from tests.defects import functional_candidates as right
from tests.defects.lines import Lines, Mistake

X = normal(2, 6, 24)

INPUTS = {
    "Attention": [X],
    "GroupedQueries": [X, normal(2, 2, 2, 3, 6)],
    "Rotary": [X],
    "Gated": [X],
    "Modulated": [X, normal(2, 24)],
    "Unpatched": [normal(2, 6, 24)],
    "Windows": [normal(2, 8, 6, 8)],
    "Experts": [X],
    "Boxes": [normal(40, 24), uniform(40, 4, low=1.0, high=9.0)],
    "Overlap": [uniform(12, 4, low=0.2, high=1.2), uniform(12, 4, low=0.2, high=1.2)],
    "Language": [integers(3, 6, low=0, high=5)],
    "Skipped": [normal(2, 3, 8, 8)],
    "Block": [X],
    "Timed": [normal(2, 8, 5, 5), integers(2, low=1, high=900)],
    "Biased": [X],
    "Pooled": [X, given(2, values=[4, 6])],
    "InPlace": [X],
}
"""Network -> its inputs."""


# ruff: noqa: E501  a mistake is one line
# fmt: off
MISTAKES = tuple(Mistake(*each) for each in (
    ("unscaled", "Attention", "scores = scores / math.sqrt(c // HEADS)", "pass", ("ops.matmul(q, k.swapaxes", "scores + later")),
    ("scaled_by_width", "Attention", "math.sqrt(c // HEADS)", "math.sqrt(c)"),
    ("scaled_without_root", "Attention", "math.sqrt(c // HEADS)", "(c // HEADS)"),
    ("mask_hides_itself", "Attention", "ms.float32), 1)", "ms.float32), 0)"),
    ("mask_shifted", "Attention", "ms.float32), 1)", "ms.float32), 2)"),
    ("mask_inverted_in_attention", "Attention", "later * -1e9", "(1 - later) * -1e9"),
    ("mask_of_what_is_earlier", "Attention", "ops.triu(ops.ones((t, t), ms.float32), 1)", "ops.tril(ops.ones((t, t), ms.float32), -1)"),
    ("mask_dropped", "Attention", "scores = scores + later * -1e9", "pass", ("ops.softmax(scores, -1)",)),
    ("mask_too_weak", "Attention", "-1e9", "-1.0"),
    ("softmax_over_queries", "Attention", "ops.softmax(scores, -1)", "ops.softmax(scores, -2)"),
    ("heads_and_parts_exchanged", "Attention", "reshape(b, t, 3, HEADS, c // HEADS).transpose(2, 0, 3, 1, 4)", "reshape(b, t, HEADS, 3, c // HEADS).transpose(3, 0, 2, 1, 4)"),
    ("keys_and_queries_exchanged", "Attention", "q, k, v = qkv[0], qkv[1], qkv[2]", "k, q, v = qkv[0], qkv[1], qkv[2]", ("ops.matmul(q, k.swapaxes",)),
    ("values_for_keys", "Attention", "q, k.swapaxes(-2, -1)", "q, v.swapaxes(-2, -1)"),
    ("heads_not_moved_back", "Attention", "y.swapaxes(1, 2).reshape(b, t, c)", "y.reshape(b, t, c)"),
    ("tiled_keys", "GroupedQueries", "ops.repeat_interleave(k, 2, axis=1)", "ops.tile(k, (1, 2, 1, 1))"),
    ("tiled_values", "GroupedQueries", "ops.repeat_interleave(v, 2, axis=1)", "ops.tile(v, (1, 2, 1, 1))"),
    ("cache_behind", "GroupedQueries", "k = ops.cat((past[0], k)", "k = ops.cat((k, past[0])"),
    ("cache_exchanged", "GroupedQueries", "v = ops.cat((past[1], v)", "v = ops.cat((past[0], v)"),
    ("cached_values_behind", "GroupedQueries", "v = ops.cat((past[1], v)", "v = ops.cat((v, past[1])"),
    ("scale_lost", "GroupedQueries", "q * d**-0.5", "q"),
    ("heads_by_reshape", "GroupedQueries", "self.q(x).reshape(b, t, HEADS, d).swapaxes(1, 2)", "self.q(x).reshape(b, HEADS, t, d)"),
    ("output_heads_by_reshape", "GroupedQueries", "y = y.swapaxes(1, 2)", "pass", ("self.o(y.reshape",)),
    ("interleaved", "Rotary", "one, two = x[..., : d // 2], x[..., d // 2 :]", "one, two = x[..., ::2], x[..., 1::2]"),
    ("rotated_backwards", "Rotary", "one * cos - two * sin", "one * cos + two * sin"),
    ("sign_of_second", "Rotary", "two * cos + one * sin", "two * cos - one * sin"),
    ("positions_from_one", "Rotary", "positions = ops.arange(t)", "positions = ops.arange(1, t + 1)", ("ops.matmul(q, k.swapaxes",)),
    ("base_of_thousand", "Rotary", "ops.pow(10000.0", "ops.pow(1000.0"),
    ("frequencies_of_half", "Rotary", "ops.arange(0, d, 2).astype(ms.float32) / d", "ops.arange(0, d, 2).astype(ms.float32) / (d // 2)"),
    ("keys_not_rotated", "Rotary", "k = self.rotate(k)", "pass", ("ops.matmul(q, k.swapaxes",)),
    ("halves_exchanged", "Rotary", "ops.cat((first, second)", "ops.cat((second, first)"),
    ("gate_and_value_exchanged", "Gated", "gate, value = ops.chunk", "value, gate = ops.chunk", ("ops.silu(gate) * value",)),
    ("gate_interleaved", "Gated", "ops.chunk(self.up(h), 2, axis=-1)", "(self.up(h)[..., ::2], self.up(h)[..., 1::2])"),
    ("gelu_for_silu", "Gated", "ops.silu(gate)", "ops.gelu(gate)"),
    ("residual_lost", "Gated", "return x + h", "return h", ("h = self.down(h)",)),
    ("epsilon_of_norm", "Gated", "mean + 1e-6", "mean + 1e-3"),
    ("mean_over_tokens", "Gated", "ops.square(x).mean(-1, keep_dims=True)", "ops.square(x).mean(1, keep_dims=True)"),
    ("residual_of_normalised", "Gated", "return x + h", "return x * ops.rsqrt(mean + 1e-6) + h"),
    ("shift_and_scale_exchanged", "Modulated", "shift, scale, gate, shift2", "scale, shift, gate, shift2", ("self.norm(x) * (1 + scale) + shift",)),
    ("scale_without_one", "Modulated", "(1 + scale2) + shift2", "scale2 + shift2"),
    ("gate_of_the_other", "Modulated", "x + gate2 * h", "x + gate * h"),
    ("gelu_by_erf", "Modulated", 'approximate="tanh"', 'approximate="none"'),
    ("silu_lost", "Modulated", "ops.silu(c)", "c"),
    ("unbiased_variance", "Modulated", "ops.square(centred).mean(-1, keep_dims=True)", "ops.square(centred).sum(-1, keepdims=True) / 23"),
    ("norm_of_residual", "Modulated", "h = self.norm(x) * (1 + scale2)", "h = self.norm(h) * (1 + scale2)"),
    ("patches_exchanged", "Unpatched", "x.transpose(0, 5, 1, 3, 2, 4)", "x.transpose(0, 5, 1, 4, 2, 3)"),
    ("channels_first", "Unpatched", "x.reshape(-1, 3, 2, 2, 4, 3)", "x.reshape(-1, 3, 2, 3, 2, 4).transpose(0, 1, 2, 4, 5, 3)"),
    ("grid_exchanged", "Unpatched", "x.transpose(0, 5, 1, 3, 2, 4)", "x.transpose(0, 5, 3, 1, 2, 4)"),
    ("shifted_the_other_way", "Windows", "roll(x, -2, -1)", "roll(x, 2, 1)"),
    ("shift_not_undone", "Windows", "return roll(x, 2, 1)", "return x", ("x = x.reshape(b, h, w, c)",)),
    ("shift_axes_exchanged", "Windows", "roll(x, -2, -1)", "roll(x, -1, -2)"),
    ("windows_by_reshape", "Windows", "x = x.transpose(0, 1, 3, 2, 4, 5)", "pass", ("x = x.reshape(-1, 12, c)",)),
    ("softmax_over_windows", "Windows", "ops.softmax(x, axis=1)", "ops.softmax(x, axis=-1)"),
    ("not_renormalised", "Experts", "weight = weight / weight.sum(-1, keepdims=True)", "pass", ("(weight * chosen).sum",)),
    ("one_expert", "Experts", "ops.topk(probabilities, 2, dim=-1)", "ops.topk(probabilities, 1, dim=-1)"),
    ("least_experts", "Experts", "ops.topk(probabilities, 2, dim=-1)", "ops.topk(probabilities, 2, dim=-1, largest=False)"),
    ("experts_off_by_one", "Experts", "index == number", "index == (number + 1) % 4", ("y = y + share * expert(x)",)),
    ("expert_overwrites", "Experts", "y = y + share * expert(x)", "y = share * expert(x)"),
    ("centre_by_width_of_box", "Boxes", "cx = x1 + 0.5 * width", "cx = x1 + 0.5 * height"),
    ("variance_lost", "Boxes", "d[..., 0] / 10 * width", "d[..., 0] * width"),
    ("clamp_lost", "Boxes", "ops.exp(ops.clamp(d[..., 2] / 5, max=0.05))", "ops.exp(d[..., 2] / 5)"),
    ("corner_without_half", "Boxes", "ops.stack((cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2)", "ops.stack((cx - w, cy - h, cx + w, cy + h)"),
    ("corners_ordered_yx", "Boxes", "ops.stack((cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2)", "ops.stack((cy - h / 2, cx - w / 2, cy + h / 2, cx + w / 2)"),
    ("pixels_inclusive", "Boxes", "width = x2 - x1", "width = x2 - x1 + 1"),
    ("overlap_unclamped", "Overlap", "ops.clamp(other - corner, min=0)", "other - corner"),
    ("centre_for_corner", "Overlap", "two = ops.cat((two[:, :2], two[:, :2] + two[:, 2:]), axis=1)", "two = ops.cat((two[:, :2] - two[:, 2:] / 2, two[:, :2] + two[:, 2:] / 2), axis=1)"),
    ("union_counts_twice", "Overlap", "union = area1 + area2 - inner", "union = area1 + area2"),
    ("hull_of_overlap", "Overlap", "least = ops.minimum", "least = ops.maximum"),
    ("penalty_by_union", "Overlap", "(around - union) / around", "(around - union) / union"),
    ("summed", "Overlap", "(1 - overlap).mean()", "(1 - overlap).sum()"),
    ("loss_negated", "Overlap", "(1 - overlap).mean()", "(1 + overlap).mean()"),
    ("labels_not_shifted", "Language", "targets = tokens[:, 1:]", "targets = tokens[:, :-1]"),
    ("logits_shifted", "Language", "logits = logits[:, :-1]", "logits = logits[:, 1:]"),
    ("padding_counted", "Language", "(targets != 0)", "(targets != -1)"),
    ("mean_over_all", "Language", "counted.sum()", "counted.size"),
    ("softmax_over_time", "Language", "ops.log_softmax(logits, axis=-1)", "ops.log_softmax(logits, axis=1)"),
    ("skip_concatenated_first", "Skipped", "ops.cat((up, first)", "ops.cat((first, up)"),
    ("corners_aligned_of_a_skip", "Skipped", "align_corners=False", "align_corners=True"),
    ("upsampled_by_nearest", "Skipped", 'mode="bilinear", align_corners=False', 'mode="nearest"'),
    ("skip_before_activation", "Skipped", "ops.cat((up, first)", "ops.cat((up, self.down(x))"),
    ("max_for_mean", "Skipped", "ops.avg_pool2d(first, 2, 2)", "ops.max_pool2d(first, 2, 2)"),
    ("activation_lost", "Skipped", "ops.relu(self.deep(pooled))", "self.deep(pooled)"),
    ("residual_after_norm", "Block", "x = x + h", "x = self.norm1(x) + h"),
    ("second_residual_lost", "Block", "return x + h", "return h", ("h = self.fc2(h)",)),
    ("first_residual_lost", "Block", "x = x + h", "x = h", ("h = self.norm2(x)",)),
    ("second_norm_is_the_first", "Block", "h = self.norm2(x)", "h = self.norm1(x)"),
    ("activation_forgotten", "Block", "h = ops.gelu(self.fc1(h))", "h = self.fc1(h)", ("h = self.fc2(h)",)),
    ("activation_after", "Block", "h = self.fc2(h)", "h = ops.gelu(self.fc2(h))"),
    ("mixed_along_width", "Block", "self.mix(h.swapaxes(1, 2)).swapaxes(1, 2)", "self.mix(h.reshape(-1, 24, 6)).reshape(-1, 6, 24)"),
    ("sine_first", "Timed", "ops.cos(angles), ops.sin(angles)", "ops.sin(angles), ops.cos(angles)"),
    ("frequencies_to_the_last", "Timed", "/ 8", "/ 7"),
    ("time_scaled", "Timed", "astype(ms.float32) * frequencies", "astype(ms.float32) / 1000 * frequencies"),
    ("groups_of_eight", "Timed", "ops.group_norm(x, 2)", "ops.group_norm(x, 4)"),
    ("residual_of_hidden", "Timed", "return x + self.conv(h)", "return h + self.conv(h)"),
    ("slopes_from_zero", "Biased", "ops.arange(1, HEADS + 1)", "ops.arange(0, HEADS)"),
    ("bias_added", "Biased", "scores - slopes", "scores + slopes"),
    ("distance_signed", "Biased", "ops.abs(places[:, None] - places[None])", "places[:, None] - places[None]"),
    ("sum_for_norm", "Biased", "k = k / ops.sqrt(ops.square(k).sum(-1, keepdims=True))", "k = k / ops.abs(k).sum(-1, keepdims=True)"),
    ("temperature_on_one", "Biased", "10.0 *", "0.1 *"),
    ("mask_of_lengths_inclusive", "Pooled", "< lengths[:, None]", "<= lengths[:, None]"),
    ("mean_over_padding", "Pooled", "/ lengths[:, None]", "/ x.shape[1]"),
    ("mask_of_kept", "Pooled", "(1 - kept) * -1e9", "kept * -1e9"),
    ("gate_without_sigmoid", "Pooled", "ops.sigmoid(self.excite(", "ops.tanh(self.excite("),
    ("padding_not_masked", "Pooled", "(1 - kept) * -1e9", "0"),
    ("written_in_place_forgotten", "InPlace", "x = ops.relu(self.stem(x))", "x = self.stem(x)", ("return x + self.branch(x)",)),
))
# fmt: on

PAIRS = (
    ("scaled_by_width", "softmax_over_queries"),
    ("scaled_by_width", "mask_hides_itself"),
    ("rotated_backwards", "sign_of_second"),
    ("epsilon_of_norm", "gelu_for_silu"),
    ("shift_and_scale_exchanged", "gelu_by_erf"),
    ("centre_by_width_of_box", "corner_without_half"),
    ("tiled_keys", "tiled_values"),
    ("union_counts_twice", "penalty_by_union"),
    ("not_renormalised", "expert_overwrites"),
    ("max_for_mean", "upsampled_by_nearest"),
    ("sum_for_norm", "slopes_from_zero"),
    ("mean_over_padding", "padding_not_masked"),
    ("sine_first", "groups_of_eight"),
)
"""Two mistakes in one network."""

_LINES = Lines(__name__, right, "tests.defects.functional_reference", MISTAKES, PAIRS)
DEFECTS = _LINES.defects


def twins() -> tuple[Twin, ...]:
    """The twins of all networks, with right candidates."""
    return _LINES.twins(INPUTS)


def __getattr__(name: str) -> type:
    """The network that has the mistake of this name."""
    return _LINES.network(name)

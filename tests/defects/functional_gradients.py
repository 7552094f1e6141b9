"""Mistakes that only gradients show, of one line each: outputs are right."""

from equivalence import normal, ties
from equivalence.declare.twin import Twin
from tests.defects import functional_candidates, functional_gradients_candidates
from tests.defects.lines import Lines, Mistake

X = normal(2, 6, 24)

INPUTS = {
    "Distilled": [X],
    "Quantised": [normal(6, 24)],
    "Codebook": [X],
    "Reversed": [X],
    "Guarded": [X],
    "Tied": [ties(4, 6, 24)],
    "Limited": [X],
    "Contrast": [normal(6, 24), normal(6, 24)],
    "Scaled": [X],
}
"""Network -> its inputs."""

# ruff: noqa: E501  a mistake is one line
# fmt: off
OF_OTHERS = tuple(Mistake(*each) for each in (
    ("keys_detached", "Attention", "q, k, v = qkv[0], qkv[1], qkv[2]", "q, k, v = qkv[0], ops.stop_gradient(qkv[1]), qkv[2]"),
    ("weights_detached", "Attention", "ops.softmax(scores, -1)", "ops.stop_gradient(ops.softmax(scores, -1))"),
    ("values_detached", "GroupedQueries", "v = ops.repeat_interleave(v, 2, axis=1)", "v = ops.stop_gradient(ops.repeat_interleave(v, 2, axis=1))"),
    ("cached_keys_detached", "GroupedQueries", "ops.cat((past[0], k)", "ops.cat((ops.stop_gradient(past[0]), k)"),
    ("rotated_half_detached", "Rotary", "two * cos + one * sin", "two * cos + ops.stop_gradient(one) * sin"),
    ("mean_square_detached", "Gated", "mean = ops.square(x).mean(-1, keep_dims=True)", "mean = ops.stop_gradient(ops.square(x).mean(-1, keep_dims=True))"),
    ("gate_detached", "Gated", "ops.silu(gate) * value", "ops.stop_gradient(ops.silu(gate)) * value"),
    ("variance_detached", "Modulated", "variance = ops.square(centred).mean(-1, keep_dims=True)", "variance = ops.stop_gradient(ops.square(centred).mean(-1, keep_dims=True))"),
    ("modulation_detached", "Modulated", "x + gate2 * h", "x + ops.stop_gradient(gate2) * h"),
    ("windows_detached", "Windows", "self.mix(x) * ops.softmax(x, axis=1)", "self.mix(x) * ops.stop_gradient(ops.softmax(x, axis=1))"),
    ("router_detached", "Experts", "weight = weight / weight.sum(-1, keepdims=True)", "weight = ops.stop_gradient(weight / weight.sum(-1, keepdims=True))"),
    ("sum_of_weights_detached", "Experts", "weight / weight.sum(-1, keepdims=True)", "weight / ops.stop_gradient(weight.sum(-1, keepdims=True))"),
    ("clamped_straight_through", "Boxes", "w = ops.exp(ops.clamp(d[..., 2] / 5, max=0.05)) * width", "w = ops.exp(d[..., 2] / 5 + ops.stop_gradient(ops.clamp(d[..., 2] / 5, max=0.05) - d[..., 2] / 5)) * width"),
    ("union_detached", "Overlap", "overlap = inner / union - penalty", "overlap = inner / ops.stop_gradient(union) - penalty"),
    ("penalty_detached", "Overlap", "penalty = (around - union) / around", "penalty = ops.stop_gradient((around - union) / around)"),
    ("mean_detached", "Language", "x - x.mean(-1, keep_dims=True)", "x - ops.stop_gradient(x.mean(-1, keep_dims=True))"),
    ("skip_detached", "Skipped", "ops.cat((up, first)", "ops.cat((up, ops.stop_gradient(first))"),
    ("residual_detached", "Block", "x = x + h", "x = ops.stop_gradient(x) + h"),
    ("norm_detached_from_residual", "Block", "h = self.norm2(x)", "h = self.norm2(ops.stop_gradient(x))"),
    ("norm_of_keys_detached", "Biased", "k = k / ops.sqrt(ops.square(k).sum(-1, keepdims=True))", "k = k / ops.stop_gradient(ops.sqrt(ops.square(k).sum(-1, keepdims=True)))"),
    ("excitation_detached", "Pooled", "x = x * gate[:, None]", "x = x * ops.stop_gradient(gate)[:, None]"),
    ("pooling_weights_detached", "Pooled", "weights = ops.softmax(scores, axis=1)", "weights = ops.stop_gradient(ops.softmax(scores, axis=1))"),
))

MISTAKES = tuple(Mistake(*each) for each in (
    ("target_not_detached", "Distilled", "target = ops.stop_gradient(target)", "pass", ("target = ops.softmax(", "(target * logs)")),
    ("student_detached_too", "Distilled", "logs = ops.log_softmax(ops.tanh(self.student(x)) / 0.8, axis=-1)", "logs = ops.log_softmax(ops.stop_gradient(ops.tanh(self.student(x))) / 0.8, axis=-1)"),
    ("detached_before_the_softmax", "Distilled", "ops.tanh(self.student(x)) / 0.8", "ops.tanh(self.student(ops.stop_gradient(x))) / 0.8"),
    ("rounded_without_passing", "Quantised", "weight = self.weight + ops.stop_gradient(whole - self.weight)", "weight = whole", ("whole = ops.round",)),
    ("passed_twice", "Quantised", "self.weight + ops.stop_gradient(whole - self.weight)", "2 * self.weight + ops.stop_gradient(whole - 2 * self.weight)"),
    ("codes_not_passed_straight", "Codebook", "z + ops.stop_gradient(chosen - z)", "chosen", ("return self.decode(straight)",)),
    ("commitment_exchanged", "Codebook", "learnt + 0.25 * committed", "0.25 * learnt + committed"),
    ("codes_learn_by_the_commitment", "Codebook", "ops.square(ops.stop_gradient(chosen) - z).mean()", "ops.square(chosen - z).mean()"),
    ("codes_not_learnt", "Codebook", "ops.square(chosen - ops.stop_gradient(z)).mean()", "ops.square(ops.stop_gradient(chosen) - z).mean()"),
    ("reversal_without_sign", "Reversed", "return (-0.3 * cotangent,)", "return (0.3 * cotangent,)", ("return x * 1.0", "against = self.reverse(h)")),
    ("reversal_without_factor", "Reversed", "return (-0.3 * cotangent,)", "return (-cotangent,)", ("return x * 1.0", "against = self.reverse(h)")),
    ("not_reversed", "Reversed", "against = self.reverse(h)", "against = h", ("self.domain(against)", "h = ops.tanh(self.features(x))")),
    ("guarded_once", "Guarded", "safe = ops.where(positive, h, ops.ones_like(h))", "safe = h", ("y = ops.where(positive, ops.sqrt(safe)",)),
    ("guard_detached", "Guarded", "safe = ops.where(positive, h, ops.ones_like(h))", "safe = ops.where(positive, ops.stop_gradient(h), ops.ones_like(h))"),
    ("first_of_ties", "Tied", "y = (x * first).sum(-1) / first.sum(-1)", "y = x.max(-1, keepdims=True)[..., 0]"),
    ("all_of_ties", "Tied", "y = (x * first).sum(-1) / first.sum(-1)", "y = (x * first).sum(-1) - ops.stop_gradient((x * first).sum(-1) - most[..., 0])"),
    ("gradient_not_limited", "Limited", "h = self.limit(h)", "pass", ("h = ops.tanh(self.up(x))", "return self.down(h)")),
    ("limit_of_one_tenth", "Limited", "ops.clamp(cotangent, -0.05, 0.05)", "ops.clamp(cotangent, -0.1, 0.1)"),
    ("keys_of_contrast_not_detached", "Contrast", "ops.stop_gradient(k / ops.sqrt(ops.square(k).sum(-1, keepdims=True)))", "k / ops.sqrt(ops.square(k).sum(-1, keepdims=True))"),
    ("queries_detached_too", "Contrast", "logits = ops.matmul(q, k.T) / 0.2", "logits = ops.matmul(ops.stop_gradient(q), k.T) / 0.2"),
    ("size_not_detached", "Scaled", "h = self.mix(x / ops.stop_gradient(size))", "h = self.mix(x / size)"),
    ("size_detached_everywhere", "Scaled", "return x + h * size", "return x + h * ops.stop_gradient(size)"),
))
# fmt: on

_LINES = Lines(
    __name__,
    functional_gradients_candidates,
    "tests.defects.functional_gradients_reference",
    MISTAKES,
)
_OF_OTHERS = Lines(__name__, functional_candidates, "tests.defects.functional_reference", OF_OTHERS)
DEFECTS = (*_OF_OTHERS.defects, *_LINES.defects)


def twins() -> tuple[Twin, ...]:
    """The twins of the networks that only this family has."""
    return _LINES.twins(INPUTS)


def __getattr__(name: str) -> type:
    """The network that has the mistake of this name."""
    return (_LINES if name in _LINES.mistakes else _OF_OTHERS).network(name)

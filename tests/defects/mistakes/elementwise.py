"""Mistakes in operators that work element by element, in reductions and statistics."""

from mindspore import mint, nn, ops

from tests.defects.mistakes import mistake


@mistake("gelu", "ops.gelu", "the tanh approximation for the exact one")
def gelu_by_tanh(x, approximate):  # noqa: ARG001
    return ops.gelu(x, approximate="tanh")


@mistake("gelu", "nn.GELU", "approximates unless told otherwise")
def gelu_as_it_comes(x, approximate):  # noqa: ARG001
    return nn.GELU()(x)


@mistake("leaky_relu", "ops.leaky_relu", "the slope 0.2, MindSpore's default")
def leaky_relu_of_the_default_slope(x, negative_slope):  # noqa: ARG001
    return ops.leaky_relu(x)


@mistake("relu6", "ops.relu6", "not bounded above")
def relu6_without_six(x):
    return ops.relu(x)


@mistake("hardsigmoid", "ops.hardsigmoid", "another slope: x / 5 for x / 6")
def hardsigmoid_by_a_fifth(x):
    return ops.clamp(x / 5 + 0.5, 0.0, 1.0)


@mistake("hardswish", "ops.hardswish", "x sigmoid(x), which it approximates")
def hardswish_as_silu(x):
    return ops.silu(x)


@mistake("softplus", "ops.softplus", "beta left out")
def softplus_without_beta(x, beta, threshold):  # noqa: ARG001
    return ops.softplus(x, threshold=threshold)


@mistake("softplus", "ops.softplus", "not divided by beta")
def softplus_not_divided_by_beta(x, beta, threshold):
    return ops.softplus(x * beta, threshold=threshold)


@mistake("softshrink", "ops.softshrink", "hard shrinkage for soft")
def softshrink_as_hardshrink(x, lambd):
    return ops.hardshrink(x, lambd)


@mistake("hardshrink", "ops.hardshrink", "keeps the bound itself")
def hardshrink_at_the_bound(x, lambd):
    return x * (ops.abs(x) >= lambd).astype(x.dtype)


@mistake("threshold", "ops.threshold", "keeps what equals the threshold")
def threshold_kept(x, threshold, value):
    return ops.where(x >= threshold, x, ops.full_like(x, value))


@mistake("threshold", "ops.threshold", "threshold and value exchanged")
def threshold_for_value(x, threshold, value):
    return ops.threshold(x, value, threshold)


@mistake("hardtanh", "ops.hardtanh", "bounds left at their defaults")
def hardtanh_of_one(x, min_val, max_val):  # noqa: ARG001
    return ops.hardtanh(x)


@mistake("celu", "ops.celu", "ELU, which is the same for alpha one only")
def celu_as_elu(x, alpha):
    return ops.where(x > 0, x, alpha * (ops.exp(x) - 1))


@mistake("prelu", "ops.prelu", "the slope above zero, too")
def prelu_on_both_sides(x, weight):
    return x * weight.reshape(1, -1, *[1] * (x.ndim - 2))


@mistake("glu", "ops.glu", "gates with the first half")
def glu_gated_by_the_first(x, dim):
    first, second = ops.chunk(x, 2, dim)
    return ops.sigmoid(first) * second


@mistake("glu", "ops.glu", "the last axis, the default")
def glu_of_the_last_axis(x, dim):  # noqa: ARG001
    return ops.glu(ops.concat((x, x), -1)) if x.shape[-1] % 2 else ops.glu(x)


@mistake("abs", "ops.abs", "at zero the gradient of the right side")
def abs_of_the_right_side(x):
    return ops.where(x >= 0, x, -x)


@mistake("clamp", "ops.clamp", "no gradient at the bounds")
def clamp_without_gradient_at_its_bounds(x, min, max):
    outside = x >= max if min is None else ops.logical_or(x >= max, x <= min)
    return ops.where(outside, ops.stop_gradient(ops.clamp(x, min, max)), x)


@mistake("clamp", "ops.clamp", "the lower bound forgotten")
def clamp_from_above(x, min, max):  # noqa: ARG001
    return ops.clamp(x, None, max)


@mistake("clamp_by_tensors", "ops.clamp", "the lower bound wins where the bounds cross")
def clamp_the_other_way_round(x, low, high):
    return ops.maximum(ops.minimum(x, high), low)


@mistake("maximum", "ops.maximum", "the first gets the whole gradient of a tie")
def maximum_by_where(x, y):
    return ops.where(x >= y, x, y)


@mistake("minimum", "ops.minimum", "the second gets the whole gradient of a tie")
def minimum_by_where(x, y):
    return ops.where(x < y, x, y)


@mistake("where", "ops.where", "the branches exchanged")
def where_exchanged(condition, x, y):
    return ops.where(condition, y, x)


@mistake("masked_fill", "ops.masked_fill", "fills where the mask is not set")
def masked_fill_of_the_rest(x, mask, value):
    return ops.masked_fill(x, ops.logical_not(mask), value)


@mistake("round", "ops.round", "halves are rounded away from zero")
def round_half_away(x):
    return ops.sign(x) * ops.floor(ops.abs(x) + 0.5)


@mistake("trunc", "ops.trunc", "rounded down instead of towards zero")
def trunc_down(x):
    return ops.floor(x)


@mistake("frac", "ops.frac", "x - floor(x), which is never negative")
def frac_from_below(x):
    return x - ops.floor(x)


@mistake("div", "ops.div", "the rounding mode left out")
def div_unrounded(x, other, rounding_mode):  # noqa: ARG001
    return ops.div(x, other)


@mistake("div", "ops.div", "truncated where it should be floored")
def div_truncated(x, other, rounding_mode):
    return ops.div(x, other, rounding_mode=rounding_mode and "trunc")


@mistake("floor_divide", "ops.floor_divide", "rounded towards zero")
def floor_divide_towards_zero(x, other):
    return ops.trunc(ops.div(x, other)).astype(ops.floor_divide(x, other).dtype)


@mistake("remainder", "ops.remainder", "the sign of the dividend")
def remainder_as_fmod(x, other):
    return ops.fmod(x, other)


@mistake("fmod", "ops.fmod", "the sign of the divisor")
def fmod_as_remainder(x, other):
    return ops.remainder(x, other)


@mistake("true_divide", "ops.true_divide", "integers divided to integers")
def true_divide_of_integers(x, other):
    result = ops.div(x, other)
    return result if x.is_floating_point() else result.astype(x.dtype)


@mistake("add", "ops.add", "cast to the type of the first")
def add_as_the_first(x, other):
    return ops.add(x, other).astype(x.dtype)


@mistake("add_scaled", "mint.add", "alpha lost")
def add_without_alpha(x, other, alpha):  # noqa: ARG001
    return ops.add(x, other)


@mistake("subtract", "ops.subtract", "alpha scales the first")
def subtract_from_alpha(x, other, alpha):
    return ops.sub(x * alpha, other)


@mistake("addcmul", "ops.addcmul", "value lost")
def addcmul_without_value(x, one, two, value):  # noqa: ARG001
    return x + one * two


@mistake("lerp", "ops.lerp", "ends exchanged")
def lerp_backwards(x, end, weight):
    return ops.lerp(end, x, weight)


@mistake("atan2", "ops.atan2", "the angle of half a turn only")
def atan2_of_the_quotient(x, other):
    return ops.atan(x / other)


@mistake("atan2", "ops.atan2", "arguments exchanged")
def atan2_exchanged(x, other):
    return ops.atan2(other, x)


@mistake("ge", "ops.ge", "strictly greater")
def ge_strictly(x, other):
    return ops.gt(x, other)


@mistake("isclose", "ops.isclose", "the absolute tolerance only")
def isclose_absolutely(x, other, rtol, atol, equal_nan):  # noqa: ARG001
    return ops.isclose(x, other, 0.0, atol, equal_nan)


@mistake("isclose", "mint.isclose", "missing values are never equal")
def isclose_without_nan(x, other, rtol, atol, equal_nan):  # noqa: ARG001
    return ops.isclose(x, other, rtol, atol)


@mistake("logical_xor", "ops.logical_xor", "or")
def logical_xor_as_or(x, other):
    return ops.logical_or(x, other)


@mistake("log1p", "ops.log1p", "log")
def log1p_as_log(x):
    return ops.log(x)


@mistake("logit", "ops.logit", "eps left out")
def logit_unbounded(x, eps):  # noqa: ARG001
    return ops.logit(x, 1e-6)


@mistake("sqrt", "ops.sqrt", "an epsilon under the root")
def sqrt_of_more(x):
    return ops.sqrt(x + 1e-5)


@mistake("abs", "ops.abs", "detached")
def abs_detached(x):
    return ops.stop_gradient(ops.abs(x))


@mistake("sum", "ops.sum", "keepdim lost")
def sum_without_its_axis(x, dim=None, keepdim=False):  # noqa: ARG001
    return ops.sum(x, dim)


@mistake("sum", "ops.sum", "booleans are not counted")
def sum_as_any(x, dim=None, keepdim=False):
    result = ops.sum(x, dim, keepdim)
    return result.astype(x.dtype)


@mistake("mean", "ops.mean", "the batch, axis zero, only")
def mean_of_the_batch(x, dim=None, keepdim=False):  # noqa: ARG001
    return ops.mean(x, 0, keepdim) if x.ndim else ops.mean(x)


@mistake("mean", "ops.mean", "the sum")
def mean_as_sum(x, dim=None, keepdim=False):
    return ops.sum(x, dim, keepdim)


@mistake("amax", "ops.amax", "one of several equal values gets the gradient")
def amax_of_one(x, dim=None, keepdim=False):
    if not isinstance(dim, int):
        return ops.amax(x, dim, keepdim)
    return ops.max(x, dim, keepdim)[0]


@mistake("max", "mint.max", "equal values share the gradient")
def max_shared(x, dim=None, keepdim=False):
    if dim is None:
        return mint.max(x)
    return ops.amax(x, dim, keepdim), mint.max(x, dim, keepdim)[1]


@mistake("argmax", "ops.argmax", "the last of equal values")
def argmax_from_the_end(x, dim=None, keepdim=False):
    if dim is None:
        return x.size - 1 - ops.argmax(ops.flip(x.reshape(-1), (0,)))
    return x.shape[dim] - 1 - ops.argmax(ops.flip(x, (dim,)), dim, keepdim)


@mistake("var", "ops.var", "divided by n, MindSpore's default")
def var_of_the_population(x, correction, dim=None, keepdim=False):  # noqa: ARG001
    return ops.var(x, dim, 0, keepdim)


@mistake("std", "ops.std", "divided by n - 1, PyTorch's default")
def std_of_the_sample(x, correction, dim=None, keepdim=False):  # noqa: ARG001
    return ops.std(x, dim, 1, keepdim)


@mistake("cumsum", "ops.cumsum", "the last axis for the one asked for")
def cumsum_of_the_last_axis(x, dim):  # noqa: ARG001
    return ops.cumsum(x, -1)


@mistake("logsumexp", "ops.logsumexp", "overflows")
def logsumexp_as_written(x, dim, keepdim):
    return ops.log(ops.sum(ops.exp(x), dim, keepdim))


@mistake("softmax", "ops.softmax", "the last axis, MindSpore's default, for the one asked for")
def softmax_of_the_last_axis(x, dim):  # noqa: ARG001
    return ops.softmax(x)


@mistake("log_softmax", "ops.log_softmax", "softmax without its logarithm")
def log_softmax_as_softmax(x, dim):
    return ops.softmax(x, dim)


@mistake("softmin", "ops.softmin", "softmax")
def softmin_as_softmax(x, dim):
    return ops.softmax(x, dim)

"""Mistakes that only special values show: NaN, infinities, overflow, integers beyond 32 bits."""

import mindspore as ms
from mindspore import ops

from tests.defects.mistakes import mistake


@mistake("sqrt", "ops.sqrt", "the magnitude, so that nothing negative is seen")
def sqrt_of_the_magnitude(x):
    return ops.sqrt(ops.abs(x))


@mistake("log", "ops.log", "the magnitude, so that nothing negative is seen")
def log_of_the_magnitude(x):
    return ops.log(ops.abs(x))


@mistake("rsqrt", "ops.rsqrt", "NaN replaced by zero on the way out")
def rsqrt_without_nan(x):
    return ops.nan_to_num(ops.rsqrt(x), 0.0)


@mistake("leaky_relu", "ops.leaky_relu", "NaN replaced by zero on the way in")
def leaky_relu_without_nan(x, negative_slope):
    return ops.leaky_relu(ops.nan_to_num(x, 0.0), negative_slope)


@mistake("neg", "ops.neg", "what is missing passes as it is, and so does its gradient")
def neg_of_what_is_there(x):
    return ops.where(ops.isnan(x), x, -x) if x.dtype == ms.float32 else -x


@mistake("abs", "ops.abs", "infinities are set, so that no gradient reaches them")
def abs_set_at_infinity(x):
    if x.dtype != ms.float32:
        return ops.abs(x)
    return ops.where(ops.isinf(x), ops.full_like(x, float("inf")), ops.abs(x))


@mistake("hardsigmoid", "ops.hardsigmoid", "bounded by a clamp, which swallows NaN")
def hardsigmoid_by_clamp(x):
    return ops.clamp(x / 6 + 0.5, 0.0, 1.0)


@mistake("exp2", "ops.exp2", "infinity clipped to the largest half")
def exp2_clipped(x):
    return ops.minimum(ops.exp2(x), ops.full_like(x, 3e38 if x.dtype == ms.float32 else 65504))


@mistake("add", "ops.add", "infinities clipped on the way in")
def add_of_what_is_finite(x, other):
    def finite(value):
        return ops.clamp(value, -3e38, 3e38) if value.dtype == ms.float32 else value

    return ops.add(finite(x), finite(other) if isinstance(other, ms.Tensor) else other)


@mistake("floor", "ops.floor", "through an integer")
def floor_through_an_integer(x):
    whole = x.astype(ms.int32).astype(x.dtype)
    return whole - (whole > x).astype(x.dtype)


@mistake("isinf", "ops.isinf", "plus infinity alone")
def isinf_above(x):
    return x == float("inf")


@mistake("mean", "ops.mean", "missing values count as zero")
def mean_of_what_is_there(x, dim=None, keepdim=False):
    return ops.mean(ops.nan_to_num(x, 0.0), dim, keepdim)


@mistake("logsumexp", "ops.logsumexp", "the maximum is not subtracted: infinite beyond 88")
def logsumexp_unshifted(x, dim, keepdim=False):
    return ops.log(ops.exp(x).sum(dim, keepdims=keepdim))


@mistake("softmax", "ops.softmax", "the maximum is not subtracted: NaN beyond 88")
def softmax_unshifted(x, dim):
    powers = ops.exp(x)
    return powers / powers.sum(dim, keepdims=True)


@mistake("abs", "ops.abs", "integers through float32, which holds 24 bits of them")
def abs_through_a_float(x):
    return ops.abs(x.astype(ms.float32)).astype(x.dtype) if x.dtype == ms.int64 else ops.abs(x)


@mistake("sub", "ops.sub", "integers in 32 bits")
def sub_in_32_bits(x, other):
    if isinstance(other, ms.Tensor) and x.dtype == other.dtype == ms.int64:
        return ops.sub(x.astype(ms.int32), other.astype(ms.int32)).astype(ms.int64)
    return ops.sub(x, other)

"""Mistakes that one value of an argument shows, and no other: few random examples miss them."""

from mindspore import ops

from tests.defects.mistakes import mistake


@mistake("mse_loss", "ops.mse_loss", "the mean for the sum")
def mse_loss_never_summed(x, target, reduction):
    return ops.mse_loss(x, target, "mean" if reduction == "sum" else reduction)


@mistake("huber_loss", "ops.huber_loss", "a bound below one taken for one")
def huber_loss_of_one_and_more(x, target, reduction, delta):
    return ops.huber_loss(x, target, reduction, max(delta, 1.0))


@mistake("matrix_power", "ops.matrix_power", "the power of the inverse without the inverse")
def matrix_power_of_the_magnitude(x, n):
    return ops.matrix_power(x, abs(n))


@mistake("addmm", "ops.addmm", "the factor of the product cut to a whole number")
def addmm_by_a_whole_factor(x, one, other, *, beta=1, alpha=1):
    return ops.addmm(x, one, other, beta=beta, alpha=int(alpha))


@mistake("prod", "ops.prod", "keepdim is not handed on")
def prod_that_keeps_no_axis(x, dim=None, keepdim=False):  # noqa: ARG001
    return ops.prod(x, dim)


@mistake("remainder", "ops.remainder", "the sign of a number that divides is lost")
def remainder_by_the_magnitude(x, other):
    return ops.remainder(x, abs(other) if isinstance(other, int | float) else other)


@mistake("any", "ops.any", "of all elements, whether the first axis has one")
def any_along_the_first_axis(x, dim=None, keepdim=False):
    return ops.any(x, 0 if dim is None and x.ndim else dim, keepdim)

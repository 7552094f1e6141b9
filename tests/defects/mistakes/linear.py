"""Mistakes in mixed precision, in factors of matrices and systems, and beside missing values."""

from mindspore import ops
from mindspore.scipy import linalg

from tests.defects.mistakes import mistake


@mistake("add_mixed", "ops.add", "computed in float16")
def add_in_half(x, y):
    return (x.half() + y.half()).float()


@mistake("mul_mixed", "mint.mul", "the result is float16")
def mul_to_half(x, y):
    return (x * y).half()


@mistake("where_mixed", "ops.where", "the precision of the second choice")
def where_of_the_last_precision(condition, x, y):
    return ops.where(condition, x.astype(y.dtype), y)


@mistake("eq_mixed", "ops.eq", "compared in float16")
def eq_in_half(x, y):
    return ops.eq(x.half(), y.half())


@mistake("lt_mixed", "mint.lt", "compared in float16")
def lt_in_half(x, y):
    return ops.lt(x.half(), y.half())


@mistake("maximum_mixed", "ops.maximum", "the result has the precision of the first")
def maximum_of_the_first_precision(x, y):
    return ops.maximum(x, y).astype(x.dtype)


@mistake("cholesky", "ops.cholesky", "always the lower factor")
def cholesky_always_lower(x, upper):  # noqa: ARG001
    return ops.cholesky(x)


@mistake("cholesky_inverse", "ops.cholesky_inverse", "the inverse of the factor alone")
def inverse_of_the_factor(x, upper):  # noqa: ARG001
    size = x.shape[-1]
    return linalg.solve_triangular(x, ops.eye(size, size, x.dtype), lower=False)


@mistake("cholesky_solve", "ops.cholesky_solve", "one of two triangular systems is solved")
def cholesky_solved_by_half(sides, factor, upper):
    return linalg.solve_triangular(factor, sides, lower=not upper)


@mistake("qr", "ops.qr", "always the reduced factors")
def qr_always_reduced(x, mode):  # noqa: ARG001
    return ops.qr(x)


@mistake("qr", "ops.qr", "signs such that the diagonal is positive")
def qr_of_a_positive_diagonal(x, mode):
    q, r = ops.qr(x, mode)
    size = min(x.shape[-2:])
    signs = ops.sign(ops.diagonal(r[..., :size, :size], 0, -2, -1))
    return ops.cat((q[..., :size] * signs.expand_dims(-2), q[..., size:]), -1), ops.cat(
        (r[..., :size, :] * signs.expand_dims(-1), r[..., size:, :]), -2
    )


@mistake("svdvals", "ops.svd", "eigenvalues of the Gram matrix: not rooted")
def svdvals_squared(x):
    return ops.svd(x, compute_uv=False) ** 2


@mistake("pinv", "ops.pinv", "transposed once more")
def pinv_transposed(x):
    return ops.swapaxes(ops.pinv(x), -1, -2)


@mistake("logdet", "ops.logdet", "to the base of ten")
def logdet_of_ten(x):
    return ops.logdet(x) / 2.302585


@mistake("eigvalsh", "scipy.linalg.eigh", "the largest first")
def eigvalsh_descending(x):
    return linalg.eigh((x + x.T) / 2, eigvals_only=True)[::-1]


@mistake("eigvalsh", "scipy.linalg.eigh", "the gradient of both triangles in the lower one")
def eigvalsh_of_one_triangle(x):
    return linalg.eigh(x, eigvals_only=True)


@mistake("solve_triangular", "scipy.linalg.solve_triangular", "the other triangle")
def solve_the_other_triangle(matrix, sides, upper, unitriangular):
    return linalg.solve_triangular(matrix, sides, lower=upper, unit_diagonal=unitriangular)


@mistake("solve_triangular", "scipy.linalg.solve_triangular", "the diagonal is always read")
def solve_with_the_diagonal(matrix, sides, upper, unitriangular):  # noqa: ARG001
    return linalg.solve_triangular(matrix, sides, lower=not upper)


@mistake("solve", "ops.inverse", "multiplied, not solved")
def solve_by_multiplying(matrix, sides):
    return ops.matmul(matrix, sides)


@mistake("nansum", "ops.nansum", "a sum that keeps NaN")
def nansum_as_sum(x, dim=None, keepdim=False):
    return ops.sum(x, dim, keepdim)


@mistake("nanmean", "ops.nanmean", "missing values count as zeros")
def nanmean_of_zeros(x, dim=None, keepdim=False):
    return ops.mean(ops.where(ops.isnan(x), ops.zeros_like(x), x), dim, keepdim)


@mistake("fmax", "ops.fmax", "a missing value is larger than any")
def fmax_as_maximum(x, y):
    return ops.where(ops.isnan(x), x, ops.where(ops.isnan(y), y, ops.fmax(x, y)))


@mistake("trapz", "ops.trapz", "rectangles for trapezoids")
def trapz_by_rectangles(x, dim, dx):
    return ops.sum(x, dim) * dx


@mistake("diff", "ops.diff", "the earlier minus the later")
def diff_backwards(x, n, dim):
    return -ops.diff(x, n, dim)


@mistake("combinations", "ops.combinations", "none with itself")
def combinations_without_replacement(x, r, with_replacement):  # noqa: ARG001
    return ops.combinations(x, r)


@mistake("diagonal_scatter", "ops.diagonal_scatter", "the main diagonal only")
def diagonal_scatter_to_the_main_one(x, values, offset):  # noqa: ARG001
    size = min(x.shape)
    return ops.diagonal_scatter(x, ops.cat((values, ops.zeros(size, x.dtype)))[:size])


@mistake("pdist", "ops.pdist", "always Euclidean")
def pdist_of_two(x, p):  # noqa: ARG001
    return ops.pdist(x)


@mistake("renorm", "ops.renorm", "short vectors are lengthened, too")
def renorm_of_all(x, p, dim, maxnorm):
    others = tuple(each for each in range(x.ndim) if each != dim % x.ndim)
    return x * maxnorm / ops.norm(x, p, others, keepdim=True)

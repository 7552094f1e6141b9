"""Linear algebra of MindSpore, called as PyTorch's."""

from mindspore import ops
from mindspore.scipy import linalg


def svdvals(x):
    """Singular values without their vectors."""
    return ops.svd(x, compute_uv=False)


def eigvalsh(x):
    """Eigenvalues of a symmetric matrix, the smallest first.

    `eigh` leaves the gradient of both triangles in the lower one.
    """
    return linalg.eigh((x + x.T) / 2, eigvals_only=True)


def solve_triangular(matrix, sides, upper, unitriangular):
    """The other triangle is not read."""
    return linalg.solve_triangular(matrix, sides, lower=not upper, unit_diagonal=unitriangular)


def solve_by_inverse(matrix, sides):
    """MindSpore solves no system that is not triangular."""
    return ops.matmul(ops.inverse(matrix), sides)

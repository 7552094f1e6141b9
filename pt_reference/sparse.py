"""Sparse matrices in coordinates (COO) and by rows (CSR), by `torch.sparse`."""

import contextlib
import warnings

import torch

SHAPE = (4, 5)
"""Of every sparse matrix here."""


def coo(indices, values, shape=SHAPE):
    return torch.sparse_coo_tensor(indices.T, values, shape, check_invariants=True)


@contextlib.contextmanager
def in_beta():
    """PyTorch warns that its CSR tensors are in beta state."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def coo_operators():
    """A pattern NNZ,2, its values, a matrix of `SHAPE`, and two factors."""

    def call(indices, values, dense, right, left):
        sparse = coo(indices, values)
        return (
            sparse.to_dense(),
            dense + sparse,
            dense * sparse.to_dense(),
            torch.sparse.mm(sparse, right),
            torch.sparse.mm(sparse.t(), left),
            sparse.t().to_dense(),
            torch.sparse.sum(sparse, 1).to_dense(),
        )

    return call


def coo_sum():
    """The sum of two matrices as a dense one."""

    def call(first, values, second, others):
        return (coo(first, values) + coo(second, others)).to_dense()

    return call


def summed_duplicates():
    """A pattern with repetitions as a dense matrix: what meets in an element is added up."""
    return lambda indices, values: coo(indices, values).to_dense()


def csr_operators():
    """Ends of rows, columns and values: values, dense matrix, product, sums over rows."""

    def call(pointers, columns, values, right):
        with in_beta():
            sparse = torch.sparse_csr_tensor(
                pointers, columns, values, SHAPE, check_invariants=True
            )
        return (
            sparse.values(),
            sparse.to_dense(),
            sparse @ right,
            (sparse @ values.new_ones(SHAPE[1], 1)).squeeze(1),
        )

    return call


def to_sparse():
    """The pattern and the values of a dense matrix's elements that are not zero, in both ways."""

    def call(x):
        found = x.to_sparse()
        with in_beta():
            by_rows = x.to_sparse_csr()
        return (
            found.indices().T,
            found.values(),
            by_rows.crow_indices(),
            by_rows.col_indices(),
            by_rows.values(),
        )

    return call

"""Sparse matrices in coordinates (COO) and by rows (CSR), as far as they run on a CPU.

MindSpore compiles its CSR products when they are called, with a compiler that the wheel does not
make usable by itself; here they are a gather and a sum over segments.
"""

import mindspore as ms
from mindspore import COOTensor, CSRTensor, nn, ops

SHAPE = (4, 5)
"""Of every sparse matrix here. The cells take patterns as inputs, and the shape as a constant."""


class CooOperators(nn.Cell):
    """Patterns NNZ,2 without repetitions, their values, a matrix of `SHAPE`, and two factors."""

    def __init__(self):
        super().__init__()
        self.times = nn.SparseTensorDenseMatmul()
        self.transposed_times = nn.SparseTensorDenseMatmul(adjoint_st=True)

    def construct(self, indices, values, dense, right, left):
        sparse = COOTensor(indices, values, SHAPE)
        rows, columns = SHAPE
        transposed = COOTensor(indices[:, ::-1], values, (columns, rows))
        return (
            sparse.to_dense(),
            sparse + dense,
            (sparse * dense).to_dense(),
            self.times(indices, values, SHAPE, right),
            self.transposed_times(indices, values, SHAPE, left),
            transposed.to_dense(),
            ops.unsorted_segment_sum(values, indices[:, 0], rows),
        )


class CooSum(nn.Cell):
    """The sum of two matrices, their patterns sorted by rows, as a dense one."""

    def construct(self, first, values, second, others):
        first = COOTensor(first.astype(ms.int64), values, SHAPE)
        second = COOTensor(second.astype(ms.int64), others, SHAPE)
        return (first + second).to_dense()


class SummedDuplicates(nn.Cell):
    """A pattern with repetitions as a dense matrix: what meets in an element is added up."""

    def construct(self, indices, values):
        return ops.tensor_scatter_add(ops.zeros(SHAPE, values.dtype), indices, values)


class CsrOperators(nn.Cell):
    """Ends of rows, columns and values: values, dense matrix, product, sums over rows."""

    def construct(self, pointers, columns, values, right):
        sparse = CSRTensor(pointers, columns, values, SHAPE)
        rows, width = SHAPE
        # The row of an element is the number of rows that end before it.
        numbers = ops.arange(values.shape[0]).astype(pointers.dtype)
        row = (numbers.expand_dims(1) >= pointers[1:]).astype(columns.dtype).sum(1)
        flat = ops.unsorted_segment_sum(values, row * width + columns, rows * width)
        terms = sparse.values.expand_dims(1) * ops.gather(right, sparse.indices, 0)
        return (
            sparse.values,
            flat.reshape(SHAPE),
            ops.unsorted_segment_sum(terms, row, rows),
            ops.unsorted_segment_sum(sparse.values, row, rows),
        )


class ToSparse(nn.Cell):
    """The pattern and the values of a dense matrix's elements that are not zero, in both ways."""

    def construct(self, x):
        coo, csr = x.to_coo(), x.to_csr()
        pattern = coo.indices.astype(ms.int64)
        ends, columns = csr.indptr.astype(ms.int64), csr.indices.astype(ms.int64)
        return pattern, coo.values, ends, columns, csr.values

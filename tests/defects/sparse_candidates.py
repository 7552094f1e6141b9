"""Sparse matrices with a mistake."""

import mindspore as ms
from mindspore import COOTensor, ops

from ms_models import sparse
from ms_models.sparse import SHAPE


class LastDuplicate(sparse.SummedDuplicates):
    """The last of the values that meet in an element, as a compiled `to_dense` has it."""

    def construct(self, indices, values):
        return COOTensor(indices, values, SHAPE).to_dense()


class SortedPattern(sparse.CooOperators):
    """The pattern is sorted by rows, the values are left in their order."""

    def construct(self, indices, values, dense, right, left):
        places = indices[:, 0] * SHAPE[1] + indices[:, 1]
        order = ops.argsort(places.astype(ms.float32))
        return super().construct(ops.gather(indices, order, 0), values, dense, right, left)


class ReshapedForTransposed(sparse.CooOperators):
    """The transposed matrix is the same numbers in the other shape."""

    def construct(self, indices, values, dense, right, left):
        found = super().construct(indices, values, dense, right, left)
        return (*found[:5], found[0].reshape(found[5].shape), found[6])


class SumOfColumns(sparse.CooOperators):
    """Sums by the second index, which is that of the column."""

    def construct(self, indices, values, dense, right, left):
        found = super().construct(indices, values, dense, right, left)
        return (*found[:6], ops.unsorted_segment_sum(values, indices[:, 1], SHAPE[1])[: SHAPE[0]])


class PatternOfProduct(sparse.CooOperators):
    """The product of the elements goes without the dense factor's gradient."""

    def construct(self, indices, values, dense, right, left):
        found = super().construct(indices, values, dense, right, left)
        fixed = COOTensor(indices, values, SHAPE) * ops.stop_gradient(dense)
        return (*found[:2], fixed.to_dense(), *found[3:])


class Overwritten(sparse.CooSum):
    """Where both matrices have an element, the second's takes the place of the first's."""

    def construct(self, first, values, second, others):
        dense = COOTensor(first, values, SHAPE).to_dense()
        return ops.tensor_scatter_elements(
            dense.reshape(-1), second[:, 0] * SHAPE[1] + second[:, 1], others
        ).reshape(SHAPE)


class EndsForStarts(sparse.CsrOperators):
    """The ends of rows are read as their starts, so that elements come a row too early."""

    def construct(self, pointers, columns, values, right):
        shifted = ops.cat((pointers[1:], pointers[-1:]))
        return super().construct(shifted, columns, values, right)


class RowsForColumns(sparse.CsrOperators):
    """The factor's rows are chosen by the position of an element, not by its column."""

    def construct(self, pointers, columns, values, right):
        found = super().construct(pointers, columns, values, right)
        mistaken = super().construct(pointers, ops.arange(6).astype(ms.int32) % 5, values, right)
        return (*found[:2], mistaken[2], found[3])


class PositiveAlone(sparse.ToSparse):
    """Negative elements are taken for zeros."""

    def construct(self, x):
        return super().construct(ops.relu(x))

"""Calls of MindSpore with PyTorch's arguments in order, where other names are not enough.

Each takes the inputs, then the arguments, of the PyTorch function that it stands for.
"""

from mindspore import Tensor, float32, int64, ops


def getitem(x, index):
    """Basic indexing; a slice is written as a tuple, an ellipsis as a string."""
    index = [slice(*each) if isinstance(each, tuple) else each for each in index]
    return x[tuple(... if each == "..." else each for each in index)]


def index_put(x, *others, accumulate):
    """All inputs but the first and the last are the indices."""
    return x.index_put(others[:-1], others[-1], accumulate)


def sort(x, dim, descending, stable):  # noqa: ARG001
    """Which of equal elements comes first cannot be told."""
    return ops.sort(x, dim, descending)


def argsort(x, dim, descending, stable):  # noqa: ARG001
    """Which of equal elements comes first cannot be told."""
    return ops.argsort(x, dim, descending)


def gather_d(x, index, dim):
    """The axis stands between the inputs."""
    return ops.gather_d(x, dim, index)


def scatter_add(x, index, source, dim):
    """A scatter whose reduction is a sum."""
    return ops.tensor_scatter_elements(x, index, source, dim, reduction="add")


def one_hot(index, num_classes):
    """Ones and zeros that are integers, as wide as the indices of PyTorch."""
    return ops.one_hot(index, num_classes, Tensor(1, int64), Tensor(0, int64))


def attention(query, key, value, mask=None, is_causal=False):
    """softmax(q k^T / sqrt(d) + mask) v; a causal mask hides later keys."""
    scores = ops.matmul(query, ops.swapaxes(key, -1, -2)) / query.shape[-1] ** 0.5
    if is_causal:
        mask = ops.triu(ops.full(scores.shape[-2:], float("-inf"), dtype=scores.dtype), 1)
    if mask is not None:
        scores = scores + mask
    return ops.matmul(ops.softmax(scores, axis=-1), value)


def pairwise_distance(x, y, p, eps, keepdim):
    """The p-norm of x - y + eps along the last axis."""
    return ops.norm(x - y + eps, ord=p, dim=-1, keepdim=keepdim)


def select(x, dim, index):
    """Elements at one place of an axis; `ops.select` is another function."""
    return ops.gather(x, Tensor(index % x.shape[dim]), dim)


def take(x, index):
    """Elements of the flattened input."""
    return ops.gather(x.reshape(-1), index, 0)


def embedding(index, table, padding_idx=None):  # noqa: ARG001
    """Rows of a table, which all get a gradient."""
    return ops.gather(table, index, 0)


def bincount(index, weights=None, minlength=0):
    """Counts are integers, sums are not."""
    if weights is None:
        return ops.bincount(index, minlength=minlength).astype(int64)
    return ops.bincount(index, weights, minlength)


def unique(x, return_inverse):  # noqa: ARG001
    """`ops.unique` keeps the order of first appearance and flattens the inverse."""
    found, inverse = ops.unique(x)
    ordered, order = ops.sort(found)
    places = ops.argsort(order.astype(float32))
    return ordered, places[inverse].reshape(x.shape).astype(int64)


def dot(x, y):
    """`ops.dot` wants two axes."""
    return ops.tensor_dot(x, y, 1)


def einsum_by_matmul(*factors, equation):
    """What these equations mean, since `ops.einsum` has no kernel on the CPU."""
    one, two = factors
    if equation == "bhid,bhjd->bhij":
        return ops.matmul(one, ops.swapaxes(two, -1, -2))
    if equation == "nchw,oc->nohw":
        batch, channels, height, width = one.shape
        return ops.matmul(two, one.reshape(batch, channels, -1)).reshape(batch, -1, height, width)
    return ops.matmul(one, two)


def normalize(x, p, dim, eps):
    """x over its norm, or over eps where that is larger; mint's has no kernel on the CPU."""
    return x / ops.norm(x, ord=p, dim=dim, keepdim=True).clamp(min=eps)

"""Functions of `mindspore.mint` that take an argument between their inputs, or change an input."""

from mindspore import mint

F = mint.nn.functional


def _typed(function):
    def make(x, **told):
        return function(**told, dtype=x.dtype)

    return make


arange, full, linspace = _typed(mint.arange), _typed(mint.full), _typed(mint.linspace)


def einsum(*inputs, equation):
    return mint.einsum(equation, *inputs)


def index_select(x, index, dim):
    return mint.index_select(x, dim, index)


def scatter_add(x, index, source, dim):
    return mint.scatter_add(x, dim, index, source)


def layer_norm(x, weight=None, bias=None, *, normalized_shape, **told):
    return F.layer_norm(x, normalized_shape, weight, bias, **told)


def relu_(x):
    """On a copy: a leaf cannot be changed in place."""
    return F.relu_(x * 1)


def elu_(x, **told):
    return F.elu_(x * 1, **told)


def hardtanh_(x, **told):
    return F.hardtanh_(x * 1, **told)


def sigmoid_(x):
    return F.sigmoid_(x * 1)


def threshold_(x, **told):
    return F.threshold_(x * 1, **told)

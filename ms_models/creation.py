"""Functions that make tensors, of the dtype of an input; or the input anew, of another dtype."""

import mindspore as ms
from mindspore import mint, ops


def _typed(function):
    def make(x, **told):
        return function(**told, dtype=x.dtype)

    return make


ops_arange, ops_eye = _typed(ops.arange), _typed(ops.eye)
ops_full, ops_zeros = _typed(ops.full), _typed(ops.zeros)
mint_eye, mint_ones, mint_zeros = _typed(mint.eye), _typed(mint.ones), _typed(mint.zeros)


def ops_ones(x, size):
    """It calls the size its shape."""
    return ops.ones(size, x.dtype)


def ops_linspace(x, start, end, steps):
    """Its dtype cannot be told."""
    return ops.linspace(start, end, steps).astype(x.dtype)


def tensor_to(x, dtype):
    return x.to(getattr(ms, dtype))

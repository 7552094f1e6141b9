"""Assignments to parts of a tensor, as PyTorch's functions that return the changed tensor."""

from mindspore import ops


def of_slice(x, values, dim, start, end, step):
    """`x[..., start:end:step, ...] = values` of a copy of x."""
    changed, place = x.copy(), [slice(None)] * x.ndim
    place[dim] = slice(start, end, step)
    changed[tuple(place)] = values
    return changed


def copied(x):
    """`y.copy_(x)` of a tensor of zeros."""
    changed = ops.zeros_like(x)
    changed.copy_(x)
    return changed

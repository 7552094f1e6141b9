"""Counterparts that are wrong in ways that a search must find, and some that are right."""

import os

import mindspore as ms
import numpy as np
from mindspore import ops


def wrong_when_long(x, dim):
    """A cumulative sum that is wrong where some axis has three elements or more."""
    made = ops.cumsum(x, dim)
    return made * 1.001 if max(x.shape) > 2 else made


def through_single(x, dim):
    """Right in every precision but the double one."""
    return ops.cumsum(x.astype(ms.float32), dim).astype(x.dtype)


def refuses_tall(x, dim):
    if x.shape[0] > 1:
        raise ValueError("too tall")
    return ops.cumsum(x, dim)


def wrong_at_zero(x):
    """A ReLU with the gradient of one at zero: only ties tell."""
    return ops.where(x >= 0, x, x * 0)


def other_every_time(x):
    return x + ms.Tensor(np.random.default_rng().standard_normal(), x.dtype)


def kills_the_process(*_, **__):
    os.abort()


def steeper_beyond_nearly_three(x):
    return ops.maximum(x, 2.0 * x - (3.0 + 2.0**-20))


def wrong_beyond_three(x):
    """Values are right, the gradient is two everywhere."""
    steep = 2.0 * x - 3.0
    return steep + ops.stop_gradient(ops.maximum(x, steep) - steep)


def off_by_a_thirtieth(x):
    return x**3 + 1 / 30


def off_by_one(x):
    return x**3 + 1.0


def ill_conditioned(x):
    """As little is left as of the reference of this name."""
    return (x + 1e9) - 1e9

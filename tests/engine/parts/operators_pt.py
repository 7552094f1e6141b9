"""Functions that no example can judge, or that refuse them."""

import torch


def ill_conditioned(x):
    """What is left after cancellation is all rounding."""
    return (x + 1e9) - 1e9


def refuses(x):
    raise ValueError(f"not {tuple(x.shape)}")


def twice(x, factor=2.0):
    return torch.mul(x, factor)


def steeper_beyond_three(x):
    return torch.maximum(x, 2.0 * x - 3.0)


def cube(x):
    return x**3


def cube_beside_a_million(x):
    """Rounded to a sixteenth in float32: whole numbers are not moved."""
    return (x**3 + 2.0**20) - 2.0**20

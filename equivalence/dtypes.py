"""Dtypes by name, and bfloat16, which NumPy lacks: its numbers are held in float32, with a mark.

The mark is metadata of the array's dtype. Copies, views and parts of an array keep it, results of
`astype` do not, so that arithmetic in float64 is unmarked. Imports no framework.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

HALVES = ("float16", "bfloat16")
"""The dtypes to which whatever both sides get is rounded first, files and checkpoints too."""

_MARKED = np.dtype("float32", metadata={"holds": "bfloat16"})


def name(dtype: np.dtype) -> str:
    """The name of a dtype: "bfloat16" for one with the mark.

    >>> name(rounded(np.ones(3), "bfloat16").dtype)
    'bfloat16'
    """
    metadata: Mapping[Any, Any] = dtype.metadata or {}
    return metadata.get("holds", str(dtype))


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """The values in a dtype. In bfloat16 they are rounded to the nearest, ties to even.

    >>> rounded(np.array([1.0, 1.003, 1.005]), "bfloat16").tolist()
    [1.0, 1.0, 1.0078125]
    """
    if dtype != "bfloat16":
        return np.asarray(values, dtype)
    if name(values.dtype) == dtype:
        return values
    bits = np.array(values, np.float32, order="C")
    finite = np.isfinite(bits)
    # Its 16 bits are the upper half of float32's 32; half of their last place is added, then cut.
    words = bits.view(np.uint32)
    words[finite] += 0x7FFF + (words[finite] >> 16 & 1)
    words[finite] &= 0xFFFF0000
    return marked(bits)


def marked(values: np.ndarray) -> np.ndarray:
    """The same numbers, marked as bfloat16; they must be such numbers already."""
    return np.asarray(values, np.float32).view(_MARKED)


def plain(values: np.ndarray) -> np.ndarray:
    """The same values without the mark."""
    return values.view(np.float32) if name(values.dtype) == "bfloat16" else values


def paired(values: np.ndarray) -> np.ndarray:
    """Complex numbers as two real ones each, along a last axis; other values as they are.

    >>> paired(np.array([1 + 2j])).tolist()
    [[1.0, 2.0]]
    """
    if values.dtype.kind != "c":
        return values
    return np.stack([values.real, values.imag], axis=-1)

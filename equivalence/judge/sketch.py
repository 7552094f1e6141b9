"""The sketch of a large tensor: 256 signed sums, which a record keeps instead of all elements.

Every element is added to one of `BUCKETS` sums, with a sign. The bucket and the sign are drawn
from the tensor's own stream. This count sketch (Charikar, Chen and Farach-Colton, 2002) is linear:
the sketch of a difference is the difference of the sketches. The square of its Euclidean norm is
unbiased, with a relative standard deviation of at most sqrt(2 / BUCKETS); the norm then varies by
4.4%. A single element that differs keeps its size exactly. A sketched tensor is judged like any
other: the truth, the perturbed runs, the reference's own run and the candidate are all sketched.

A sketch loses the index of an error, and some sharpness of the maximum norm. One bucket holds the
rounding of size / 256 elements, and a single wrong element must stand out from that noise. In a
tensor of a million elements, one element must be wrong by sqrt(4000) = 63 times as much as without
a sketch; in single precision that is 2e-4 of the usual size of an element.
"""

import hashlib
import math
from dataclasses import dataclass

import numpy as np

from equivalence.seeds import stream

BUCKETS = 256
"""Sums in a sketch."""

WHOLE_SIZE = 512
"""Elements. A tensor of at most so many is kept whole; a larger one is sketched."""

CHUNK = 1 << 18
"""Elements that are sketched at once; their codes, sums and copies stay in the CPU's cache."""


@dataclass(frozen=True)
class Sketch:
    """How one tensor is sketched.

    shape: the shape of the whole tensor.
    key: the name of the stream that draws its buckets and signs.
    """

    shape: tuple[int, ...]
    key: tuple[object, ...]

    @property
    def size(self) -> int:
        """The number of elements of the whole tensor."""
        return math.prod(self.shape)

    def of(self, values: np.ndarray) -> np.ndarray:
        """The sketch of a floating tensor of shape `shape`: (BUCKETS,) float64.

        Integers and booleans give a SHA-256 instead, (32,) uint8: they are equal or not, whatever
        the width of their dtype. Raises ValueError for another shape.
        """
        if values.shape != self.shape:
            raise ValueError(f"shape {values.shape}, sketched are {self.shape}")
        values = values.reshape(-1)
        if values.dtype.kind != "f":
            exact = values.astype("<i8").tobytes()
            return np.frombuffer(hashlib.sha256(exact).digest(), np.uint8)
        rng, sums = stream(*self.key, "sketch"), np.zeros(2 * BUCKETS)
        for start in range(0, values.size, CHUNK):
            part = values[start : start + CHUNK]
            codes = np.frombuffer(rng.bytes(2 * part.size), "<u2") % (2 * BUCKETS)
            sums += np.bincount(codes, part, 2 * BUCKETS)
        return sums[:BUCKETS] - sums[BUCKETS:]

"""A large tensor as 256 signed sums: what a record keeps instead of all of its elements.

Every element goes into one of `BUCKETS` sums, with a sign; both are drawn from the tensor's own
stream. This count sketch (Charikar, Chen and Farach-Colton, 2002) is linear: the sketch of a
difference is the difference of the sketches. Its Euclidean norm is unbiased in the square, with a
relative standard deviation of at most sqrt(2 / BUCKETS) there, and so of 4.4% in the norm; a
single element that differs keeps its size exactly. A sketched tensor is judged as any other, by
sketches of the truth, of the perturbed runs, of the reference's own run and of the candidate.

What is lost is the place of an error, and some of the reach of the maximum norm: one bucket holds
the rounding of size / 256 elements, so that a single wrong element stands out from the noise of
that many. Of a million elements one must be off by sqrt(4000) = 63 times as much as in the whole
tensor, in single precision by 2e-4 of what elements usually are.
"""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from equivalence.judge.tensors import Trace
from equivalence.judge.truth import Truth
from equivalence.judge.verdict import Expected
from equivalence.sample import Sample, stream

BUCKETS = 256

WHOLE = 512
"""Tensors of at most so many elements are kept as they are."""

CHUNK = 1 << 18  # elements: their codes, sums and copies stay in cache


@dataclass(frozen=True)
class Sketch:
    """How one tensor is sketched.

    shape: of the whole tensor. key: names the stream of its signs and buckets.
    """

    shape: tuple[int, ...]
    key: tuple[object, ...]

    @property
    def size(self) -> int:
        """Elements of the whole tensor."""
        return math.prod(self.shape)

    def of(self, values: np.ndarray) -> np.ndarray:
        """The sketch of a tensor of `shape`: (BUCKETS,) float64; of integers their digest.

        Integers and booleans are equal or not, whatever their width: (32,) uint8, a SHA-256.
        Raises ValueError for another shape.
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


def keeping(sample: Sample) -> Callable[[Trace], Truth]:
    """What is kept of the true values of a sample: small tensors whole, large ones sketched.

    What is not finite everywhere is kept whole, too: it has no sums.
    """

    def expected(name: str, values: np.ndarray) -> Expected:
        if values.size <= WHOLE or values.dtype.kind not in "fiub" or not np.isfinite(values).all():
            return Expected(values, str(values.dtype))
        sketch = Sketch(values.shape, (sample.seed, sample.name, name))
        return Expected(sketch.of(values), str(values.dtype), sketch=sketch)

    return lambda trace: Truth({name: expected(name, values) for name, values in trace.items()})

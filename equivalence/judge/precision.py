"""The unit roundoffs, the smallest normal number, the one budget, and what sums may take."""

import math

BUDGET = 16.0
"""Roundings. A tensor that is farther than this from the truth differs."""

UNIT_ROUNDOFF = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "tf32": 2.0**-11,
    "hf32": 2.0**-11,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
}
"""Unit roundoff by compute mode: the largest relative error of one rounding.

A mode counts where matrices are multiplied (see `runs/units.py`). TF32 keeps 10 bits of the
significand. HF32 keeps 11, but may truncate instead of rounding to nearest (CANN's
SetHF32TransMode).
"""

UNDERFLOW = 2.0**-126
"""The smallest normal number of float32. A smaller magnitude may count as zero: MindSpore's threads
and many accelerators flush it to zero."""

CLOSE = 4.0
"""Budgets. A tensor over the budget, but within this many budgets, is judged once more by the
sensitivity of further perturbed runs. Where elements are conditioned very unevenly (the scales of a
BatchNorm over four pixels), the first few runs underestimate the sensitivity."""

ROOTS = 2.0
"""Times the square root of the number of terms: the roundings by which a sum that runs through its
terms may be off. An error of sqrt(n) is usual (Higham and Mary, "A new approach to probabilistic
rounding error analysis", 2019, whose bound has such a factor), and what follows may amplify it."""


def rounding_of_sum(terms: float) -> float:
    """The largest error that the rounding of a sum explains, in roundings of what goes in.

    It is `CLOSE` budgets for sums of up to 1,024 terms.
    """
    return max(CLOSE * BUDGET, ROOTS * math.sqrt(terms))

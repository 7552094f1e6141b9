"""The unit roundoffs, the smallest normal number, and the one budget."""

BUDGET = 8.0
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

A mode counts where matrices are multiplied (see `comparison/comparison.py`). TF32 keeps 10 bits of
the significand. HF32 keeps 11, but may truncate instead of rounding to nearest (CANN's
SetHF32TransMode).
"""

UNDERFLOW = 2.0**-126
"""The smallest normal number of float32. A smaller magnitude may count as zero: MindSpore's threads
and many accelerators flush it to zero."""

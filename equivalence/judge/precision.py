"""Unit roundoffs, where numbers end, and the one budget."""

BUDGET = 16.0
"""Roundings that a tensor of a right candidate may be away from the truth."""

# By compute mode; every mode of a device is one of these, and counts where matrices are multiplied
# (see `units.py`). TF32 stores 10 bits of the significand.
# HF32 stores 11, but may cut the others off as well as round to nearest (CANN's SetHF32TransMode).
UNIT_ROUNDOFF = {
    "float64": 2.0**-53,
    "float32": 2.0**-24,
    "tf32": 2.0**-11,
    "hf32": 2.0**-11,
    "float16": 2.0**-11,
    "bfloat16": 2.0**-8,
}

UNDERFLOW = 2.0**-126
"""The smallest normal number of float32: what is smaller may count as zero, as MindSpore's threads
and many accelerators have it."""

# Operators that honestly need another budget: twin name -> (budget, reason with measurement).
REVIEWED_BUDGETS: dict[str, tuple[float, str]] = {}


def budget(twin: str) -> float:
    """The budget of a twin in roundings."""
    return REVIEWED_BUDGETS.get(twin, (BUDGET, ""))[0]

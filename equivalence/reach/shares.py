"""The share of decisions that a case must reach, as an option gives it."""

import argparse


def share(text: str) -> float:
    """The share that a text writes. Raises ArgumentTypeError where it is none.

    >>> share("0.9")
    0.9
    """
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is no share; write one above 0, at most 1")
    return value

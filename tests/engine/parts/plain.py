"""Words of the house, which nobody knows who has read none of its pages."""

import re

from equivalence.report.answer import DETAILS

HOUSE = (
    *("candidate", "truth", "roundings?", "conditioning", "worst", "peak/256", "excused?"),
    *("by itself", "the network itself", "budget", "ill-posed", "cotangents?", "culprits?"),
    *("sketch", "undecidable", "hollow"),
)
"""What must not stand in the answer of a failure."""

CODE = ("  port  ", "  original  ", "repeat: ")
"""Beginnings of the lines of an answer that hold a user's code, which may have any word."""


def house_words(text: str) -> list[str]:
    """The words of the house in the answer of a failure: above `details:`, but for code."""
    lines = text.partition(f"\n{DETAILS}")[0].splitlines()
    prose = "\n".join(line for line in lines if not line.startswith(CODE))
    return re.findall(rf"\b(?:{'|'.join(HOUSE)})\b", prose)

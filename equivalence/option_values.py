"""The values of options: what a text on the command line stands for."""

import argparse
import ast
import re
from typing import Any


def assignment(text: str) -> tuple[str, str]:
    """KEY=VALUE as a pair of texts."""
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key, value


_CALL = re.compile(r"\((?:[^()]|\([^()]*\))*\)")
"""What stands in the brackets of a value, such as network(TORCH, MINDSPORE, width=8)."""


def argument(text: str) -> tuple[str, Any]:
    """KEY=VALUE as a pair; the value is a Python literal, or else the text itself."""
    key, value = assignment(text)
    try:
        return key, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        if re.search(r"\s\w+=", _CALL.sub("", value)):
            raise argparse.ArgumentTypeError(
                f"{text!r} is several KEY=VALUE in one word; quote each by itself"
            ) from None
        return key, value


def byte_size(text: str) -> int:
    """A size, "500MB", in bytes."""
    units = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
    number, unit = text[:-2], text[-2:].upper()
    if unit not in units or not number.isdigit() or int(number) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write 500MB or 5GB")
    return int(number) * units[unit]


def positive(text: str) -> int:
    """A whole number above zero."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def numbers(text: str) -> int | tuple[int, ...]:
    """A whole number, or several with commas between them.

    >>> numbers("2"), numbers("1,2")
    (2, (1, 2))
    """
    try:
        found = tuple(map(int, text.split(",")))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number, and not two, as 1,2") from None
    return found if len(found) > 1 else found[0]


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

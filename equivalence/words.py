"""Phrases that several reports use."""

import difflib
import math
import os
import re
from collections.abc import Iterable, Sequence

NAMED = 3
"""How many items of a list a line names; the others are only counted."""


def listed(values: Sequence[object], most: int = NAMED) -> str:
    """The first values, and the number of the others: "a, b, c and 4 more"."""
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(str, values[:most])) + more


def joined(values: Iterable[object]) -> str:
    """All values as a part of a sentence.

    >>> joined(["train", "eval"]), joined(["a", "b", "c"]), joined(["a"])
    ('train and eval', 'a, b and c', 'a')
    """
    *first, last = map(str, values)
    return f"{', '.join(first)} and {last}" if first else last


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, each column as wide as its widest cell.

    >>> columns([("a", "bc"), ("def", "g")])
    ['a    bc', 'def  g']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def thrown(message: str) -> tuple[str, str, int]:
    """What a user's function raised within a data set of MindSpore: the error, its file and line.

    MindSpore puts that traceback into its own message. ("", "", 0) where there is none.
    """
    _, marker, told = message.partition("Python Call Stack")
    trace = re.search(r"Traceback \(most recent call last\):\n((?: .*\n)+)(\S.*)", told)
    if not marker or trace is None:
        return "", "", 0
    places = re.findall(r'^  File "(.+)", line (\d+)', trace[1], re.MULTILINE)
    file, number = places[-1] if places else ("", 0)
    return trace[2].strip(), file, int(number)


def raised(error: BaseException) -> str:
    """The class of an exception and the first line of its message.

    Of an error in a data set of MindSpore, it is what the user's function has raised, and where.

    Where a message begins with a heading of its own between rulers, as MindSpore's of a kernel that
    is missing, these are the first two lines below it.

    >>> raised(KeyError("stride"))
    "KeyError: 'stride'"
    >>> raised(TypeError("\\n---\\n- Select failed:\\n---\\nConv2D fails!\\nIt has float32."))
    'TypeError: Conv2D fails! It has float32.'
    """
    cause, file, line = thrown(str(error))
    if cause:
        return f"{cause} ({os.path.relpath(file)}:{line})" if file else cause
    first, _, below = str(error).partition("\n")
    if not first.strip():
        said = [each.strip() for each in below.split("\n")]
        said = [each for each in said if each.strip("-") and not each.startswith("- ")]
        first = " ".join(said[:2])
    return f"{type(error).__name__}: {first}"


def nearest(name: str, names: Iterable[str]) -> str:
    """The most similar of `names`, as the end of a sentence; "" where none is similar."""
    close = difflib.get_close_matches(name, [*names], n=1)
    return f"; nearest: {close[0]}" if close else ""


def several(thing: str) -> str:
    """The plural of a thing; of one that has an "of" or "that", that of what stands before it.

    >>> several("case"), several("loss"), several("entry"), several("order of samples")
    ('cases', 'losses', 'entries', 'orders of samples')
    >>> several("attribute that a run writes")
    'attributes that a run writes'
    """
    behind = re.search(" (of|that) ", thing)
    end = behind.start() if behind else len(thing)
    head, rest = thing[:end], thing[end:]
    if re.search("(s|x|sh|[aint]ch)$", head):
        plural = f"{head}es"
    elif re.search("[^aeiou]y$", head):
        plural = f"{head[:-1]}ies"
    else:
        plural = f"{head}s"
    return plural + rest


def counted(count: int, thing: str) -> str:
    """How many there are of a thing.

    >>> counted(1, "case"), counted(0, "case")
    ('1 case', '0 cases')
    """
    return f"{count} {thing if count == 1 else several(thing)}"


def all_of(count: int, thing: str) -> str:
    """All of so many things, as a subject.

    >>> all_of(4, "tensor"), all_of(2, "tensor"), all_of(1, "tensor")
    ('all 4 tensors are', 'both tensors are', 'its tensor is')
    """
    if count == 1:
        return f"its {thing} is"
    return f"{'both' if count == 2 else f'all {count}'} {several(thing)} are"


def left(seconds: float, done: int, total: int) -> str:
    """How long the rest takes, as the end of a line; "" where nothing tells yet, or below 1 s.

    seconds: what `done` of `total` parts took.

    >>> left(600.0, 2, 3), left(9.0, 3, 4), left(9.0, 0, 4)
    (', about 5 min left', ', about 3 s left', '')
    """
    if not done or done >= total:
        return ""
    rest = seconds / done * (total - done)
    if rest < 1.0:
        return ""
    return f", about {rest / 60:.0f} min left" if rest > 90 else f", about {rest:.0f} s left"


def number(value: float) -> str:
    """A figure as text, the same everywhere: three digits; "-" for NaN, where it was not measured.

    >>> number(2.0984), number(12345.6), number(0.0004), number(4.2e7), number(math.inf)
    ('2.1', '12,300', '0.0004', '4.2e+07', 'inf')
    """
    if math.isnan(value):
        return "-"
    if not math.isfinite(value) or not (value == 0.0 or 1e-4 <= abs(value) < 1e6):
        return f"{value:.2g}"
    return f"{float(f'{value:.3g}'):,.10g}"


def percent(share: float) -> str:
    """A relative difference, 1 for one as large as the value, for people.

    >>> percent(0.4215), percent(0.0000321), percent(1.3), percent(250.0), percent(3e-9)
    ('42 %', '0.0032 %', '130 %', '250 times its size', '3e-09 of its size')
    """
    if share >= 10.0:
        return f"{number(share)} times its size"
    if share < 1e-6:
        return f"{share:.1g} of its size"
    return f"{number(float(f'{100.0 * share:.2g}'))} %"


PLAIN = (
    (r"(\S+) \(reference\) (\S.*?) \(candidate\)", r"\1 in the original, \2 in the port"),
    (r"\bcandidate\b", "port"),
    (r"\b(reference|truth)\b", "original"),
    (r"\bits own error [^;)]*?(; |(?=\)))", ""),
    (r"\bby itself\b", "alone"),
    (r"\bthe network itself\b", "the network's own code"),
)
"""Words of the house -> those of people who have read none of its pages."""


def plain(text: str) -> str:
    """A sentence in the words of people who know no word of the house; it must hold no code.

    >>> plain("the candidate does not have it"), plain("only where the truth is zero")
    ('the port does not have it', 'only where the original is zero')
    """
    for house, people in PLAIN:
        text = re.sub(house, people, text)
    return text

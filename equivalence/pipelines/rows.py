"""How rows of tokens, lengths or text differ: what a tokeniser or a collation did otherwise.

A row is what one sample has in a column. NumPy only.
"""

from collections.abc import Callable, Sequence

import numpy as np

from equivalence.loaders.stages import TEXT
from equivalence.words import counted

LONGEST = 40
"""Characters of a text that are shown."""


def same_text(got: np.ndarray, want: np.ndarray) -> bool:
    """Whether two columns hold the same text; how wide their arrays are does not count."""
    return got.shape == want.shape and bool((_texts(got) == _texts(want)).all())


def explain(got: np.ndarray, want: np.ndarray) -> str | None:
    """How a column of a batch or sample differs, in one phrase; None of what holds no tokens.

    got, want: text, whole numbers or booleans, of shape () or (rows,) or (rows, length).

    >>> explain(np.array([[0, 5, 6], [7, 8, 9]]), np.array([[5, 6, 0], [7, 8, 9]]))
    'row 0 is padded on the left: 0 5 6 for 5 6 0'
    """
    kinds = {"text" if each.dtype.kind in TEXT else each.dtype.kind for each in (got, want)}
    if "text" in kinds:
        return _of_text(got, want) if len(kinds) == 1 else f"{_kind(got)} for {_kind(want)}"
    if kinds - set("iub") or max(got.ndim, want.ndim) > 2:
        return None
    if got.ndim != want.ndim or not got.ndim:
        return None if got.ndim == want.ndim else f"shape {got.shape} for {want.shape}"
    if got.ndim == 1 or len(got) != len(want):
        return _numbers(got, want)
    return _tokens(got, want)


def _kind(values: np.ndarray) -> str:
    return "text" if values.dtype.kind in TEXT else "numbers"


def _texts(values: np.ndarray) -> np.ndarray:
    """Text as Python's strings; bytes are read as UTF-8."""

    def plain(each: object) -> str:
        return each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each)

    return np.array([plain(each) for each in np.ravel(values)], object).reshape(values.shape)


def _of_text(got: np.ndarray, want: np.ndarray) -> str:
    if got.shape != want.shape:
        return f"shape {got.shape} for {want.shape}"
    ours, theirs = _texts(got).ravel(), _texts(want).ravel()
    at = int(np.flatnonzero(ours != theirs)[0])
    changes: dict[str, Callable[[str], str]] = {
        "in small letters": str.lower,
        "in capitals": str.upper,
        "without blanks at its ends": str.strip,
    }
    told = next(
        (
            f", {phrase}"
            for phrase, change in changes.items()
            if all(one == change(other) for one, other in zip(ours, theirs, strict=True))
        ),
        "",
    )
    return f"row {at} is {_shown(ours[at])} for {_shown(theirs[at])}{told}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= LONGEST else text[: LONGEST - 3] + "...")


def _numbers(got: np.ndarray, want: np.ndarray) -> str | None:
    """Of one number for each sample, or of another count of rows."""
    if got.shape != want.shape:
        return f"shape {got.shape} for {want.shape}"
    if want.dtype.kind == "b" or got.dtype.kind == "b":
        inverted = got.dtype == want.dtype and bool((got == ~want).all())
        return "it is inverted" if inverted else None
    difference = got.astype(np.int64) - want
    if difference.all() and (difference == difference[0]).all():
        return f"{abs(difference[0])} {'more' if difference[0] > 0 else 'less'} in each row"
    at = int(np.flatnonzero(difference)[0])
    return f"row {at} is {got[at]} for {want[at]}"


def _tokens(got: np.ndarray, want: np.ndarray) -> str | None:
    """Of rows of tokens, which both sides may have padded."""
    if "b" in (got.dtype.kind, want.dtype.kind):
        same = got.dtype == want.dtype and got.shape == want.shape
        return "it is inverted" if same and (got == ~want).all() else None
    size = got.shape[1]
    for part, kept in (("first", want[:, :size]), ("last", want[:, -size:])):
        if len(want) > 1 and size < want.shape[1] and np.array_equal(got, kept):
            return f"rows have their {part} {size} tokens alone, of up to {want.shape[1]}"
    pads = [_padding(each) for each in (got, want)]
    first = next(
        at
        for at in range(len(want))
        if got.shape != want.shape or not np.array_equal(got[at], want[at])
    )
    for at in range(first, len(want)):
        ours, theirs = (
            _stripped(row, pad) for row, pad in zip((got[at], want[at]), pads, strict=True)
        )
        if (told := _row(ours, theirs)) is not None:
            return f"row {at} {told}: {_line(got[at])} for {_line(want[at])}"
    ours, theirs = got[first], want[first]
    shown = f": {_line(ours)} for {_line(theirs)}"
    if got.shape != want.shape:
        return f"rows are padded to {got.shape[1]} tokens for {want.shape[1]}{shown}"
    if pads[0] != pads[1]:
        return f"rows are padded with {pads[0]} for {pads[1]}{shown}"
    side = "left" if ours[0] == pads[0] and theirs[0] != pads[1] else "right"
    return f"row {first} is padded on the {side}{shown}"


def _padding(rows: np.ndarray) -> int:
    """The value with which rows are padded: it fills the longest ends of rows; else 0."""
    votes: dict[int, int] = {}
    for row in rows.astype(np.int64):
        for end in (row, row[::-1]):
            run = next((n for n, each in enumerate(end) if each != end[0]), len(end))
            votes[int(end[0])] = max(votes.get(int(end[0]), 0), run) if len(end) else 0
    found = max(votes, key=lambda value: votes[value], default=0)
    return found if votes.get(found, 0) > 1 else 0


def _stripped(row: np.ndarray, padding: int) -> list[int]:
    """A row without what pads it, on either side."""
    values = [int(each) for each in row]
    while values and values[-1] == padding:
        values.pop()
    while values and values[0] == padding:
        values.pop(0)
    return values


def _row(ours: Sequence[int], theirs: Sequence[int]) -> str | None:
    """How tokens differ, padding left out; None where they do not."""
    if ours == theirs:
        return None
    if ours[1:] == theirs:
        return f"begins with a token more, {ours[0]}"
    if theirs[1:] == ours:
        return f"lacks the first token, {theirs[0]}"
    if ours[:-1] == theirs:
        return f"ends with a token more, {ours[-1]}"
    if theirs[:-1] == ours:
        return f"lacks the last token, {theirs[-1]}"
    if ours[1:-1] == theirs:
        return f"has a token more at both ends, {ours[0]} and {ours[-1]}"
    if theirs[1:-1] == ours:
        return f"lacks the tokens at both ends, {theirs[0]} and {theirs[-1]}"
    if ours == theirs[::-1]:
        return "has its tokens in reverse"
    if len(ours) < len(theirs) and ours in (theirs[: len(ours)], theirs[-len(ours) :]):
        part = "first" if ours == theirs[: len(ours)] else "last"
        return f"has the {part} {counted(len(ours), 'token')} of {len(theirs)} alone"
    if len(ours) > len(theirs) and theirs in (ours[: len(theirs)], ours[-len(theirs) :]):
        return f"has {len(ours)} tokens, of which the other keeps {len(theirs)}"
    if len(ours) == len(theirs):
        apart = {one - other for one, other in zip(ours, theirs, strict=True)}
        if len(apart) == 1:
            by = apart.pop()
            return f"has tokens of other numbers, each {abs(by)} {'more' if by > 0 else 'less'}"
        at = next(n for n, pair in enumerate(zip(ours, theirs, strict=True)) if len({*pair}) > 1)
        return f"has the token {ours[at]} for {theirs[at]} as its {_ordinal(at)}"
    return f"has {counted(len(ours), 'token')} for {len(theirs)}"


def _ordinal(at: int) -> str:
    """A place in words.

    >>> _ordinal(0), _ordinal(11), _ordinal(22)
    ('1st', '12th', '23rd')
    """
    place = at + 1
    ending = "th" if 10 < place % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def _line(row: np.ndarray, most: int = 8) -> str:
    shown = " ".join(str(int(each)) for each in row[:most])
    return f"{shown} ..." if len(row) > most else shown

"""What people read of a decision: its kind, and what no element did."""

from typing import NamedTuple

from equivalence.reach.decision import CANDIDATE, SAMPLE, SIZE, Decision, Key, Reach
from equivalence.words import counted

EPSILON, DROPOUT = "epsilon", "dropout"
MASKED_ROW, PADDED_LEFT, PADDED_RIGHT = "masked row", "padding left", "padding right"
BATCH = "batch of 1"
BRANCH, CHOICE, LOOP, HANDLER = "if", "conditional", "loop", "except"
BOUND = "bound"
SETTING, NUMBER = "setting", "number"


class Words(NamedTuple):
    """How a kind says that a side was not taken.

    never: that no element took the side which the kind names.
    always: that every element did.
    largest: whether the elements that are nearest to that side are the largest ones.
    """

    never: str
    always: str
    largest: bool = True


def _beyond(side: str, largest: bool) -> Words:
    return Words(f"no element is {side} {{bound}}", f"every element is {side} {{bound}}", largest)


KINDS = {
    "clamp high": _beyond("above", True),
    "clamp low": _beyond("below", False),
    "kink": _beyond("above", True),
    "threshold": _beyond("above", True),
    "overflow": _beyond("above", True),
    "maximum": Words("the first is never the larger", "the first is always the larger"),
    "minimum": Words("the first is never the smaller", "the first is always the smaller", False),
    "comparison": Words("it never holds", "it always holds"),
    "tie": Words("no two that are compared are equal", ""),
    "step": Words("no element is exactly at a step", ""),
    "zero": Words("nothing is zero", "everything is zero"),
    "where": Words("the condition never holds", "the condition always holds"),
    "mask": Words("no element is masked", "every element is masked"),
    MASKED_ROW: Words("no row is masked as a whole", "every row is masked as a whole"),
    PADDED_LEFT: Words("no row has padding at its beginning", "every row has it"),
    PADDED_RIGHT: Words("no row has padding at its end", "every row has it"),
    "first index": Words("no index is {bound}, the first row", "every index is {bound}", False),
    "last index": Words("no index is {bound}, the last row", "every index is {bound}"),
    "padding index": Words(
        "no index is {bound}, that of padding", "every index is that of padding"
    ),
    "ignored label": Words("no label is {bound}, which is ignored", "every label is ignored"),
    "remainder": Words(
        "the stride never leaves a rest of a size", "the stride leaves a rest of every size"
    ),
    "not finite": Words("no element is NaN or infinite", "every element is"),
    EPSILON: Words(
        "{bound} moves nothing that it is added to by more than rounding may hide",
        "{bound} moves everything",
        False,
    ),
    DROPOUT: Words("nothing is dropped: it is pinned, and its law is compared", ""),
    BATCH: Words("no batch of 1", "every batch is of 1"),
    SIZE: Words("no other size of an input", ""),
    BRANCH: Words("never true", "always true"),
    CHOICE: Words("never true", "always true"),
    LOOP: Words("its body never ran", "it never ended by itself"),
    BOUND: Words("the reference has no such bound, and no sample is known to meet it", ""),
    HANDLER: Words("nothing was raised", "it was raised every time"),
    SETTING: Words("another value moves no tensor beyond the budget", ""),
    NUMBER: Words("another value moves no tensor beyond the budget", ""),
}
"""The kinds of decisions, with the names that `Key.kind` has."""


def told(decision: Decision) -> str:
    """A decision that was not reached, in one line: where it is, and which side was not taken.

    >>> from equivalence.reach.decision import REFERENCE, Key
    >>> key = Key(REFERENCE, "clamp high", "net.py", 31)
    >>> told(Decision(key, no=8, bound=6.0, nearest=3.1))
    'net.py:31 clamp high: no element is above 6 (largest 3.1)'
    """
    key, words = decision.key, KINDS[decision.key.kind]
    missed = words.always if decision.yes else words.never
    text = missed.format(bound="" if decision.bound is None else f"{decision.bound:.6g}")
    if decision.nearest is not None:
        largest = words.largest != bool(decision.yes)
        text += f" ({'largest' if largest else 'smallest'} {decision.nearest:.3g})"
    detail = f" ({decision.detail})" if decision.detail else ""
    if key.side == SAMPLE:
        return f"{f'input {key.layer}' if key.layer else 'inputs'}: {text}{detail}"
    what = key.text if _is_code(key) else _named(decision)
    return f"{key.place} {what}: {text}{detail}"


def named(decision: Decision) -> str:
    """A decision by its place and its kind, such as "net.py:31 clamp high".

    >>> from equivalence.reach.decision import REFERENCE, Key
    >>> named(Decision(Key(REFERENCE, "clamp high", "net.py", 31)))
    'net.py:31 clamp high'
    """
    key = decision.key
    if key.side == SAMPLE:
        return f"{key.kind}{f' of input {key.layer}' if key.layer else ''}"
    return f"{key.place} {key.text if _is_code(key) else _named(decision)}"


def _is_code(key: Key) -> bool:
    """Whether the text of a decision is a part of the code, which says all."""
    return key.kind in (BRANCH, CHOICE, LOOP, HANDLER, BOUND) or key.text.endswith(")")


def _named(decision: Decision) -> str:
    key = decision.key
    layer = f" of {key.layer}" if key.layer and key.file else ""
    return f"{key.kind}{f' {key.text}' if key.text else ''}{layer}"


def exactly(reach: Reach, tried: Reach) -> Reach:
    """A reach with the settings and numbers that were tried, by what they do to the tensors.

    An epsilon is then no longer judged by where it stands.
    """
    measured = {(key.file, key.line) for key in tried.decisions if key.kind == NUMBER}
    rest = [
        each
        for key, each in reach.decisions.items()
        if not (key.kind == EPSILON and (key.file, key.line) in measured)
    ]
    return Reach(Reach.of(rest).decisions, reach.unknown) + tried


def counted_of(reach: Reach) -> str:
    """How many decisions were reached, such as "reached 31 of 38 decisions"."""
    return f"reached {reach.reached} of {counted(len(reach.decisions), 'decision')}"


def listing(reach: Reach) -> list[str]:
    """The lines that list what was not reached, and which side is not known; then the count.

    >>> listing(Reach())
    ['reached 0 of 0 decisions']
    """
    lines = [counted_of(reach)]
    missed = reach.missed
    for each in missed:
        port = "candidate: " if each.key.side == CANDIDATE else ""
        lines.append(f"  {port}{told(each)}")
    lines += [f"  {side}: unknown: {why}" for side, why in reach.unknown.items()]
    return lines


def short(reach: Reach) -> str:
    """What a verdict says of its reach; "" where all is reached and known.

    >>> short(Reach())
    ''
    """
    missed = len(reach.missed)
    parts = []
    if missed:
        of, were = counted(len(reach.decisions), "decision"), "was" if missed == 1 else "were"
        parts.append(f"{missed} of {of} {were} not reached")
    parts += [f"reach of the {side} unknown: {why}" for side, why in reach.unknown.items()]
    return "; ".join(parts)

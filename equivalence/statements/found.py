"""What is found: a statement to blame."""

from dataclasses import dataclass

import numpy as np

from equivalence.statements.calls import Statement


@dataclass(frozen=True)
class Blame:
    """A statement to blame.

    statement: the candidate's.
    counterpart: the reference's statement whose value mends the outputs; None: no line gives it.
    got, want: the value of the candidate, and the reference's in the same form.
    unit: the Euclidean size of one rounding of `want`.
    takes: the statements of the candidate that give what it takes and the reference has not. The
        mistake may stand in them, too.
    constant: whether the value is a constant that the statement uses, not its result.
    misplaced: the statement that gives what it takes, where the reference takes another value; None
        where its result is wrong.
    backward: whether its result is right, and what comes back to what it takes is not; the values
        are then cotangents.
    agrees: the reference's statement that gives the same result; the reference then goes on. None
        where the result is wrong.
    further: statements that follow, of which any may be to blame instead.
    after: what is to be mended first, so that what it takes is right: the places of statements, and
        layers.
    operator: the operator that gives the value; "" where it is a constant, or not known.
    at: the number of its call, and the position of the value among its results.
    """

    statement: Statement
    counterpart: Statement | None
    got: np.ndarray
    want: np.ndarray
    unit: float
    takes: tuple[Statement, ...] = ()
    constant: bool = False
    misplaced: Statement | None = None
    backward: bool = False
    agrees: Statement | None = None
    further: tuple[Statement, ...] = ()
    after: tuple[str, ...] = ()
    operator: str = ""
    at: tuple[int, int] = (-1, 0)


def alike(one: Statement | None, other: Statement | None) -> bool:
    """Whether both are the same line, whoever calls its function."""
    return (
        one is not None and other is not None and (one.file, one.line) == (other.file, other.line)
    )

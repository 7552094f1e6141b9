"""The first value of another shape that leads to a result."""

import numpy as np

from equivalence.statements.calls import Recording, Statement
from equivalence.statements.shapes import first_in_another_shape, squeezed

ONE, TWO, THREE = (Statement("net.py", line, "", "") for line in (1, 2, 3))
X, MEAN, LOGITS = np.ones((3, 5, 4)), 2 * np.ones((3, 1, 4)), 3 * np.ones((3, 1, 2))


def run(*steps):
    """A run of steps, each with what it takes, what it gives, and its statement."""
    recording = Recording()
    for taken, given, statement in steps:
        recording.add("step", recording.take([taken]), [given], statement)
    return recording


def first(recording, same):
    """same: values of the run with the shapes that they have in the other."""
    truths = [shaped for _, shaped in same]
    found = [[] for _ in recording.values]
    for number, (mine, _) in enumerate(same):
        found[recording.value(mine)].append(number)
    told = first_in_another_shape(recording, found, truths, recording.value(LOGITS))
    return told and (recording.values[told[0]].shape, told[1])


def test_it_is_followed_through_what_a_layer_computes_in_another_shape():
    flat = MEAN.reshape(3, 4) + 1
    steps = (X, MEAN, ONE), (MEAN, flat, TWO), (flat, LOGITS, TWO)
    same = [(X, X), (MEAN, MEAN.reshape(3, 4)), (LOGITS, LOGITS.reshape(3, 2))]
    assert first(run(*steps), same) == ((3, 1, 4), 1)


def test_what_a_statement_computes_within_itself_is_none_of_the_code():
    """As an attention of a framework does, with an axis of length one in another place."""
    inside = MEAN.swapaxes(0, 1)
    steps = (X, inside, TWO), (inside, LOGITS, TWO)
    same = [(X, X), (inside, MEAN.reshape(3, 4)), (LOGITS, LOGITS.reshape(3, 2))]
    assert first(run(*steps), same) is None
    crossing = (X, inside, ONE), (inside, LOGITS, TWO)
    assert first(run(*crossing), same) == ((1, 3, 4), 1)


def test_what_has_the_shape_of_the_other_run_is_not_it():
    steps = (X, MEAN, ONE), (MEAN, LOGITS, TWO)
    assert first(run(*steps), [(X, X), (MEAN, MEAN), (LOGITS, LOGITS.reshape(3, 2))]) is None


def test_another_statement_that_gives_no_quantity_ends_it():
    flat = MEAN.reshape(3, 4) + 1
    steps = (X, MEAN, ONE), (MEAN, flat, TWO), (flat, LOGITS, THREE)
    same = [(X, X), (MEAN, MEAN.reshape(3, 4)), (LOGITS, LOGITS.reshape(3, 2))]
    assert first(run(*steps), same) is None


def test_axes_of_length_one_are_no_shape():
    assert squeezed(np.zeros((1, 3, 1))) == (3,)

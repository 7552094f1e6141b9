import numpy as np

from equivalence.statements.calls import Recording
from equivalence.statements.cotangents import CotangentDeparture, departure, quantities, reached
from equivalence.statements.same import Quantities

X, Y = np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 9.0])


def run(cotangent, closed=False):
    """x -> a copy of it -> its square; what comes back to x."""
    recording = Recording()
    recording.add("copy", recording.take([X], [(1, (3,))]), [X], None, [(2, (3,))])
    recording.add("square", recording.take([X], [(2, (3,))]), [Y], None, [(3, (3,))])
    recording.add("sum", recording.take([Y], [(3, (3,))]), [Y.sum()], None)
    recording.flows |= {(0, 0), (2, 0)}
    (recording.closed if closed else recording.flows).add((1, 0))
    if cotangent is not None:
        recording.cotangents[0, 0] = cotangent
    recording.cotangents[2, 0] = np.ones(3)
    return recording


def compared(ours, theirs):
    """What is found of x and of its square."""
    known = Quantities(theirs, 2.0**-24)
    groups = quantities(ours, theirs, [known.find(values)[0] for values in ours.values])
    return [departure(group, ours, known) for group in groups]


def test_tensors_that_are_handed_on_are_one_quantity():
    groups = quantities(run(2 * X), run(2 * X), [[0], [1], [2]])
    assert [group.ours.spots for group in groups] == [((0, 0), (1, 0)), ((2, 0),)]
    assert groups[0].ours.leaving(run(2 * X)) == [1]
    assert groups[0].ours.handed(run(2 * X), 1) == [0]


def test_equal_cotangents_agree_and_others_depart():
    assert compared(run(2 * X), run(2 * X)) == [True, True]
    found, right = compared(run(-2 * X), run(2 * X))
    assert isinstance(found, CotangentDeparture)
    assert right is True
    assert found.spot == (0, 0)
    assert found.want.tolist() == (2 * X).tolist()


def test_a_gradient_that_one_side_loses_departs():
    lost = run(None, closed=True)
    found = compared(lost, run(2 * X))[0]
    assert not found.got.any()
    assert list(found.quantity.ours.closed(lost)) == [1]
    added = compared(run(2 * X), run(None, closed=True))[0]
    assert not added.want.any()


def test_the_way_forward_ends_at_what_is_asked_for():
    recording = run(2 * X)
    x, y, total = range(3)
    assert reached(recording, [x], lambda v: v == y) == {y}
    assert reached(recording, [x], lambda v: v == total) == {total}

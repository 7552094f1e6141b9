"""Bounds that only the port has, as they are read in the functions that ran."""

from equivalence.reach import bounds
from equivalence.reach.decision import REFERENCE, Decision, Key, Reach
from equivalence.reach.words import told


def port(ops, x):
    x = ops.clamp(x, -65504.0, max=6.0)
    return ops.maximum(x, 0.0)


def idle(ops, x):
    return ops.clip(x, 0.0, 3.0)


def listed(*functions, known=()):
    entered = [(each.__code__, "port.py") for each in functions]
    decided = [Decision(Key(REFERENCE, "clamp high", "net.py", n), 0, 1, b) for n, b in known]
    found = Reach.of(bounds.alone(entered, Reach.of(decided)))
    return [told(each) for each in found.missed]


def test_a_clamp_that_the_reference_has_not_is_told_with_its_line():
    line = port.__code__.co_firstlineno + 1
    assert listed(port) == [
        f"port.py:{line} ops.clamp(x, -65504.0, max=6.0): the reference has no such bound, and no "
        "sample is known to meet it"
    ]
    assert len(listed(port, known=[(1, 6.0)])) == 1


def test_a_clamp_at_the_references_own_bounds_is_not():
    assert listed(port, known=[(1, 6.0), (2, -65504.0)]) == []


def test_functions_that_did_not_run_are_not_read():
    assert len(listed(port, idle)) == 2
    assert len(listed(port)) == 1

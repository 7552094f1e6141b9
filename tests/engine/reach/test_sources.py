"""The branches of a source file, by its syntax."""

from equivalence.reach import sources
from equivalence.reach.decision import REFERENCE, Decision, Key, Reach
from equivalence.reach.sources import bounds_alone
from equivalence.reach.words import told


def texts(path):
    return [each.text for each in sources.branches(str(path))]


def test_a_file_that_is_edited_is_read_again_and_one_that_is_no_python_has_none(tmp_path):
    path = tmp_path / "edited.py"
    path.write_text("if a:\n    b = 1\n")
    assert texts(path) == ["if a"]
    path.write_text("if longer_name:\n    b = 1\n")
    assert texts(path) == ["if longer_name"]
    path.write_text("not Python (")
    assert texts(path) == []
    assert texts(tmp_path / "missing.py") == []


def test_long_conditions_are_cut(tmp_path):
    path = tmp_path / "long.py"
    path.write_text(f"if {' + '.join(['name'] * 40)}:\n    b = 1\n")
    (text,) = texts(path)
    assert len(text) == sources.LONGEST + len("if ")
    assert text.endswith("...")


def test_calls_are_found_where_they_stand(tmp_path):
    path = tmp_path / "calls.py"
    path.write_text("x = min(a,  b) + c.min(3)\n")
    assert sources.calls(str(path)) == {((1, 4), (1, 14)): "min(a, b)"}


# Bounds that only the port has, as they are read in the functions that ran.


def port(ops, x):
    x = ops.clamp(x, -65504.0, max=6.0)
    return ops.maximum(x, 0.0)


def idle(ops, x):
    return ops.clip(x, 0.0, 3.0)


def listed(*functions, known=()):
    entered = [(each.__code__, "port.py") for each in functions]
    decided = [Decision(Key(REFERENCE, "clamp high", "net.py", n), 0, 1, b) for n, b in known]
    found = Reach.of(bounds_alone(entered, Reach.of(decided)))
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

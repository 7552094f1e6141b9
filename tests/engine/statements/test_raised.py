"""Where the reference goes on where a candidate raises."""

import pytest

from equivalence import kinds
from equivalence.declare.draws import normal
from equivalence.errors import SideError
from equivalence.statements import raised as raised_module
from equivalence.statements.raised import partner
from tests.engine.parts.small import case

REFERENCE, CANDIDATES = "tests.engine.parts.attending_pt:", "tests.engine.parts.attending_ms:"
STEPPED = "tests.engine.parts.stepped_"


def small(candidate, **options):
    inputs = normal(2, 6, 16)
    return case(f"{REFERENCE}Attending", CANDIDATES + candidate, inputs, phase="eval", **options)


@pytest.mark.parametrize(
    ("candidate", "line"),
    [("NotTransposed", "scores = q @ k.transpose(-2, -1)"), ("FourParts", "q, k, v = self.qkv(x)")],
)
@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_the_line_of_both_sides_is_told(candidate, line, execution):
    with pytest.raises(SideError) as raised:
        kinds.check(small(candidate, execution=execution), 0)
    told, further = str(raised.value).splitlines()[-2:]
    assert "attending_ms.py:" in told
    assert further.startswith("the reference goes on there with attending_pt.py:")
    assert line in further


def test_a_network_that_does_not_raise_again_is_told_as_that():
    told = partner(small("Attending"), 0, "SomeError: as told")
    assert told == "\nrun once more by itself, the candidate does not raise"
    compiled = small("NotCompiled", execution="graph")
    with pytest.raises(SideError) as raised:
        kinds.check(compiled, 0)
    assert str(raised.value).endswith("\nrun in PyNative mode, the candidate does not raise")


def test_another_exception_than_that_which_is_told_is_named():
    told = partner(small("FourParts"), 0, "SomeError: as told")
    assert told.startswith("\nwatched, it raises something else: ")
    assert "in construct: return self.qkv(x).reshape(b, t, 4" in told


def test_what_keeps_the_candidate_from_being_watched_is_named(monkeypatch):
    def fail(*_arguments):
        raise ZeroDivisionError("of the watcher")

    monkeypatch.setattr(raised_module.Watched, "__init__", fail)
    told = partner(small("FourParts"), 0, "SomeError: as told")
    assert told == "\nwhere it raises could not be watched: ZeroDivisionError: of the watcher"


@pytest.mark.parametrize(
    ("candidate", "line"),
    [
        ("Stepped", "even = y[:, ::2]"),
        ("SteppedLast", "return self.fc(y)[:, ::2]"),
        ("SteppedOnce", "even = self.fc(y)[:, ::2]"),
    ],
)
def test_the_statement_whose_gradient_is_refused_is_named_with_the_cure(candidate, line):
    inputs = normal(2, 6, 8)
    with pytest.raises(SideError) as raised:
        kinds.check(case(f"{STEPPED}pt:{candidate}", f"{STEPPED}ms:{candidate}", inputs), 0)
    told, further = str(raised.value).splitlines()[-2:]
    assert "ops.gather(x, ops.arange(0, x.shape[1], 2), 1)" in told
    assert further.startswith("the gradient that MindSpore refuses is that of stepped_ms.py:")
    assert further.endswith(f"  {line}")


def test_what_is_written_in_its_place_is_equal():
    right = case(f"{STEPPED}pt:Stepped", f"{STEPPED}ms:Mended", normal(2, 6, 8))
    wrong = case(f"{STEPPED}pt:Stepped", f"{STEPPED}ms:Odd", normal(2, 6, 8))
    assert kinds.check(right, 0).passed
    assert not kinds.check(wrong, 0).passed


def test_what_the_reference_raises_is_told_as_it_is():
    wrong = case("tests.engine.parts.attending_pt:Attending", f"{CANDIDATES}Attending", normal(16))
    with pytest.raises(SideError, match="the reference raised") as raised:
        kinds.check(wrong, 0)
    assert "goes on" not in str(raised.value)

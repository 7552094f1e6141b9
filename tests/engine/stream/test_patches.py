"""What is patched is put back, whatever happens."""

import pytest

from equivalence.stream.patches import patched


class Base:
    kind = "base"


class Derived(Base):
    own = "own"


def test_a_value_is_put_back_after_an_error_too():
    with patched(Derived, own="other", kind="other"):
        assert (Derived.own, Derived.kind, Base.kind) == ("other", "other", "base")
    with pytest.raises(ZeroDivisionError), patched(Derived, own="other"):
        _ = 1 / 0
    assert (Derived.own, Derived.kind) == ("own", "base")


def test_what_was_inherited_is_inherited_again():
    with patched(Derived, kind="other"):
        assert Derived.kind == "other"
    assert "kind" not in vars(Derived)


def test_they_may_be_nested():
    with patched(Base, kind="one"):
        with patched(Base, kind="two"):
            assert Base.kind == "two"
        assert Base.kind == "one"
    assert Base.kind == "base"

"""What is said of random numbers."""

from equivalence.judge.outcome import Draws


def test_what_was_replayed_and_what_was_pinned_is_told():
    assert str(Draws(1)) == "1 draw gave both sides the same random numbers"
    assert str(Draws(pinned="why")).endswith("compared by its laws alone: why")

"""What is said of random numbers."""

from equivalence.judge.outcome import DrawsCompared


def test_what_was_replayed_and_what_was_pinned_is_told():
    assert str(DrawsCompared(1)) == "1 draw gave both sides the same random numbers"
    assert str(DrawsCompared(pinned="why")).endswith("compared by its laws alone: why")

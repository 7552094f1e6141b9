"""One candidate that meets several samples: what it keeps of one shows at the next."""

from equivalence.declare.draws import file, normal
from equivalence.further.turns import Turns, in_turn
from equivalence.further.variant import GivenInputs, Variant
from tests.engine.further.conftest import case_of


def turns(candidate, folder):
    case = case_of("Masked", candidate, normal(2, 7, 4))
    return Turns(GivenInputs(case, (normal(2, 7, 4),), (), folder), 0)


def test_a_mask_that_is_kept_shows_at_the_second_length_and_both_are_declared(tmp_path):
    turn = turns("MaskedOnce", tmp_path)
    first, _ = turn.judged(Variant("a size of 6", (normal(2, 6, 4),)))
    assert first.outcome.passed
    second, shown = turn.judged(Variant("a size of 8", (normal(2, 8, 4),)))
    assert second.red
    assert shown.told == "a size of 8, after a size of 6"
    assert shown.turns.sizes == ({"SIZE_6_8": 6}, {"SIZE_6_8": 8})


def test_what_is_kept_shows_with_the_given_inputs_after_others_where_values_differ_too(tmp_path):
    """The mask of the longer sample is kept; what differs then is of the given size, times 2."""
    turn = turns("MaskedOnce", tmp_path)
    turn.judged(Variant("a size of 8", (normal(2, 8, 4),)))
    found, shown = turn.judged(Variant("inputs times 2", (normal(2, 7, 4, scale=2.0),)))
    assert found.red
    assert shown.told == "the inputs that were given, after a size of 8"
    assert shown.turns.sizes == ({"SIZE_8_7": 8}, {"SIZE_8_7": 7})


def test_a_right_port_may_meet_all(tmp_path):
    turn = turns("Masked", tmp_path)
    for length in (6, 8, 7):
        found, _ = turn.judged(Variant("", (normal(2, length, 4),)))
        assert found.outcome.passed


def test_samples_that_differ_by_more_than_sizes_are_no_sizes_of_one_twin(tmp_path):
    case = case_of("Masked", "Masked", normal(2, 7, 4))
    assert in_turn(case, [normal(2, 6, 4)], [normal(2, 7, 4, scale=2.0)]) is None
    assert in_turn(case, [normal(2, 6, 4)], [normal(2, 6, 4)]) is None
    assert in_turn(case, [normal(2, 6, 4)], [file(tmp_path / "x.npy")]) is None

"""The numbers of draws: the same for the same place, exact in each dtype, by pairings of draws."""

import sys

import numpy as np
import pytest

from equivalence.randomness.replay import (
    MOST_BITS,
    Drawn,
    DrawPairing,
    Replay,
    choices,
    order,
    pairings,
    quantiles,
    unpaired,
    whole,
)


def replay(pairing=None, **options):
    made = Replay("sample", pairing=pairing or DrawPairing(), **options)
    made.begin([])
    return made


def drawn(*shape, law="uniform numbers", path="", line="", p=None):
    return Drawn(law, shape, path, line, p)


def test_a_draw_has_the_same_numbers_in_each_run_and_others_than_the_next():
    one, two = replay(), replay()
    first = one.uniform("uniform numbers", (3, 4))
    assert (first == two.uniform("a mask", (4, 3), 0.5).reshape(3, 4)).all()
    assert (first != one.uniform("uniform numbers", (3, 4))).any()
    assert (first != replay(DrawPairing(seed=1)).uniform("uniform numbers", (3, 4))).any()


@pytest.mark.parametrize(("dtype", "bits"), [("float32", MOST_BITS), ("bfloat16", 8)])
def test_numbers_are_within_0_and_1_and_have_few_bits(dtype, bits):
    numbers = replay(dtype=dtype).uniform("uniform numbers", (2000,))
    assert 0.0 < numbers.min() < 0.02 < 0.98 < numbers.max() < 1.0
    assert (numbers * 2.0**bits == np.round(numbers * 2.0**bits)).all()
    assert numbers.mean() == pytest.approx(0.5, abs=0.03)


def test_normal_numbers_are_quantiles_of_few_bits_and_symmetric():
    numbers = replay().uniform("uniform numbers", (4000,))
    normal = quantiles(numbers, MOST_BITS)
    assert normal.std() == pytest.approx(1.0, abs=0.05)
    assert (quantiles(1.0 - numbers, MOST_BITS) == -normal).all()
    assert (normal == normal.astype(np.float16)).all()


def test_whole_numbers_orders_and_choices_follow_their_laws():
    made = replay()
    assert {*whole(made.uniform("whole numbers", (500,)), 2, 5)} == {2, 3, 4}
    assert sorted(order(made.uniform("an order", (9,)))) == list(range(9))
    shares = np.array([[0.0, 3.0, 1.0]] * 400)
    assert {*choices(shares, 1, True, made).reshape(-1)} == {1, 2}
    assert (np.sort(choices(shares + 1.0, 2, False, made), -1)[:, 0] < 2).all()
    assert (choices(shares, 1, True, made) == 1).mean() == pytest.approx(0.75, abs=0.08)


def test_draws_are_noted_with_their_layer_and_line():
    made = replay()
    made.begin(["block", "block.drop"])
    made.uniform("a mask", (2, 3), 0.7)
    line = f"test_replay.py:{sys._getframe().f_lineno - 1}"
    assert made.drawn == [drawn(2, 3, law="a mask", path="block.drop", line=line, p=0.7)]
    assert str(made.drawn[0]) == f"a mask with p 0.7 of shape (2, 3) (block.drop at {line})"


def test_a_layout_with_other_axes_keeps_each_number_with_its_axes():
    theirs = replay().uniform("uniform numbers", (2, 5, 3))
    pairing = DrawPairing([drawn(2, 5, 3)], [0])
    ours = replay(pairing).uniform("uniform numbers", (5, 1, 2, 3))
    assert (ours[:, 0] == theirs.transpose(1, 0, 2)).all()


def test_draws_pair_in_order_by_layer_or_as_one_sequence():
    a, b = drawn(2, path="a"), drawn(2, path="b")
    assert [(*each.partners,) for each in pairings([a], [a], 0)] == [(0,), (0,)]
    crossed = [*pairings([a, b], [b, a], 3)]
    assert {(*each.partners,) for each in crossed} == {(0, 1), (1, 0)}
    assert {each.seed for each in crossed} == {3}
    assert {each.joined for each in pairings([drawn(2, 3)], [drawn(3), drawn(3)], 0)} == {True}
    assert [*pairings([drawn(2)], [drawn(3)], 0)] == []


def test_one_sequence_is_cut_as_the_candidate_cuts_it():
    together = replay().uniform("uniform numbers", (2, 3))
    made = replay(DrawPairing([drawn(2, 3)], joined=True))
    parts = [made.uniform("uniform numbers", (3,)) for _ in range(2)]
    assert (np.stack(parts) == together).all()


def test_the_other_side_of_each_number_is_tried_line_by_line():
    side = [drawn(2, line="n.py:1"), drawn(2, line="n.py:2")]
    mirrored = [each.mirrored for each in pairings(side, side, 0)]
    assert mirrored == [set(), {"n.py:1", "n.py:2"}, {"n.py:1"}, {"n.py:2"}]
    masks = [drawn(2, law="a mask", line="n.py:1", p=0.7)]
    assert [each.mirrored for each in pairings(masks, masks, 0)] == [set()]


def test_the_other_side_is_1_minus_the_number():
    line = f"test_replay.py:{sys._getframe().f_lineno + 2}"
    made = replay(DrawPairing(mirrored=frozenset([line])))
    here = made.uniform("uniform numbers", (5,))
    assert (here == 1.0 - replay().uniform("uniform numbers", (5,))).all()


def test_what_does_not_pair_is_told_with_both_draws():
    one, two = drawn(2, line="a.py:1"), drawn(3, line="b.py:2")
    told = unpaired([one, one], [two])
    assert told[0].startswith("draw 1 is uniform numbers of shape (2,) (a.py:1) in the reference")
    assert "uniform numbers of shape (3,) (b.py:2) in the candidate" in told[0]
    assert told[1].startswith("only the reference draws")
    assert unpaired([], [two])[0].startswith("only the candidate draws")
    assert unpaired([one], [drawn(1, 2)]) == []


def test_a_part_pairs_its_draws_in_their_order():
    whole_run = replay(DrawPairing([drawn(2)], [None], frozenset(["a"]), seed=4))
    assert whole_run.of_part().pairing == DrawPairing(mirrored=frozenset(["a"]), seed=4)

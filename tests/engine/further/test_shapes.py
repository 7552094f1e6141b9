"""Sizes that change together, and the sizes that are tried."""

import pytest

from equivalence.further import shapes
from equivalence.reach.decision import REFERENCE, Decision, Key


def test_equal_sizes_of_one_axis_change_together_then_those_of_all_then_each_alone():
    ways = list(shapes.together([(2, 7), (2, 7, 8), (2, 8, 7)]))
    batch = frozenset([(0, 0), (1, 0), (2, 0)])
    assert ways[0] == [batch, frozenset([(0, 0)])]
    assert ways[1] == [
        frozenset([(0, 1), (1, 1)]),
        frozenset([(0, 1), (1, 1), (2, 2)]),
        frozenset([(0, 1)]),
    ]


def test_coordinates_and_colours_are_left_as_they_are():
    assert len(list(shapes.together([(2, 4), (5, 3)]))) == 2  # the batches


def test_a_size_that_a_condition_names_is_tried_with_its_neighbours():
    key = Key(REFERENCE, "if", "net.py", 3, text="if x.shape[1] > 12")
    assert shapes.odd_ones(7, [Decision(key)])[:3] == [1, 2, 12] or {11, 12, 13} <= set(
        shapes.odd_ones(7, [Decision(key)])
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([((0, 0), (1, 0)), 1], "a batch of 1"),
        ([((0, 1), (1, 1)), 6], "a size of 6 for 8 in axis 1"),
        ([((0, 1),), 6], "a size of 6 for 8 in axis 1 of input 0"),
        ([((0, 2),), 6], "a size of 6 for 8 in axis 2"),
        (
            [((0, 1), (0, 2), (1, 1)), 9],
            "a size of 9 for 8 in axis 1 and 2 of input 0 and axis 1 of input mask",
        ),
    ],
)
def test_sizes_in_words_are_said_once_with_their_inputs(changes, words):
    class Of:
        shapes = ((2, 8, 8), (2, 8))
        names = ("0", "mask")

    places, size = changes
    assert shapes.told(Of, dict.fromkeys(places, size)) == words


def test_some_inputs_change_alone_and_of_a_mask_of_attention_its_last_axis():
    q_k_v_mask = frozenset([(0, 1), (1, 1), (2, 1), (3, 1), (3, 2)])
    parts = shapes.apart(q_k_v_mask)
    assert parts[0] == {(1, 1), (2, 1), (3, 2)}
    assert {(3, 2)} in parts
    assert shapes.apart(frozenset([(0, 1), (0, 2)])) == []


def test_lengths_of_sequences_change_with_the_axis_of_their_batch():
    (_, both, _) = shapes.together([(7, 3, 6), (3,)])
    assert both == [frozenset({(0, 1), (1, 0)})]
    ways = list(shapes.together([(3, 7, 6), (3,)]))  # the batch comes first
    assert ways[0][0] == frozenset({(0, 0), (1, 0)})

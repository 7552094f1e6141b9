"""The decisions that a sample takes by its shapes and masks."""

import numpy as np

from equivalence.reach.decision import Reach
from equivalence.reach.sizes import of_draws, of_inputs
from equivalence.reach.words import told


def missed(*calls):
    names = [f"input[{i}]" for i in range(len(calls[0]))]
    return [told(each) for each in Reach.of(of_inputs(calls, names)).missed]


def numbers(*shape):
    return np.linspace(0.0, 9.0, np.prod(shape)).reshape(shape)


def test_one_batch_of_several_reaches_neither_a_batch_of_1_nor_another_size():
    assert missed([numbers(2, 3)]) == [
        "inputs: no batch of 1",
        "inputs: no other size of an input (2x3)",
    ]


def test_a_batch_of_1_alone_is_told_too():
    assert missed([numbers(1, 3)])[0] == "inputs: every batch is of 1"


def test_calls_of_other_sizes_reach_both():
    assert missed([numbers(2, 3)], [numbers(1, 4)]) == []


def test_inputs_without_a_batch_decide_nothing():
    assert missed([np.ones(3), np.float32(2.0)]) == []


def test_a_mask_says_which_rows_it_has_not():
    told_of = missed([numbers(2, 3), np.array([[1, 1, 0], [1, 1, 1]])])
    assert told_of[2:] == [
        "input input[1]: no row is masked as a whole",
        "input input[1]: no row has padding at its beginning",
    ]
    every = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 0]])
    assert missed([numbers(3, 3), every])[2:] == []


def test_other_numbers_are_no_mask():
    assert len(missed([numbers(2, 3), np.array([[1, 2, 0], [1, 1, 1]])])) == 2


def test_what_is_pinned_drops_nothing_and_is_told_once_for_blocks_of_one_kind():
    draws = [("blocks.0.drop", "dropout"), ("blocks.1.drop", "dropout"), ("path", "DropPath")]
    assert [told(each) for each in Reach.of(of_draws(draws)).missed] == [
        "blocks.*.drop dropout: nothing is dropped: it is pinned, and its law is compared",
        "path dropout DropPath: nothing is dropped: it is pinned, and its law is compared",
    ]

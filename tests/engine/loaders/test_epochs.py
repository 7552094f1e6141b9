"""Orders of epochs: their law, whether they repeat, and which loaders stand for each other."""

import pytest

from equivalence.loaders.epochs import Epoch, differences, pairs, told
from equivalence.loaders.orders import Order

DRAWN = Order(drawn=True)
ONE, OTHER = [2, 0, 1, 3], [3, 1, 0, 2]


def epochs(*orders, law=DRAWN, key="a.py:3", samples=4):
    return [Epoch(key, law, samples, number, list(each)) for number, each in enumerate(orders, 1)]


def found(theirs, ours):
    return [(epoch.step, words) for epoch, words in differences(theirs, ours)]


def test_other_orders_of_one_law_are_equal():
    assert found(epochs(ONE, OTHER), epochs(OTHER, ONE)) == []


def test_orders_that_the_script_draws_count_as_drawn():
    assert found(epochs(ONE, OTHER), epochs(OTHER, ONE, law=Order())) == []


def test_a_port_that_does_not_shuffle_is_named():
    ((step, words),) = found(epochs(ONE), epochs(range(4), law=Order()))
    assert step == 1
    assert words == "is of another law: the original shuffles, and the port does not"


@pytest.mark.parametrize("law", [Order(drawn=True, buffer=2), Order(drawn=True, replacement=True)])
def test_another_law_is_named(law):
    ((_, words),) = found(epochs(ONE), epochs(ONE, law=law))
    assert words.startswith("is of another law: the ")


def test_an_epoch_that_repeats_the_one_before_is_named_with_the_cure():
    ((step, words),) = found(epochs(ONE, OTHER), epochs(ONE, ONE))
    assert step == 2
    assert words.startswith("of epoch 2 is that of epoch 1, and in the original it is drawn anew")
    assert "create_tuple_iterator(num_epochs=...)" in words
    ((_, words),) = found(epochs(ONE, OTHER), epochs(ONE, ONE, law=Order()))
    assert words.endswith("drawn anew")  # it is the script that repeats it


def test_an_epoch_of_the_original_that_repeats_is_named():
    ((_, words),) = found(epochs(ONE, ONE), epochs(ONE, OTHER))
    assert words.startswith("of epoch 2 is drawn anew, and in the original it is that of epoch 1")


def test_orders_are_compared_as_far_as_both_were_drawn():
    assert found(epochs(ONE, ONE[:2]), epochs(ONE, ONE)) == []


def test_a_look_before_the_loop_takes_no_pair():
    look, train = epochs(ONE, key="look"), epochs(ONE, OTHER, key="train")
    assert pairs(train, look + train) == {"train": "train"}
    assert pairs(look + train, train) == {"train": "train"}
    assert pairs(look + train, look + train) == {"look": "look", "train": "train"}
    # What is read beside it, as both data sets of a CycleGAN, or in another step, is no look.
    beside = epochs(ONE, OTHER, key="beside")
    both = [each for two in zip(beside, train, strict=True) for each in two]
    assert pairs(both, both) == {"beside": "beside", "train": "train"}
    later = [Epoch("later", DRAWN, 4, 2, ONE)]
    assert pairs(train, train + later) == {"train": "train"}
    assert pairs(train, [*train[:1], *later]) == {"train": "train"}


def test_loaders_pair_up_by_their_samples_in_the_order_of_first_use():
    theirs = epochs(ONE, key="train", samples=9) + epochs(ONE, key="val")
    ours = epochs(ONE, key="x") + epochs(ONE, key="y", samples=9)
    ours += [Epoch("z", DRAWN, 4, 3, ONE)]
    assert pairs(theirs, ours) == {"x": "val", "y": "train"}


def test_samples_that_were_not_drawn_follow():
    (epoch,) = epochs([2, 0])
    assert epoch.whole() == [2, 0, 1, 3]
    (epoch,) = epochs([1, 1], law=Order(True, replacement=True))
    assert len(epoch.whole()) == 4


def test_what_was_handed_over_is_told():
    assert told(epochs(ONE), epochs(OTHER)).endswith("in the original's order, of 1 epoch")
    assert told([], epochs(OTHER)) == told(epochs(ONE), epochs(range(4), law=Order())) == ""

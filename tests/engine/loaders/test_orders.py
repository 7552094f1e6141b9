"""Orders of samples as data: what differs is told, what makes no difference is not."""

import pytest

from equivalence.loaders.orders import Order, difference

DRAWN = Order(drawn=True)
WEIGHTED = Order(True, weights=(1.0, 3.0), replacement=True)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (Order(), Order(buffer=4)),
        (DRAWN, Order(True, buffer=10)),
        (WEIGHTED, Order(True, weights=(0.25, 0.75), replacement=True)),
        (Order(True, part=(1, 2)), Order(True, part=(1, 2))),
        (Order(True, part=(1, 2)), DRAWN),
    ],
)
def test_orders_of_one_law(theirs, ours):
    assert difference(theirs, ours, samples=10) is None


@pytest.mark.parametrize(
    ("theirs", "ours", "told"),
    [
        (DRAWN, Order(), "the reference shuffles, and the candidate does not"),
        (DRAWN, Order(True, buffer=9), "among 9 samples, the reference among all"),
        (DRAWN, Order(True, replacement=True), "the candidate draws with replacement"),
        (WEIGHTED, Order(True, replacement=True), "the reference draws samples by weights"),
        (WEIGHTED, Order(True, weights=(1.0,), replacement=True), "1 weight of samples for 2"),
        (
            Order(True, part=(1, 2)),
            Order(True, part=(0, 2)),
            "the candidate reads part 0 of 2 of the samples, and the reference part 1 of 2",
        ),
        (
            WEIGHTED,
            Order(True, weights=(1.0, 1.0), replacement=True),
            "sample 0 is drawn with the probability 0.5 for 0.25, and 1 others",
        ),
    ],
)
def test_orders_of_another_law_are_told(theirs, ours, told):
    assert told in difference(theirs, ours, samples=10)

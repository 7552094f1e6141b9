"""The orders of samples that loaders draw, epoch by epoch. Imports no framework.

No port draws the order that the original's framework draws. So a port whose data set shuffles gets
the original's order, of each epoch, and reads its own samples in it; the orders that it would have
drawn itself are compared as orders: their law, and whether an epoch repeats the one before.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from equivalence.loaders.orders import Order, difference
from equivalence.words import counted


@dataclass
class Epoch:
    """An epoch of a loader.

    key: the same for all epochs of a loader: the line that reads it. law: of its order.
    samples: how many it has. step: the step, from 1, that follows its beginning.
    order: the places of the samples, as far as they were drawn.
    """

    key: str
    law: Order
    samples: int
    step: int
    order: list[int] = field(default_factory=list)

    @property
    def is_drawn(self) -> bool:
        """Whether it is shuffled, by its loader or by the script, which names the places."""
        return self.law.drawn or self.order != sorted(self.order)

    def whole(self) -> list[int]:
        """The places of all samples; those that were not drawn follow in the order of the data."""
        seen = {*self.order}
        rest = [place for place in range(self.samples) if place not in seen]
        return (self.order + rest + [0] * self.samples)[: self.samples]


NEW_ITERATOR = (
    "; where a seed is set, each iterator of MindSpore begins with the same order: make one for "
    "all epochs, create_tuple_iterator(num_epochs=...) "
    "(equivalence findings show order_repeats_with_each_iterator)"
)

Note = Callable[[Order, int], Epoch]
"""Notes an epoch that begins, by its law and its samples."""


def by_loader(epochs: Sequence[Epoch]) -> dict[str, list[Epoch]]:
    """Key -> the epochs of a loader, in order."""
    found: dict[str, list[Epoch]] = {}
    for each in epochs:
        found.setdefault(each.key, []).append(each)
    return found


def pairs(theirs: Sequence[Epoch], ours: Sequence[Epoch]) -> dict[str, str]:
    """Key of a candidate's loader -> key of the reference's that it stands for.

    In the order of first use, a loader of as many samples. Where one side has more of these, those
    that it only looks at are left out.
    """
    free, found = _trained(theirs, ours), {}
    for key, epochs in _trained(ours, theirs).items():
        fits = (k for k, each in free.items() if each[0].samples == epochs[0].samples)
        if other := next(fits, ""):
            found[key] = other
            del free[other]
    return found


def _trained(epochs: Sequence[Epoch], others: Sequence[Epoch]) -> dict[str, list[Epoch]]:
    """The loaders of a side, as of `by_loader`, without looks that the other side does not take."""
    loaders = by_loader(epochs)
    count = Counter(each[0].samples for each in by_loader(others).values())
    more = Counter(each[0].samples for each in loaders.values()) - count
    for key, own in [*loaders.items()]:
        if more[own[0].samples] and all(_is_look(each, epochs) for each in own):
            more[own[0].samples] -= 1
            del loaders[key]
    return loaders


def _is_look(epoch: Epoch, epochs: Sequence[Epoch]) -> bool:
    """Whether another loader of as many samples begins after an epoch, and before the next step."""
    at = next(place for place, each in enumerate(epochs) if each is epoch)
    return any(
        (each.samples, each.step) == (epoch.samples, epoch.step) and each.key != epoch.key
        for each in epochs[at + 1 :]
    )


def differences(theirs: Sequence[Epoch], ours: Sequence[Epoch]) -> Iterator[tuple[Epoch, str]]:
    """How a candidate's orders are of another law than the reference's: its epoch, and words.

    Of each loader, the first epoch that differs.
    """
    sides = by_loader(theirs), by_loader(ours)
    for key, other in pairs(theirs, ours).items():
        found = zip(sides[0][other], sides[1][key], strict=False)
        before: tuple[Epoch, Epoch] | None = None
        for number, (one, two) in enumerate(found, 1):
            told = _difference(number, before, one, two)
            if told:
                yield two, told
                break
            before = one, two


def _difference(number: int, before: tuple[Epoch, Epoch] | None, one: Epoch, two: Epoch) -> str:
    """How two epochs are of another law, in words; "" where they are not."""
    ours = two.law if two.law.drawn else Order(two.is_drawn, replacement=one.law.replacement)
    told = difference(one.law, ours, one.samples)
    if told:
        port = told.replace("candidate", "port").replace("reference", "original")
        return f"is of another law: {port}"
    if before is None:
        return ""
    sides = [[old.order, new.order] for old, new in zip(before, (one, two), strict=True)]
    told = repetition(sides[0], sides[1], number)
    return told + NEW_ITERATOR * (_same(sides[1]) and two.law.drawn) if told else ""


def repetition(
    theirs: Sequence[Sequence[int]], ours: Sequence[Sequence[int]], number: int = 2
) -> str:
    """Whether one side alone repeats an order, in words; "" where both do, or neither.

    theirs, ours: the orders of two epochs. number: that of the second one.

    >>> repetition([[0, 1], [1, 0]], [[1, 0], [1, 0]])
    'of epoch 2 is that of epoch 1, and in the original it is drawn anew'
    """
    repeats = [_same(theirs), _same(ours)]
    if repeats[0] == repeats[1]:
        return ""
    words = [f"is that of epoch {number - 1}" if each else "is drawn anew" for each in repeats]
    return f"of epoch {number} {words[1]}, and in the original it {words[0]}"


def _same(orders: Sequence[Sequence[int]]) -> bool:
    """Whether two epochs have one order, as far as both were drawn."""
    one, two = orders
    count = min(len(one), len(two))
    return [*one[:count]] == [*two[:count]]


def told(theirs: Sequence[Epoch], ours: Sequence[Epoch]) -> str:
    """Which orders were handed over, in a line; "" where none was."""
    drawn = [each for each in ours if each.is_drawn and each.key in pairs(theirs, ours)]
    if not drawn:
        return ""
    return (
        f"both shuffle: the port reads its samples in the original's order, of "
        f"{counted(len(drawn), 'epoch')}"
    )

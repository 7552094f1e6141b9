"""The orders that a training's data sets draw in MindSpore, epoch by epoch."""

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset.engine import iterators

from equivalence.loaders.epochs import Epoch
from equivalence.loaders.mindspore_loader import chain, order_of, put_on
from equivalence.loaders.orders import Order
from equivalence.stream.patches import patched

COUNTING = (ds.TakeDataset, ds.SkipDataset, ds.RepeatDataset, ds.ConcatDataset)
"""What chooses among samples, so that they are not those of a loader of PyTorch."""

AT_ONCE = 4096
"""Places that are read at once."""


class Orders(Protocol):
    """Where a recorder has the orders of the reference."""

    def epoch(self, law: Order, samples: int, key: str = "") -> Epoch:
        """Note an epoch that begins, see `epochs.Epoch`; "": its key is the line that runs now."""

    def orders(self, samples: int) -> tuple[str, Sequence[Sequence[int]]]:
        """The key of what is read from now on, and the reference's orders of its epochs."""

    def unread(self, error: Exception) -> None:
        """An order could not be read."""


class Handed(ds.Sampler):
    """Gives the samples of each epoch in the reference's order; after the last, in that of it."""

    def __init__(self, orders: Sequence[Sequence[int]]):
        super().__init__(len(orders[0]))
        self.orders, self.at = orders, 0

    def __iter__(self) -> Iterator[int]:
        order = self.orders[min(self.at, len(self.orders) - 1)]
        self.at += 1
        return iter(order)


@contextlib.contextmanager
def handed(recorder: Orders) -> Iterator[None]:
    """A context in which data sets that shuffle give their samples in the reference's order.

    What they would have drawn themselves is noted, epoch by epoch.
    """
    make, draw = iterators.Iterator.__init__, iterators.Iterator.__next__
    probing = False

    def __init__(self: Any, dataset: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        nonlocal probing
        self.equivalence_epochs = None
        if not probing:
            probing = True
            try:
                dataset = started(self, dataset, args, kwargs)
            except Exception as error:  # of a sampler of the script's own, say
                recorder.unread(error)
            finally:
                probing = False
        make(self, dataset, *args, **kwargs)

    def started(self: Any, dataset: Any, args: tuple, kwargs: dict) -> Any:
        nodes = chain(dataset)
        if any(isinstance(node, COUNTING) for node in nodes) or nodes[-1].children:
            return dataset
        law = next(filter(None, map(order_of, nodes)), Order())
        count = args[0] if args else kwargs.get("num_epochs", -1)
        places = _places(nodes).create_tuple_iterator(num_epochs=count, output_numpy=True)
        first = _epoch(places)
        drawn = law.drawn or first != sorted(first)
        key, orders = recorder.orders(len(first))
        self.equivalence_epochs = _Epochs(key, law, first, places)
        return _in_order(nodes, orders) if drawn and orders else dataset

    def __next__(self: Any) -> Any:  # noqa: N807
        nonlocal probing
        epochs = self.equivalence_epochs
        if epochs is not None and not epochs.runs:
            probing = True
            try:
                order = epochs.begin()
            finally:
                probing = False
            recorder.epoch(epochs.law, len(order), epochs.key).order += order
        try:
            return draw(self)
        except StopIteration:
            if epochs is not None:
                epochs.runs = False
            raise

    with patched(iterators.Iterator, __init__=__init__, __next__=__next__):
        yield


class _Epochs:
    """The orders that a data set draws itself. runs: whether an epoch has begun, and not ended."""

    def __init__(self, key: str, law: Order, first: list[int], places: Any):
        self.key, self.law, self.first, self.places, self.runs = key, law, first, places, False

    def begin(self) -> list[int]:
        """The order of the epoch that begins."""
        self.runs = True
        order, self.first = self.first or _epoch(self.places), []
        return order


def _epoch(places: Any) -> list[int]:
    return [int(place) for (batch,) in places for place in batch]


def _places(nodes: Sequence[ds.Dataset]) -> ds.Dataset:
    """A data set of the places of a source, in the order that its users get its samples in."""
    source = nodes[-1]
    sampler = copy.deepcopy(getattr(source, "sampler", None))
    whole = copy.copy(source)
    whole.parent = []
    if hasattr(source, "sampler"):
        whole.sampler = ds.SequentialSampler()
    count = len(source.source) if hasattr(source, "source") else whole.get_dataset_size()
    law = order_of(source)
    order = {"sampler": sampler} if sampler is not None else {"shuffle": bool(law and law.drawn)}
    made: ds.Dataset = ds.NumpySlicesDataset(np.arange(count), ["place"], **order)
    for node in nodes[-2::-1]:
        if isinstance(node, ds.ShuffleDataset):
            made = put_on(node, made)
    return made.batch(AT_ONCE)


def _in_order(nodes: Sequence[ds.Dataset], orders: Sequence[Sequence[int]]) -> ds.Dataset:
    """The same pipeline, without what shuffles, whose source gives its samples in these orders."""
    made = copy.copy(nodes[-1])
    made.parent = []
    made.sampler = Handed(orders)
    made.shuffle_flag = 0
    for node in nodes[-2::-1]:
        if not isinstance(node, ds.ShuffleDataset):
            made = put_on(node, made, alone=False)
    return made

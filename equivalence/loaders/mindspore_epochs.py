"""What a training's data sets give in MindSpore: the orders that they draw, and their batches."""

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import mindspore.dataset as ds
from mindspore.dataset.engine import iterators

from equivalence.errors import EquivalenceError
from equivalence.loaders.epochs import Epoch
from equivalence.loaders.mindspore_loader import (
    COUNTING,
    chain,
    epoch_of,
    is_sized,
    order_of,
    places_of,
    put_on,
    unshuffled,
)
from equivalence.loaders.orders import Order
from equivalence.stream.patches import patched

MOST_HELD = 1 << 16
"""Samples that are kept of a source that takes no order of others."""


class Orders(Protocol):
    """Where a recorder has the orders of the reference."""

    def epoch(self, law: Order, samples: int, key: str = "") -> Epoch:
        """Note an epoch that begins, see `epochs.Epoch`; "": its key is the line that runs now."""

    def orders(self, samples: int) -> tuple[str, Sequence[Sequence[int]]]:
        """The key of what is read from now on, and the reference's orders of its epochs."""

    def unread(self, error: Exception) -> None:
        """An order could not be read."""

    def reads(self, loader: Any, count: int | None) -> Callable[[Any], Any]:
        """The script begins to read a data set; gives what each batch goes through."""


class HandedSamples(ds.Sampler):
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

    What they would have drawn themselves is noted, epoch by epoch. Each batch is the recorder's to
    change.
    """
    make, draw = iterators.Iterator.__init__, iterators.Iterator.__next__
    probing = False

    def __init__(self: Any, dataset: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
        nonlocal probing
        self.equivalence_epochs = self.equivalence_read = None
        if not probing:
            probing = True
            try:
                self.equivalence_read = _read_by(recorder, dataset)
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
        if _gives_in_turn(nodes):
            return dataset
        law = next(filter(None, map(order_of, nodes)), Order())
        count = args[0] if args else kwargs.get("num_epochs", -1)
        places = places_of(nodes).create_tuple_iterator(num_epochs=count, output_numpy=True)
        first = epoch_of(places)
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
            row = draw(self)
            return row if self.equivalence_read is None else self.equivalence_read(row)
        except StopIteration:
            if epochs is not None:
                epochs.runs = False
            raise

    with patched(iterators.Iterator, __init__=__init__, __next__=__next__):
        yield


def _gives_in_turn(nodes: Sequence[ds.Dataset]) -> bool:
    """Whether a data set is what a generator gives, one after the other: there is no order."""
    return not is_sized(nodes[-1]) and not any(map(order_of, nodes))


def _read_by(recorder: Orders, dataset: ds.Dataset) -> Callable[[Any], Any]:
    """What each row of a data set goes through, whatever columns an iterator chooses."""
    whole = dataset.children[0] if isinstance(dataset, ds.ProjectDataset) else dataset
    # A generator would have to run to its end, which it may not have.
    count = whole.get_dataset_size() if is_sized(chain(whole)[-1]) else None
    return recorder.reads(whole, count)


class _Epochs:
    """The orders that a data set draws itself. runs: whether an epoch has begun, and not ended."""

    def __init__(self, key: str, law: Order, first: list[int], places: Any):
        self.key, self.law, self.first, self.places, self.runs = key, law, first, places, False

    def begin(self) -> list[int]:
        """The order of the epoch that begins."""
        self.runs = True
        order, self.first = self.first or epoch_of(self.places), []
        return order


def _in_order(nodes: Sequence[ds.Dataset], orders: Sequence[Sequence[int]]) -> ds.Dataset:
    """The same pipeline, without what shuffles, whose source gives its samples in these orders."""
    made = _source_in_order(nodes[-1], orders)
    for node in nodes[-2::-1]:
        if not isinstance(node, ds.ShuffleDataset):
            made = put_on(node, made, alone=False)
    return made


def _source_in_order(source: ds.Dataset, orders: Sequence[Sequence[int]]) -> ds.Dataset:
    """A source that gives its samples in these orders; one that takes no sampler is read first.

    Raises EquivalenceError where it has too many samples for that, or not those of the orders.
    """
    takes = hasattr(source, "sampler") and not isinstance(source, ds.MindDataset)
    if takes and is_sized(source):
        made = copy.copy(source)
        made.parent = []
        made.sampler = HandedSamples(orders)
        made.shuffle_flag = 0
        return made
    whole = unshuffled(source)
    if hasattr(source, "sampler"):
        whole.sampler, whole.dataset_size = ds.SequentialSampler(), None
    kind, size = type(source).__name__, whole.get_dataset_size()
    if size > MOST_HELD:
        raise EquivalenceError(f"a {kind} of {size} samples takes no order of others")
    if max(map(max, orders)) >= size:
        raise EquivalenceError(f"a {kind} with num_shards has samples of its own part alone")
    rows = [*whole.create_dict_iterator(num_epochs=1, output_numpy=True)]
    held = [tuple(row.values()) for row in rows]
    return ds.GeneratorDataset(
        held, [*rows[0]], sampler=HandedSamples(orders), num_parallel_workers=1
    )

"""A `Dataset` of MindSpore, taken apart into the stages of a pipeline."""

import copy
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from typing import Any

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset.transforms.py_transforms_util import Implementation

from equivalence.loaders.orders import Order
from equivalence.loaders.stages import (
    BATCH,
    IMAGE,
    READ,
    Item,
    StagedLoader,
    as_bytes,
    named,
    seeded,
)

ONE = {"num_parallel_workers": 1}

BATCHING = (ds.BatchDataset, ds.PaddedBatchDataset, ds.BucketBatchByLengthDataset)
"""What makes batches of samples."""

ORDERING = (ds.ShuffleDataset, ds.TakeDataset, ds.SkipDataset, ds.RepeatDataset)
"""What chooses among samples."""

COUNTING = (ds.TakeDataset, ds.SkipDataset, ds.RepeatDataset, ds.ConcatDataset)
"""What chooses among samples, so that they are not those of a loader of PyTorch."""

AT_ONCE = 4096
"""Places that are read at once."""

SHUFFLED = (1, 2, 3)
"""Values of `shuffle_flag` of a source without a sampler: all, its files, or within each file."""


class MindSporeLoader(StagedLoader):
    """See `stages.Loader`. The stages are the operators that are mapped on the main column.

    A map that several columns go into, or that makes another column of the main one, is a stage of
    its own as a whole. What a map does to other columns, and what `batch` does, runs as it stands.
    """

    def __init__(self, dataset: ds.Dataset, limit: int | None = None):
        self.dataset, self.limit = dataset, limit
        self._nodes = chain(dataset)
        self.order = next(filter(None, map(order_of, self._nodes)), Order())
        batched = [at for at, node in enumerate(self._nodes) if isinstance(node, BATCHING)]
        self._above = self._nodes[: batched[-1] + 1] if batched else []
        self._below = self._nodes[len(self._above) :]
        self.batch_size = getattr(self._above[-1], "batch_size", None) if batched else None
        self.batches = dataset.get_dataset_size()
        self.samples = self._below[0].get_dataset_size()
        self.columns = list(self._below[0].get_col_names())
        self.workers = max(map(_workers, self._nodes))
        self._main = self._main_column()
        maps = [node for node in self._below[::-1] if self._is_stage(node)]
        self._steps = [(node, at) for node in maps for at in range(len(node.operations))]
        steps = [node.operations[at] for node, at in self._steps]
        flags = itertools.chain.from_iterable(_in_python(node.operations) for node in maps)
        self._in_python = dict(zip(named(steps), flags, strict=True))
        self.note_stages(steps)

    def run(self, until: str) -> list[Item]:
        """What comes out of a stage, in order."""
        made = self._until(until)
        count = self.limit if until == BATCH else self.samples_read
        rows = made.create_dict_iterator(num_epochs=1, output_numpy=True)
        return [
            {name: np.asarray(values) for name, values in row.items()}
            for row in itertools.islice(rows, count)
        ]

    def orders(self, count: int) -> list[list[int]] | None:
        """See `stages.Loader`; one iterator gives all epochs."""
        source = self._nodes[-1]
        if source.children or any(isinstance(node, COUNTING) for node in self._nodes):
            return None
        rows = places_of(self._nodes).create_tuple_iterator(num_epochs=count, output_numpy=True)
        return [epoch_of(rows) for _ in range(count)]

    def rows(self) -> Iterator[int]:
        """See `stages.Loader`."""
        for row in self.dataset.create_tuple_iterator(num_epochs=1, output_numpy=True):
            yield len(row[0]) if self.batch_size and row[0].ndim else 1

    def draws(self, stage: str, sample: int, count: int, seed: int) -> list[np.ndarray]:
        """What a stage makes of a sample, `count` times: MindSpore, Python and NumPy are seeded.

        It runs in a map, as in the data set: an operator that is called by itself starts from the
        seed with each call.
        """
        node, at = self._steps[self._names.index(stage)]
        values, step = self._before(stage, sample), copy.copy(node.operations[at])
        taken = [f"{IMAGE}{n}" for n in range(len(values))]
        last = at == len(node.operations) - 1
        given_out = [f"{IMAGE}{n}" for n in range(len(node.output_columns))] if last else taken
        made = ds.NumpySlicesDataset(np.arange(count), taken[:1], shuffle=False)
        given = [lambda _: values if len(values) > 1 else values[0]]
        if self._in_python[stage]:
            made = made.map([*given, step], taken[:1], given_out, **ONE)
        else:
            made = made.map(given, taken[:1], taken, **ONE).map(step, taken, given_out, **ONE)
        return [np.array(row[given_out[0]]) for row in _rows(made, seed)]

    def main(self, item: Item) -> str:
        """See `stages.Loader`."""
        return self._main if self._main in item else next(iter(item))

    def drawer(self, level: str) -> str:
        """See `stages.Loader`."""
        if level == READ:
            source = getattr(self._nodes[-1], "source", self._nodes[-1])
            return getattr(source, "__name__", None) or type(source).__name__
        operations = itertools.chain.from_iterable(map(_operations, self._above[::-1]))
        return " or ".join(named([*operations])) or "what stands above its batches"

    def again(self, level: str, count: int, seed: int, still: bool) -> list[Item]:
        """See `stages.Loader`."""
        if level == READ:
            one = self._one_sample(count, alone=True)
            made = self._samples(set(self._names), whole=True, still=still, source=one)
            return [_arrays(row) for row in _rows(made, seed)]
        made = self._samples(set(self._names), whole=True, still=still)
        made = made.take(self.batch_size or 1)
        for node in self._above[::-1]:
            made = put_on(node, made)
        return [_arrays(row) for row in _rows(made.repeat(count), seed)]

    def by_workers(self, rounds: int) -> list[list[bytes]]:
        """See `stages.Loader`. A stage, a source or `batch` has processes of its own.

        The source is made to give one sample again and again, in its own workers. Named are the
        first in which each worker makes what the others make; else the last that has any.
        """
        found: list[list[bytes]] = []
        for at in range(len(self._nodes) - 1, -1, -1):
            workers = _workers(self._nodes[at])
            if workers < 2:
                continue
            above = at < len(self._above)
            count = rounds * workers * ((self.batch_size or 1) if above else 1)
            made = self._one_sample(count, alone=False)
            for node in self._nodes[at:-1][::-1]:
                if not isinstance(node, ORDERING):
                    made = put_on(node, made, alone=False)
            rows = [as_bytes(_arrays(row)) for row in _rows(made, None)]
            found = [rows[worker::workers] for worker in range(workers)]
            if all(each == found[0] for each in found):
                return found
        return found

    def _one_sample(self, count: int, alone: bool) -> ds.Dataset:
        """The source, of which each sample is the first. alone: without processes of its own."""
        node = self._nodes[-1]
        if hasattr(getattr(node, "source", None), "__getitem__"):
            processes = _workers(node) > 1 and not alone
            return ds.GeneratorDataset(
                Repeated(node.source, count),
                node.column_names,
                shuffle=False,
                num_parallel_workers=node.num_parallel_workers if processes else 1,
                python_multiprocessing=processes,
            )
        if hasattr(node, "source"):  # an iterator, which begins anew
            return unshuffled(node).take(1).repeat(count)
        row = next(iter(_rows(unshuffled(node), None)))
        values = tuple(row.values())
        return ds.GeneratorDataset(
            lambda: (values for _ in range(count)), list(row), shuffle=False, **ONE
        )

    def _main_column(self) -> str:
        """`image`, or the column that the first map takes, or the first one."""
        if IMAGE in self.columns:
            return IMAGE
        taken = [
            node.input_columns for node in self._below[::-1] if isinstance(node, ds.MapDataset)
        ]
        return next((columns[0] for columns in taken if columns), self.columns[0])

    def _is_stage(self, node: ds.Dataset) -> bool:
        return (
            isinstance(node, ds.MapDataset)
            and list(node.input_columns)[:1] == [self._main]
            and all(callable(each) for each in node.operations)
        )

    def _before(self, stage: str, sample: int) -> tuple[Any, ...]:
        """What a stage is called with for a sample: what its map takes, by the operators before."""
        node, at = self._steps[self._names.index(stage)]
        first = next(n for n, (owner, _) in enumerate(self._steps) if owner is node)
        rows = _rows(self._samples({*self._names[:first]}, whole=False, still=True), None)
        row = next(itertools.islice(rows, sample, None))
        values = tuple(row[column] for column in node.input_columns)
        for name, (owner, number) in zip(self._names, self._steps, strict=True):
            if owner is node and number < at:
                made = self._fitted.get(name, node.operations[number])(*values)
                values = made if isinstance(made, tuple) else (made,)
        return values

    def _until(self, stage: str) -> ds.Dataset:
        """The data set up to a stage, in the order of the data; nothing in it draws."""
        kept = set(self._names[: self.stages.index(stage)] if stage != BATCH else self._names)
        made = self._samples(kept, whole=stage in (*self._names[-1:], BATCH), still=True)
        if stage == BATCH:
            for node in self._above[::-1]:
                made = put_on(node, made)
        return made

    def _samples(
        self, kept: set[str], whole: bool, still: bool, source: ds.Dataset | None = None
    ) -> ds.Dataset:
        """Samples in the order of the data.

        kept: the stages that run. whole: with maps of other columns, and as columns are chosen.
        still: with what stands for the stages that draw. source: in the place of the source.
        """
        made = unshuffled(self._nodes[-1]) if source is None else source
        for node in self._below[-2::-1]:
            if self._is_stage(node):
                made = self._mapped(node, made, kept, self._fitted if still else {})
            elif isinstance(node, ds.ShuffleDataset if source is None else ORDERING):
                continue
            elif whole or not isinstance(node, ds.MapDataset | ds.ProjectDataset):
                made = put_on(node, made)
        return made

    def _mapped(
        self, node: ds.MapDataset, below: ds.Dataset, kept: set[str], fitted: Mapping[str, Any]
    ) -> ds.Dataset:
        """A map of the stages that are kept, with what stands for random ones.

        MindSpore computes with Pillow behind a function of Python in the same map. So what stands
        for one of its own operators gets a map of its own.
        """
        made = below
        operations: list[Callable] = []
        for name, (owner, at) in zip(self._names, self._steps, strict=True):
            if owner is not node or name not in kept:
                continue
            own = name in fitted and not self._in_python[name]
            last = at == len(node.operations) - 1
            if own and operations:
                made, operations = _map(node, made, operations, False), []
            operations.append(fitted.get(name, node.operations[at]))
            if own or last:
                made, operations = _map(node, made, operations, last), []
        return _map(node, made, operations, False) if operations else made


def _map(
    node: ds.MapDataset, below: ds.Dataset, operations: Sequence[Callable], last: bool
) -> ds.Dataset:
    """The same map with other operators; MindSpore notes in an operator how it was run last.

    last: whether the map's last operator is among them, which makes its columns.
    """
    made = put_on(node, below)
    made.operations = [copy.copy(each) for each in operations]
    if not last:
        made.output_columns = node.input_columns
    return made


def _in_python(operations: Sequence[Callable]) -> list[bool]:
    """Which operators of a map run in Python: functions, and what follows one and can."""
    result: list[bool] = []
    for each in operations:
        own = getattr(each, "implementation", Implementation.PY)
        follows = bool(result) and result[-1]
        result.append(follows if own is None else own == Implementation.PY)
    return result


def chain(dataset: ds.Dataset) -> list[ds.Dataset]:
    """A data set and what it is made of, down to the source, or to where several come together."""
    nodes = [dataset]
    while len(nodes[-1].children) == 1:
        nodes.append(nodes[-1].children[0])
    return nodes


def put_on(node: ds.Dataset, below: ds.Dataset, alone: bool = True) -> ds.Dataset:
    """The same node on another one. alone: without processes of its own."""
    made = _alone(node) if alone else copy.copy(node)
    made.children, made.parent = [below], []
    return made


def _alone(node: ds.Dataset) -> ds.Dataset:
    """A copy that runs in this process."""
    made = copy.copy(node)
    if getattr(made, "python_multiprocessing", False):
        made.python_multiprocessing, made.num_parallel_workers = False, 1
    return made


def _rows(made: ds.Dataset, seed: int | None) -> Iterator[Mapping[str, np.ndarray]]:
    """The rows of one epoch; MindSpore, Python and NumPy are seeded, unless there is no seed."""
    before = ds.config.get_seed()
    if seed is not None:
        ds.config.set_seed(seed + 1)
        seeded(seed)
    try:
        yield from made.create_dict_iterator(num_epochs=1, output_numpy=True)
    finally:
        ds.config.set_seed(before)


def _arrays(row: Mapping[str, Any]) -> Item:
    return {name: np.asarray(values) for name, values in row.items()}


def _operations(node: ds.Dataset) -> list[Callable]:
    """What a node computes by: the operators of a map, the function of a batch."""
    given = getattr(node, "operations", None) or getattr(node, "per_batch_map", None)
    if given is None:
        return []
    return [*given] if isinstance(given, list | tuple) else [given]


def _workers(node: ds.Dataset) -> int:
    """Processes in which a node runs functions of Python, which may draw; threads are none."""
    processes = getattr(node, "python_multiprocessing", False)
    draws = isinstance(node, ds.GeneratorDataset) or bool(_operations(node))
    workers = node.num_parallel_workers or ds.config.get_num_parallel_workers()
    return workers if processes and draws else 1


class Repeated:
    """A source of which each sample is the first one of another."""

    def __init__(self, source: Any, count: int):
        self.source, self.count = source, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, _: int) -> Any:
        """The first sample, made anew."""
        return self.source[0]


def is_sized(node: ds.Dataset) -> bool:
    """Whether the samples of a source have places: all but those of a generator do."""
    return not hasattr(node, "source") or isinstance(node.source, Sized)


def order_of(node: ds.Dataset) -> Order | None:
    """The order that a node gives; None where it keeps that of the data.

    A `GeneratorDataset` of a generator, which has no length, gives what that gives, one after the
    other, also where it is made with the sampler that shuffles, its default.
    """
    if not is_sized(node):
        return None
    sampler = getattr(node, "sampler", None)
    if isinstance(node, ds.ShuffleDataset):
        return Order(True, buffer=node.buffer_size)
    if sampler is None:
        drawn = getattr(node, "shuffle_flag", 0) in SHUFFLED
        return Order(True) if drawn else None
    replacement = bool(getattr(sampler, "replacement", False))
    if isinstance(sampler, ds.WeightedRandomSampler):
        return Order(True, weights=tuple(sampler.weights), replacement=replacement)
    if isinstance(sampler, ds.RandomSampler | ds.SubsetRandomSampler):
        return Order(True, replacement=replacement)
    if isinstance(sampler, ds.DistributedSampler) and _shuffles(sampler):
        return Order(True, part=(sampler.shard_id, sampler.num_shards))
    return Order(True) if _shuffles(sampler) else None


def _shuffles(sampler: Any) -> bool:
    """Whether a sampler of ranks shuffles; MindSpore's own flag for no is true."""
    return getattr(sampler, "shuffle", None) not in (None, False, ds.Shuffle.FALSE)


def unshuffled(source: ds.Dataset) -> ds.Dataset:
    """A source in the order of the data; the part of a rank where its sampler has ranks."""
    made = _alone(source)
    made.parent = []
    sampler = getattr(source, "sampler", None)
    if isinstance(sampler, ds.SubsetRandomSampler):
        made.sampler = ds.SubsetSampler(sampler.indices)
    elif isinstance(sampler, ds.RandomSampler | ds.WeightedRandomSampler):
        made.sampler = ds.SequentialSampler()
    elif sampler is not None and _shuffles(sampler):
        made.sampler = copy.copy(sampler)
        made.sampler.shuffle = ds.Shuffle.FALSE
    elif sampler is None and getattr(source, "shuffle_flag", 0) in SHUFFLED:
        made.shuffle_flag = 0
    return made


def places_of(nodes: Sequence[ds.Dataset]) -> ds.Dataset:
    """A data set of the places of a source, in the order that its users get its samples in."""
    source = nodes[-1]
    sampler: Any = copy.deepcopy(getattr(source, "sampler", None))
    if getattr(sampler, "shuffle", None) == ds.Shuffle.ADAPTIVE:  # of a MindDataset alone
        sampler.shuffle = ds.Shuffle.GLOBAL
    whole = copy.copy(source)
    whole.parent, whole.dataset_size = [], None
    if hasattr(source, "sampler"):
        whole.sampler = ds.SequentialSampler()
    own = hasattr(source, "source") and is_sized(source)
    count = len(source.source) if own else whole.get_dataset_size()
    law = order_of(source)
    order = {"sampler": sampler} if sampler is not None else {"shuffle": bool(law and law.drawn)}
    made: ds.Dataset = ds.NumpySlicesDataset(np.arange(count), ["place"], **order)
    for node in nodes[-2::-1]:
        if isinstance(node, ds.ShuffleDataset):
            made = put_on(node, made)
    return made.batch(AT_ONCE)


def epoch_of(places: Any) -> list[int]:
    """The next epoch of a data set of places."""
    return [int(place) for (batch,) in places for place in batch]

"""A `Dataset` of MindSpore, taken apart into the stages of a pipeline."""

import copy
import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset.transforms.py_transforms_util import Implementation

from equivalence.loaders.stages import (
    BATCH,
    IMAGE,
    READ,
    Item,
    StagedLoader,
    named,
)

ONE = {"num_parallel_workers": 1}

SHUFFLED = (1, 2, 3)
"""Values of `shuffle_flag` of a source without a sampler: all, its files, or within each file."""


class MindSporeLoader(StagedLoader):
    """See `stages.Loader`. The stages are the operators that are mapped on the main column.

    A map that several columns go into, or that makes another column of the main one, is a stage of
    its own as a whole. What a map does to other columns, and what `batch` does, runs as it stands.
    """

    def __init__(self, dataset: ds.Dataset, limit: int | None = None):
        self.dataset, self.limit = dataset, limit
        self.columns = list(dataset.get_col_names())
        self._nodes = _chain(dataset)
        self.shuffles = any(map(_shuffles, self._nodes))
        batched = [node for node in self._nodes if isinstance(node, ds.BatchDataset)]
        self.batch_size = batched[0].batch_size if batched else None
        self.batches = dataset.get_dataset_size()
        self.samples = _below(self._nodes, batched).get_dataset_size()
        self._main = self._main_column()
        maps = [node for node in self._nodes[::-1] if self._is_stage(node)]
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

    def draws(self, stage: str, sample: int, count: int, seed: int) -> list[np.ndarray]:
        """What a stage makes of a sample, `count` times: MindSpore, Python and NumPy are seeded.

        It runs in a map, as in the data set: an operator that is called by itself starts from the
        seed with each call.
        """
        node, at = self._steps[self._names.index(stage)]
        values, step = self._before(stage, sample), copy.copy(node.operations[at])
        before = ds.config.get_seed()
        ds.config.set_seed(seed + 1)
        random.seed(seed)
        np.random.seed(seed)
        try:
            made = ds.NumpySlicesDataset(np.arange(count), [IMAGE], shuffle=False)
            given = [lambda _: values]
            if self._in_python[stage]:
                made = made.map([*given, step], IMAGE, **ONE)
            else:
                made = made.map(given, IMAGE, **ONE).map(step, IMAGE, **ONE)
            rows = made.create_dict_iterator(num_epochs=1, output_numpy=True)
            return [np.array(row[IMAGE]) for row in rows]
        finally:
            ds.config.set_seed(before)

    def _main_column(self) -> str:
        """`image`, or the column that the first map takes, or the first one."""
        if IMAGE in self.columns:
            return IMAGE
        taken = [
            node.input_columns for node in self._nodes[::-1] if isinstance(node, ds.MapDataset)
        ]
        return next((columns[0] for columns in taken if columns), self.columns[0])

    def _is_stage(self, node: ds.Dataset) -> bool:
        return (
            isinstance(node, ds.MapDataset)
            and list(node.input_columns)[:1] == [self._main]
            and all(callable(each) for each in node.operations)
        )

    def _before(self, stage: str, sample: int) -> Any:
        """What a stage is called with: the operators before it, one by one, of what was read."""
        rows = self._until(READ).create_dict_iterator(num_epochs=1, output_numpy=True)
        value = next(itertools.islice(rows, sample, None))[self._main]
        for name in self._names[: self._names.index(stage)]:
            node, at = self._steps[self._names.index(name)]
            value = self._fitted.get(name, node.operations[at])(value)
        return value

    def _until(self, stage: str) -> ds.Dataset:
        """The data set up to a stage, in the order of the data; nothing in it draws."""
        kept = set(self._names[: self.stages.index(stage)] if stage != BATCH else self._names)
        with_others = stage in (*self._names[-1:], BATCH)
        made = _unshuffled(self._nodes[-1])
        for node in self._nodes[-2::-1]:
            if isinstance(node, ds.BatchDataset) and stage != BATCH:
                break
            if self._is_stage(node):
                made = self._mapped(node, made, kept)
            elif isinstance(node, ds.ShuffleDataset):
                continue
            elif with_others or not isinstance(node, ds.MapDataset):
                made = _on(node, made)
        return made

    def _mapped(self, node: ds.MapDataset, below: ds.Dataset, kept: set[str]) -> ds.Dataset:
        """A map of the stages that are kept, with what stands for random ones.

        MindSpore computes with Pillow behind a function of Python in the same map. So what stands
        for one of its own operators gets a map of its own.
        """
        made = below
        operations: list[Callable] = []
        for name, (owner, at) in zip(self._names, self._steps, strict=True):
            if owner is not node or name not in kept:
                continue
            own = name in self._fitted and not self._in_python[name]
            if own and operations:
                made, operations = _map(node, made, operations), []
            operations.append(self._fitted.get(name, node.operations[at]))
            if own:
                made, operations = _map(node, made, operations), []
        return _map(node, made, operations) if operations else made


def _map(node: ds.MapDataset, below: ds.Dataset, operations: Sequence[Callable]) -> ds.Dataset:
    """The same map with other operators; MindSpore notes in an operator how it was run last."""
    made = _on(node, below)
    made.operations = [copy.copy(each) for each in operations]
    return made


def _in_python(operations: Sequence[Callable]) -> list[bool]:
    """Which operators of a map run in Python: functions, and what follows one and can."""
    result: list[bool] = []
    for each in operations:
        own = getattr(each, "implementation", Implementation.PY)
        follows = bool(result) and result[-1]
        result.append(follows if own is None else own == Implementation.PY)
    return result


def _chain(dataset: ds.Dataset) -> list[ds.Dataset]:
    """A data set and what it is made of, down to the source, or to where several come together."""
    nodes = [dataset]
    while len(nodes[-1].children) == 1:
        nodes.append(nodes[-1].children[0])
    return nodes


def _below(nodes: Sequence[ds.Dataset], batched: Sequence[ds.Dataset]) -> ds.Dataset:
    """What is batched; the whole where nothing is."""
    return nodes[nodes.index(batched[-1]) + 1] if batched else nodes[0]


def _on(node: ds.Dataset, below: ds.Dataset) -> ds.Dataset:
    made = copy.copy(node)
    made.children = [below]
    return made


def _shuffles(node: ds.Dataset) -> bool:
    sampler = getattr(node, "sampler", None)
    if sampler is None:
        return isinstance(node, ds.ShuffleDataset) or getattr(node, "shuffle_flag", 0) in SHUFFLED
    return isinstance(sampler, ds.RandomSampler) or bool(getattr(sampler, "shuffle", False))


def _unshuffled(source: ds.Dataset) -> ds.Dataset:
    """A source in the order of the data; the part of a rank where its sampler has ranks."""
    made = copy.copy(source)
    sampler = getattr(source, "sampler", None)
    if isinstance(sampler, ds.RandomSampler):
        made.sampler = ds.SequentialSampler()
    elif sampler is not None and getattr(sampler, "shuffle", False):
        made.sampler = copy.copy(sampler)
        made.sampler.shuffle = False
    elif sampler is None and getattr(source, "shuffle_flag", 0) in SHUFFLED:
        made.shuffle_flag = 0
    return made

"""A `DataLoader` or `Dataset` of PyTorch, taken apart into the stages of a pipeline."""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils import data

from equivalence.errors import EquivalenceError
from equivalence.loaders.orders import Order
from equivalence.loaders.stages import (
    BATCH,
    READ,
    Chain,
    Item,
    NotedStage,
    Perturb,
    StagedLoader,
    array,
    as_bytes,
    flat,
    largest,
    seeded,
)

HOLDERS = ("transform", "transforms")
"""Attributes of a data set in which a function is a transform of the picture."""

PATIENCE = 120.0
"""Seconds after which a worker that gives nothing is an error."""


class TorchLoader(StagedLoader):
    """See `stages.Loader`. It is read in this process, by no worker."""

    def __init__(self, loader: Any, limit: int | None = None):
        whole = isinstance(loader, data.DataLoader)
        self.loader: Any = loader if whole else None
        self.dataset = loader.dataset if whole else loader
        self.iterates = isinstance(self.dataset, data.IterableDataset)
        self.batch_size = loader.batch_size if whole else None
        self.order = order_of(loader) if whole and not self.iterates else Order()
        self.workers = loader.num_workers if whole else 0
        ordered = loader.sampler if whole and self.batch_size is not None else self.dataset
        self.samples = None if self.iterates else len(ordered)
        self.batches = len(loader) if whole and not self.iterates else self.samples
        self.limit = limit
        self._places, self._steps = _steps(self.dataset)
        self.columns = [name for name, _ in flat(self._sample(0))]
        self.note_stages(self._steps)

    def run(
        self, until: str, dtype: str = "float32", perturb: Perturb | None = None
    ) -> Sequence[Item]:
        """What comes out of a stage, in order.

        dtype: PyTorch's default while it runs, in which pictures become floating. perturb: changes
        the first floating array of each sample; where no transform gives one, those that come out.
        """
        before = torch.get_default_dtype()
        torch.set_default_dtype(getattr(torch, dtype))
        try:
            chain = Chain(self._still[: self._depth(until)], perturb)
            with self._holding(chain):
                items = [_item(each) for each in self._read(until)]
        finally:
            torch.set_default_dtype(before)
        if perturb is not None and not chain.perturbed:
            items = [{name: _moved(v, perturb) for name, v in item.items()} for item in items]
        return items

    def orders(self, count: int) -> list[list[int]] | None:
        """See `stages.Loader`."""
        if self.loader is None or self.iterates:
            return None
        batched = self.loader.batch_sampler is not None
        sampler = self.loader.batch_sampler if batched else self.loader.sampler
        found = []
        for epoch in range(count):
            for each in (sampler, getattr(sampler, "sampler", None)):
                tell: Any = getattr(each, "set_epoch", None)
                if tell is not None:
                    tell(epoch)
            places = itertools.chain.from_iterable(sampler) if batched else sampler
            found.append([*places])
        return found

    def rows(self) -> Iterator[int]:
        """See `stages.Loader`."""
        if self.loader is None and not self.iterates:
            yield from (1 for n in range(len(self.dataset)) if [self.dataset[n]])
        else:
            for batch in self.dataset if self.loader is None else self.loader:
                yield _length(batch) if self.batch_size else 1

    def draws(self, stage: str, sample: int, count: int, seed: int) -> list[np.ndarray]:
        """What a stage makes of a sample, `count` times: PyTorch, Python and NumPy are seeded."""
        step, values = self._steps[self._names.index(stage)], self._before(stage, sample)
        _seed(seed)
        return [array(step(values)) for _ in range(count)]

    def main(self, item: Item) -> str:
        """See `stages.Loader`."""
        return largest(item)

    def drawer(self, level: str) -> str:
        """See `stages.Loader`."""
        if level == READ:
            return f"{type(self.dataset).__name__}.{'__iter__' if self.iterates else '__getitem__'}"
        collate = self.loader.collate_fn
        return getattr(collate, "__name__", None) or type(collate).__name__

    def again(self, level: str, count: int, seed: int, still: bool) -> list[Item]:
        """See `stages.Loader`."""
        with self._holding(Chain(self._still if still else self._steps)):
            _seed(seed)
            if level == READ:
                return [_item(self._sample(0)) for _ in range(count)]
            size = self.loader.batch_size or 1
            if self.iterates:
                return [_item(next(iter(self._batched(self.dataset)))) for _ in range(count)]
            order = self._order()[:size]
            return [_item(next(iter(self._batched(self.dataset, order)))) for _ in range(count)]

    def by_workers(self, rounds: int) -> list[list[bytes]]:
        """See `stages.Loader`. Each worker makes the same batch, from its own seed."""
        if self.workers < 2 or self.iterates:
            return []
        batch = self._order()[: self.loader.batch_size or 1]
        loader = data.DataLoader(
            self.dataset,
            batch_sampler=[batch] * (rounds * self.workers),
            num_workers=self.workers,
            collate_fn=self.loader.collate_fn if self.loader.batch_size is not None else None,
            worker_init_fn=self.loader.worker_init_fn,
            multiprocessing_context=self.loader.multiprocessing_context,
            generator=self.loader.generator,
            timeout=PATIENCE,
        )
        made = [as_bytes(_item(each)) for each in loader]
        return [made[worker :: self.workers] for worker in range(self.workers)]

    def _read(self, until: str) -> Iterator[Any]:
        if self.iterates:
            batched = until == BATCH and self.loader is not None
            source = self._batched(self.dataset) if batched else self.dataset
            return itertools.islice(iter(source), self.limit if batched else self.samples_read)
        order = self._order()
        if until == BATCH and self.loader is not None:
            return iter(self._batched(self.dataset, order))
        return (self.dataset[index] for index in order)

    def _order(self) -> list[int]:
        """The samples that are read: in the order of the loader, or of the data if it shuffles."""
        batches_itself = self.loader is not None and self.batch_size is None
        own = batches_itself and self.loader.batch_sampler is not None
        if self.loader is None or (self.shuffles and not own):
            order = _unshuffled(self.loader, len(self.dataset))
        elif self.loader.batch_size is None and self.loader.batch_sampler is None:
            order = iter(self.loader.sampler)
        else:
            order = itertools.chain.from_iterable(self.loader.batch_sampler)
        return list(itertools.islice(order, self.samples_read))

    def _batched(self, dataset: Any, order: Sequence[int] | None = None) -> data.DataLoader:
        """The same loader over some samples, without workers."""
        loader = self.loader
        more = {} if order is None else {"sampler": order}
        return data.DataLoader(
            dataset,
            batch_size=loader.batch_size,
            drop_last=loader.drop_last if loader.batch_size is not None else False,
            collate_fn=loader.collate_fn,
            **more,
        )

    def _sample(self, number: int) -> Any:
        if self.iterates:
            return next(itertools.islice(iter(self.dataset), number, None))
        return self.dataset[number]

    def _depth(self, until: str) -> int:
        return len(self._steps) if until == BATCH else self.stages.index(until)

    @property
    def _still(self) -> list[Callable]:
        """The transforms, with what stands for those that draw."""
        return [self._fitted.get(n, s) for n, s in zip(self._names, self._steps, strict=True)]

    @contextlib.contextmanager
    def _holding(self, chain: Callable) -> Iterator[None]:
        """A context in which the data set has another transform."""
        held = [(owner, name, getattr(owner, name)) for owner, name in self._places]
        for owner, name, _ in held:
            setattr(owner, name, chain)
        try:
            yield
        finally:
            for owner, name, value in held:
                setattr(owner, name, value)

    def _before(self, stage: str, sample: int) -> Any:
        """What a stage is called with for a sample, as the data set calls it."""
        steps, at = self._still, self._names.index(stage)
        seeing = NotedStage(steps[at])
        with self._holding(Chain([*steps[:at], seeing, *steps[at + 1 :]])):
            self._sample(sample)
        return seeing.seen[0]


def _steps(dataset: Any) -> tuple[list[tuple[Any, str]], list[Callable]]:
    """Where a data set holds its transforms of a picture, and these one by one; none are found."""
    held = list(_held(dataset, 0))
    if not held:
        return [], []
    first = held[0][2]
    return [(owner, name) for owner, name, value in held if value is first], list(_leaves(first))


def _held(owner: Any, depth: int) -> Iterator[tuple[Any, str, Any]]:
    """The transforms in a data set, in one that it wraps, or in torchvision's pair for a target."""
    attributes = getattr(owner, "__dict__", {})
    for name, value in attributes.items():
        steps = getattr(value, "transforms", None)
        composed = callable(value) and (isinstance(steps, list | tuple) or _sequential(value))
        alone = name in HOLDERS and callable(value) and type(value).__name__ != "StandardTransform"
        if (composed or alone) and "target" not in name:
            yield owner, name, value
    if depth < 4:
        for name in ("dataset", *HOLDERS):
            inner = attributes.get(name)
            if isinstance(inner, data.Dataset) or type(inner).__name__ == "StandardTransform":
                yield from _held(inner, depth + 1)


def _sequential(value: Any) -> bool:
    return isinstance(value, torch.nn.Sequential)


def _leaves(value: Any) -> Iterator[Callable]:
    """The transforms of a composition, those of compositions in it one by one."""
    inner = value if _sequential(value) else getattr(value, "transforms", None)
    plain = type(value).__name__ in ("Compose", "Sequential")
    if plain and inner is not None:
        for each in inner:
            yield from _leaves(each)
    else:
        yield value


def order_of(loader: data.DataLoader, ask: bool = True) -> Order:
    """The order of the loader's samples; a sampler that is not known is asked twice.

    ask: else such a sampler counts for one that draws nothing.
    """
    own = loader.batch_size is None and loader.batch_sampler is not None
    sampler = loader.batch_sampler if own else loader.sampler
    inner = getattr(sampler, "sampler", sampler)
    if isinstance(inner, data.WeightedRandomSampler):
        return Order(True, weights=inner.weights.tolist(), replacement=inner.replacement)
    if isinstance(inner, data.RandomSampler):
        return Order(True, replacement=inner.replacement)
    known = isinstance(inner, data.SequentialSampler | data.SubsetRandomSampler)
    if hasattr(inner, "shuffle") or known or loader.batch_sampler is None:
        shuffles = bool(getattr(inner, "shuffle", isinstance(inner, data.SubsetRandomSampler)))
        if shuffles and isinstance(inner, data.DistributedSampler):
            return Order(True, part=(inner.rank, inner.num_replicas))
        return Order(shuffles)
    return Order(ask and [*loader.batch_sampler] != [*loader.batch_sampler])


def _unshuffled(loader: data.DataLoader | None, count: int) -> Iterator[int]:
    """The order of the data: the part of a rank where the sampler has ranks."""
    sampler = getattr(loader, "sampler", None)
    ranks, rank = getattr(sampler, "num_replicas", 1), getattr(sampler, "rank", 0)
    if ranks == 1:
        return iter(
            sampler.indices if isinstance(sampler, data.SubsetRandomSampler) else range(count)
        )
    if not isinstance(sampler, data.DistributedSampler):
        raise EquivalenceError(
            f"{type(sampler).__name__} shuffles the part of a rank in a way of its own; build the "
            "loader without shuffling"
        )
    still = data.DistributedSampler(
        sampler.dataset, ranks, rank, shuffle=False, drop_last=sampler.drop_last
    )
    return iter(still)


def _seed(seed: int) -> None:
    """Seed all from which a data set may draw."""
    torch.manual_seed(seed)
    seeded(seed)


def _length(batch: Any) -> int:
    """How many samples a batch has: of its first column that has a length."""
    return next((len(each) for _, each in flat(batch) if hasattr(each, "__len__")), 1)


def _item(columns: Any) -> Item:
    """A sample or batch as arrays."""
    return {name: array(value) for name, value in flat(columns)}


def _moved(values: np.ndarray, perturb: Perturb) -> np.ndarray:
    return perturb(values) if values.dtype.kind == "f" else values

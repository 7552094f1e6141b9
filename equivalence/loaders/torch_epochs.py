"""What a training's loaders give in PyTorch: the orders that they draw, and their batches."""

import contextlib
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from torch.utils import data
from torch.utils.data import dataloader

from equivalence.loaders.epochs import Epoch, Note
from equivalence.loaders.reads import Begins
from equivalence.loaders.torch_loader import order_of
from equivalence.stream.patches import patched

SAMPLERS = (
    *(data.BatchSampler, data.RandomSampler, data.WeightedRandomSampler),
    *(data.SubsetRandomSampler, data.DistributedSampler),
)
"""What gives a loader the places of its samples, by batches or one by one."""


@contextlib.contextmanager
def noted(note: Note) -> Iterator[None]:
    """A context in which the epochs of loaders that shuffle are noted, with their orders."""
    begin = data.DataLoader.__iter__
    running: dict[int, Epoch] = {}

    def __iter__(self: Any) -> Any:  # noqa: N807
        batched = self.batch_sampler is not None
        gives = id(self.batch_sampler if batched else self.sampler)
        running.pop(gives, None)
        if not isinstance(self.dataset, data.IterableDataset):
            law = order_of(self, ask=False)
            if law.drawn:
                running[gives] = note(law, len(self.sampler))
        return begin(self)

    def noting(give: Callable[[Any], Iterator[Any]]) -> Callable[[Any], Iterator[Any]]:
        def __iter__(self: Any) -> Iterator[Any]:  # noqa: N807
            epoch = running.get(id(self))
            for found in give(self):
                if epoch is not None:
                    epoch.order += found if isinstance(found, list) else [found]
                yield found

        return __iter__

    with contextlib.ExitStack() as stack:
        stack.enter_context(patched(data.DataLoader, __iter__=__iter__))
        for kind in SAMPLERS:
            stack.enter_context(patched(kind, __iter__=noting(kind.__iter__)))
        yield


@contextlib.contextmanager
def read(begins: Begins) -> Iterator[None]:
    """A context in which each batch that a `DataLoader` gives goes through a function.

    begins: gives that function where a loader begins an epoch, by its number of batches.
    """
    begin = data.DataLoader.__iter__
    draw = dataloader._BaseDataLoaderIter.__next__
    through: weakref.WeakKeyDictionary[Any, Callable[[Any], Any]] = weakref.WeakKeyDictionary()

    def __iter__(self: Any) -> Any:  # noqa: N807
        made = begin(self)
        sized = not isinstance(self.dataset, data.IterableDataset)
        through[made] = begins(self, len(self) if sized else None)
        return made

    def __next__(self: Any) -> Any:  # noqa: N807
        batch = draw(self)
        return through[self](batch) if self in through else batch

    with (
        patched(data.DataLoader, __iter__=__iter__),
        patched(dataloader._BaseDataLoaderIter, __next__=__next__),
    ):
        yield

"""What a training's loaders give in PyTorch: the orders that they draw, and their batches."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from torch.utils import data

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

    def __iter__(self: Any) -> Any:  # noqa: N807
        sized = not isinstance(self.dataset, data.IterableDataset)
        return Through(begin(self), begins(self, len(self) if sized else None))

    with patched(data.DataLoader, __iter__=__iter__):
        yield


class Through:
    """A loader's iterator, whose batches go through a function."""

    def __init__(self, own: Any, through: Callable[[Any], Any]):
        self.own, self.through = own, through

    def __iter__(self) -> "Through":
        return self

    def __next__(self) -> Any:
        return self.through(next(self.own))

    def __len__(self) -> int:
        return len(self.own)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

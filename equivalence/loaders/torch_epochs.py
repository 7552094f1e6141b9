"""The orders that a training's loaders draw in PyTorch, epoch by epoch."""

import contextlib
from collections.abc import Iterator
from typing import Any

from torch.utils import data
from torch.utils.data import dataloader

from equivalence.loaders.epochs import Epoch, Note
from equivalence.loaders.torch_loader import order_of
from equivalence.stream.patches import patched


@contextlib.contextmanager
def noted(note: Note) -> Iterator[None]:
    """A context in which the epochs of loaders that shuffle are noted, with their orders."""
    begin = data.DataLoader.__iter__
    base = dataloader._BaseDataLoaderIter
    draw = base._next_index
    running: dict[int, Epoch] = {}

    def __iter__(self: Any) -> Any:  # noqa: N807
        running.pop(id(self._index_sampler), None)
        if not isinstance(self.dataset, data.IterableDataset):
            law = order_of(self, ask=False)
            if law.drawn:
                running[id(self._index_sampler)] = note(law, len(self.sampler))
        return begin(self)

    def _next_index(self: Any) -> Any:
        found = draw(self)
        epoch = running.get(id(self._index_sampler))
        if epoch is not None:
            epoch.order += found if isinstance(found, list) else [found]
        return found

    with patched(data.DataLoader, __iter__=__iter__), patched(base, _next_index=_next_index):
        yield

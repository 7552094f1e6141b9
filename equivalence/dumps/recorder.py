"""Two lines in a training or inference script that write what goes through a network."""

import contextlib
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from equivalence.dumps.layout import FolderWriter
from equivalence.dumps.passing import Passing
from equivalence.errors import DeclarationError
from equivalence.words import counted, listed, raised

WHOLE = 1 << 18
"""Elements of an array that is written whole: 1 MiB of float32. A larger one is sketched."""

LIMIT = 1 << 30
"""Bytes of arrays that a folder may have."""


class Recorder:
    """What `recorded` gives: `loss` takes what the hooks cannot see, `step` ends a step."""

    def __init__(self, side: Any, writer: FolderWriter, steps: frozenset[int] | None):
        self._side, self._writer, self._steps = side, writer, steps
        self._passing = Passing(side, self._put)
        self._number = 0
        self._losses = 0
        self._warned = False
        self._recorded: list[int] = []

    def loss(self, value: Any) -> None:
        """Record the loss of the step, or a further one: a tensor, an array or a number."""
        self._begin()
        if not self._passing.active:
            return
        if isinstance(value, bool | int | float):
            value = np.float64(value)
        if self._passing.array("loss", value) is None:
            raise DeclarationError(f"a loss is a tensor or a number, not {type(value).__name__}")
        self._passing.record(f"loss.{self._losses}", value)
        self._losses += 1

    def step(self) -> None:
        """End the step: its weights and their gradients are written, and the next begins."""
        self._begin()
        if self._passing.active:
            self._passing.end(self._side.weights())
            self._writer.end()
            self._recorded.append(self._number)
        self._side.forget()
        self._number += 1
        self._losses = 0
        self._open()

    def _open(self) -> None:
        """Let the network be seen in this step, if it is to be recorded."""
        chosen = self._steps is None or self._number in self._steps
        self._started = False
        self._passing.begin(chosen)

    def _begin(self) -> None:
        """Open the file of the step, once there is something to write."""
        if self._side is None:
            raise DeclarationError("the record is finished: hand losses over within its context")
        if self._started or not self._passing.active:
            return
        self._started = True
        self._writer.manifest.made.setdefault("phase", "train" if self._side.trains else "eval")
        self._writer.begin(f"step{self._number}")

    def _put(self, name: str, values: np.ndarray) -> None:
        self._begin()
        if not self._writer.add(name, values) and not self._warned:
            self._warned = True
            warnings.warn(
                f"the record is full: {name} of step {self._number}, and what else is larger than "
                f"what is left of {self._writer.limit / 1e6:.1f} MB, is left out; give another "
                "`limit=`, or fewer `steps=`",
                stacklevel=2,
            )

    def _start(self) -> None:
        """Write the weights with which the run begins."""
        self._started = True
        self._writer.begin("start")
        for name, value in self._side.weights():
            self._passing.record(f"weights/{name}", value)
        self._writer.end()
        self._open()

    def _finish(self, error: BaseException | None) -> None:
        if error is not None:
            self._note(f"it ended in step {self._number} by {raised(error)}")
        if self._started or self._passing.has_gradients or self._number == 0:
            self.step()
        self._passing.begin(False)
        for each in (*self._side.notes, *self._passing.told()):
            self._note(each)
        unseen = [
            path or "the network" for path in self._side.layers if path not in self._passing.seen
        ]
        if self._steps and {*self._steps} - {*self._recorded}:
            missing = sorted({*self._steps} - {*self._recorded})
            self._note(f"{counted(len(missing), 'step')} did not come: {listed(missing)}")
        if not self._passing.seen:
            self._note("no call of the network was seen")
        elif unseen:
            self._note(f"{counted(len(unseen), 'layer')} not called by Python: {listed(unseen)}")
        if self._passing.seen and not self._passing.backward:
            self._note("no gradient was seen: no backward pass, or one of a compiled graph")
        self._writer.finish()
        self._side = None
        del self._passing  # nothing holds the network longer than the script does

    def _note(self, words: str) -> None:
        self._writer.manifest.notes.append(words)


@contextlib.contextmanager
def recorded(
    folder: str | Path,
    net: Any,
    steps: Iterable[int] | None = None,
    whole: int = WHOLE,
    limit: int = LIMIT,
) -> Iterator[Recorder]:
    """A context that writes what goes through a network, of PyTorch or MindSpore, to a folder.

    folder: is made, and must not be there already; `equivalence compare` reads two of them.
    net: a torch.nn.Module or a mindspore.nn.Cell.
    steps: numbers of the steps that are written, from 0 on; None for all. `step()` ends a step.
    whole: elements of an array that is written whole; of a larger one, a sketch is.
    limit: bytes of arrays; what is beyond is left out and counted.

    The network computes the same numbers as without. Not only one framework need be installed.

    Raises DeclarationError for what is no network, CheckpointError where the folder is there.

    >>> import pathlib, tempfile, torch
    >>> from equivalence import recorded
    >>> net, path = torch.nn.Linear(2, 1), pathlib.Path(tempfile.mkdtemp())
    >>> with recorded(path, net) as recorder:
    ...     loss = net(torch.ones(1, 2)).sum()
    ...     loss.backward()
    ...     recorder.loss(loss)
    >>> from equivalence.dumps.read import read
    >>> [name for name in read(path).arrays if "backward" in name]
    ['step0/backward.0.output.0']
    """
    side = side_of(net)
    if steps is not None:
        steps = frozenset([steps] if isinstance(steps, int) else steps)
        if not all(isinstance(each, int) and each >= 0 for each in steps):
            raise DeclarationError(f"steps are numbers from 0 on, not {listed([*steps])}")
    writer = FolderWriter(Path(folder), side.made, whole, limit)
    recorder = Recorder(side, writer, steps)
    try:
        with side.observed(recorder._passing):
            recorder._start()
            yield recorder
    except BaseException as error:
        recorder._finish(error)
        raise
    recorder._finish(None)


def side_of(net: Any) -> Any:
    """The network on its side; the other framework is not imported."""
    kinds = {(each.__module__, each.__name__) for each in type(net).__mro__}
    if ("torch.nn.modules.module", "Module") in kinds:
        from equivalence.dumps import torch_hooks

        return torch_hooks.HookedSide(net)
    if ("mindspore.nn.cell", "Cell") in kinds:
        from equivalence.dumps import mindspore_hooks

        return mindspore_hooks.HookedSide(net)
    raise DeclarationError(
        "a network that is built is recorded, a torch.nn.Module or a mindspore.nn.Cell, not "
        f"{net!r:.60}"
    )

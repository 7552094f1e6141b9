"""One line in a long training that keeps norms of what goes through its layers, step by step.

A monitor writes JSON lines: first what made them, then a row for each step that is kept. A row has
the norms of activations, gradients, updates and weights by the names of layers and weights, in the
order of the run; the loss, the rate and the scale of the loss; and what was first not finite.
"""

import contextlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from equivalence import dtypes, files
from equivalence.dumps.passing import Passing
from equivalence.dumps.recorder import side_of
from equivalence.errors import CheckpointError, DeclarationError, writing
from equivalence.words import raised

LIMIT = 1 << 24
"""Bytes that a file may have; then every second row is left out, and fewer steps are kept."""

DIGITS = 7
"""Decimal digits of a norm that are written: those of float32."""

FORMAT = 1

KINDS = ("activations", "gradients", "updates", "weights")
"""What norms are kept of, in the order of a step; then the name of a layer or weight."""


class Monitor:
    """What `monitored` gives: `loss` takes the loss of a step, `step` ends it.

    callback: the same as a callback of `mindspore.train.Model`.
    """

    def __init__(self, side: Any, file: "_MonitorFile", every: int, optimizer: Any, scaler: Any):
        self._side, self._file, self._every = side, file, every
        self._optimizer, self._scaler = optimizer, scaler
        self._passing = Passing(_Unwatched(side), self._put)
        self._number = 0
        self._was_finite = True
        self._finished = False

    def loss(self, value: Any) -> None:
        """Keep the loss of the step: a tensor, an array or a number.

        A loss that is not finite is kept whatever `every` is.
        """
        if self._finished:
            raise DeclarationError("the monitor is finished: hand losses over within its context")
        number = np.float64(value) if isinstance(value, bool | int | float) else value
        found = self._passing.array("loss", number)
        if found is None or found.size != 1:
            raise DeclarationError(f"a loss is one number, not {type(value).__name__}")
        self._keep("loss", float(found.reshape(-1)[0]))

    def step(self) -> None:
        """End the step: what it has shown is written, and the next begins."""
        is_finite = all(math.isfinite(self._row.get(name, 0.0)) for name in ("loss",))
        if self._passing.active:
            self._passing.end(self._side.weights())
        if self._passing.active or (self._was_finite and not is_finite):
            self._file.add(self._number, self._row, self._first)
        self._was_finite = is_finite
        self._side.forget()
        self._number += 1
        self._open()

    @property
    def callback(self) -> Any:
        """A callback of `mindspore.train.Model` that ends each of its steps."""
        from equivalence.dumps.mindspore_hooks import callback

        return callback(self)

    def scale(self, value: float) -> None:
        """Keep the scale of the loss of the step."""
        self._keep("scale", float(value))

    def _open(self) -> None:
        """Begin a step: keep the weights before it, if it is one that is kept."""
        self._row: dict[str, float] = {}
        self._first = ""
        self._is_begun = False
        chosen = self._number % self._file.every(self._every) == 0
        self._passing.begin(chosen)
        self._before = {}
        for name, value in self._side.weights() if chosen else ():
            found = self._passing.array(name, value)
            if found is not None:
                self._before[name] = found

    def _begin(self) -> None:
        """The first layer of a step is called: note the rate, which schedules have set by now."""
        if not self._is_begun:
            self._is_begun = True
            for name, rate in self._side.rates(self._optimizer).items():
                self._keep(name, rate)
            if self._scaler is not None:
                self.scale(self._side.scale(self._scaler))

    def _put(self, name: str, values: np.ndarray) -> None:
        """Keep the norm of what passes through the network."""
        self._begin()
        if values.dtype.kind not in "fc":
            return
        kept = _kept(name)
        if not np.isfinite(values).all() and not self._first:
            self._first = kept or name
        if not kept:
            return
        self._keep(kept, _norm(values), True)
        kind, _, weight = kept.partition("/")
        if kind == "weights" and weight in self._before:
            before = self._before[weight]
            if before.shape == values.shape:
                with np.errstate(invalid="ignore"):  # infinite before and after
                    change = dtypes.plain(values) - dtypes.plain(before)
                self._keep(f"updates/{weight}", _norm(change))

    def _keep(self, name: str, value: float, adds: bool = False) -> None:
        """Keep a number of the step; of several calls of a layer, the norm of all."""
        if adds and name in self._row:
            value = math.hypot(self._row[name], value)
        self._row[name] = value
        if not math.isfinite(value) and not self._first:
            self._first = name

    def _start(self) -> None:
        self._file.begin({**self._side.made, "every": self._every})
        self._open()

    def _finish(self, error: BaseException | None) -> None:
        notes = [*self._side.notes, *self._passing.told()]
        if error is not None:
            notes.append(f"it ended in step {self._number} by {raised(error)}")
        if self._is_begun:
            self.step()
        if not self._passing.seen:
            notes.append("no call of the network was seen")
        elif not self._passing.backward:
            notes.append("no gradient was seen: no backward pass, or one of a compiled graph")
        self._passing.begin(False)
        self._file.end(notes)
        self._side, self._before, self._finished = None, {}, True


class _Unwatched:
    """A network of which gradients of weights alone are seen, and not those of activations."""

    def __init__(self, side: Any):
        self.array = side.array

    def watch(self, value: Any, got: Any) -> None:
        """Nothing: the norm of a layer's gradient is not kept."""


class _MonitorFile:
    """The file of a monitor: rows are added to it, and every second is left out when it is full."""

    def __init__(self, path: Path, limit: int):
        self._path, self._limit = path, limit
        self._lines: list[str] = []
        self._size, self._thinned = 0, 1
        if path.exists():
            raise CheckpointError(f"{path} is there already; name another file, or remove it")

    def every(self, asked: int) -> int:
        """Of how many steps one is kept."""
        return asked * self._thinned

    def begin(self, made: Mapping[str, Any]) -> None:
        """Write what makes the rows."""
        self._head = json.dumps({"monitor": FORMAT, **made})
        self._rewrite()

    def add(self, step: int, row: Mapping[str, float], first: str) -> None:
        """Add a row."""
        content: dict[str, Any] = {"step": step}
        if first:
            content["first_not_finite"] = first
        content |= {name: float(f"{value:.{DIGITS}g}") for name, value in row.items()}
        line = json.dumps(content)
        self._lines.append(line)
        self._size += len(line) + 1
        if self._size > self._limit and len(self._lines) > 2:
            kept = [*self._lines[:-1:2], *self._lines[-1:]]
            self._lines, self._thinned = kept, 2 * self._thinned
            self._size = sum(len(each) + 1 for each in kept)
            self._rewrite()
        else:
            self._append(line)

    def end(self, notes: list[str]) -> None:
        """Write that the run has come to its end, and what was not seen."""
        self._append(json.dumps({"end": True, "notes": notes}))

    def _append(self, line: str) -> None:
        with writing(self._path, CheckpointError), self._path.open("a") as file:
            file.write(line + "\n")

    def _rewrite(self) -> None:
        with writing(self._path, CheckpointError):
            files.write(self._path, "\n".join([self._head, *self._lines]) + "\n")


def _kept(name: str) -> str:
    """The name that a row has for what passes through a network; "" for what is not kept."""
    layer, _, rest = name.rpartition("/")
    if layer in ("weights", "gradients"):
        return name
    if ".output." in rest and rest.startswith("forward."):
        return f"activations/{layer or 'output'}"
    if rest.startswith("forward.") and not layer:
        return "activations/input"
    return ""


def _norm(values: np.ndarray) -> float:
    """The Euclidean norm, in float64."""
    values = dtypes.plain(values)
    wide = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
    return float(np.linalg.norm(wide.reshape(-1)))


@contextlib.contextmanager
def monitored(
    file: str | Path,
    net: Any,
    optimizer: Any = None,
    scaler: Any = None,
    every: int = 1,
    limit: int = LIMIT,
) -> Iterator[Monitor]:
    """A context that keeps norms of what goes through a network in training, step by step.

    file: JSON lines; must not be there already. `equivalence curve` compares two of them.
    net: a torch.nn.Module or a mindspore.nn.Cell.
    optimizer: its learning rate is kept. scaler: of the loss; its scale is kept.
    every: of so many steps one is kept, beginning with step 0.
    limit: bytes of the file; when it is full, every second row is left out, and half as many steps
        are kept from then on.

    The network computes the same numbers as without. Not only one framework need be installed.

    Raises DeclarationError for what is no network, CheckpointError where the file is there.

    >>> import pathlib, tempfile, torch
    >>> from equivalence import monitored
    >>> net, path = torch.nn.Linear(2, 1), pathlib.Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    >>> with monitored(path, net, optimizer) as monitor:
    ...     loss = net(torch.ones(1, 2)).sum()
    ...     loss.backward()
    ...     optimizer.step()
    ...     monitor.loss(loss)
    ...     monitor.step()
    >>> sorted(json.loads(path.read_text().splitlines()[1]))[:3]
    ['activations/input', 'activations/output', 'gradients/bias']
    """
    if every < 1:
        raise DeclarationError(f"every is {every}; it must be at least 1")
    side = side_of(net)
    monitor = Monitor(side, _MonitorFile(Path(file), limit), every, optimizer, scaler)
    try:
        with side.observed(monitor._passing):
            monitor._start()
            yield monitor
    except BaseException as error:
        monitor._finish(error)
        raise
    monitor._finish(None)

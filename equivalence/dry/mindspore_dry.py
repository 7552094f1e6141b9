"""A MindSpore training without passes, in PyNative mode. Loads MindSpore."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn

from equivalence.judge.settings import Unread
from equivalence.nesting import of_kind
from equivalence.scripts.mindspore_side import MindSporeSide, settings_now
from equivalence.sides.mindspore_cells import array
from equivalence.stream.mindspore_stream import undifferentiated
from equivalence.stream.patches import patched
from equivalence.structure import mindspore_steps
from equivalence.structure.settings import reading


class MindSporeDry(MindSporeSide):
    """A MindSpore training that is watched, and whose passes cost nothing."""

    def __init__(self) -> None:
        super().__init__(eager=True)
        self._rates: dict[int, tuple[Any, object]] = {}
        self._at = 0

    @contextlib.contextmanager
    def watching(self, recorder: Any, *observers: Any) -> Iterator[None]:
        """See `MindSporeSide.watching`; the rates of a schedule are read once."""
        read = mindspore_steps._rate

        def rate(given: Any) -> object:
            if not isinstance(given, nn.Cell):
                return read(given)
            if id(given) not in self._rates:
                self._rates[id(given)] = given, read(given)
            known = self._rates[id(given)][1]
            if not isinstance(known, Unread):
                return known
            told: dict[str, Any] = {}
            with reading(told, "lr", own=True):  # a schedule that takes one step at a time
                told["lr"] = float(array(given(ms.Tensor(self._at, ms.int32))).reshape(()))
            return told["lr"]

        with patched(mindspore_steps, _rate=rate), super().watching(recorder, *observers):
            yield

    def _observers(self, wanted: tuple) -> tuple:  # noqa: ARG002
        return ()

    def trains(self, network: nn.Cell) -> bool:
        """Whether a network is in training mode."""
        return network.training

    def again(self, value: Any) -> Any:
        """A copy of a tensor that was answered before; anything else as it is."""
        if not isinstance(value, ms.Tensor):
            return value
        copy = ms.Tensor(array(value), value.dtype)
        self._computed[id(value)] = value
        return copy

    def numbers(self, network: nn.Cell) -> dict[str, object]:
        """Path -> plain number that a cell holds."""
        return {
            f"{path}.{name}": value
            for path, cell in network.cells_and_names()
            for name, value in vars(cell).items()
            if type(value) in (int, float) and not name.startswith("_")
        }

    def _differentiating(self, recorder: Any) -> contextlib.AbstractContextManager:
        """A context in which what asks for gradients gets those of the dry run."""

        def forward(run: Callable[[], Any]) -> Any:
            return self._differentiated(run)

        def gradients(weights: Any, cotangent: float) -> Any:
            factor = recorder.passes() * cotangent

            def of(weight: ms.Parameter) -> ms.Tensor:
                pattern = recorder.gradient(weight)
                if pattern is None:
                    return ms.Tensor(np.zeros(weight.shape, np.float32), weight.dtype)
                return ms.Tensor(pattern * np.float32(factor), weight.dtype)

            one = isinstance(weights, ms.Parameter)
            return of(weights) if one else tuple(of(each) for each in weights)

        return undifferentiated(forward, gradients)

    def _update(
        self,
        recorder: Any,
        cell: Any,
        call: Callable[..., Any],  # noqa: ARG002
        args: tuple,
        kwargs: dict,  # noqa: ARG002
    ) -> Any:
        """An optimiser is called with gradients, and updates nothing but its count."""
        given, self._at = of_kind(args, ms.Tensor), _count(cell)
        scale = np.float32(getattr(cell, "loss_scale", 1.0))
        pairs = zip(cell.parameters, given, strict=False)
        arrays = {id(weight): array(gradient) / scale for weight, gradient in pairs}
        recorder.update(cell, arrays, lambda names: settings_now(cell, names))
        if hasattr(cell, "global_step"):
            cell.global_step.assign_value(ms.Tensor([self._at + 1], ms.int32))
        recorder.updated()
        return True


def _count(optimizer: Any) -> int:
    """How many updates an optimiser has made."""
    held = getattr(optimizer, "global_step", None)
    return 0 if held is None else int(array(held).reshape(-1)[0])

"""The random draws of PyTorch: seen with the layer that draws, and pinned."""

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from equivalence.randomness import layers
from equivalence.randomness.layers import Draws, RandomLayer
from equivalence.randomness.torch_replay import Replaying, replaying, state
from equivalence.stream import torch_stream
from equivalence.stream.torch_stream import Call, Observer

CHANNELS = {F.dropout1d: 2, F.dropout2d: 3, F.dropout3d: 4, torch.feature_dropout: 1}
"""Dropout of whole channels -> the number of axes of an input without a batch. (PyTorch takes three
axes of `dropout2d` for a batch.)"""

ELEMENTS = (F.dropout, torch.dropout)
OTHERS = {
    F.alpha_dropout: "alpha dropout",
    torch.alpha_dropout: "alpha dropout",
    F.feature_alpha_dropout: "alpha dropout of channels",
    torch.feature_alpha_dropout: "alpha dropout of channels",
    F.rrelu: "rrelu",
}
RECURRENT = (torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu)


class Pinned(Observer):
    """Lets no function draw that both frameworks have: dropout keeps everything.

    noted: is told the kind, p and the independent parts of each draw, or None.
    """

    slot = "draws"

    def __init__(self, noted: Callable[[str, float | None, int | None], None] | None = None):
        self.noted = noted

    def before(self, call: Call) -> None:
        """Give arguments with which nothing is drawn."""
        call.args, call.kwargs, draws = _without_draws(call.function, call.args, call.kwargs)
        if self.noted:
            for draw in draws:
                self.noted(*draw)


Noted = list[tuple[str, float | None, int | None]]
"""The kind, p and independent parts of some draws."""


def _without_draws(func: Callable, args: tuple, kwargs: dict) -> tuple[tuple, dict, Noted]:
    """The arguments with which a function draws nothing, and the draws that it would make."""
    if func is F.scaled_dot_product_attention:
        bound = {**dict(zip(_ATTENTION, args, strict=False)), **kwargs}
        parts = bound["query"].shape[:-1].numel() * bound["key"].shape[-2]
        draws = _some(bound.get("dropout_p", 0.0), parts)
        return (), {**bound, "dropout_p": 0.0}, draws
    if func in RECURRENT:
        place = next((i for i, each in enumerate(args) if isinstance(each, float)), None)
        if place is None or not args[place + 1]:
            return args, kwargs, []
        draws = _some(args[place], None) * (args[place - 1] - 1)
        return (*args[:place], 0.0, *args[place + 1 :]), kwargs, draws
    if func is F.multi_head_attention_forward:
        bound = _bind(func, args, kwargs)
        query, key = bound["query"], bound["key"]
        # The sequence comes first here, whatever the layer's `batch_first`.
        parts = query.shape[:-1].numel() * bound["num_heads"] * key.shape[0]
        draws = _some(bound["dropout_p"], parts) if bound["training"] else []
        return (), {**bound, "dropout_p": 0.0}, draws
    if func in CHANNELS or func in ELEMENTS or func in OTHERS:
        named = inspect.isfunction(func)
        bound = _bind(func, args, kwargs) if named else dict(zip(_BUILTIN, args, strict=False))
        bound |= kwargs
        flag = "training" if named else "train"
        if not bound.get(flag):
            return args, kwargs, []
        x, p = bound["input"], bound.get("p")
        parts = x.numel()
        if func in CHANNELS:
            batched = x.ndim > CHANNELS[func] or func is F.dropout2d
            parts = x.shape[: 2 if batched else 1].numel()
        draws = _some(p, parts) if func not in OTHERS else [(OTHERS[func], p, None)]
        if not draws or (func in OTHERS and p == 0.0):
            return args, kwargs, []
        if not named:
            return (x, p, False), {}, draws
        return (), {**bound, flag: False}, draws
    return args, kwargs, []


_ATTENTION = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
_BUILTIN = ("input", "p", "train")


def _bind(func: Callable, args: tuple, kwargs: dict) -> dict[str, Any]:
    bound = inspect.signature(func).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _some(p: Any, parts: int | None) -> Noted:
    """The draw of a dropout; none where p says beforehand what is kept."""
    return [(layers.DROPOUT, float(p), parts)] if 0.0 < p < 1.0 else []


class TorchDraws(Draws):
    """What a PyTorch network draws."""

    @property
    def observers(self) -> list[Observer]:
        """What is open in a run beside what rounds it."""
        return [Replaying(self.replay)] if self.replay else []

    @contextlib.contextmanager
    def running(self, network: nn.Module) -> Iterator[None]:
        """The context of a run, in which what is pinned draws nothing."""
        if self.replay:
            with replaying(self.replay, network):
                yield
            return
        before = state()
        with self.notes or (Pinned() if self.pins else contextlib.nullcontext()):
            yield
        self.drew = self.drew or state() != before


def dropouts(network: nn.Module) -> list[str]:
    """The paths of PyTorch's layers that draw while training."""
    return [
        path
        for path, layer in network.named_modules()
        if isinstance(layer, torch_stream.DROPOUTS) and layer.p > 0
    ]


class Notes:
    """A context that notes every draw of a run with its layer, and pins what can be pinned.

    network: the network that runs.
    own: path -> class of the random layers of the model's own.
    layers: the draws in order; a layer of the model's own is one draw in each of its calls.

    Raises nothing itself: a draw that cannot be pinned has `pinned` False.
    """

    def __init__(self, network: nn.Module, own: Mapping[str, str]):
        self.network, self.own = network, own
        self.layers: list[RandomLayer] = []
        self._inside = 0
        self._looking = False
        self._laws: dict[tuple[str, tuple[int, ...]], RandomLayer] = {}

    def __enter__(self) -> "Notes":
        self._stack = contextlib.ExitStack()
        running = torch_stream.layers(self.network, self._entered, self._left)
        self._path = self._stack.enter_context(running)
        self._last = state()
        self._stack.enter_context(_UnknownDraws(self))
        return self

    def __exit__(self, *error) -> None:
        self._stack.close()
        self.check("random numbers")

    @property
    def busy(self) -> bool:
        """Whether functions run as they are: in a layer of the model's own, or to look at it."""
        return self._looking or self._inside > 0

    def _state(self) -> tuple[Any, ...]:
        self._looking = True
        now = state()
        self._looking = False
        return now

    def note(self, kind: str, p: float | None, parts: int | None) -> None:
        """Note a draw that is pinned."""
        path = self._path[-1] if self._path else ""
        if kind == layers.DROPOUT:
            self.layers.append(layers.dropout(path, p or 0.0, parts))
        else:
            self.layers.append(RandomLayer(path, kind, p, parts, pinned=True))

    def check(self, kind: str) -> None:
        """Note a draw of an operator that is not known, by what it did to the generators."""
        now = self._state()
        if now != self._last and not self._inside:
            self.layers.append(RandomLayer(self._path[-1] if self._path else "", kind))
        self._last = now

    def _entered(self, path: str, *_: Any) -> None:
        """The call of a layer begins."""
        self.check("random numbers")
        own = path in self.own
        if own and not self._inside:
            self._begun = (len(self.layers), self._state())
        self._inside += own

    def _left(self, path: str, module: nn.Module, args: tuple) -> None:
        """The call of a layer has ended."""
        own = path in self.own
        self._inside -= own
        if own and not self._inside:
            count, before = self._begun
            self._last = self._state()
            drew = len(self.layers) > count or self._last != before
            del self.layers[count:]
            if drew:
                self.layers.append(self._law(path, module, args))

    def _law(self, path: str, module: nn.Module, args: tuple) -> RandomLayer:
        """The law of a layer of the model's own; None of its figures where it cannot be called."""
        kind = self.own[path]
        if len(args) != 1 or not isinstance(args[0], torch.Tensor):
            return RandomLayer(path, kind, pinned=True)
        shape = tuple(args[0].shape)
        if (path, shape) not in self._laws:
            ones = torch.ones(layers.batch_of(shape)).to(args[0])
            self._inside += 1
            with torch.no_grad():
                self._laws[path, shape] = layers.measure(
                    path, kind, shape, lambda: module.forward(ones).cpu().numpy()
                )
            self._inside -= 1
            self._last = self._state()
        return self._laws[path, shape]


class _UnknownDraws(Pinned):
    """Pins what is known, and looks for a draw after every other function."""

    def __init__(self, notes: Notes):
        super().__init__(notes.note)
        self.notes = notes

    def before(self, call: Call) -> None:
        """Pin a function, but within a layer of the model's own."""
        self.busy = self.notes.busy
        if not self.busy:
            super().before(call)

    def after(self, call: Call, result: Any) -> Any:
        """Note what has drawn all the same."""
        if not self.busy:
            self.notes.check(getattr(call.function, "__name__", str(call.function)))
        return result

"""PyTorch's draws, as replayed: each operator that draws gets its numbers from a `Replay`.

Operators are seen below autograd, where a dropout of any kind, also that of an attention or of a
recurrent layer, draws a mask by `bernoulli_`.
"""

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from equivalence.randomness.host_draws import replayed
from equivalence.randomness.replay import (
    MASK,
    NORMAL,
    ORDER,
    UNIFORM,
    WHOLE,
    Replay,
    choices,
    order,
    whole,
)
from equivalence.stream import torch_stream
from equivalence.stream.observer import RUN
from equivalence.stream.torch_stream import Call, Observer, in_backward


def state() -> tuple[Any, ...]:
    """The state of every generator that a network may draw from; a draw changes it."""
    cuda = torch.cuda.get_rng_state().numpy().tobytes() if torch.cuda.is_initialized() else b""
    torchs = torch.default_generator.get_state().numpy().tobytes()
    numpys: Any = np.random.get_state()
    _, keys, *place = numpys
    return torchs, cuda, random.getstate(), keys.tobytes(), *place


@contextlib.contextmanager
def replaying(replay: Replay, network: nn.Module) -> Iterator[None]:
    """A context of one run, whose draws get the numbers of `replay` by an open `Replaying`."""
    before = state()
    with torch_stream.layers(network) as paths, replayed(replay):
        replay.begin(paths)
        yield
    if state() != before and not replay.refused:
        replay.refuse("a function that is not seen")


class Replaying(Observer):
    """Gives each operator that draws its numbers from a `Replay`."""

    slot = "replay"

    def __init__(self, replay: Replay):
        self.told = replay

    def replace(self, call: Call) -> Any:
        """What an operator draws."""
        if torch.Tag.nondeterministic_seeded not in call.function.tags:
            return RUN
        draw = DRAWS.get(call.name)
        given = None if draw is None or in_backward() else draw(self.told, _SchemaArguments(call))
        if given is not None:
            return given
        if not _draws_nothing(call):
            again = " in the backward pass" if in_backward() else ""
            self.told.refuse(f"{call.name}{again}")
        return RUN


class _SchemaArguments:
    """The arguments of an operator by their names in its schema, with its defaults."""

    def __init__(self, call: Call):
        schema = call.function._schema.arguments
        self._named = {each.name: each.default_value for each in schema if each.has_default_value()}
        self._named |= {each.name: value for each, value in zip(schema, call.args, strict=False)}
        self._named |= call.kwargs
        self.overload = call.function._overloadname

    def __getitem__(self, name: str) -> Any:
        return self._named[name]

    def get(self, name: str, default: Any = None) -> Any:
        """An argument; the default where the operator has none of that name, or it is None."""
        value = self._named.get(name)
        return default if value is None else value

    def made(self, values: Any) -> torch.Tensor:
        """A tensor of these values, as the operator makes one: like its input, or as told."""
        like = self.get("self")
        like = like if isinstance(like, torch.Tensor) else None
        default = torch.get_default_dtype() if like is None else like.dtype
        default = torch.int64 if like is None and values.dtype.kind == "i" else default
        dtype = self.get("dtype", default)
        dtype = dtype if isinstance(dtype, torch.dtype) else default  # a schema has its number
        device = self.get("device", "cpu" if like is None else like.device)
        return torch.from_numpy(values).to(device, dtype)


def _draws_nothing(call: Call) -> bool:
    """Whether an operator that may draw, such as an attention, does not in this call."""
    named = _SchemaArguments(call)
    return named.get("dropout_p") == 0.0 or named.get("train") is False


def _probability(replay: Replay, shape: Any, p: Any) -> Any:
    """A mask whose elements are 1 with probability p, a number or a tensor."""
    one = p if isinstance(p, float | int) else None
    numbers = replay.uniform(MASK, shape, one)
    return numbers < (p if one is not None else p.detach().cpu().double().numpy())


def _mask_(replay: Replay, a: _SchemaArguments) -> Any:
    x = a["self"]
    return x.copy_(torch.from_numpy(_probability(replay, x.shape, a["p"])))


def _mask(replay: Replay, a: _SchemaArguments) -> Any:
    x = a["self"]
    p = x if a.overload in ("", "default") else a["p"]
    return torch.from_numpy(_probability(replay, x.shape, p)).to(x)


def _native_dropout(replay: Replay, a: _SchemaArguments) -> Any:
    x, p = a["input"], a["p"]
    if not a.get("train", True) or p in (0.0, 1.0):
        return None
    mask = torch.from_numpy(_probability(replay, x.shape, 1.0 - p)).to(x.device)
    return x * mask.to(x.dtype) / (1.0 - p), mask


def _rand(replay: Replay, a: _SchemaArguments) -> Any:
    return a.made(replay.uniform(UNIFORM, a["size"]))


def _rand_like(replay: Replay, a: _SchemaArguments) -> Any:
    return a.made(replay.uniform(UNIFORM, a["self"].shape))


def _uniform_(replay: Replay, a: _SchemaArguments) -> Any:
    x, low, high = a["self"], a["from"], a["to"]
    numbers = torch.from_numpy(replay.uniform(UNIFORM, x.shape)).to(x)
    return x.copy_(numbers if (low, high) == (0.0, 1.0) else numbers * (high - low) + low)


def _randn(replay: Replay, a: _SchemaArguments) -> Any:
    return a.made(replay.normal(NORMAL, a["size"]))


def _randn_like(replay: Replay, a: _SchemaArguments) -> Any:
    return a.made(replay.normal(NORMAL, a["self"].shape))


def _scaled(numbers: torch.Tensor, mean: Any, std: Any) -> torch.Tensor:
    if not isinstance(std, float | int) or std != 1.0:
        numbers = numbers * std
    return numbers if isinstance(mean, float | int) and mean == 0.0 else numbers + mean


def _normal_(replay: Replay, a: _SchemaArguments) -> Any:
    x = a["self"]
    numbers = torch.from_numpy(replay.normal(NORMAL, x.shape)).to(x)
    return x.copy_(_scaled(numbers, a["mean"], a["std"]))


def _normal(replay: Replay, a: _SchemaArguments) -> Any:
    tensors = [each for each in (a["mean"], a["std"]) if isinstance(each, torch.Tensor)]
    if not tensors:
        return _scaled(a.made(replay.normal(NORMAL, a["size"])), a["mean"], a["std"])
    shape = torch.broadcast_shapes(*(each.shape for each in tensors))
    numbers = torch.from_numpy(replay.normal(NORMAL, shape)).to(tensors[0])
    return _scaled(numbers, a["mean"], a["std"])


def _randint(replay: Replay, a: _SchemaArguments) -> Any:
    return a.made(whole(replay.uniform(WHOLE, a["size"]), a.get("low", 0), a["high"]))


def _randint_like(replay: Replay, a: _SchemaArguments) -> Any:
    if isinstance(a["high"], torch.Tensor):
        return None
    return a.made(whole(replay.uniform(WHOLE, a["self"].shape), a.get("low", 0), a["high"]))


def _random_(replay: Replay, a: _SchemaArguments) -> Any:
    x, high = a["self"], a.get("to")
    if high is None:
        return None
    numbers = whole(replay.uniform(WHOLE, x.shape), a.get("from", 0), high)
    return x.copy_(torch.from_numpy(numbers))


def _randperm(replay: Replay, a: _SchemaArguments) -> Any:
    return a.made(order(replay.uniform(ORDER, (a["n"],))))


def _multinomial(replay: Replay, a: _SchemaArguments) -> Any:
    shares = a["self"].detach().cpu().double().numpy()
    found = choices(shares, a["num_samples"], bool(a.get("replacement", False)), replay)
    return torch.from_numpy(found).to(a["self"].device)


def _exponential_(replay: Replay, a: _SchemaArguments) -> Any:
    x = a["self"]
    numbers = torch.from_numpy(replay.uniform("exponential numbers", x.shape)).to(x)
    return x.copy_(-torch.log(numbers) / a["lambd"])


def _rrelu(replay: Replay, a: _SchemaArguments) -> Any:
    x, low, high = a["self"], a["lower"], a["upper"]
    if not a.get("training", False):
        return None
    numbers = torch.from_numpy(replay.uniform(UNIFORM, x.shape)).to(x)
    slopes = torch.where(x <= 0, numbers * (high - low) + low, torch.ones_like(x))
    if a.overload == "functional":
        return x * slopes, slopes
    a["noise"].copy_(slopes)
    return x * slopes


DRAWS: dict[str, Callable[[Replay, _SchemaArguments], Any]] = {
    "bernoulli": _mask,
    "bernoulli_": _mask_,
    "exponential_": _exponential_,
    "multinomial": _multinomial,
    "native_dropout": _native_dropout,
    "normal": _normal,
    "normal_": _normal_,
    "rand": _rand,
    "rand_like": _rand_like,
    "randint": _randint,
    "randint_like": _randint_like,
    "randn": _randn,
    "randn_like": _randn_like,
    "random_": _random_,
    "randperm": _randperm,
    "rrelu_with_noise": _rrelu,
    "uniform_": _uniform_,
}
"""Name of an operator -> what it draws; None where it draws nothing, or what is not known."""

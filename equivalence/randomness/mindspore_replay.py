"""MindSpore's draws, as replayed: each operator that draws gets its numbers from a `Replay`.

Operators are seen in PyNative mode. A compiled graph shows none of its draws.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from scipy import special

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
from equivalence.stream import mindspore_stream
from equivalence.stream.mindspore_stream import (
    Call,
    Observer,
    dtype_numbered,
    has_gradient,
    product,
    with_source,
)
from equivalence.stream.observer import RUN

DRAWING = re.compile(
    r"(Rand(?!om)|Random|Bernoulli|Multinomial|Poisson|Cauchy|StandardNormal|StandardLaplace"
    r"|TruncatedNormal|ParameterizedTruncatedNormal|Uniform(?!CandidateSampler)|InplaceNormal"
    r"|InplaceUniform|InplaceExponential|LogNormalReverse|Gamma$|Normal(Float|Tensor)|Dropout)"
)
"""What the names of primitives that draw begin with, besides `Inplace`."""


def draws(primitive: str) -> bool:
    """Whether a primitive draws random numbers, by its name."""
    name = primitive.removeprefix("Inplace")
    return bool(DRAWING.match(primitive) or DRAWING.match(name)) and "Grad" not in primitive


@contextlib.contextmanager
def replaying(replay: Replay, network: nn.Cell) -> Iterator[None]:
    """A context of runs in PyNative mode, whose draws get the numbers of `replay`."""
    product()  # is found while no observer of the run sees it
    with mindspore_stream.layers(network) as paths, replayed(replay):
        replay.begin(paths)
        with Replaying(replay):
            yield


class Replaying(Observer):
    """Gives each operator that draws its numbers from a `Replay`."""

    slot = "draws"

    def __init__(self, replay: Replay):
        self.told = replay

    def replace(self, call: Call) -> Any:
        """What an operator draws."""
        if not draws(call.name):
            return RUN
        draw = DRAWS.get(call.name)
        if draw is None:
            self.told.refuse(f"the operator {call.name}")
            return RUN
        return draw(self.told, call)


def _array(value: Any) -> np.ndarray:
    return np.asarray(value.asnumpy() if isinstance(value, ms.Tensor) else value)


def _shape(value: Any) -> tuple[int, ...]:
    """A shape, which some operators take as a tensor."""
    return tuple(int(size) for size in _array(value).reshape(-1))


def _tensor(values: np.ndarray, dtype: Any) -> ms.Tensor:
    return ms.Tensor(np.array(values), dtype)


def _kept(call: Call) -> float:
    """The share that a dropout keeps."""
    if call.primitive is not None:
        return round(float(call.primitive.keep_prob), 9)
    return round(1.0 - float(call.args[1]), 7)  # it comes in single precision


def _dropped(replay: Replay, call: Call, axes: int | None) -> Any:
    """What a dropout gives. axes: how many of the first axes its mask has; None: all."""
    x, kept = call.args[0], _kept(call)
    if not 0.0 < kept < 1.0:
        return RUN
    mask = replay.uniform(MASK, x.shape[:axes], kept) < kept
    wide = np.broadcast_to(mask.reshape(*mask.shape, *(1 for _ in x.shape[mask.ndim :])), x.shape)
    if has_gradient(x):
        # Its gradient is made of the mask that is given. The operator takes no view.
        return product()(x.contiguous(), _tensor(wide / kept, x.dtype)), _tensor(wide, x.dtype)
    # PyNative mode waits forever for a result that another operator made of what has no gradient.
    return _keeping(call, with_source(_tensor(_array(x) * wide / kept, x.dtype), x))


def _keeping(call: Call, x: ms.Tensor) -> Any:
    """Let a dropout run and keep everything of a tensor."""
    if call.primitive is None:
        call.args = (x, 0.0, *call.args[2:])
    else:
        call.primitive = getattr(ops, call.name)(1.0)
        call.args = (x, *([1.0, *call.args[2:]] if call.args[1:] else []))
    return RUN


def _unreplayed(replay: Replay, call: Call) -> Any:
    """Keep everything: no gradient comes back to what another operator gives in its place."""
    if call.args[2] and 0.0 < call.args[1] < 1.0:
        replay.refuse(f"the operator {call.name}")
        return _keeping(call, call.args[0])
    return RUN


def _bernoulli(replay: Replay, call: Call) -> Any:
    x, p = call.args[0], call.args[1]
    share = _array(p).astype(np.float64)
    one = round(share.item(), 7) if share.size == 1 else None
    return _tensor(replay.uniform(MASK, x.shape, one) < share, x.dtype)


def _bernoulli_ext(replay: Replay, call: Call) -> Any:
    x = call.args[0]
    return _tensor(replay.uniform(MASK, x.shape) < _array(x).astype(np.float64), x.dtype)


def _uniform_real(replay: Replay, call: Call) -> Any:
    return _tensor(replay.uniform(UNIFORM, _shape(call.args[0])), ms.float32)


def _uniform_ext(replay: Replay, call: Call) -> Any:
    x, low, high, *_ = call.args
    return _between(replay.uniform(UNIFORM, x.shape), low, high, x.dtype)


def _between(numbers: np.ndarray, low: float, high: float, dtype: Any) -> ms.Tensor:
    low, high = float(low), float(high)
    return _tensor(low + (high - low) * numbers, dtype)


def _normal(replay: Replay, call: Call) -> Any:
    return _tensor(replay.normal(NORMAL, _shape(call.args[0])), ms.float32)


def _normal_of(replay: Replay, call: Call) -> Any:
    """Normal numbers of a mean and a deviation, each a number or a tensor."""
    mean, deviation = call.args[:2]
    given = [each for each in (mean, deviation) if isinstance(each, ms.Tensor)]
    shape = np.broadcast_shapes(*(each.shape for each in given)) if given else call.args[2]
    numbers = replay.normal(NORMAL, tuple(shape))
    dtype = given[0].dtype if given else ms.float32
    return _tensor(_array(mean) + _array(deviation) * numbers, dtype)


def _laplace(replay: Replay, call: Call) -> Any:
    centred = 2.0 * replay.uniform(UNIFORM, _shape(call.args[0])) - 1.0
    return _tensor(-np.sign(centred) * np.log1p(-np.abs(centred)), ms.float32)


def _uniform_int(replay: Replay, call: Call) -> Any:
    shape, low, high = call.args
    numbers = replay.uniform(WHOLE, _shape(shape))
    return _tensor(whole(numbers, _array(low).item(), _array(high).item()), ms.int32)


def _order(replay: Replay, call: Call) -> Any:
    numbers = replay.uniform(ORDER, (_array(call.args[0]).item(),))
    return _tensor(order(numbers), dtype_numbered(call.args[3]))


def _shuffle(replay: Replay, call: Call) -> Any:
    x = call.args[0]
    places = order(replay.uniform(ORDER, (x.shape[0],)))
    return ops.gather(x, _tensor(places, ms.int32), 0)


def _multinomial(replay: Replay, call: Call) -> Any:
    shares, count, *rest = call.args
    ext = call.name == "MultinomialExt"
    replacement = bool(rest[0]) if ext else True
    found = choices(_array(shares), _array(count).item(), replacement, replay)
    return _tensor(found, ms.int64 if ext else ms.int32)


def _categories(replay: Replay, call: Call) -> Any:
    logits, count, *_ = call.args
    shares = special.softmax(_array(logits).astype(np.float64), -1)
    return _tensor(choices(shares, _array(count).item(), True, replay), ms.int64)


def _into(draw: Callable[[Replay, Sequence[int], Sequence[Any]], np.ndarray]) -> Callable:
    """An operator that draws into its first argument."""

    def drawn(replay: Replay, call: Call) -> Any:
        x, *rest = call.args
        x.assign_value(_tensor(draw(replay, x.shape, rest), x.dtype))
        return x

    return drawn


DRAWS: dict[str, Callable[[Replay, Call], Any]] = {
    "Bernoulli": _bernoulli,
    "BernoulliExt": _bernoulli_ext,
    "Dropout": lambda replay, call: _dropped(replay, call, None),
    "Dropout2D": lambda replay, call: _dropped(replay, call, 2),
    "Dropout2dExt": _unreplayed,
    "Dropout3D": lambda replay, call: _dropped(replay, call, 2),
    "DropoutExt": lambda replay, call: _dropped(replay, call, None),
    "InplaceExponential": _into(
        lambda r, shape, a: -np.log(r.uniform("exponential numbers", shape)) / float(a[0])
    ),
    "InplaceNormal": _into(lambda r, shape, a: float(a[0]) + float(a[1]) * r.normal(NORMAL, shape)),
    "InplaceRandom": _into(lambda r, shape, a: whole(r.uniform(WHOLE, shape), a[0], a[1])),
    "InplaceUniform": _into(
        lambda r, shape, a: float(a[0]) + (float(a[1]) - float(a[0])) * r.uniform(UNIFORM, shape)
    ),
    "Multinomial": _multinomial,
    "MultinomialExt": _multinomial,
    "NormalFloatFloat": _normal_of,
    "NormalFloatTensor": _normal_of,
    "NormalTensorFloat": _normal_of,
    "NormalTensorTensor": _normal_of,
    "RandomCategorical": _categories,
    "RandomShuffle": _shuffle,
    "RandpermExt": _order,
    "RandpermV2": _order,
    "StandardLaplace": _laplace,
    "StandardNormal": _normal,
    "UniformExt": _uniform_ext,
    "UniformInt": _uniform_int,
    "UniformReal": _uniform_real,
}
"""Name of an operator -> what it draws; `RUN` where it draws nothing."""

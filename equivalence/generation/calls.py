"""The calls of a network within a function that generates, of either side. Loads both frameworks.

A call is what the network is given and what it gives: the tokens are the first array of whole
numbers, the logits are its first floating output.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import mindspore as ms
import numpy as np
import torch

from equivalence import dtypes, nesting
from equivalence.errors import DeclarationError
from equivalence.judge.tensors import Trace
from equivalence.sides.mindspore_cells import array
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.sides.torch_constants import numbers
from equivalence.sides.torch_network import TorchNetwork
from equivalence.stream.observer import attached


@dataclass
class GenerationCall:
    """One call of the network.

    tokens: the first array of whole numbers that it is given, (rows, ...); None where it has none.
    logits: its first floating output, (rows, ..., vocabulary).
    chosen: the tokens that the function has chosen, where it is given others in their place.
    """

    tokens: np.ndarray | None
    logits: np.ndarray | None = None
    chosen: np.ndarray | None = None

    @property
    def last(self) -> np.ndarray | None:
        """The logits of the last position, (rows, vocabulary)."""
        if self.logits is None or self.logits.ndim < 2:
            return None
        return self.logits.reshape(len(self.logits), -1, self.logits.shape[-1])[:, -1]


@dataclass
class GenerationRun:
    """A run of a function that generates.

    calls: the calls of its network, in order. trace: what the function returns, by name.
    """

    calls: list[GenerationCall] = field(default_factory=list)
    trace: Trace = field(default_factory=dict)

    def enter(self, chosen: Any, given: Any, kind: type) -> None:
        """The network is called. chosen: by its function. kind: the class of tensors."""
        self.calls.append(GenerationCall(_tokens(given, kind), chosen=_tokens(chosen, kind)))

    def leave(self, outputs: Any, kind: type) -> None:
        """The network has given its outputs."""
        found = (v for v in nesting.named(outputs).values() if isinstance(v, kind))
        floating = (values for values in map(_read, found) if values.dtype.kind == "f")
        self.calls[-1].logits = next(floating, None)


Forced = Sequence[np.ndarray | None]
"""The tokens of each call that a network is given in the place of those that its function chose."""


def of_torch(
    side: TorchNetwork, path: str, run: Callable[[], Trace], forced: Forced = ()
) -> GenerationRun:
    """The calls of the module at a path while `run` runs the side."""
    return _watched(side.module.get_submodule(path), torch.Tensor, torch.from_numpy, run, forced)


def of_mindspore(
    side: MindSporeNetwork, path: str, run: Callable[[], Trace], forced: Forced = ()
) -> GenerationRun:
    """The calls of the cell at a path while `run` runs the side, in PyNative mode."""
    return _watched(side.cell_at(path), ms.Tensor, ms.Tensor, run, forced)


def _watched(
    network: Any,
    kind: type,
    made: Callable[[np.ndarray], Any],
    run: Callable[[], Trace],
    forced: Forced,
) -> GenerationRun:
    found = GenerationRun()

    def before(_: Any, args: tuple, keywords: dict) -> tuple[tuple, dict]:
        number = len(found.calls)
        tokens = forced[number] if number < len(forced) else None
        given = args, keywords
        if tokens is not None:
            given = _with_tokens(given, kind, made, tokens)
        found.enter((args, keywords), given, kind)
        return given

    hooks = [
        network.register_forward_pre_hook(before, with_kwargs=True),
        network.register_forward_hook(lambda _, __, out: found.leave(out, kind)),
    ]
    with attached(hooks):
        found.trace = run()
    return found


def _with_tokens(
    given: tuple[tuple, dict], kind: type, made: Callable[[np.ndarray], Any], tokens: np.ndarray
) -> Any:
    """What a network is given, with other tokens of the same shape in the place of its own."""
    own: Any = _whole(given, kind)
    if own is None or tuple(own.shape) != tokens.shape:
        return given
    other = made(tokens.astype(_read(own).dtype))
    return nesting.transform(given, lambda leaf: other if leaf is own else leaf)


def _whole(given: Any, kind: type) -> Any:
    """The first tensor of whole numbers; None where there is none."""
    found = (leaf for _, leaf in nesting.leaves(given) if isinstance(leaf, kind))
    return next((leaf for leaf in found if _read(leaf).dtype.kind in "iu"), None)


def _tokens(given: Any, kind: type) -> np.ndarray | None:
    own = _whole(given, kind)
    return None if own is None else _read(own).astype(np.int64)


def network_of(side: Any, role: str) -> str:
    """The path of the one network that a function is given; DeclarationError where it is not one.

    side: the module or cell that stands for the function. role: "reference" or "candidate".
    """
    plain = getattr(side, "plain", None)
    names = list(plain.networks) if plain is not None else []
    if len(names) == 1:
        return names[0]
    is_one = f"is given {len(names)} networks" if plain is not None else "is a network"
    raise DeclarationError(
        f"the {role} {is_one}; name a function that generates, and its network by --arguments "
        "'net=network(TORCH, MINDSPORE)'"
    )


def _read(value: Any) -> np.ndarray:
    """The values of a tensor of either framework, as a copy."""
    return dtypes.plain(numbers(value).copy() if isinstance(value, torch.Tensor) else array(value))

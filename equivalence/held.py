"""What a training step keeps beside its network and its optimisers: averages, accumulators, scales.

Both sides are walked alike. A tensor is called by its path from the step, `ema.conv.weight`.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Look = Callable[[Any], Any]
"""What is inside of a value: its attributes by name, the value itself for a tensor, or None."""

Arrays = Mapping[str, np.ndarray]

MOST_STATE = 1 << 14
"""Entries of a list in a script that is looked into for averages of weights."""


def tensors(
    step: object, look: Look, known: Iterable[object], trained: Mapping[str, tuple[int, ...]]
) -> dict[str, Any]:
    """Path -> tensor of everything that a step keeps, each once.

    A list with a tensor for each trained weight has the weights' names for numbers.

    look: see `Look`; tuples, lists and dicts need none.
    known: what is left out: the network, its weights, the optimisers.
    trained: name -> shape of the trained weights, in order.
    """
    found: dict[str, Any] = {}
    seen = {id(each) for each in known}

    def walk(value: object, path: tuple[str, ...]) -> None:
        inside = None if id(value) in seen else _inside(value, look, trained)
        if inside is None:
            return
        seen.add(id(value))
        if inside is value:
            found[".".join(path)] = value
            return
        for name, child in inside.items():
            walk(child, (*path, str(name)))

    walk(step, ())
    return found


def _inside(value: object, look: Look, trained: Mapping[str, tuple[int, ...]]) -> Any:
    if isinstance(value, dict):
        return dict(value)
    if not isinstance(value, tuple | list):
        return look(value)
    tensors = [each is not None and look(each) is each for each in value]
    shapes = [tuple(v.shape) if is_one else None for v, is_one in zip(value, tensors, strict=True)]
    names = trained if shapes == [*trained.values()] else range(len(value))
    return dict(zip(names, value, strict=True))


def is_long(value: object) -> bool:
    """Whether a collection has more than `MOST_STATE` elements."""
    return isinstance(value, list | tuple | dict) and len(value) > MOST_STATE


def attributes(value: object) -> dict[str, Any] | None:
    """The attributes of an object of a class that Python does not bring along; None for others."""
    own = type(value).__module__.partition(".")[0] not in sys.stdlib_module_names
    return getattr(value, "__dict__", None) if own else None


@dataclass(frozen=True)
class TensorGroup:
    """The tensors below one path, each of which has the name and the shape of a weight.

    path: what all of their names begin with, `ema.module`.
    part: what the weights' names begin with besides, `backbone.`; "" for the whole network.
    weights: name of a tensor -> name of the weight that it may be a copy or an average of.
    """

    path: str
    part: str
    weights: Mapping[str, str]

    def copied(self, held: Arrays, weights: Arrays) -> bool:
        """Whether the tensors are copies of the weights: all are equal, and one is no constant."""
        return all(
            np.array_equal(held[name], weights[weight]) for name, weight in self.weights.items()
        ) and any(np.ptp(held[name]) > 0 for name in self.weights if held[name].size)


def groups(held: Mapping[str, Any], weights: Mapping[str, tuple[int, ...]]) -> list[TensorGroup]:
    """The groups of tensors like the weights of a network, or of a part of it.

    weights: name -> shape.

    >>> held = {"ema.module.fc.bias": np.ones(3), "ema.n_averaged": np.ones(())}
    >>> groups(held, {"net.fc.bias": (3,), "net.fc.weight": (3, 7)})
    [TensorGroup(path='ema.module', part='net.', weights={'ema.module.fc.bias': 'net.fc.bias'})]
    """
    found: list[TensorGroup] = []
    taken: set[str] = set()
    paths = {name.rsplit(".", cut)[0] for name in held for cut in range(1, name.count(".") + 1)}
    for path in sorted(paths, key=len):
        tails = [n.removeprefix(f"{path}.") for n in held if n.startswith(f"{path}.")]
        parts = [w.removesuffix(tails[0]) for w in weights if f".{w}".endswith(f".{tails[0]}")]
        for part in parts if f"{path}.{tails[0]}" not in taken else ():
            group = TensorGroup(path, part, {f"{path}.{tail}": part + tail for tail in tails})
            if all(weights.get(w) == tuple(held[n].shape) for n, w in group.weights.items()):
                taken.update(group.weights)
                found.append(group)
                break
    return found

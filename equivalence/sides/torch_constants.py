"""What depends on no input and no weight: the buffers that keep what a constructor made, such as
masks, tables and indices, and how rounding moves them and the tables of a forward pass.
"""

import contextlib
import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef

from equivalence import dtypes
from equivalence.judge.tensors import Trace, buffer
from equivalence.sample import INTEGER_BUFFERS, Sample, short
from equivalence.sides.torch_modes import (
    MOVES,
    Rounding,
    SkipInitialisation,
    Widened,
    each_tensor,
    is_dense,
)
from equivalence.structure.weights import CONSTANT, UNSAVED, Slot, comparable

Values = dict[str, torch.Tensor]

STATISTIC = "running_"
"""The beginning of the name of a normalisation's statistic."""


DECISIONS = {"floor", "ceil", "round", "trunc", "fix", "sign", "sgn", "heaviside", "floor_divide"}
"""Operators whose floating result is a whole number that their argument decides."""

SHAPED = {
    *("zeros_like", "ones_like", "full_like", "empty_like"),
    *("new_zeros", "new_ones", "new_full", "new_empty", "new_empty_strided"),
}
"""Operators that take only the shape and the precision of their argument."""

LITERAL = {"lift", "lift_fresh"}
"""Operators that get numbers of the code as a tensor, or an array of NumPy. The storage of an array
cannot grow; it counts as an input, as those are that the sample draws."""


class RoundConstants(Rounding):
    """Rounds what depends on no input and on no weight, such as a table made from whole numbers.

    No perturbed input moves such a value, although each side rounds it. Each floating result that
    an operator computes from such values alone is multiplied by 1 + u or 1 - u. Elements of few
    bits stay (see `sample.short`): whole numbers and halves are exact on both sides.

    What such values decide is what it is without rounding: integers, booleans, and what a floor or
    its like gives. So a distance stays in its bucket, as an activation near a kink keeps its
    branch. For this, what was rounded has a twin that was not.

    Such tensors are known by their storage, which their views share. A tensor that is neither made
    under this mode nor one of `constants` counts as an input, but for integers and booleans. In the
    backward pass nothing is rounded, since everything depends on cotangents.

    constants: the constant buffers.
    met: whether anything was rounded.
    """

    def __init__(self, unit_roundoff: float, seed: int, constants: Iterable[torch.Tensor] = ()):
        super().__init__(unit_roundoff, seed)
        self.met = False
        self._storages = set(map(_storage, constants))
        self._twins: dict[StorageWeakRef, torch.UntypedStorage] = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if torch._C._current_graph_task_id() != -1:
            return self._compute(func, args, kwargs)
        name = func.overloadpacket.__name__
        written = [*written_by(func, args, kwargs)]
        literal = name in LITERAL and args[0].untyped_storage().resizable()
        asked = [] if literal or name in SHAPED else tensors_in((args, kwargs))
        if not all(map(self._is_constant, asked)):
            self._forget(written)
            return self._compute(func, args, kwargs)
        exact = self._computed_by_twins(func, args, kwargs, asked, written)
        result = func(*args, **kwargs)
        decides = name.strip("_") in DECISIONS or "rounding_mode" in kwargs

        def rounded(value: torch.Tensor) -> torch.Tensor:
            return value if name in MOVES or decides else self._rounded(value)

        def kept(value: torch.Tensor, unrounded: torch.Tensor) -> torch.Tensor:
            if decides or not is_floating(value):
                return unrounded
            value = rounded(value)
            self._add_twin(value, unrounded)
            return value

        views = any(returned.alias_info is not None for returned in func._schema.returns)
        if written:
            for value in written:
                if not isinstance(value, nn.Parameter):  # which the sample sets
                    self._write(value, rounded(value), decides)
            made = result
        elif views and not literal:
            made = result
        else:
            made = each_tensor(kept, result, result if exact is None else exact)
        dense = filter(is_dense, filter(is_floating, tensors_in(made)))
        self._storages.update(map(_storage, dense))
        return made

    def _compute(self, func, args: tuple, kwargs: Mapping[str, Any]) -> Any:
        """What a call gives that depends on an input, on a weight or on a cotangent."""
        return func(*args, **kwargs)

    def _computed_by_twins(
        self, func, args: tuple, kwargs: dict, asked: list[torch.Tensor], written: list
    ) -> object:
        """What a call gives without rounding before it; None where there was none.

        It writes into twins what the call will write.
        """
        rounded = any(self._twin(value) is not value for value in asked)
        if not rounded or torch.Tag.nondeterministic_seeded in func.tags:
            return None
        for value in written:
            self._have_twin(value)
        twins = (
            each_tensor(self._twin, args),
            {n: each_tensor(self._twin, v) for n, v in kwargs.items()},
        )
        return func(*twins[0], **twins[1])

    def _twin(self, value: torch.Tensor) -> torch.Tensor:
        """The value without rounding; itself if it has none."""
        storage = self._twins.get(_storage(value)) if is_dense(value) else None
        if storage is None:
            return value
        twin = torch.empty(0, dtype=value.dtype, device=value.device)
        return twin.set_(storage, value.storage_offset(), value.size(), value.stride())

    def _have_twin(self, value: torch.Tensor) -> None:
        """Copy the storage of a value that has no twin so far, since it is not rounded so far."""
        if is_dense(value) and _storage(value) not in self._twins:
            self._twins[_storage(value)] = value.untyped_storage().clone()

    def _add_twin(self, value: torch.Tensor, unrounded: torch.Tensor) -> None:
        """Keep what a new value is without rounding."""
        if not is_dense(value) or _storage(value) == _storage(unrounded):
            return
        if value.stride() != unrounded.stride() or unrounded.storage_offset():
            unrounded = torch.empty_strided(value.size(), value.stride()).copy_(unrounded)
        for storage in [each for each in self._twins if each.expired()]:
            del self._twins[storage]
        self._twins[_storage(value)] = unrounded.untyped_storage()

    def _write(self, value: torch.Tensor, rounded: torch.Tensor, decides: bool) -> None:
        """Round in place what a call has written."""
        if decides or not is_floating(value):
            rounded = self._twin(value)
        elif rounded is not value:
            self._have_twin(value)
        if rounded is not value:
            value.copy_(rounded)

    def _forget(self, written: Iterable[torch.Tensor]) -> None:
        """Count values as inputs, since they depend on some now."""
        for storage in map(_storage, filter(is_dense, written)):
            self._storages.discard(storage)
            self._twins.pop(storage, None)

    def _is_constant(self, value: torch.Tensor) -> bool:
        known = is_dense(value) and _storage(value) in self._storages
        return known or not is_floating(value)

    def _rounded(self, value: torch.Tensor) -> torch.Tensor:
        if value.is_complex():
            return torch.view_as_complex(self._rounded(torch.view_as_real(value)))
        if not (value.is_floating_point() and is_dense(value)):
            return value
        if value.dtype is torch.bfloat16:  # its eight bits are exact; NumPy does not know them
            return value
        inexact = self._inexact(value)
        if not inexact.any():
            return value
        self.met = True
        return torch.where(inexact.to(value.device), value * self._factors(value), value)


def written_by(func, args: tuple, kwargs: dict) -> Iterator[torch.Tensor]:
    """The tensors that a call changes in place."""
    for position, argument in enumerate(func._schema.arguments):
        if argument.is_write:
            given = args[position] if position < len(args) else kwargs.get(argument.name)
            yield from tensors_in(given)


def _storage(value: torch.Tensor) -> StorageWeakRef:
    return StorageWeakRef(value.untyped_storage())


def is_floating(value: torch.Tensor) -> bool:
    return value.is_floating_point() or value.is_complex()


def tensors_in(values: object) -> list[torch.Tensor]:
    """The tensors in nested tuples, lists and mappings."""
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, dict):
        values = values.values()
    elif not isinstance(values, tuple | list):
        return []
    return [tensor for value in values for tensor in tensors_in(value)]


class Constants:
    """The constant buffers of a module, with their values in every precision.

    Parameters are drawn, and so are all floating buffers of a normalisation. Every other buffer is
    a constant, but for what a constructor draws at random: both sides cannot draw the same. A
    tensor that is a plain attribute is a constant, too; it is not compared by itself.

    The constructor is a part of the network. In a float64 run, a table is what the constructor
    makes in float64; in a perturbed run, what it makes if every result in it is rounded.

    build: builds the module anew.
    module: the module as `build` has made it.
    """

    def __init__(self, build: Callable[[], nn.Module], module: nn.Module):
        self._build, self._prefix = build, ""
        drawn = _statistics(module)
        self._own = {n: v.clone() for n, v in _kept(module).items() if n not in drawn}
        self._wide: Values = {}
        if all(short(_array(values)).all() for values in self._own.values()):
            return
        self._wide, again = (self._made(seed) for seed in (0, 1))
        for name, values in self._wide.items():
            if values.is_floating_point() and not torch.equal(values, again[name]):
                self._own.pop(name, None)

    def __contains__(self, name: str) -> bool:
        return name in self._own

    def below(self, path: str) -> "Constants":
        """The constants of the module at a path, by their names in it."""
        part = copy.copy(self)
        if path:
            part._prefix = f"{self._prefix}{path}."
            part._own, part._wide = _below(self._own, f"{path}."), _below(self._wide, f"{path}.")
        return part

    def outside(self, paths: Sequence[str]) -> "Constants":
        """The constants of the module but for those below some paths."""
        part, inside = copy.copy(self), tuple(f"{path}." for path in paths)
        part._own = {n: v for n, v in self._own.items() if not n.startswith(inside)}
        return part

    def slots(self, module: nn.Module) -> dict[str, Slot]:
        """The shape and kind of each constant of the module."""
        saved = module.state_dict(keep_vars=True)
        return {
            name: Slot(tuple(values.shape), CONSTANT if name in saved else UNSAVED)
            for name, values in module.named_buffers()
            if name in self
        }

    def load(self, module: nn.Module, sample: Sample, dtype: str) -> None:
        """Give the module its constants for a run of the sample in `dtype`."""
        made = self._own
        if dtype == "float64" and self._wide:
            made = self._made(0, sample.rounding) if sample.rounding else self._wide
        for name, own in self._own.items():
            values = _perturbed(sample, name, made.get(name, own))
            path, _, leaf = name.rpartition(".")
            layer = module.get_submodule(path)
            if leaf in layer._buffers:
                values = values.to(dtype=_precision(values, getattr(torch, dtype)))
            setattr(layer, leaf, values.to(getattr(layer, leaf).device))

    def tensors(self, module: nn.Module) -> list[torch.Tensor]:
        """The constants as they are now."""
        return [values for name, values in _kept(module).items() if name in self]

    def trace(self, module: nn.Module) -> Trace:
        """The values of all constants after a run."""
        return {
            buffer(name): comparable(_array(values).copy())
            for name, values in module.named_buffers()
            if name in self
        }

    def _made(self, seed: int, rounding: tuple[float, int] | None = None) -> Values:
        """What the constructor makes in float64; with `rounding`, each of its results is rounded.

        seed: the seed of what it draws.
        """
        rounded = RoundConstants(*rounding) if rounding else contextlib.nullcontext()
        with torch.random.fork_rng(devices=[]), SkipInitialisation(), Widened(), rounded:
            torch.default_generator.manual_seed(seed)
            module = self._build()
        return _below(_kept(module), self._prefix)


def _kept(module: nn.Module) -> Values:
    """All buffers by name, and tensors that are plain attributes.

    A tensor that has two names is there twice.
    """
    return {
        f"{path}.{name}" if path else name: values
        for path, layer in module.named_modules(remove_duplicate=False)
        for name, values in (layer._buffers | vars(layer)).items()
        if isinstance(values, torch.Tensor) and not values.requires_grad
    }


def _below(values: Values, prefix: str) -> Values:
    """The values whose names begin with a prefix, without it."""
    return {n.removeprefix(prefix): v for n, v in values.items() if n.startswith(prefix)}


def _statistics(module: nn.Module) -> set[str]:
    """The names of all floating buffers of normalisations, and of their counts of steps."""
    return {
        f"{path}.{name}" if path else name
        for path, layer in module.named_modules(remove_duplicate=False)
        if any(name.startswith(STATISTIC) for name in layer._buffers)
        for name, values in layer._buffers.items()
        if values is not None and (values.is_floating_point() or name in INTEGER_BUFFERS)
    }


def _perturbed(sample: Sample, name: str, values: torch.Tensor) -> torch.Tensor:
    """A copy of a constant's values, as the sample has them."""
    moved = torch.from_numpy(np.array(sample.constant(name, _array(values))))
    return torch.view_as_complex(moved) if values.is_complex() else moved


def _array(values: torch.Tensor) -> np.ndarray:
    """The values as a NumPy array; each complex number as two, along a last axis."""
    return numbers(as_pairs(values))


def as_pairs(value: Any) -> Any:
    """A complex tensor as pairs of real numbers, along a last axis; anything else as it is."""
    if isinstance(value, torch.Tensor) and value.is_complex():
        return torch.view_as_real(value.resolve_conj())
    return value


def numbers(values: torch.Tensor) -> np.ndarray:
    """The values as a NumPy array; on the CPU it shares their memory, but for bfloat16."""
    values = values.detach().cpu()
    if values.dtype == torch.bfloat16:
        return dtypes.marked(values.float().numpy())
    return values.numpy()


def _precision(values: torch.Tensor, dtype: torch.dtype) -> torch.dtype:
    """The precision that values have in a run in `dtype`; integers and booleans keep theirs."""
    if values.is_complex():
        return dtype.to_complex()
    return dtype if values.is_floating_point() else values.dtype

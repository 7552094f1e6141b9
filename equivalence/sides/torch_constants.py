"""What depends on no input and no weight: the buffers that keep what a constructor made, such as
masks, tables and indices, and how rounding moves them and the tables of a forward pass.
"""

import contextlib
import copy
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from equivalence import dtypes
from equivalence.judge.expected import Expected
from equivalence.judge.precision import UNIT_ROUNDOFF
from equivalence.judge.tensors import Trace, buffer
from equivalence.sample import INTEGER_BUFFERS, AnySample, short
from equivalence.sides.torch_modes import SkipInitialisation, Widened
from equivalence.sides.torch_noise import Noise
from equivalence.structure.tables import Tables
from equivalence.structure.weights import CONSTANT, UNSAVED, Slot, comparable

Values = dict[str, torch.Tensor]

ROUNDING, NOISY_RUNS = UNIT_ROUNDOFF["float32"], 2
"""Of a constructor whose tables are compared as data."""

STATISTIC = "running_"
"""The beginning of the name of a normalisation's statistic."""


class Constants:
    """The constant buffers of a module, with their values in every precision.

    Parameters are drawn, and so are all floating buffers of a normalisation. Every other buffer is
    a constant, but for what a constructor draws at random: both sides cannot draw the same. A
    tensor that is a plain attribute is a constant, too; it is not compared by itself.

    A constructor that computes a buffer of a parameter, as spectral norm does, draws it, too.

    The constructor is a part of the network. In a float64 run, a table is what the constructor
    makes in float64; in a perturbed run, what it makes if every result in it is rounded.

    build: builds the module anew.
    module: the module as `build` has made it.
    """

    def __init__(self, build: Callable[[], nn.Module], module: nn.Module):
        self._build, self._prefix = build, ""
        self._loaded: dict[str, tuple[torch.Tensor, int]] = {}
        drawn = _statistics(module)
        self._own = {n: v.clone() for n, v in _kept(module).items() if n not in drawn}
        self._wide: Values = {}
        if not any(map(_is_float, self._own.values())):
            return
        # The parameters of `module` have no values, of which a constructor may compute a buffer.
        before, made = self._own, self._made(0, widened=False)
        self._own = {name: made.get(name, values) for name, values in before.items()}
        same = (torch.equal(v.cpu(), self._own[n].cpu()) for n, v in before.items())
        if all(same) and all(short(_array(values)).all() for values in before.values()):
            return
        self._wide, again = (self._made(seed) for seed in (0, 1))
        for name, values in self._wide.items():
            differs = not torch.equal(values, again[name])
            if _is_float(values) and (differs or _is_other(values, self._own.get(name, values))):
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

    def load(
        self, module: nn.Module, sample: AnySample, dtype: str, leave: Collection[str] = ()
    ) -> None:
        """Give the module its constants for a run of the sample in `dtype`.

        leave: the plain attributes that stay as an earlier run has left them.
        """
        made = self._own
        if dtype == "float64" and self._wide:
            made = self._rounded(sample.rounding) if sample.rounding else self._wide
        for name, own in self._own.items():
            values = _perturbed(sample, name, made.get(name, own))
            path, _, leaf = name.rpartition(".")
            layer = module.get_submodule(path)
            if name in leave and leaf not in layer._buffers:
                continue
            if leaf in layer._buffers:
                values = values.to(dtype=_precision(values, getattr(torch, dtype)))
            values = values.to(getattr(layer, leaf).device)
            setattr(layer, leaf, values)
            self._loaded[name] = values, values._version

    def tensors(self, module: nn.Module) -> list[torch.Tensor]:
        """The constants as they are now."""
        return [values for name, values in _kept(module).items() if name in self]

    def changed(self, module: nn.Module) -> list[str]:
        """The names of the constants that the last run has written, also of plain attributes."""
        return [
            name
            for name, values in _kept(module).items()
            if name in self._loaded and not _untouched(values, *self._loaded[name])
        ]

    def tables(self) -> Tables:
        """What the constructor makes of all constants, also of plain attributes."""
        return Tables({n: comparable(_array(v)) for n, v in self._own.items()}, self._expected)

    def _expected(self, name: str) -> Expected:
        """The truth of a constant, with the noise of two runs of the constructor."""
        expected = Expected.whole(comparable(_array(self._wide.get(name, self._own[name]))))
        if name in self._wide:
            for seed in range(NOISY_RUNS):
                expected.widen(comparable(_array(self._rounded((ROUNDING, seed))[name])))
        return expected

    @property
    def fractional(self) -> dict[str, np.ndarray]:
        """Name -> values of the real constants that are no whole numbers, or others of few bits."""
        real = {n: _array(v) for n, v in self._own.items() if v.is_floating_point()}
        return {name: values.copy() for name, values in real.items() if not short(values).all()}

    def written(self, trace: Trace) -> dict[str, np.ndarray]:
        """Those of `fractional` that a run has changed. trace: that of the run."""
        return {
            name: values
            for name, values in self.fractional.items()
            if not np.array_equal(trace.get(buffer(name), values), values, equal_nan=True)
        }

    def trace(self, module: nn.Module) -> Trace:
        """The values of all constants after a run."""
        return {
            buffer(name): comparable(_array(values).copy())
            for name, values in module.named_buffers()
            if name in self
        }

    def _made(self, seed: int, widened: bool = True) -> Values:
        """What the constructor makes, of parameters with initial values.

        seed: the seed of what it draws. widened: whether in float64.
        """
        with Widened() if widened else contextlib.nullcontext():
            return self._built(seed)

    def _rounded(self, rounding: tuple[float, int]) -> Values:
        """What it makes in float64 where each result is rounded; none depends on a parameter."""
        with SkipInitialisation(), Widened(), Noise(*rounding):
            return self._built(0)

    def _built(self, seed: int) -> Values:
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            return _below(_kept(self._build()), self._prefix)


def _untouched(values: torch.Tensor, loaded: torch.Tensor, version: int) -> bool:
    """Whether a constant is as it was loaded. version: the count of writes in place until then."""
    if values is loaded:
        return values._version == version
    return values.shape == loaded.shape and torch.equal(values, loaded.to(values))


def _is_float(values: torch.Tensor) -> bool:
    return values.is_floating_point() or values.is_complex()


def _is_other(wide: torch.Tensor, own: torch.Tensor) -> bool:
    """Whether float64 gives other values: a draw by a seed of its own is another one there."""
    norm = torch.linalg.vector_norm
    return wide.shape == own.shape and bool(norm(wide - own.to(wide)) > norm(wide) / 2.0)


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


def _perturbed(sample: AnySample, name: str, values: torch.Tensor) -> torch.Tensor:
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

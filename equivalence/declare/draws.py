"""How the inputs of a twin are drawn. A draw is data: it can be printed, read back and hashed.

A shape mixes sizes with names of the configuration: `normal(2, "inplanes", 15, 12)`. Where the
configuration gives a name a tuple, all its sizes are inserted; where it gives None, the whole input
is left out. The examples below need `import numpy as np`.
"""

import functools
import inspect
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from equivalence.declare.declaration import Demand, is_whole, shown
from equivalence.declare.distributions import (
    DISTINCT,
    KINDS,
    StoredArray,
    demand_given,
    demand_options,
)
from equivalence.errors import DeclarationError


@dataclass(frozen=True)
class Draw:
    """How one input is drawn. Makers such as `normal` build it; `str` gives the call back.

    kind: the distribution, a key of KINDS.
    shape: sizes in elements, or names of the configuration.
    options: the options of the distribution.
    differentiable: whether the gradient with respect to this input is compared.

    Raises DeclarationError where a field is wrong.

    >>> from equivalence import Draw, normal
    >>> draw = normal(2, "planes", scale=4.0).constant()
    >>> print(draw, draw.resolve({"planes": 64}), isinstance(draw, Draw))
    normal(2, 'planes', scale=4.0).constant() (2, 64) True
    """

    kind: str
    shape: tuple[int | str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    differentiable: bool = True

    def __post_init__(self) -> None:
        demand = Demand("draw", self, self.kind)
        demand(self.kind in KINDS, f"kind is not among {', '.join(KINDS)}")
        demand(isinstance(self.shape, tuple), f"shape is {shown(self.shape)}; write a tuple")
        for entry in self.shape:
            named = isinstance(entry, str) and entry.isidentifier()
            sized = is_whole(entry) and int(entry) >= 0
            demand(named or sized, f"shape has {shown(entry)}; write a size or a name")
        demand.mapping("options", self.options)
        takes = _defaults(self.kind).keys() - {"shape"}
        demand(self.options.keys() == takes, f"options are not {', '.join(takes) or 'empty'}")
        demand.flag("differentiable")
        demand_options(demand, self.kind, self.options)
        if all(map(is_whole, self.shape)) and not self.names:
            self.demand_values(demand, {})

    def constant(self) -> "Draw":
        """The same draw without a gradient, for labels, soft targets or the weights of a loss."""
        return replace(self, differentiable=False)

    @property
    def exact(self) -> bool:
        """Whether every dtype holds the values exactly, so that rounding cannot reorder them."""
        return self.kind in ("ties", "distinct", "half")

    def __str__(self) -> str:
        return self._spelled

    @functools.cached_property
    def _spelled(self) -> str:
        """The call that makes this draw: `normal(2, 3, scale=4.0)`."""
        make, options, defaults = globals()[self.kind], self.options, _defaults(self.kind)
        end = "" if self.differentiable else ".constant()"
        if self.kind == "file":
            return f"file({', '.join(repr(v) for v in options.values() if v is not None)}){end}"
        given = [f"{k}={v!r}" for k, v in options.items() if defaults.get(k) != v]
        call = f"{self.kind}({', '.join([*map(repr, self.shape), *given])})"
        return call + end if make(*self.shape, **options).differentiable else call

    @property
    def stored(self) -> StoredArray | None:
        """The array in the file of a `file` draw; None for any other. Raises DeclarationError."""
        return StoredArray.of(**self.options) if self.kind == "file" else None

    @property
    def identity(self) -> str:
        """All that the values depend on, beside the seed: for a file its content, not its path."""
        if self.stored is None:
            return str(self)
        return f"file of {self.stored.digest}{'' if self.differentiable else '.constant()'}"

    @property
    def narrow(self) -> bool:
        """Whether the values are float16 in every case, whatever the case's dtype."""
        return self.kind == "half" or (self.stored is not None and self.stored.dtype == "float16")

    @property
    def names(self) -> set[str]:
        """The names of the configuration that the shape and the option `values` use."""
        entries = (*self.shape, self.options.get("values"))
        return {entry for entry in entries if isinstance(entry, str)}

    def filled(self, config: Mapping[str, Any]) -> "Draw":
        """The same draw; a name in the option `values` is replaced by what `config` gives it.

        A file of integers has no gradient.
        """
        if self.stored is not None and not self.stored.dtype.startswith("float"):
            return self.constant()
        values = self.options.get("values")
        if not isinstance(values, str):
            return self
        return replace(self, options={**self.options, "values": _named(config, values)})

    def resolve(self, config: Mapping[str, Any]) -> tuple[int, ...] | None:
        """The shape under `config`, in elements; None where a name in it stands for None.

        Raises DeclarationError where `config` lacks a name, or a file cannot be read.
        """
        if self.stored is not None:
            return self.stored.shape
        sizes: list[int] = []
        for entry in self.shape:
            value = _named(config, entry) if isinstance(entry, str) else entry
            if value is None:
                return None
            sizes.extend(value if isinstance(value, tuple | list) else (value,))
        return tuple(sizes)

    def demand_values(self, demand: Demand, config: Mapping[str, Any]) -> None:
        """Demand that a `given` draw has a number for each element of its shape.

        All are integers of 32 bits, or some of them are floats.
        """
        if self.kind != "given":
            return
        values = self.options["values"]
        values = _named(config, values) if isinstance(values, str) else values
        demand_given(demand, values, self.resolve(config))

    def demand_fit(
        self,
        demand: Demand,
        config: Mapping[str, Any],
        empty: bool = False,
        double: bool = False,
    ) -> None:
        """Demand that this input has a shape and values under a configuration of a declaration.

        empty: whether it may have no element. double: whether all cases compute in float64.
        """
        if self.kind == "file":
            try:
                stored = StoredArray.of(**self.options)
            except DeclarationError as error:
                demand(False, f"inputs has {error}")
            told = (
                f"inputs has {self}, of the shape {stored.shape}, which has no element; save some"
            )
            demand(empty or 0 not in stored.shape, told)
            told = "of float64, and cases compute in float32 or float16; save it again with "
            told += ".astype('float32'), or compare in the dtype float64 alone"
            demand(double or stored.dtype != "float64", f"inputs has {self}, {told}")
            return
        for name in filter(config.__contains__, (n for n in self.shape if isinstance(n, str))):
            value = config[name]
            sizes = value if isinstance(value, tuple | list) else (value,)
            right = value is None or all(is_whole(size) for size in sizes)
            demand(right, f"inputs has {name!r} in a shape, which is {shown(value)}; give it sizes")
        shape = self.resolve(config)
        if shape is None:
            return
        demand(
            all(size > 0 or (empty and size == 0) for size in shape),
            f"inputs has {self}, of the shape {shape}; no size may be zero or less",
        )
        wide = self.kind != "uniform" or self.options["low"] < self.options["high"]
        demand(wide, f"inputs has {self}, in which low is high; part them")
        least = {"definite": 2, "triangular": 2, "distribution": 1, "masked": 1}.get(self.kind, 0)
        demand(len(shape) >= least, f"inputs has {self}, which needs {least} axes or more")
        square = least < 2 or shape[-1] == shape[-2]
        demand(square, f"inputs has {self}, of the shape {shape}; the last two sizes must be equal")
        few = self.kind != "distinct" or math.prod(shape) <= DISTINCT
        demand(few, f"inputs has {self}, more than {DISTINCT} different numbers; make it smaller")
        self.demand_values(demand, config)

    def array(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Random values of the given shape; the kind of the draw says their dtype.

        The caller rounds float64 to the dtype of the case. All other dtypes stay as they are:
        int32 for labels and indices, int64, bool, float16, and whatever a file holds.
        """
        return KINDS[self.kind](rng, shape, **self.options)


def _named(config: Mapping[str, Any], name: str) -> Any:
    if name not in config:
        raise DeclarationError(f"an input names {name!r}, not in {shown(dict(config))}")
    return config[name]


@functools.cache
def _defaults(kind: str) -> dict[str, Any]:
    """The parameters of a kind's maker, each with its default."""
    parameters = inspect.signature(globals()[kind]).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters}


def normal(*shape: int | str, scale: float = 1.0, shift: float = 0.0) -> Draw:
    """N(shift, scale^2). An input of four dimensions is a tenth as large in one channel of eight.

    >>> from equivalence import normal
    >>> print(normal(2, "planes", 7, 7, scale=4.0))
    normal(2, 'planes', 7, 7, scale=4.0)
    """
    return Draw("normal", shape, {"scale": scale, "shift": shift})


def uniform(*shape: int | str, low: float = 0.0, high: float = 1.0) -> Draw:
    """U(low, high).

    >>> from equivalence import uniform
    >>> uniform(2, 3, low=0.5).array(np.random.default_rng(0), (2, 3)).min() >= 0.5
    True
    """
    return Draw("uniform", shape, {"low": low, "high": high})


def logits(*shape: int | str, largest: float = 30.0) -> Draw:
    """Either sign; magnitudes from 1/largest to largest, uniform in their logarithm.

    >>> from equivalence import logits
    >>> abs(logits(9).array(np.random.default_rng(0), (9,))).max() <= 30.0
    True
    """
    return Draw("logits", shape, {"largest": largest})


def integers(*shape: int | str, low: int = 0, high: int) -> Draw:
    """int32 in [low, high), without a gradient: labels and indices.

    >>> from equivalence import integers
    >>> integers(5, high=10).array(np.random.default_rng(0), (5,))
    array([8, 6, 5, 2, 3], dtype=int32)
    """
    return Draw("integers", shape, {"low": low, "high": high}, differentiable=False)


def binary(*shape: int | str) -> Draw:
    """Hard targets: 0.0 or 1.0, without a gradient.

    >>> from equivalence import binary
    >>> binary(5).array(np.random.default_rng(0), (5,))
    array([1., 1., 1., 0., 0.])
    """
    return Draw("binary", shape, differentiable=False)


def distribution(*shape: int | str) -> Draw:
    """Soft targets: rows along the last axis that sum to one, without a gradient.

    >>> from equivalence import distribution
    >>> distribution(2, 3).array(np.random.default_rng(0), (2, 3)).sum(axis=-1).round(6)
    array([1., 1.])
    """
    return Draw("distribution", shape, differentiable=False)


def ties(*shape: int | str, largest: int = 3, step: float = 1.0) -> Draw:
    """Whole numbers from -largest to largest, times `step`, as floats; many are equal.

    Zeros have either sign. step: a power of two.

    >>> from equivalence import ties
    >>> ties(5, step=0.5).array(np.random.default_rng(0), (5,))
    array([-1. , -0.5, -0. ,  1. , -0.5])
    """
    return Draw("ties", shape, {"largest": largest, "step": step})


def nonfinite(*shape: int | str) -> Draw:
    """NaN and infinities of either sign between values of N(0, 1), without a gradient.

    >>> from equivalence import nonfinite
    >>> np.isfinite(nonfinite(6).array(np.random.default_rng(0), (6,)))[:3].tolist()
    [False, False, False]
    """
    return Draw("nonfinite", shape, differentiable=False)


def infinite(*shape: int | str) -> Draw:
    """Infinities of either sign between values of N(0, 1).

    >>> infinite(6).array(np.random.default_rng(0), (6,))[:2]
    array([-inf,  inf])
    """
    return Draw("infinite", shape)


def masked(*shape: int | str) -> Draw:
    """Masked scores, without a gradient: half are -infinity, and so is the whole first row.

    >>> masked(2, 3).array(np.random.default_rng(0), (2, 3))[0]
    array([-inf, -inf, -inf])
    """
    return Draw("masked", shape, differentiable=False)


def gaps(*shape: int | str) -> Draw:
    """N(0, 1) with missing values: about one element in four is NaN, and the first of several.

    >>> from equivalence import gaps
    >>> np.isnan(gaps(6).array(np.random.default_rng(0), (6,))).tolist()
    [True, False, False, False, False, True]
    """
    return Draw("gaps", shape)


def distinct(*shape: int | str) -> Draw:
    """Different whole numbers around zero, as floats: no rounding changes their order.

    Raises DeclarationError for more than DISTINCT elements.

    >>> from equivalence import distinct
    >>> distinct(6).array(np.random.default_rng(0), (6,))
    array([ 0., -1.,  2.,  1., -3., -2.])
    """
    return Draw("distinct", shape)


def whole(*shape: int | str, low: int = -8, high: int = 8) -> Draw:
    """int64 in [low, high) on both sides, without a gradient: numbers to compute with.

    >>> from equivalence import whole
    >>> whole(5).array(np.random.default_rng(0), (5,))
    array([ 5,  2,  0, -4, -4])
    """
    return Draw("whole", shape, {"low": low, "high": high}, differentiable=False)


def half(*shape: int | str, low: int = -8, high: int = 8) -> Draw:
    """Whole numbers in [low, high) as float16 in every case, to test how dtypes are promoted.

    >>> from equivalence import half
    >>> half(3).array(np.random.default_rng(0), (3,))
    array([5., 2., 0.], dtype=float16)
    """
    return Draw("half", shape, {"low": low, "high": high}, differentiable=False)


def definite(*shape: int | str) -> Draw:
    """Symmetric matrices along the last two axes, with eigenvalues of one and more.

    >>> from equivalence import definite
    >>> np.linalg.eigvalsh(definite(3, 3).array(np.random.default_rng(0), (3, 3))).min() >= 1.0
    True
    """
    return Draw("definite", shape)


def triangular(*shape: int | str, upper: bool = False) -> Draw:
    """The Cholesky factors of what `definite` draws: lower triangles, or upper ones.

    >>> from equivalence import triangular
    >>> triangular(2, 2, upper=True).array(np.random.default_rng(0), (2, 2))[1, 0]
    0.0
    """
    return Draw("triangular", shape, {"upper": upper})


def booleans(*shape: int | str) -> Draw:
    """True or False, without a gradient.

    >>> from equivalence import booleans
    >>> booleans(4).array(np.random.default_rng(0), (4,)).tolist()
    [True, True, True, False]
    """
    return Draw("booleans", shape, differentiable=False)


def given(*shape: int | str, values: Any) -> Draw:
    """Given values, not random and without a gradient: an axis, a bound, a permutation, scales.

    Integers are int32; with a float among them, all are floats.

    values: numbers, flat or nested as the shape is, or a name of the configuration or of a size.

    >>> from equivalence import given
    >>> given(2, 2, values=[0, 1, 1, 0]).array(np.random.default_rng(0), (2, 2)).tolist()
    [[0, 1], [1, 0]]
    """
    return Draw("given", shape, {"values": values}, differentiable=False)


def file(path: str | os.PathLike[str], name: str | None = None) -> Draw:
    """The values of a file of NumPy, exactly: a .npy file, or the array `name` of an .npz file.

    Integers, booleans and float16 keep their dtype. float32 is rounded only in a case of half
    precision, as every input is. A gradient is compared with respect to floats. Every step of a
    training gets the same values. The file is read when a twin is declared, and again by each case.

    path: where it is, from the current folder on if it is relative, as for `open`.
    name: the name of the array; None where the file holds one.

    >>> from equivalence import file
    >>> print(file("/data/photos.npz", "pixels").constant())
    file('/data/photos.npz', 'pixels').constant()
    """
    right = isinstance(path, str | os.PathLike) and bool(os.fspath(path))
    if not right:
        raise DeclarationError(f"file: path is {shown(path)}; write the path of a .npy file")
    return Draw("file", (), {"path": os.path.abspath(os.fspath(path)), "name": name})

"""All random values of a case, drawn by NumPy from the name of its sample. Imports no framework.

Each tensor has its own random stream, seeded by (base seed, sample name, redraw, tensor name). A
new tensor or a new case therefore never changes the values of another.
"""

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from equivalence import dtypes, nesting
from equivalence.declare.distributions import quiet_channels
from equivalence.declare.draws import Draw
from equivalence.errors import DeclarationError, WeightError
from equivalence.host import memory
from equivalence.nesting import Arguments, Position
from equivalence.seeds import seed_of, stream

# Row b holds the eight bits of byte b; shape (256, 8).
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)

INTEGER_BUFFERS = ("num_batches_tracked",)
"""Last parts of the names of integer buffers. They are set to zero, and are not compared."""


LARGEST_HALVES = 512
"""Twice the largest number of a mask: float16 has all halves up to 256, and many others."""

EXACT_BITS = 16
"""A float64 result of so few bits is no accident: both sides have it without rounding."""


LARGE = 1 << 30
"""The bytes of a draw from which on it is seen whether the memory has as many."""


class Sample:
    """The inputs, weights and cotangents of one case, rounded to the case's dtype.

    A weight is drawn when a side first loads it, and then kept: every run of both sides gets the
    same values.

    name: names the random streams, together with `seed`, the base seed.
    draws: each input's draw with its shape.
    dtype: the dtype of all floating values.
    called: how a network is called with the inputs; None: each is a positional argument.
    given: name -> values of weights that are not drawn and never change, those of a checkpoint;
    then every weight is given but for counts of batches.
    redraw: how often all values have been replaced by new ones.
    row_redraws: how often rows of a weight have been replaced since then.
    rows_redrawn: for each of those times, the weight's name, the rows, and the time's number.
    shifts: parameter name -> constants added to it, which move activations away from the kinks of
    the network (see `kinks/watch.py`).
    state: name -> values of constants with which both sides begin (see `comparison/sides.py`).
    """

    def __init__(
        self,
        name: str,
        seed: int,
        draws: list[tuple[Draw, tuple[int, ...]]],
        dtype: str,
        called: Arguments | None = None,
        given: Mapping[str, np.ndarray] | None = None,
    ):
        self.called = called
        self.name, self.seed, self.draws, self.dtype = name, seed, draws, dtype
        self.given = dict(given or {})
        self.redraw = self.row_redraws = 0
        self.rows_redrawn: list[tuple[str, list[int], int]] = []
        self.shifts: dict[str, np.ndarray] = {}
        self.state: Mapping[str, np.ndarray] = {}
        self._weights: dict[str, np.ndarray] = {}

    def draw_again(self) -> bool:
        """Replace every drawn value by a new one: that of the next redraw.

        Returns whether that changes what a forward pass gets; if not, nothing is replaced.
        """
        if self.given:
            before = self.inputs()
            self.redraw += 1
            same = all(map(np.array_equal, before, self.inputs()))
            self.redraw -= 1
            if same:
                return False
        self.redraw += 1
        self.rows_redrawn.clear()
        self.shifts.clear()
        self._weights.clear()
        return True

    def draw_rows_again(self, name: str, rows: list[int]) -> None:
        """Replace rows (output channels) of a weight that is drawn already by new ones."""
        self.row_redraws += 1
        values = self._weights[name]
        fresh = _weight(self.stream("weight", name, self.row_redraws), name, values.shape)
        values[rows] = self._round(fresh)[rows]
        self.rows_redrawn.append((name, [int(row) for row in rows], self.row_redraws))

    def restore(
        self,
        redraw: int,
        rows: list[tuple[str, tuple[int, ...], list[int], int]],
        shifts: Mapping[str, np.ndarray],
    ) -> None:
        """Give a new sample the state that another sample of the same name had reached.

        redraw: the number of the redraw.
        rows: for each redraw of rows, the weight's name, its shape, the rows, the redraw's number.
        shifts: parameter name -> constants added to it.
        """
        self.redraw, self.shifts = redraw, dict(shifts)
        for name, shape, drawn, number in rows:
            self.weight(name, shape)
            self.row_redraws = number - 1
            self.draw_rows_again(name, drawn)

    def stream(self, *parts: object) -> np.random.Generator:
        """A random generator for these parts; each list of parts has its own stream."""
        return stream(self.seed, self.name, self.redraw, *parts)

    def _round(self, values: np.ndarray) -> np.ndarray:
        return dtypes.rounded(values, self.dtype) if values.dtype.kind == "f" else values

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        """The inputs in order.

        Floating inputs have the case's dtype; those in `narrow` stay float16, and integers keep
        their own dtype.

        step: the step of a training, from 1; each step has its own batch.
        """
        inputs = []
        for name, (draw, shape) in zip(self.arguments.names, self.draws, strict=True):
            _demand_fits(draw, shape)
            values = draw.array(self.stream("input", name, *_later(step)), shape)
            if draw.stored is not None and values.dtype == "float32":
                values = self._round_file(draw, values)
            inputs.append(values if draw.narrow else self._round(values))
        return inputs

    def _round_file(self, draw: Draw, values: np.ndarray) -> np.ndarray:
        """The values of a file in the case's dtype; DeclarationError where one is beyond it."""
        with np.errstate(over="ignore"):
            rounded = self._round(values)
        if np.isinf(rounded).sum() > np.isinf(values).sum():
            cure = f"scale it, or leave out {self.dtype}"
            raise DeclarationError(f"{draw} has values beyond {self.dtype}; {cure}")
        return rounded

    @property
    def arguments(self) -> Arguments:
        """How a network is called with the inputs."""
        return self.called or Arguments.plain(len(self.draws))

    @property
    def narrow(self) -> list[int]:
        """Positions of the inputs that are float16 in every case, whatever the case's dtype."""
        return [i for i, (draw, _) in enumerate(self.draws) if draw.narrow]

    @property
    def differentiable(self) -> list[int]:
        """Positions of the inputs whose gradients are compared."""
        return [i for i, (draw, _) in enumerate(self.draws) if draw.differentiable]

    @property
    def exact(self) -> list[int]:
        """Positions of the inputs whose values are exact in every dtype: rounding changes none."""
        return [i for i, (draw, _) in enumerate(self.draws) if draw.exact]

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """The reference's parameter or buffer of this name, in the case's dtype.

        Raises WeightError where the weights are given, and this is none of them.
        """
        if name in self.state:
            return self._round(self.state[name])
        if self.given and name.rpartition(".")[2] not in INTEGER_BUFFERS:
            if name not in self.given or self.given[name].shape != shape:
                raise WeightError(f"{self.name}: the weights that are given have no {name} {shape}")
            return self.given[name]
        if name not in self._weights:
            values = _weight(self.stream("weight", name), name, shape)
            self._weights[name] = self._round(values)
        values, shift = self._weights[name], self.shifts.get(name)
        return values if shift is None else self._round(values + shift)

    initial = weight
    """The weight before the first update. Every perturbation of this sample has the same one."""

    forgets = False
    """Whether the reference begins each run with what it keeps in plain attributes as it was made;
    then the candidate does so with the tensors that it alone has."""

    def begun(self, name: str) -> bool:
        """Whether both sides begin with the reference's values of this constant."""
        return name in self.state

    rounding: tuple[float, int] | None = None
    """The unit roundoff and the seed by which values are rounded that depend on no weight and no
    input; None: they are not."""

    def constant(self, _name: str, values: np.ndarray) -> np.ndarray:
        """A buffer that keeps what its constructor made: here, just these values."""
        return values

    def cotangent(self, output: str, shape: tuple[int, ...]) -> np.ndarray:
        """The cotangent of an output, by its name: N(0, 1), never all ones."""
        return self._round(self.stream("cotangent", output).standard_normal(shape))


class Perturbed:
    """A sample in float64 with every value multiplied by 1 + u or 1 - u, chosen by a coin toss.

    sample: the sample to perturb.
    probe: the number of this perturbation; each number has its own coin tosses.
    unit_roundoff: u.
    products: the unit roundoff of products, where a compute mode rounds their factors more.
    """

    def __init__(self, sample: Sample, probe: int, unit_roundoff: float, products: float = 0.0):
        self.sample, self.probe, self.products = sample, probe, products
        self.differentiable, self.narrow = sample.differentiable, sample.narrow
        self.arguments = sample.arguments
        self._unit_roundoff = unit_roundoff
        self._factors = np.array((1.0 - unit_roundoff, 1.0 + unit_roundoff))[_BITS]

    @property
    def rounding(self) -> tuple[float, int] | None:
        """The unit roundoff and a seed of this perturbation."""
        return self._unit_roundoff, seed_of(self.sample.name, "constants", self.probe)

    def _perturb(self, values: np.ndarray, *parts: object) -> np.ndarray:
        if values.dtype.kind == "c":
            pairs = self._perturb(dtypes.paired(values), *parts)
            return pairs.view(np.complex128)[..., 0]
        if values.dtype.kind != "f":
            return values
        coins = self.sample.stream("probe", self.probe, *parts).bytes(-(-values.size // 8))
        perturbed = self._factors.take(np.frombuffer(coins, np.uint8), axis=0).reshape(-1)
        perturbed = perturbed[: values.size].reshape(values.shape)
        perturbed *= values
        return perturbed

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        """The perturbed inputs; those in `Sample.exact`, and masks, are unchanged."""
        inputs = self.sample.inputs(step)
        return [
            x
            if i in self.sample.exact or is_mask(x)
            else self._perturb(x, "input", name, *_later(step))
            for i, (name, x) in enumerate(zip(self.arguments.names, inputs, strict=True))
        ]

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """The perturbed weight."""
        return self._perturb(self.sample.weight(name, shape), "weight", name)

    def initial(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """The sample's own weight, not perturbed: updates are measured from it."""
        return self.sample.weight(name, shape)

    def constant(self, name: str, values: np.ndarray) -> np.ndarray:
        """The perturbed constant; elements of few bits are unchanged, as each side has them."""
        perturbed = self._perturb(values, "constant", name)
        return np.where(short(values, self._unit_roundoff), values, perturbed)

    def cotangent(self, output: str, shape: tuple[int, ...]) -> np.ndarray:
        """The perturbed cotangent of an output, by its name."""
        return self._perturb(self.sample.cotangent(output, shape), "cotangent", output)


AnySample = Sample | Perturbed
"""What a reference runs with: a sample, or a perturbation of it."""


def _later(step: int) -> tuple[object, ...]:
    """The parts that name the stream of a later batch; none for the first."""
    return ("step", step) if step > 1 else ()


def _weight(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """The values of one weight. Its name and rank say which role it has; no default value is used.

    The scale of a normalisation is negative in one channel of four: a trained one can be negative,
    and where all scales are positive a max pooling may be exchanged with it unseen. A kernel is
    divided by sqrt(fan-in). The quiet output channels of a convolution are also the channels of
    small running variance, so that a wrong epsilon shows in training and in evaluation, and
    activations keep their size through a deep network.
    """
    role = name.rpartition(".")[2]
    if role in INTEGER_BUFFERS:
        return np.zeros(shape, np.int64)
    if role == "running_var":
        return rng.uniform(0.5, 1.5, shape) * quiet_channels(shape[0]) ** 2
    if role == "running_mean":
        return 0.5 * rng.standard_normal(shape) * quiet_channels(shape[0])
    if len(shape) >= 2:
        fan_in = float(np.prod(shape[1:]))
        kernel = rng.standard_normal(shape, dtype=np.float32) / np.float32(np.sqrt(fan_in))
        if len(shape) == 4:
            kernel *= quiet_channels(shape[0]).astype(np.float32)[:, None, None, None]
        return kernel
    if role == "weight":
        return rng.uniform(0.5, 1.5, shape) * rng.choice((1.0, 1.0, 1.0, -1.0), shape)
    return 0.5 * rng.standard_normal(shape)


def short(values: np.ndarray, unit_roundoff: float = 0.0) -> np.ndarray:
    """Which elements keep few bits: EXACT_BITS, or fewer where the unit roundoff is that large.

    Whole numbers, halves and infinities do. Their float64 values are exact in a shorter precision,
    too. Integers and booleans are exact always.
    """
    if values.dtype.kind != "f":
        return np.ones(values.shape, bool)
    bits = 1.0 / max(unit_roundoff, 2.0**-EXACT_BITS)
    scaled = np.frexp(values)[0].astype(np.float64) * bits
    return np.asarray(scaled == np.floor(scaled))


def is_mask(values: np.ndarray) -> bool:
    """Whether all values are small whole numbers or halves, as in a mask or a one-hot label.

    Both sides have them without rounding, in every dtype. What a network makes of a mask, such as
    (1 - mask) times the lowest number, would be ruined where one of these moved.
    """
    if values.dtype.kind != "f" or not values.size:
        return False
    twice = 2.0 * values
    return bool((np.abs(twice) <= LARGEST_HALVES).all() and (twice == np.rint(twice)).all())


def _demand_fits(draw: Draw, shape: tuple[int, ...]) -> None:
    """Raise DeclarationError where the values of a draw, in float64, are more than the memory."""
    size = 8 * math.prod(shape)
    if size <= LARGE or draw.stored is not None:
        return
    free = memory.available()
    if free is not None and size > free:
        raise DeclarationError(
            f"{draw} has {size / 1e9:.3g} GB in float64, and {free / 1e9:.3g} GB of memory are "
            "free; make it smaller"
        )


def resolve_inputs(
    draws: Sequence[Draw], config: Mapping[str, object]
) -> list[tuple[Draw, tuple[int, ...]]]:
    """The draws with their shapes under `config`, without those that it leaves out."""
    resolved = [(draw.filled(config), draw.resolve(config)) for draw in draws]
    return [(draw, shape) for draw, shape in resolved if shape is not None]


def call_of(inputs: object, config: Mapping[str, object]) -> Arguments:
    """How a network is called with a twin's inputs under `config`, as `resolve_inputs` orders them.

    An input that the configuration leaves out is left out of what holds it, too.
    """
    numbers = itertools.count()

    def place(leaf: object) -> object:
        if not isinstance(leaf, Draw):
            return leaf
        return nesting.LEFT_OUT if leaf.resolve(config) is None else Position(next(numbers))

    placed = nesting.transform(inputs, place)
    return Arguments((), placed) if isinstance(placed, dict) else Arguments(tuple(placed))


def moved(values: np.ndarray, sample: AnySample, name: str) -> np.ndarray:
    """The update of a parameter that holds `values` now: `values` minus its initial ones.

    The difference is computed in float64 and rounded once, to the dtype of `values`.
    """
    initial = sample.initial(name, values.shape)
    return dtypes.rounded(values.astype(np.float64) - initial, dtypes.name(values.dtype))

"""Everything random of a case, drawn in NumPy from the case's name; no framework needed.

Each tensor has a stream of its own, seeded by (base seed, sample name, redraw, tensor name), so
that adding a tensor or a case never moves another's values.
"""

import hashlib
from collections.abc import Mapping

import numpy as np

from equivalence.declare.draws import Draw, quiet_channels

# The eight bits of every byte, shape (256, 8).
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)

INTEGER_BUFFERS = ("num_batches_tracked",)


def seed_of(*parts: object) -> int:
    """A 64-bit seed: a hash of the parts, the same on every host and Python."""
    text = "\0".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def stream(*parts: object) -> np.random.Generator:
    """A generator of its own for each list of parts."""
    return np.random.Generator(np.random.SFC64(seed_of(*parts)))


class Sample:
    """The inputs, weights and cotangents of one case, rounded to the case's dtype.

    Weights are drawn when first asked for, and kept: every run of either side loads them.
    `shifts` are constants added to parameters, by name, to move activations off the kinks of the
    network (see `kinks.py`).
    """

    def __init__(self, name: str, seed: int, draws: list[tuple[Draw, tuple[int, ...]]], dtype: str):
        self.name, self.seed, self.draws, self.dtype = name, seed, draws, dtype
        self.redraw = self.row_redraws = 0
        self.rows_redrawn: list[tuple[str, list[int], int]] = []
        self.shifts: dict[str, np.ndarray] = {}
        self._weights: dict[str, np.ndarray] = {}

    def draw_again(self) -> None:
        """Replace every value by that of the next redraw."""
        self.redraw += 1
        self.rows_redrawn.clear()
        self.shifts.clear()
        self._weights.clear()

    def draw_rows_again(self, name: str, rows: list[int]) -> None:
        """Replace rows (output channels) of a weight that was drawn before by fresh ones."""
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
        """Bring a sample, just made, to where another of its name had been moved to.

        rows: of each redraw of rows the weight, its shape, the rows, and the redraw's number.
        """
        self.redraw, self.shifts = redraw, dict(shifts)
        for name, shape, drawn, number in rows:
            self.weight(name, shape)
            self.row_redraws = number - 1
            self.draw_rows_again(name, drawn)

    def stream(self, *parts: object) -> np.random.Generator:
        """A generator of this sample's own for each list of parts."""
        return stream(self.seed, self.name, self.redraw, *parts)

    def _round(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(values, self.dtype if values.dtype.kind == "f" else values.dtype)

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        """The inputs in order; floating ones in the case's dtype but for `narrow`, labels int32.

        step: of a training, from 1; each has a batch of its own.
        """
        drawn = [
            draw.array(self.stream("input", i, *_later(step)), shape)
            for i, (draw, shape) in enumerate(self.draws)
        ]
        return [x if i in self.narrow else self._round(x) for i, x in enumerate(drawn)]

    @property
    def narrow(self) -> list[int]:
        """Positions of the inputs that are float16 whatever the case is."""
        return [i for i, (draw, _) in enumerate(self.draws) if draw.kind == "half"]

    @property
    def differentiable(self) -> list[int]:
        """Positions of the inputs whose gradients are compared."""
        return [i for i, (draw, _) in enumerate(self.draws) if draw.differentiable]

    @property
    def exact(self) -> list[int]:
        """Positions of the inputs that every precision holds: rounding does not move them."""
        return [i for i, (draw, _) in enumerate(self.draws) if draw.exact]

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """The parameter or buffer of the reference called `name`, in the case's dtype."""
        if name not in self._weights:
            values = _weight(self.stream("weight", name), name, shape)
            self._weights[name] = self._round(values)
        values, shift = self._weights[name], self.shifts.get(name)
        return values if shift is None else (values + shift).astype(self.dtype)

    initial = weight
    """What updates are counted from: here, and in every perturbation of this sample."""

    def updated(self, _update: int, _index: int, values: np.ndarray) -> np.ndarray:
        """A weight after an update, as it is."""
        return values

    def cotangent(self, index: int, shape: tuple[int, ...]) -> np.ndarray:
        """The vector that output `index` is pulled back along: N(0, 1), never ones."""
        return self._round(self.stream("cotangent", index).standard_normal(shape))


class Perturbed:
    """A sample in float64 whose every value is multiplied by (1 + u) or (1 - u), by coin toss.

    So are the weights of a training after each of its updates.
    """

    def __init__(self, sample: Sample, probe: int, unit_roundoff: float):
        self.sample, self.probe = sample, probe
        self.differentiable, self.narrow = sample.differentiable, sample.narrow
        self._factors = np.array((1.0 - unit_roundoff, 1.0 + unit_roundoff))[_BITS]

    def _perturb(self, values: np.ndarray, *parts: object) -> np.ndarray:
        if values.dtype.kind != "f":
            return values
        coins = self.sample.stream("probe", self.probe, *parts).bytes(-(-values.size // 8))
        perturbed = self._factors.take(np.frombuffer(coins, np.uint8), axis=0).reshape(-1)
        perturbed = perturbed[: values.size].reshape(values.shape)
        perturbed *= values
        return perturbed

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        inputs = self.sample.inputs(step)
        return [
            x if i in self.sample.exact else self._perturb(x, "input", i, *_later(step))
            for i, x in enumerate(inputs)
        ]

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        return self._perturb(self.sample.weight(name, shape), "weight", name)

    def initial(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        return self.sample.weight(name, shape)

    def cotangent(self, index: int, shape: tuple[int, ...]) -> np.ndarray:
        return self._perturb(self.sample.cotangent(index, shape), "cotangent", index)

    def updated(self, update: int, index: int, values: np.ndarray) -> np.ndarray:
        """Weight number `index` after an update: it is stored, and so rounded, once more."""
        return self._perturb(values, "update", update, index)


class Neighbour(Perturbed):
    """A sample nearby, whose every value is one of the case's dtype again."""

    def _perturb(self, values: np.ndarray, *parts: object) -> np.ndarray:
        return super()._perturb(values, *parts).astype(values.dtype)


def _later(step: int) -> tuple[object, ...]:
    """What tells the streams of the batches after the first."""
    return ("step", step) if step > 1 else ()


def _weight(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Values by the tensor's role, read off its name and rank; nothing is left at a default.

    One scale in four is negative: a trained gamma may be, and an increasing one lets a max pooling
    move across it. Kernels are scaled by 1/sqrt(fan-in). The quiet output channels of a
    convolution are the channels whose running variance is small, so that an epsilon shows in both
    phases and activations keep their size through deep networks.
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


def resolve_inputs(
    draws: tuple[Draw, ...], config: Mapping[str, object]
) -> list[tuple[Draw, tuple[int, ...]]]:
    """The draws that `config` keeps, each with its shape."""
    resolved = [(draw.filled(config), draw.resolve(config)) for draw in draws]
    return [(draw, shape) for draw, shape in resolved if shape is not None]

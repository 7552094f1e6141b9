"""What a side of a data pipeline is, and how a loader as it stands becomes one.

A side has `stages` and `run`, see `declare/pipeline.py`. A `DataLoader` or `Dataset` of PyTorch,
and a `Dataset` of MindSpore, are taken apart into them: the transforms that they hold are the
stages. Imports no framework.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from PIL import Image

from equivalence.errors import DeclarationError, EquivalenceError
from equivalence.loaders.orders import Order
from equivalence.targets import resolve

READ, BATCH = "read", "batch"
"""The names of the first and the last stage of every pipeline."""

IMAGE, LABEL = "image", "label"
"""The columns of a pair that has no names, as most data sets of PyTorch give one."""

FRAMEWORKS = {
    "torch.utils.data": "equivalence.loaders.torch_loader:TorchLoader",
    "mindspore.dataset": "equivalence.loaders.mindspore_loader:MindSporeLoader",
}
"""Package of a base class of loaders -> what takes such a loader apart."""

TRIALS = 16
"""How often a stage is called with one sample, to see whether it draws."""

SAME_STAGE = {"ToPILImage": "ToPIL"}
"""A transform of torchvision -> the name of MindSpore's, where it is another."""

TEXT = "USO"
"""Kinds of arrays that hold text."""

Item = Mapping[str, np.ndarray]

Perturb = Callable[[np.ndarray], np.ndarray]
"""Changes each element of an array by about a rounding."""


class PipelineSide(Protocol):
    """A side of a pipeline: its stages by name, and what comes out of each."""

    @property
    def stages(self) -> Sequence[str]:
        """The names of the stages, from `read` to `batch`."""

    def run(self, until: str, *options: Any) -> Sequence[Item]:
        """What comes out of a stage, in order. The reference takes a dtype and a perturbation."""


class Loader(PipelineSide, Protocol):
    """A side that is a loader as its user wrote it.

    columns: the names of the columns of a sample; numbers where the loader gives none.
    samples, batches: how many there are in an epoch; None where the loader does not say.
    batch_size: samples of a batch; None where nothing is batched.
    order: the order of an epoch. Where it is drawn, the loader is read in the order of the data.
    random: the stages that draw. Each is replaced by a crop of the same size that draws nothing.
    workers: processes that read and draw; 0 and 1: none that could draw what another one draws.
    """

    columns: Sequence[str]
    samples: int | None
    batches: int | None
    batch_size: int | None
    order: Order
    random: Sequence[str]
    workers: int

    def orders(self, count: int) -> list[list[int]] | None:
        """The places of the samples of some epochs; None where these are not those of the data.

        A sampler that is to be told the epoch, by `set_epoch`, is told.
        """

    def rows(self) -> Iterator[int]:
        """An epoch as it stands, by its own workers: how many samples each batch has."""

    def draws(self, stage: str, sample: int, count: int, seed: int) -> list[np.ndarray]:
        """What a stage makes of a sample, `count` times, from a seed."""

    def main(self, item: Item) -> str:
        """The name of the column of a sample that the stages compute with."""

    def drawer(self, level: str) -> str:
        """The name of what draws beside the stages, at a level: READ samples, BATCH batches."""

    def again(self, level: str, count: int, seed: int, still: bool) -> list[Item]:
        """The first sample (level READ) or batch (BATCH), `count` times, from a seed.

        still: with what stands for the stages that draw.
        """

    def by_workers(self, rounds: int) -> list[list[bytes]]:
        """What each worker makes of one sample or batch, `rounds` times; [] where nothing shows."""


class StagedLoader:
    """What loaders of both frameworks share once they are taken apart.

    limit: how many batches are read; None: all.
    """

    limit: int | None
    batch_size: int | None
    order: Order

    def note_stages(self, steps: Sequence[Any]) -> None:
        """Name the stages, and find something that stands for each that draws."""
        self._names = named(steps)
        self._fitted: dict[str, Fitted] = {}
        for name in self._names:
            if fitted := drawing(self.draws(name, 0, TRIALS, 0)):
                self._fitted[name] = fitted

    def draws(self, stage: str, sample: int, count: int, seed: int) -> list[np.ndarray]:
        """See `Loader`."""
        raise NotImplementedError

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages, from `read` to `batch`."""
        return (READ, *self._names, BATCH)

    @property
    def random(self) -> tuple[str, ...]:
        """The stages that draw."""
        return tuple(self._fitted)

    @property
    def shuffles(self) -> bool:
        """Whether each epoch has an order of its own."""
        return self.order.drawn

    @property
    def samples_read(self) -> int | None:
        """How many samples the batches that are read have; None: all."""
        return None if self.limit is None else self.limit * (self.batch_size or 1)


def staged(built: Any, limit: int | None = None) -> Any:
    """A side as it is declared, or a loader taken apart.

    limit: how many batches of a loader are read; None: all.

    Raises DeclarationError where it is neither.
    """
    if hasattr(built, "stages") and hasattr(built, "run"):
        return built
    modules = [base.__module__ for base in type(built).__mro__]
    for package, target in FRAMEWORKS.items():
        if any((module + ".").startswith(package + ".") for module in modules):
            return resolve(target)(built, limit)
    raise DeclarationError(
        f"it is {type(built).__name__}, and no data set; give a DataLoader or Dataset of PyTorch, "
        "a Dataset of MindSpore, or an object with stages and run"
    )


def named(steps: Sequence[Any]) -> list[str]:
    """The names of stages: those of their classes or functions, with a number from the second on.

    >>> named([int, str, int])
    ['int', 'str', 'int2']
    """
    names: list[str] = []
    for step in steps:
        plain = getattr(step, "__name__", None) or type(step).__name__
        plain = SAME_STAGE.get(plain, plain)
        count = sum(name.rstrip("0123456789") == plain for name in names)
        names.append(f"{plain}{count + 1}" if count else plain)
    return names


class Fitted:
    """Stands for a random stage: the picture repeated or cut to the size that the stage gives.

    shape: that of what the stage gives, in the layout of what goes in.
    """

    def __init__(self, shape: Sequence[int]):
        self.shape = tuple(shape)

    def __call__(self, values: Any) -> Any:
        """The same kind of picture (of Pillow, a tensor, an array), of the stage's shape."""
        before = array(values)
        if before.shape == self.shape or before.ndim != len(self.shape):
            return values
        index = (np.arange(n) % m for n, m in zip(self.shape, before.shape, strict=True))
        after = np.ascontiguousarray(before[np.ix_(*index)])
        if hasattr(values, "new_tensor"):
            return values.new_tensor(after)
        return Image.fromarray(after) if isinstance(values, Image.Image) else after


class Chain:
    """Some transforms in a row, as one.

    perturb: changes the first floating array of each picture; None changes nothing.
    perturbed: whether anything was.
    """

    def __init__(self, steps: Sequence[Callable], perturb: Perturb | None = None):
        self.steps, self.perturb, self.perturbed = steps, perturb, False

    def __call__(self, value: Any, *rest: Any) -> Any:
        """What they make of a picture; further arguments, as a target, come out as they are."""
        perturb = self.perturb
        for step in self.steps:
            value = step(value)
            if perturb is not None and hasattr(value, "new_tensor") and value.is_floating_point():
                value, perturb = value.new_tensor(perturb(array(value))), None
                self.perturbed = True
        return (value, *rest) if rest else value


class NotedStage:
    """A stage that notes what it is called with."""

    def __init__(self, step: Callable):
        self.step = step
        self.seen: list[Any] = []

    def __call__(self, value: Any) -> Any:
        """What the stage gives."""
        self.seen.append(value)
        return self.step(value)


def drawing(results: Sequence[np.ndarray]) -> Fitted | None:
    """What stands for a stage that gave several results for one sample; None where it did not."""
    first, *others = results
    alike = all(each.shape == first.shape and np.array_equal(each, first) for each in others)
    return None if alike else Fitted(first.shape)


def array(value: Any) -> np.ndarray:
    """A column of a sample as an array: of a tensor, a picture of Pillow, bytes, a number, text.

    Raises EquivalenceError for rows of several lengths, which no array holds.
    """
    if isinstance(value, bytes):
        return np.frombuffer(value, np.uint8)
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    if isinstance(value, list | tuple):
        rows = [array(each) for each in value]
        shapes = dict.fromkeys(each.shape for each in rows)
        if len(shapes) > 1:
            one, other = [*shapes][:2]
            raise EquivalenceError(
                f"a column has rows of several shapes, such as {one} and {other}; no column of "
                "MindSpore holds them: pad them, or give a loader without batches"
            )
        return np.stack(rows) if rows else np.asarray(value)
    return np.asarray(value)


def flat(item: Any) -> Iterator[tuple[str, Any]]:
    """The columns of a sample or batch: the keys of a mapping, or the positions of a sequence.

    What holds columns itself gives them one by one: `inputs.ids`, or `0.1`. Lists of numbers and of
    text in it are columns.
    """
    if not _holds(item):
        yield "0", item
        return
    named = item.items() if isinstance(item, Mapping) else enumerate(item)
    for key, value in named:
        if not _holds(value) or (isinstance(value, list | tuple) and _is_column(value)):
            yield str(key), value
        else:
            yield from ((f"{key}.{inner}", each) for inner, each in flat(value))


def _is_column(values: Sequence[Any]) -> bool:
    """Whether a list has a number, a text, or a row of its own length for each sample."""
    if all(isinstance(each, bool | int | float | str) for each in values):
        return True
    lengths = {tuple(getattr(each, "shape", ()))[:1] for each in values}
    return len(lengths) > 1 and () not in lengths


def _holds(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)


def largest(item: Item) -> str:
    """The column that stages compute with: `image`, or the largest with numbers, or a text.

    A text comes before a single number, which is its label.

    >>> largest({"text": np.array("red apple"), "label": np.array(3)})
    'text'
    >>> largest({"text": np.array("red apple"), "ids": np.array([4, 2]), "label": np.array(3)})
    'ids'
    """
    if IMAGE in item:
        return IMAGE
    texts = [name for name, values in item.items() if values.dtype.kind in TEXT]
    numbers = [name for name in item if name not in texts]
    several = [name for name in numbers if item[name].size > 1]
    return max(several or texts or numbers, key=lambda name: item[name].size)


def as_bytes(item: Item) -> bytes:
    """What distinguishes a sample or batch from another."""
    return b"".join(values.tobytes() for values in item.values())


def seeded(seed: int) -> None:
    """Seed the generators of Python and NumPy."""
    random.seed(seed)
    np.random.seed(seed)


def is_numbered(name: str) -> bool:
    """Whether a name of a column is only its position.

    >>> is_numbered("0.1"), is_numbered("inputs.0")
    (True, False)
    """
    return name.replace(".", "").isdecimal()

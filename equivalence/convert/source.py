"""The source of a conversion, before its weights are paired."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equivalence.checkpoints import shards
from equivalence.checkpoints.files import FORMATS
from equivalence.checkpoints.formats import (
    MINDSPORE,
    PYTORCH,
    Checkpoint,
    StoredWeight,
    TorchOptimizer,
)
from equivalence.checkpoints.torch_files import OPTIMIZER_KEYS
from equivalence.convert import optimizer_state
from equivalence.errors import CheckpointError
from equivalence.words import listed

OTHER = {PYTORCH: MINDSPORE, MINDSPORE: PYTORCH}
"""A framework -> the other one."""

WRAPPERS = ("module", "_orig_mod")
"""First segments of all names in a file that `DataParallel` or `torch.compile` wrote."""

OPTIMIZER = "optimizer"
"""The name that --drop gives the state of an optimiser."""


def direction(source: Path, target: Path, to: str | None) -> str:
    """The framework of the destination; CheckpointError where it is open or contradictory."""
    read, written = shards.suffix_of(source), target.suffix
    for path, suffix in ((source, read), (target, written)):
        if suffix not in FORMATS:
            raise CheckpointError(f"{path} does not end in {', '.join(FORMATS)}")
    every = (OTHER.get(FORMATS[read] or ""), FORMATS[written], to)
    directions = {each for each in every if each is not None}
    if not directions:
        raise CheckpointError("a .safetensors may be of either side: give --to pytorch|mindspore")
    if len(directions) > 1:
        given = f" --to {to}" if to else ""
        raise CheckpointError(
            f"{source} -> {target}{given} is no conversion from one framework to the other: .pth, "
            f".pt and .bin are PyTorch's, .ckpt is MindSpore's, .safetensors is either's"
        )
    return directions.pop()


def unwrap(read: Checkpoint, expected: Iterable[str]) -> list[str]:
    """Take wrappers off the front of PyTorch's names, unless `expected` has them, too.

    expected: names that the destination has.

    Returns what was taken off.
    """
    expected = list(expected)
    taken = []
    while read.weights:
        fits = [
            wrapper
            for wrapper in WRAPPERS
            if all(name.startswith(f"{wrapper}.") for name in read.weights)
            and not any(f"{name}.".startswith(f"{wrapper}.") for name in expected)
        ]
        if not fits:
            break
        _rename(read, operator.methodcaller("removeprefix", f"{fits[0]}."))
        taken += fits
    return taken


@dataclass
class Conversion:
    """What becomes of every weight.

    rows: (source name, or why there is none; destination name), in order.
    weights: destination name -> values; for MindSpore with the state of the optimiser.
    aliases: destination name -> an earlier name with the same storage.
    optimizer: the state of the optimiser, for PyTorch.
    notes: what was dropped or added, and why.
    """

    rows: list[tuple[str, str]] = field(default_factory=list)
    weights: dict[str, StoredWeight] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    optimizer: TorchOptimizer | None = None
    notes: list[str] = field(default_factory=list)

    def add(self, source: str, name: str, weight: StoredWeight) -> None:
        """Write `weight` as `name`; CheckpointError if `name` already has other values."""
        if not self.weights.setdefault(name, weight).same(weight):
            other = next(row[0] for row in self.rows if row[1] == name)
            raise CheckpointError(
                f"{source} and {other} are one weight of the network ({name}), but their values "
                f"differ"
            )
        self.rows.append((source, name))

    def add_optimizer(self, optimizer: TorchOptimizer, origin: Mapping[int, str]) -> None:
        """Write the state of PyTorch's optimiser; origin: number -> MindSpore's parameter."""
        self.optimizer = optimizer
        for number, entry in optimizer.state.items():
            self.rows += [(f"state of {origin[number]}", f"{key} of {number}") for key in entry]

    def _weight(self, name: str) -> StoredWeight:
        """The values that a row writes."""
        if name in self.weights:
            return self.weights[name]
        key, _, number = name.rpartition(" of ")
        state = self.optimizer.state if self.optimizer else {}
        return state[int(number)][key]

    def note(self, names: Iterable[str], reason: str) -> None:
        """Add a note about `names`; nothing if there are none."""
        if names := list(names):
            self.notes.append(f"{listed(names)}: {reason}")

    def lines(self) -> list[str]:
        """A line for each weight, with both names, shape and dtype; then the notes."""
        left = max((len(source) for source, _ in self.rows), default=0)
        right = max((len(name) for _, name in self.rows), default=0)
        rows = [(source, name, self._weight(name)) for source, name in self.rows]
        return [
            f"  {source:{left}}  {name:{right}}  {weight.dtype} {weight.shape}"
            for source, name, weight in rows
        ] + self.notes

    def count(self) -> str:
        """The number of weights and of values, in words."""
        values = sum(weight.values.size for weight in self.weights.values())
        amount = f"{values / 1e6:.1f} million" if values >= 1e6 else str(values)
        state = f" and the state of {len(self.optimizer.state)} of them" if self.optimizer else ""
        return f"{len(self.weights)} weights, {amount} values{state}"


def strip(read: Checkpoint, prefixes: Sequence[str], source: Path, result: Conversion) -> None:
    """Take these prefixes, one after the other, off the names that begin with them.

    Raises CheckpointError where none does, or where two names would become one.
    """
    for prefix in prefixes:
        dotted = f"{prefix.rstrip('.')}."
        owned = optimizer_state.state_names(read.weights)

        def stripped(name: str, dotted: str = dotted, owned: set[str] = owned) -> str:
            if name not in owned:
                return name.removeprefix(dotted)
            first, dot, parameter = name.partition(".")  # "moments.", and the parameter's name
            return f"{first}{dot}{parameter.removeprefix(dotted)}"

        names = {name: stripped(name) for name in read.weights}
        if all(name == new for name, new in names.items()):
            firsts = sorted({name.partition(".")[0] for name in names})
            raise CheckpointError(
                f"--strip {prefix}: no name in {source} begins with it; they begin with "
                f"{listed(firsts)}"
            )
        origin: dict[str, str] = {}
        for name, new in names.items():
            if not new or origin.setdefault(new, name) != name:
                raise CheckpointError(
                    f"--strip {prefix}: {name} and {origin[new]} of {source} would both be {new}"
                )
        _rename(read, stripped)
        count = sum(name != new for name, new in names.items())
        result.note([dotted.rstrip(".")], f"in front of {count} of {len(names)} names, taken off")


def _rename(read: Checkpoint, new: Callable[[str], str]) -> None:
    """Give every weight another name, wherever the checkpoint names it."""
    read.weights = {new(name): weight for name, weight in read.weights.items()}
    read.aliases = {new(name): new(first) for name, first in read.aliases.items()}
    for group in read.optimizer.groups if read.optimizer else ():
        if "param_names" in group:
            group["param_names"] = [new(name) for name in group["param_names"]]


def drop(read: Checkpoint, names: Sequence[str], source: Path, result: Conversion) -> str | None:
    """Leave out what the user names; return a name of an optimiser's state that remains."""
    for prefix in (OPTIMIZER if name in OPTIMIZER_KEYS else name for name in names):
        owned = optimizer_state.state_names(read.weights) if prefix == OPTIMIZER else ()
        left = [n for n in read.weights if f"{n}.".startswith(f"{prefix}.") or n in owned]
        if not left and not (prefix == OPTIMIZER and read.optimizer):
            raise CheckpointError(f"--drop {prefix}: {source} has no such weight")
        result.note(left or [OPTIMIZER], "dropped, as told")
        for name in left:
            del read.weights[name]
            read.aliases.pop(name, None)
        if prefix == OPTIMIZER:
            read.optimizer = None
    if names and not read.weights:
        raise CheckpointError(f"{source} holds no weights beside those that are dropped")
    if read.optimizer:
        return OPTIMIZER
    return next((n for n in read.weights if n in optimizer_state.state_names(read.weights)), None)

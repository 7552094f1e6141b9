"""The result of a conversion: what is written, and what the user reads about it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from equivalence.checkpoints.formats import TorchOptimizer, Weight
from equivalence.errors import CheckpointError
from equivalence.words import listed


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
    weights: dict[str, Weight] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    optimizer: TorchOptimizer | None = None
    notes: list[str] = field(default_factory=list)

    def add(self, source: str, name: str, weight: Weight) -> None:
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

    def _weight(self, name: str) -> Weight:
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

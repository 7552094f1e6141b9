"""Mistakes of one line in the source of right networks; the diagnosis must name that line."""

import inspect
import linecache
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from equivalence.declare.twin import Twin
from equivalence.errors import DeclarationError
from tests.defects.defect import Defect


@dataclass(frozen=True)
class Mistake:
    """A mistake in one line of a network.

    name: an identifier.
    network: the network, a class of the right candidates.
    right, wrong: a piece of one line of its source, and what stands there instead.
    also: further lines of which naming one is as right, by a piece of their source.
    """

    name: str
    network: str
    right: str
    wrong: str
    also: tuple[str, ...] = ()


class Lines:
    """A family of such mistakes.

    family: the module that declares it; it hands out the wrong networks by their names.
    right: the module of the right candidates.
    reference: the module of the reference's networks, which have the same names.
    mistakes: the mistakes.
    """

    def __init__(self, family: str, right: ModuleType, reference: str, mistakes: Sequence[Mistake]):
        self.family, self.right, self.reference = family, right, reference
        self.mistakes = {each.name: each for each in mistakes}
        self._wrong: dict[str, ModuleType] = {}

    def twins(self, inputs: Mapping[str, Sequence[Any]]) -> tuple[Twin, ...]:
        """The twins of these networks, with right candidates."""
        return tuple(
            Twin(
                _twin_name(network),
                reference=f"{self.reference}:{network}",
                candidate=f"{self.right.__name__}:{network}",
                inputs=drawn,
                phases=("train",),
                executions=("pynative",),
            )
            for network, drawn in inputs.items()
        )

    @property
    def defects(self) -> tuple[Defect, ...]:
        """The mistakes as defects of the catalogue."""
        return tuple(map(self._defect, self.mistakes.values()))

    def network(self, name: str) -> type:
        """The network with the mistake of this name. Raises AttributeError if there is none."""
        if name not in self.mistakes:
            raise AttributeError(f"there is no mistake {name!r}")
        mistake = self.mistakes[name]
        if name not in self._wrong:
            self._wrong[name] = self._changed(mistake)
        return getattr(self._wrong[name], mistake.network)

    def _defect(self, mistake: Mistake) -> Defect:
        file = os.path.basename(self._file(mistake))
        lines = [self._line(mistake.network, piece) for piece in (mistake.right, *mistake.also)]
        return Defect(
            mistake.name,
            f"{mistake.wrong} for {mistake.right}",
            _twin_name(mistake.network),
            {},
            culprit=("",),
            candidate=f"{self.family}:{mistake.name}",
            statements=tuple(f"{file}:{line}" for line in lines),
        )

    def _file(self, mistake: Mistake) -> str:
        """The name of the source that has the mistake; it has the same lines as the right one."""
        return f"{self.right.__file__.removesuffix('.py')}@{mistake.name}.py"

    def _line(self, network: str, piece: str) -> int:
        """The line of a network with that piece, or the only one of its whole file."""
        for source in (getattr(self.right, network), self.right):
            lines, first = inspect.getsourcelines(source)
            found = [max(first, 1) + i for i, line in enumerate(lines) if piece in line]
            if found:
                break
        if len(found) != 1:
            raise DeclarationError(f"{piece!r} stands in {len(found)} lines of {network}")
        return found[0]

    def _changed(self, mistake: Mistake) -> ModuleType:
        """The candidates with a mistake in them."""
        lines = inspect.getsource(self.right).splitlines(keepends=True)
        at = self._line(mistake.network, mistake.right) - 1
        lines[at] = lines[at].replace(mistake.right, mistake.wrong)
        source, file = "".join(lines), self._file(mistake)
        linecache.cache[file] = len(source), None, lines, file
        module = ModuleType(f"{self.right.__name__}_{mistake.name}")
        exec(compile(source, file, "exec"), vars(module))
        return module


def _twin_name(network: str) -> str:
    return f"functional_{network.lower()}"

"""Mistakes of one line in the source of right networks; the diagnosis must name that line."""

import inspect
import linecache
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType, ModuleType
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
    layer: the path of the layer whose code the line is; "" is the network itself.
    """

    name: str
    network: str
    right: str
    wrong: str
    also: tuple[str, ...] = ()
    layer: str = ""


class Lines:
    """A family of such mistakes.

    family: the module that declares it; it hands out the wrong networks by their names.
    right: the module of the right candidates.
    reference: the module of the reference's networks, which have the same names.
    mistakes: the mistakes.
    pairs: the names of two mistakes that are made together, in one network.
    declared: the declared twin that has a network; `twins` makes those of the others.
    """

    def __init__(
        self,
        family: str,
        right: ModuleType,
        reference: str,
        mistakes: Sequence[Mistake],
        pairs: Sequence[tuple[str, str]] = (),
        declared: Mapping[str, str] = MappingProxyType({}),
    ):
        self.declared = declared
        self.family, self.right, self.reference = family, right, reference
        self.mistakes = {each.name: (each,) for each in mistakes}
        for pair in pairs:
            both = tuple(each for name in pair for each in self.mistakes[name])
            self.mistakes["_and_".join(pair)] = both
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
        return tuple(map(self._defect, self.mistakes))

    def network(self, name: str) -> type:
        """The network with the mistake of this name. Raises AttributeError if there is none."""
        if name not in self.mistakes:
            raise AttributeError(f"there is no mistake {name!r}")
        if name not in self._wrong:
            self._wrong[name] = self._changed(name)
        return getattr(self._wrong[name], self.mistakes[name][0].network)

    def _defect(self, name: str) -> Defect:
        made = self.mistakes[name]
        places = [self._places(name, mistake) for mistake in made]
        return Defect(
            name,
            "; ".join(f"{mistake.wrong} for {mistake.right}" for mistake in made),
            self.declared.get(made[0].network, _twin_name(made[0].network)),
            {},
            culprit=tuple({mistake.layer for mistake in made}),
            candidate=f"{self.family}:{name}",
            statements=places[0],
            second=places[1] if len(made) > 1 else (),
        )

    def _places(self, name: str, mistake: Mistake) -> tuple[str, ...]:
        """The places of which naming one is right."""
        file = os.path.basename(self._file(name))
        lines = [self._line(mistake.network, piece) for piece in (mistake.right, *mistake.also)]
        return tuple(f"{file}:{line}" for line in lines)

    def _file(self, name: str) -> str:
        """The name of the source that has a mistake; it has the same lines as the right one."""
        return f"{self.right.__file__.removesuffix('.py')}@{name}.py"

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

    def _changed(self, name: str) -> ModuleType:
        """The candidates with a mistake, or two, in them."""
        lines = inspect.getsource(self.right).splitlines(keepends=True)
        for mistake in self.mistakes[name]:
            at = self._line(mistake.network, mistake.right) - 1
            lines[at] = lines[at].replace(mistake.right, mistake.wrong)
        source, file = "".join(lines), self._file(name)
        linecache.cache[file] = len(source), None, lines, file
        module = ModuleType(f"{self.right.__name__}_{name}")
        exec(compile(source, file, "exec"), vars(module))
        return module


def _twin_name(network: str) -> str:
    return f"functional_{network.lower()}"

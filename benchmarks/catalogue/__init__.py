"""Right networks at the sizes of users: none may be red. Each file has a tuple `TWINS`.

Networks that both sides write by hand are in `pt/` and `ms/`, in files of the same names;
`port/` makes the cells of the others by rules.
"""

from collections.abc import Sequence

from equivalence.declare.draws import Draw
from equivalence.declare.twin import Twin
from tests.collecting import collect


def declared() -> tuple[Twin, ...]:
    """Every twin of the catalogue, file by file. Raises DeclarationError if one would be lost."""
    return collect(__name__, Twin, apart=("ms", "port", "pt"))


def training(file: str, name: str, attribute: str, inputs: Sequence[Draw], **declared) -> Twin:
    """A training, in PyNative mode, of a network that both sides write by hand.

    file: the name of the files in `pt/` and `ms/`. attribute: the network's name in both.
    declared: what else is declared of the twin.
    """
    return Twin(
        name,
        reference=f"{__name__}.pt.{file}:{attribute}",
        candidate=f"{__name__}.ms.{file}:{attribute}",
        inputs=inputs,
        phases=("train",),
        executions=("pynative",),
        **declared,
    )

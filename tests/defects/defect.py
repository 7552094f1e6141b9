"""One defect: a mistake that people make when they migrate a network, declared as data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from equivalence.errors import DeclarationError

WAYS = ("edit", "candidate", "arguments", "rename")
AXES = ("phase", "dtype", "execution", "pictures")


@dataclass(frozen=True)
class Defect:
    """A right twin with one mistake put into its candidate; the comparison must not pass.

    It is declared by one of `tests/defects/makers.py`.

    `mistake` says in words what the migrator did. `twin` names a declared twin, or one of
    `tests/defects/twins.py`. `where` picks one of its cases: items of the configuration, and
    perhaps `phase`, `dtype`, `execution` (otherwise the first configuration that matches, "train",
    "float32", "pynative"); of a pipeline also `pictures`, which stand for those of its folder.

    The mistake is made in exactly one of four ways. `edit` changes the built candidate in place,
    or returns another cell for it; `candidate` is another target "module:attribute"; `arguments`
    are other keyword arguments for the candidate's constructor alone; `rename` is another weight
    map.

    `culprit` holds the reference paths of the layers that a diagnosis must name, no more and no
    fewer; "" is the whole network. None: no layer can be named, and `mistake` says why. `cause`
    is a word that the causes in a diagnosis must contain. `statements` are places in the source,
    "file:line", of which a diagnosis must name one; `second` those of a second mistake, of which it
    must name one, too, or say that more can be seen once the first is mended. `raises` names the
    EquivalenceError that refuses the defect before anything is compared.
    """

    name: str
    mistake: str
    twin: str
    where: Mapping[str, Any]
    culprit: tuple[str, ...] | None
    cause: str | None = None
    edit: Callable | None = None
    candidate: str | None = None
    arguments: Mapping[str, Any] | None = None
    rename: Mapping[str, str] | None = None
    raises: str | None = None
    statements: tuple[str, ...] = ()
    second: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        def demand(good: bool, complaint: str) -> None:
            if not good:
                raise DeclarationError(f"defect {self.name!r}: {complaint}")

        demand(self.name.isidentifier(), "is no identifier")
        demand(bool(self.mistake), "does not say what the mistake is")
        made = [way for way in WAYS if getattr(self, way) is not None]
        demand(len(made) == 1, f"is made by {made or 'nothing'}, not by one of {', '.join(WAYS)}")
        demand(not isinstance(self.culprit, str), "culprit is a string; write a tuple")
        demand(self.culprit != (), "culprit is empty; None says that no layer can be named")

"""What was verified: operators, layers and other declarations; and the findings.

They lie in the clone, or in the wheel beside the engine.
"""

import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equivalence import files
from equivalence.declare.operator import Counterpart, Operator
from equivalence.errors import IN_THE_CLONE, CoverageError
from equivalence.findings import scripts
from equivalence.findings.scripts import Finding
from equivalence.report import accepted

TABLE = "tests.twins"
"""The package with the declarations."""

GATE = "tests.gate"
"""The module that lists the cases of the gate. It lies in the clone only."""

SHARED = ("torch", "torch.nn", "torch.nn.functional", "torch.special", "torch.Tensor")
"""Modules in which names that differ only in capitals and underscores are one operator."""


@dataclass(frozen=True)
class VerifiedAPI:
    """An API of torch that twins verify: layers with weights, optimisers, schedules, transforms.

    torch: the API; several entries may have the same one.
    counterpart: MindSpore's API.
    verified: names of the twins, pipelines and initialisers that compare them.
    """

    torch: str
    counterpart: Counterpart
    verified: tuple[str, ...]


class DeclaredAPIs:
    """All declarations, by the APIs of torch that they verify.

    operators: the operators.
    layers: as `LAYERS` in `tests.twins.apis`.
    aliases: another name of an API -> the API.
    declared: name -> declaration of each twin, pipeline and initialiser.
    figures: the accepted errors, as `accepted.read` returns them.
    findings: the scripts that show discrepancies.
    stood_in: the functions of MindSpore that have no kernel on a CPU, but a stand-in.
    show_too: function -> the findings about another one that its stand-in shows, too.
    """

    def __init__(
        self,
        operators: Iterable[Operator],
        layers: Iterable[VerifiedAPI],
        aliases: Mapping[str, str],
        declared: Mapping[str, Any],
        figures: Mapping[str, Any],
        findings: Sequence[Finding] = (),
        stood_in: frozenset[str] = frozenset(),
        show_too: Mapping[str, Sequence[str]] | None = None,
    ):
        self.aliases, self.declared, self.figures = aliases, declared, figures
        self.findings, self.stood_in = findings, stood_in
        self.show_too = show_too or {}
        self.by_torch: dict[str, list[Operator]] = {}
        self.by_word: dict[str, list[Operator]] = {}
        for operator in operators:
            self.by_torch.setdefault(operator.torch, []).append(operator)
            if operator.torch.rpartition(".")[0] in SHARED:
                self.by_word.setdefault(_word(operator.torch), []).append(operator)
        self._layers: dict[str, list[VerifiedAPI]] = {}
        for layer in layers:
            self._layers.setdefault(layer.torch, []).append(layer)
        self.references = {layer.torch: layer for layer in _references(declared)}

    def knows(self, api: str) -> bool:
        """Whether anything is declared of an API."""
        return bool(self.operators(api) or self.layers(api))

    def operators(self, api: str) -> list[Operator]:
        """The operators of this name, or else of its alias, or else of the same word.

        None of a name that changes its tensor: that its function is right says nothing of it.
        """
        if changes_its_tensor(api):
            return []
        owner = api.rpartition(".")[0]
        named = self.by_torch.get(api) or self.by_torch.get(self.aliases.get(api, ""))
        return named or (self.by_word.get(_word(api), []) if owner in SHARED else [])

    def layers(self, api: str) -> list[VerifiedAPI]:
        """The layers, optimisers, transforms and other APIs of this name that twins verify."""
        if api in self._layers or self.operators(api):
            return self._layers.get(api, [])
        return [self.references[api]] if api in self.references else []

    def shows(self, api: str, finding: Finding) -> bool:
        """Whether a call of MindSpore, or what stands for it, does what a finding says."""
        return f"mindspore.{api}" in finding.apis or finding.name in self.show_too.get(api, ())

    def same(self, api: str, other: str) -> bool:
        """Whether two names are one function: as a function, as a method or as a class."""
        if api == other or changes_its_tensor(api) or changes_its_tensor(other):
            return api == other
        if self.aliases.get(api) == other:
            return True
        owners = {api.rpartition(".")[0], other.rpartition(".")[0]}
        return owners <= set(SHARED) and _word(api) == _word(other)


def changes_its_tensor(api: str) -> bool:
    """Whether an API is a method or function that changes a tensor, such as `add_` and `x += 1`."""
    owner, _, name = api.rpartition(".")
    augmented = name.startswith("__i") and name != "__invert__"
    return owner in SHARED and (augmented or (name.endswith("_") and name[0] != "_"))


def load() -> DeclaredAPIs:
    """The declarations of `tests.twins`, with the accepted errors.

    Raises CoverageError where they lie neither in a clone nor in the wheel.
    """
    demand("the table of what is verified", TABLE)
    from equivalence.stand_ins import table

    apis, operators = _declarations("apis"), _declarations("operators").operators()
    figures = accepted.read(accepted.path_of("cpu"))
    found = scripts.read_all(scripts.FOLDER)
    of_ascend = _declarations("operators.only_ascend").COUNTERPARTS.values()
    alone = table.functions() | {each.api for each in of_ascend}
    named = (operators, apis.LAYERS, apis.ALIASES, apis.declared())
    return DeclaredAPIs(*named, figures, found, alone, table.SHOW_TOO)


def demand(what: str, module: str) -> None:
    """Make the declarations importable, from any folder.

    what: what is read of them, for the error. module: the module or package that has it.

    Raises CoverageError where this package was installed without it.
    """
    root = files.REPOSITORY
    path = root / module.replace(".", "/")
    if not (path.is_dir() or path.with_suffix(".py").is_file()):
        raise CoverageError(f"{what} lies {IN_THE_CLONE}")
    # A project that the command runs in may have a package of that name, too.
    if str(root) in sys.path:
        sys.path.remove(str(root))
    sys.path.insert(0, str(root))


def _declarations(name: str) -> Any:
    return importlib.import_module(f"{TABLE}.{name}")


def counterparts() -> Iterator[tuple[str, str]]:
    """(API of torch, counterpart) of every operator."""
    for operator in _declarations("operators").operators():
        for counterpart in operator.counterparts:
            yield operator.torch, counterpart.api


def gate(device: str) -> Iterator[str]:
    """The names of the gate's cases, except operators."""
    return importlib.import_module(GATE).cases(device)


def _references(declared: Mapping[str, Any]) -> Iterator[VerifiedAPI]:
    """Layers from the twins whose reference is an API itself."""
    for name, declaration in declared.items():
        reference = getattr(declaration, "reference", "")
        if reference.split(".")[0] in ("torch", "torchvision") and declaration.differs is None:
            candidate = declaration.candidate.removeprefix("mindspore.").replace(":", ".")
            api = (
                candidate
                if declaration.candidate.startswith("mindspore.")
                else declaration.candidate
            )
            yield VerifiedAPI(reference.replace(":", "."), Counterpart(api), (name,))


def _word(api: str) -> str:
    """The last name without underscores and capitals: in-place, class and function are one word."""
    return api.rpartition(".")[2].replace("_", "").lower()

"""What a network uses of PyTorch, and which of it this suite has verified."""

import importlib
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equivalence import torchvision_schemas
from equivalence.coverage import defaults, usage
from equivalence.coverage.torch_names import computes_nothing, look_up
from equivalence.coverage.usage import list_uses
from equivalence.declare.operator import Counterpart, Operator
from equivalence.errors import IN_THE_CLONE, CoverageError, EquivalenceError, SignatureError
from equivalence.report import accepted
from equivalence.targets import build, part, resolve

ROOT = Path(__file__).parents[2]
"""The clone of the repository, where this package is not installed from a wheel."""

TABLE = "tests.twins"
"""The package with the declarations. It lies in the clone only."""

GATE = "tests.gate"
"""The module that lists the cases of the gate."""

VERIFIED, UNVERIFIED = 0, 1
"""Exit codes of the command: all APIs are verified, or at least one is not."""

WIDTH = 120
"""Columns of the table; longer text is wrapped."""


@dataclass(frozen=True)
class Layer:
    """An API of torch that twins verify: layers with weights, optimisers, schedules, transforms.

    torch: the API; several entries may have the same one.
    counterpart: MindSpore's API.
    verified: names of the twins, pipelines and initialisers that compare them.
    """

    torch: str
    counterpart: Counterpart
    verified: tuple[str, ...]


@dataclass
class Match:
    """One MindSpore API that was verified to equal an API of torch.

    api: MindSpore's API.
    differences: what differs nevertheless, in words.
    remarks: what else a user should know, in words.
    worst: the largest error in roundings; None: not measured.
    """

    api: str
    differences: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    worst: float | None = None

    def words(self) -> str:
        """Whether it differs, in what, and the remarks."""
        verdict = f"yes: {'; '.join(self.differences)}" if self.differences else "no"
        return f"{verdict} ({', '.join(self.remarks)})" if self.remarks else verdict


SHARED = ("torch", "torch.nn", "torch.nn.functional", "torch.special", "torch.Tensor")
"""Modules in which names that differ only in capitals and underscores are one operator."""


class Declarations:
    """All declarations, by the APIs of torch that they verify.

    operators: the operators.
    layers: as `LAYERS` in `tests.twins.apis`.
    aliases: another name of an API -> the API.
    declared: name -> declaration of each twin, pipeline and initialiser.
    figures: the accepted errors, as `accepted.read` returns them.
    """

    def __init__(
        self,
        operators: Iterable[Operator],
        layers: Iterable[Layer],
        aliases: Mapping[str, str],
        declared: Mapping[str, Any],
        figures: Mapping[str, Any],
    ):
        self.aliases, self.declared, self.figures = aliases, declared, figures
        self.by_torch: dict[str, list[Operator]] = {}
        self.by_word: dict[str, list[Operator]] = {}
        for operator in operators:
            self.by_torch.setdefault(operator.torch, []).append(operator)
            if operator.torch.rpartition(".")[0] in SHARED:
                self.by_word.setdefault(_word(operator.torch), []).append(operator)
        self.layers: dict[str, list[Layer]] = {}
        for layer in layers:
            self.layers.setdefault(layer.torch, []).append(layer)
        self.references = {layer.torch: layer for layer in _references(declared)}

    def of(self, api: str) -> list[Match]:
        """The MindSpore APIs that were verified to equal this one; empty: not verified."""
        operators, layers = self.operators(api), self.layers.get(api, [])
        if not operators and not layers and api in self.references:
            layers = [self.references[api]]
        matches: dict[str, Match] = {}
        for layer in layers:
            self._add_layer(_match(matches, layer.counterpart), layer)
        for operator in operators:
            for counterpart in operator.counterparts:
                self._add(_match(matches, counterpart), counterpart, api, operators, operator)
        return list(matches.values())

    def operators(self, api: str) -> list[Operator]:
        """The operators of this name, or else of its alias, or else of the same word."""
        owner = api.rpartition(".")[0]
        named = self.by_torch.get(api) or self.by_torch.get(self.aliases.get(api, ""))
        return named or (self.by_word.get(_word(api), []) if owner in SHARED else [])

    def _add(
        self,
        one: Match,
        counterpart: Counterpart,
        api: str,
        operators: Sequence[Operator],
        operator: Operator,
    ) -> None:
        figures = self.figures["operators"].get(operator.torch, {}).get(counterpart.api, {})
        one.worst = _larger(one.worst, figures.get("worst"))
        for word in _differences(counterpart, api, operator.torch):
            # One function may be declared as several operators, each with its own differences.
            names = [other.name for other in operators if _has(other, counterpart.api, word, api)]
            everywhere = len(names) == len(operators)
            _add_new(one.differences, [word if everywhere else f"{word} [{', '.join(names)}]"])
        _add_new(one.remarks, _remarks(counterpart))

    def _add_layer(self, one: Match, layer: Layer) -> None:
        for name in layer.verified:
            differs = self.declared[name].differs
            _add_new(one.differences, [str(differs)] if differs else [])
            one.worst = _larger(one.worst, accepted.worst_of(self.figures, name))
        _add_new(one.differences, _differences(layer.counterpart, layer.torch, layer.torch))
        _add_new(one.remarks, _remarks(layer.counterpart))


def _match(matches: dict[str, Match], counterpart: Counterpart) -> Match:
    """The match with this counterpart, added if it is new."""
    return matches.setdefault(counterpart.api, Match(counterpart.api))


def _has(operator: Operator, counterpart: str, word: str, api: str) -> bool:
    return any(
        word in _differences(other, api, operator.torch)
        for other in operator.counterparts
        if other.api == counterpart
    )


def load() -> Declarations:
    """The declarations of `tests.twins`, with the accepted errors.

    Raises CoverageError where there is no clone of the repository.
    """
    demand_clone("the table of what is verified")
    apis, operators = _declarations("apis"), _declarations("operators").operators()
    figures = accepted.read(accepted.path_of("cpu"))
    return Declarations(operators, apis.LAYERS, apis.ALIASES, apis.declared(), figures)


def demand_clone(what: str) -> None:
    """Make the declarations of the clone importable, from any folder.

    what: what is read of the clone, for the error.

    Raises CoverageError where this package was installed without its repository.
    """
    if not (ROOT / TABLE.replace(".", "/")).is_dir():
        raise CoverageError(f"{what} lies {IN_THE_CLONE}")
    # A project that the command runs in may have a package of that name, too.
    if str(ROOT) in sys.path:
        sys.path.remove(str(ROOT))
    sys.path.insert(0, str(ROOT))


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


def _references(declared: Mapping[str, Any]) -> Iterator[Layer]:
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
            yield Layer(reference.replace(":", "."), Counterpart(api), (name,))


def _word(api: str) -> str:
    """The last name without underscores and capitals: in-place, class and function are one word."""
    return api.rpartition(".")[2].replace("_", "").lower()


def _larger(one: float | None, other: float | None) -> float | None:
    return max((value for value in (one, other) if value is not None), default=None)


def _add_new(to: list[str], words: Iterable[str]) -> None:
    to += [word for word in words if word not in to]


def _differences(counterpart: Counterpart, api: str, torch: str) -> Iterator[str]:
    yield from map(str, counterpart.differs.values())
    for name, (ours, theirs) in counterpart.defaults.items():
        if api == torch or not _defaults_to(api, name, theirs):
            yield f"{name} is {theirs!r} unless told, not {ours!r}"
    for limit, effect in counterpart.without.items():
        yield f"{limit.replace('_', ' ')}: {effect}"
    if counterpart.integers:
        yield f"integers are {counterpart.integers}"


def _defaults_to(api: str, argument: str, value: Any) -> bool:
    """Whether another API of the same operator has MindSpore's default."""
    try:
        return any(signature.get(argument) == value for signature in defaults.of_torch(api))
    except SignatureError:
        return False


def _remarks(counterpart: Counterpart) -> Iterator[str]:
    if counterpart.through:
        yield f"as {counterpart.through} calls it"
    for name, other in counterpart.names.items():
        yield f"{name} is {other}"


def command(target: str, arguments: Iterable[tuple[str, Any]]) -> int:
    """Print the table of a file or of "module:attribute"; returns the exit code.

    Raises CoverageError where the target uses no API or cannot be read or built.
    """
    declarations = load()
    if ":" in target:
        uses = usage.of_module(_build_module(target, dict(arguments)))
    elif arguments:
        raise CoverageError(f"{target} is a file, which takes no --arguments")
    else:
        uses = usage.of_file(Path(target))
    if not uses.apis:
        raise CoverageError(f"{target} uses no API of PyTorch")
    matches = {api: declarations.of(api) for api in sorted(uses.apis) if not computes_nothing(api)}
    print("\n".join(table(target, uses, matches, declarations.figures["versions"])))
    return VERIFIED if all(matches.values()) else UNVERIFIED


def _build_module(target: str, arguments: Mapping[str, Any]) -> Any:
    import torch

    torchvision_schemas.declare_missing()
    try:
        target_object = resolve(target)
        if isinstance(target_object, torch.nn.Module):
            module = part(target, target_object)
        else:
            module = build(target, arguments)
    except EquivalenceError:
        raise
    except Exception as error:
        raise CoverageError(f"{target} does not build: {type(error).__name__}: {error}") from error
    if not isinstance(module, torch.nn.Module):
        raise CoverageError(f"{target} builds a {type(module).__name__}, not a torch.nn.Module")
    return module


def table(
    target: str,
    used: Any,
    matches: Mapping[str, list[Match]],
    versions: Mapping[str, str],
) -> list[str]:
    """The lines of the table, with the APIs that are not verified first.

    used: the APIs with their uses.
    mapped: API -> its matches, for every API that computes something.
    versions: package -> version with which the errors were measured.
    """
    unverified = [api for api, api_matches in matches.items() if not api_matches]
    uses = sum(len(used.apis[api]) for api in matches)
    lines = [
        f"{target}: {len(matches)} APIs of PyTorch in {uses} places, "
        f"{len(matches) - len(unverified)} verified, {len(unverified)} not"
    ]
    rows = [row for api in unverified for row in _rows(api, used.apis[api], [])]
    if rows:
        lines += ["", "not verified", *_columns(rows, "")]
    rows = [
        row for api in matches if matches[api] for row in _rows(api, used.apis[api], matches[api])
    ]
    if rows:
        lines += ["", "verified", *_columns(rows, "differs from PyTorch")]
    return [*lines, "", *_notes(used, matches, versions)]


def _rows(api: str, uses: list[str], matches: list[Match]) -> Iterator[tuple[str, ...]]:
    where = "" if look_up(api) is not None else "no such name is known; "
    if all(use.isdigit() for use in uses):
        where += "line " if len(set(uses)) == 1 else "lines "
    yield api, str(len(uses)), "", where + list_uses(uses)
    for match in matches:
        worst = "-" if match.worst is None else f"{match.worst:.2f}"
        yield f"  {match.api}", "", worst, match.words()


def _columns(rows: list[tuple[str, ...]], last: str) -> list[str]:
    titles = ("PyTorch, MindSpore" if last else "PyTorch", "uses", "worst" if last else "", last)
    first = max(len(row[0]) for row in (*rows, titles))
    lines = []
    for name, uses, worst, words in (titles, *rows):
        head = f"  {name:{first}}  {uses:>4}  {worst:>6}  "
        wrapped = textwrap.wrap(words, WIDTH - len(head)) or [""]
        lines += [(head + wrapped[0]).rstrip()]
        lines += [" " * len(head) + line for line in wrapped[1:]]
    return lines


def _notes(used: Any, matches: Mapping[str, Any], versions: Mapping[str, str]) -> Iterator[str]:
    structure = [f"{api} ({len(uses)})" for api, uses in used.apis.items() if api not in matches]
    unclear = [f"{name} ({list_uses(uses)})" for name, uses in used.perhaps.items()]
    paragraphs = [
        ("computes nothing", sorted(structure)),
        ("methods of tensors or of something else, not counted", sorted(unclear)),
        ("not looked into", sorted(used.others)),
    ]
    for title, words in paragraphs:
        if words:
            yield from textwrap.wrap(f"{title}: {', '.join(words)}", WIDTH, subsequent_indent="  ")
    yield (
        "worst: the largest error measured, in roundings, of which 16 are allowed "
        f"(MindSpore {versions['mindspore']}, PyTorch {versions['torch']}, CPU)"
    )

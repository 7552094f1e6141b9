"""What of PyTorch a network uses, and what of that this suite has verified."""

import importlib
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equivalence.declare.operator import Counterpart, Operator
from equivalence.errors import CoverageError, EquivalenceError, SignatureError
from equivalence.report import accepted

TABLE = "tests.twins"
"""The package with the declarations; the command runs in the project's folder."""

GATE = "tests.gate"
"""The module that lists the cases of the gate."""

VERIFIED, UNVERIFIED = 0, 1
"""Exit codes of the command."""

WIDTH = 120


@dataclass(frozen=True)
class Layer:
    """An API that twins verify: layers with weights, optimisers, schedules, transforms.

    verified: names of the twins, pipelines and initialisers that have it. More than one entry may
    be of the same API of torch.
    """

    torch: str
    counterpart: Counterpart
    verified: tuple[str, ...]


@dataclass
class Mapped:
    """What one MindSpore API is to an API of torch.

    differences, remarks: in words; worst: in roundings, None where it was not measured.
    """

    api: str
    differences: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    worst: float | None = None

    def words(self) -> str:
        """Whether it differs, and in what; what else is to be known of it."""
        told = f"yes: {'; '.join(self.differences)}" if self.differences else "no"
        return f"{told} ({', '.join(self.remarks)})" if self.remarks else told


SHARED = ("torch", "torch.nn", "torch.nn.functional", "torch.special", "torch.Tensor")
"""Where the same operator has the same name, but for capitals and underscores."""


class Known:
    """What is declared, by the APIs of torch that it serves.

    layers, aliases, declared: as in `tests.twins.apis`; figures: as `measured.read` returns them.
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

    def of(self, api: str) -> list[Mapped]:
        """The MindSpore APIs that were verified to be this one; none: not verified."""
        operators, layers = self.operators(api), self.layers.get(api, [])
        if not operators and not layers and api in self.references:
            layers = [self.references[api]]
        found: dict[str, Mapped] = {}
        for layer in layers:
            self._add_layer(_one(found, layer.counterpart), layer)
        for operator in operators:
            for counterpart in operator.counterparts:
                self._add(_one(found, counterpart), counterpart, api, operators, operator)
        return list(found.values())

    def operators(self, api: str) -> list[Operator]:
        """Those of this name, or else of an alias, or else of the same word."""
        owner = api.rpartition(".")[0]
        named = self.by_torch.get(api) or self.by_torch.get(self.aliases.get(api, ""))
        return named or (self.by_word.get(_word(api), []) if owner in SHARED else [])

    def _add(
        self,
        one: Mapped,
        counterpart: Counterpart,
        api: str,
        operators: Sequence[Operator],
        operator: Operator,
    ) -> None:
        figures = self.figures["operators"].get(operator.torch, {}).get(counterpart.api, {})
        one.worst = _larger(one.worst, figures.get("worst"))
        for word in _differences(counterpart, api, operator.torch):
            # Of the operators that a function is declared as, each may differ in its own way.
            having = [each.name for each in operators if _has(each, counterpart.api, word, api)]
            everywhere = len(having) == len(operators)
            _add_new(one.differences, [word if everywhere else f"{word} [{', '.join(having)}]"])
        _add_new(one.remarks, _remarks(counterpart))

    def _add_layer(self, one: Mapped, layer: Layer) -> None:
        for name in layer.verified:
            differs = self.declared[name].differs
            _add_new(one.differences, [differs] if differs else [])
            one.worst = _larger(one.worst, accepted.worst_of(self.figures, name))
        _add_new(one.differences, _differences(layer.counterpart, layer.torch, layer.torch))
        _add_new(one.remarks, _remarks(layer.counterpart))


def _one(found: dict[str, Mapped], counterpart: Counterpart) -> Mapped:
    return found.setdefault(counterpart.api, Mapped(counterpart.api))


def _has(operator: Operator, counterpart: str, word: str, api: str) -> bool:
    return any(
        word in _differences(each, api, operator.torch)
        for each in operator.counterparts
        if each.api == counterpart
    )


def load() -> Known:
    """What `tests.twins` declares, with the figures that were kept."""
    apis, operators = _declarations("apis"), _declarations("operators").operators()
    figures = accepted.read(accepted.path_of("cpu"))
    return Known(operators, apis.LAYERS, apis.ALIASES, apis.declared(), figures)


def _declarations(name: str) -> Any:
    try:
        return importlib.import_module(f"{TABLE}.{name}")
    except ModuleNotFoundError as error:
        if not f"{TABLE}.{name}".startswith(error.name or "?"):
            raise
        raise CoverageError(
            f"{error.name} cannot be imported; run the command in the project's folder"
        ) from None


def counterparts() -> Iterator[tuple[str, str]]:
    """(API of torch, counterpart) of every operator."""
    for operator in _declarations("operators").operators():
        for counterpart in operator.counterparts:
            yield operator.torch, counterpart.api


def gate(device: str) -> Iterator[str]:
    """The names of the cases of the gate, which are not those of operators."""
    return importlib.import_module(GATE).cases(device)


def _references(declared: Mapping[str, Any]) -> Iterator[Layer]:
    """Twins whose reference is an API itself."""
    for name, each in declared.items():
        reference = getattr(each, "reference", "")
        if reference.split(".")[0] in ("torch", "torchvision") and each.differs is None:
            candidate = each.candidate.removeprefix("mindspore.").replace(":", ".")
            told = candidate if each.candidate.startswith("mindspore.") else each.candidate
            yield Layer(reference.replace(":", "."), Counterpart(told), (name,))


def _word(api: str) -> str:
    """The last name without underscores and capitals: in-place, class and function are one."""
    return api.rpartition(".")[2].replace("_", "").lower()


def _larger(one: float | None, other: float | None) -> float | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _add_new(to: list[str], words: Iterable[str]) -> None:
    to += [each for each in words if each not in to]


def _differences(counterpart: Counterpart, api: str, torch: str) -> Iterator[str]:
    yield from counterpart.differs
    for name, (ours, theirs) in counterpart.defaults.items():
        if api == torch or not _defaults_to(api, name, theirs):
            yield f"{name} is {theirs!r} unless told, not {ours!r}"
    for limit, told in counterpart.without.items():
        yield f"{limit.replace('_', ' ')}: {told}"
    if counterpart.integers:
        yield f"integers are {counterpart.integers}"


def _defaults_to(api: str, argument: str, value: Any) -> bool:
    """Whether another API of the same operator has MindSpore's default."""
    from equivalence.coverage import defaults

    try:
        return any(each.get(argument) == value for each in defaults.of_torch(api))
    except SignatureError:
        return False


def _remarks(counterpart: Counterpart) -> Iterator[str]:
    if counterpart.through:
        yield f"as {counterpart.through} calls it"
    for name, other in counterpart.names.items():
        yield f"{name} is {other}"


def command(target: str, arguments: Mapping[str, Any]) -> int:
    """Print the table of a file or of "module:attribute"; returns the exit code."""
    from equivalence.coverage import usage
    from equivalence.coverage.torch_names import computes_nothing

    known = load()
    if ":" in target:
        used = usage.of_module(_built(target, arguments))
    elif arguments:
        raise CoverageError(f"{target} is a file, which takes no --arguments")
    else:
        used = usage.of_file(Path(target))
    if not used.apis:
        raise CoverageError(f"{target} uses no API of PyTorch")
    mapped = {api: known.of(api) for api in sorted(used.apis) if not computes_nothing(api)}
    print("\n".join(table(target, used, mapped, known.figures["versions"])))
    return VERIFIED if all(mapped.values()) else UNVERIFIED


def _built(target: str, arguments: Mapping[str, Any]) -> Any:
    import torch

    from equivalence import torchvision_schemas
    from equivalence.targets import build, part, resolve

    torchvision_schemas.declare_missing()
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = resolve(target)
        if isinstance(found, torch.nn.Module):
            built = part(target, found)
        else:
            built = build(target, arguments)
    except EquivalenceError:
        raise
    except Exception as error:
        raise CoverageError(f"{target} does not build: {type(error).__name__}: {error}") from error
    if not isinstance(built, torch.nn.Module):
        raise CoverageError(f"{target} builds a {type(built).__name__}, not a torch.nn.Module")
    return built


def table(
    target: str,
    used: Any,
    mapped: Mapping[str, list[Mapped]],
    versions: Mapping[str, str],
) -> list[str]:
    """The lines that are shown, what is not verified first."""
    unknown = [api for api, found in mapped.items() if not found]
    places = sum(len(used.apis[api]) for api in mapped)
    lines = [
        f"{target}: {len(mapped)} APIs of PyTorch in {places} places, "
        f"{len(mapped) - len(unknown)} verified, {len(unknown)} not"
    ]
    rows = [row for api in unknown for row in _rows(api, used.apis[api], [])]
    if rows:
        lines += ["", "not verified", *_columns(rows, "")]
    rows = [row for api in mapped if mapped[api] for row in _rows(api, used.apis[api], mapped[api])]
    if rows:
        lines += ["", "verified", *_columns(rows, "differs from PyTorch")]
    return [*lines, "", *_notes(used, mapped, versions)]


def _rows(api: str, places: list[str], found: list[Mapped]) -> Iterator[tuple[str, ...]]:
    from equivalence.coverage.torch_names import look_up
    from equivalence.coverage.usage import told

    where = "" if look_up(api) is not None else "no such name is known; "
    if all(place.isdigit() for place in places):
        where += "line " if len(set(places)) == 1 else "lines "
    yield api, str(len(places)), "", where + told(places)
    for each in found:
        worst = "-" if each.worst is None else f"{each.worst:.2f}"
        yield f"  {each.api}", "", worst, each.words()


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


def _notes(used: Any, mapped: Mapping[str, Any], versions: Mapping[str, str]) -> Iterator[str]:
    from equivalence.coverage.usage import told

    structure = [f"{api} ({len(where)})" for api, where in used.apis.items() if api not in mapped]
    unclear = [f"{name} ({told(where)})" for name, where in used.perhaps.items()]
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

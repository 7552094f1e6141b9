"""Collects files of declarations: each becomes a module of tests, with a test for every case."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from equivalence import torchvision_schemas
from equivalence.declare import data_parallel, initial, pipeline, twin
from equivalence.declare.declaration import demand_declarations
from equivalence.errors import DeclarationError, words
from equivalence.host.devices import places
from equivalence.kinds import Case
from equivalence.plugin.door import declares


class DeclarationKind(NamedTuple):
    """One kind of declarations that a file may hold.

    declaration: their class.
    test: the name of the test that compares their cases.
    cases: gives the cases of a declaration, at all places.
    """

    declaration: type[Any]
    test: str
    cases: Callable[[Any], Iterable[Case]]


def _everywhere(declared: twin.Twin) -> Iterator[Case]:
    for place in places().values():
        yield from twin.cases(declared, place)


KINDS = {
    "TWINS": DeclarationKind(twin.Twin, "test_twin", _everywhere),
    "PIPELINES": DeclarationKind(pipeline.Pipeline, "test_pipeline", pipeline.cases),
    "INITIALS": DeclarationKind(initial.Initial, "test_initial", initial.cases),
    "TRAININGS": DeclarationKind(data_parallel.DataParallel, "test_training", data_parallel.cases),
}
"""What a file calls the tuple of its declarations -> their kind."""

NAMES = pytest.StashKey[dict[tuple[str, str], Path]]()
"""(tuple, name of a declaration) -> the file that has it."""


def parameters(cases: Iterable[Case]) -> list[Any]:
    """The parameters of a test that compares cases: the id of each, and its markers.

    The markers are the device and the level, for `-m "gate and cpu"`.
    """
    devices = {place: device for device, place in places().items()}
    return [
        pytest.param(
            case,
            id=case.name,
            marks=[
                getattr(pytest.mark, devices.get(case.device, case.device)),
                getattr(pytest.mark, case.twin.level),
            ],
        )
        for case in cases
    ]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    patterns = parent.config.getini("python_files")
    if parent.session.isinitpath(file_path) or any(map(file_path.match, patterns)):
        return None  # pytest makes a module of it, by the next hook
    if not declares(parent.config, file_path, named=False):
        return None
    return Declarations.from_parent(parent, path=file_path)


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    named = parent.session.isinitpath(module_path)
    if declares(parent.config, module_path, named):
        return Declarations.from_parent(parent, path=module_path)
    return None


class Declarations(pytest.Module):
    """A file of declarations, as a module with one test for each kind of them."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        # What a declaration names may lie beside it, or where the project begins.
        for folder in map(str, (self.path.parent, self.config.rootpath)):
            if folder not in sys.path:
                sys.path.append(folder)
        try:
            declared = read(self._imported())
            names = self.session.stash.setdefault(NAMES, {})
            for variable, each in declared.items():
                demand_own_names(variable, each, self.path, names)
        except DeclarationError as error:
            raise self.CollectError(f"{self.path}: {error}") from None
        for variable, each in declared.items():
            kind = KINDS[variable]
            every = parameters(case for one in each for case in kind.cases(one))
            setattr(self.obj, kind.test, _test_of(every))
        return super().collect()

    def _imported(self) -> Any:
        """The module. Raises DeclarationError where it cannot be imported."""
        torchvision_schemas.declare_missing()
        try:
            return self.obj
        except (Exception, SystemExit) as error:
            cause: Any = error.__cause__ if isinstance(error, self.CollectError) else None
            cause = cause or error
            if isinstance(cause, DeclarationError):
                raise DeclarationError(words(cause)) from None
            raise DeclarationError(
                f"cannot be imported: {type(cause).__name__}: {words(cause)}"
            ) from None


def _test_of(every: list[Any]) -> Callable[..., None]:
    @pytest.mark.parametrize("case", every)
    def test(case, compare):
        compare(case)

    return test


def read(module: Any) -> dict[str, tuple[Any, ...]]:
    """What a module declares, by the name of the tuple. Raises DeclarationError."""
    found = {name: vars(module)[name] for name in KINDS if name in vars(module)}
    if not found:
        raise DeclarationError(
            "has no tuple TWINS; write TWINS = (Twin(...),), or rename the file if it declares "
            "nothing"
        )
    for name, declared in found.items():
        demand_declarations(name, KINDS[name].declaration, declared)
    demand_kept(vars(module), found)
    return found


def demand_kept(variables: Mapping[str, Any], found: Mapping[str, tuple[Any, ...]]) -> None:
    """Demand that every declaration that has a name of its own is in a tuple."""
    kept = {id(each) for declared in found.values() for each in declared}
    for variable, value in variables.items():
        for name, kind in KINDS.items():
            if isinstance(value, kind.declaration) and id(value) not in kept:
                raise DeclarationError(
                    f"{variable} holds the {kind.declaration.__name__.lower()} {value.name!r}, "
                    f"which would not be compared; add it to {name}"
                )


def demand_own_names(
    variable: str, declared: Iterable[Any], file: Path, names: dict[tuple[str, str], Path]
) -> None:
    """Demand that no other declaration of a kind has the same name, in any file."""
    for each in declared:
        other = names.setdefault((variable, each.name), file)
        if other != file or sum(one.name == each.name for one in declared) > 1:
            where = f", too, in {other}" if other != file else " twice"
            raise DeclarationError(
                f"{type(each).__name__.lower()} {each.name!r} is declared{where}; rename one"
            )

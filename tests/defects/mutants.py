"""Candidates with a defect, as the engine builds them: "tests.defects.mutants:<defect>"."""

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any

from equivalence.declare import pipeline as pipelines
from equivalence.declare.pipeline import Pipeline, PipelineCase
from equivalence.declare.twin import Twin, TwinCase, cases
from equivalence.errors import DeclarationError
from equivalence.host.devices import places
from equivalence.targets import build
from tests import pipelines as declared_pipelines
from tests.defects import catalogue
from tests.defects.defect import AXES, Defect
from tests.defects.twins import HIDDEN, TWINS
from tests.twins import declared

DEFAULTS = {"phase": "train", "dtype": "float32", "execution": "pynative"}


@functools.cache
def _twins() -> dict[str, Twin | Pipeline]:
    return by_name((*declared(), *TWINS, *HIDDEN, *declared_pipelines.declared()))


def by_name(every: Iterable[Twin | Pipeline]) -> dict[str, Twin | Pipeline]:
    """Twins by their names. Raises DeclarationError where two have one name."""
    found: dict[str, Twin | Pipeline] = {}
    for twin in every:
        if found.setdefault(twin.name, twin) is not twin:
            raise DeclarationError(
                f"two twins are called {twin.name!r}: a mistake in one would be put into the other"
            )
    return found


@functools.cache
def _defects() -> dict[str, Defect]:
    return {defect.name: defect for defect in catalogue()}


def right_case(defect: Defect) -> TwinCase | PipelineCase:
    """The case that the defect is put into. Raises DeclarationError when its twin has none."""
    twin = _twins().get(defect.twin)
    if twin is None:
        raise DeclarationError(f"defect {defect.name!r}: there is no twin {defect.twin!r}")
    pipeline = isinstance(twin, Pipeline)
    axes = {key: value for key, value in defect.where.items() if key in AXES}
    axes = axes if pipeline else DEFAULTS | axes
    pictures = axes.pop("pictures", None)
    config = {key: value for key, value in defect.where.items() if key not in AXES}
    for case in pipelines.cases(twin) if pipeline else cases(twin, places()["cpu"]):
        fits = all(getattr(case, axis) == value for axis, value in axes.items())
        if fits and config.items() <= dict(case.config).items():
            return dataclasses.replace(case, pictures=pictures) if pictures else case
    raise DeclarationError(
        f"defect {defect.name!r}: twin {twin.name!r} has no case {axes | config}"
    )


def with_defect(case: TwinCase | PipelineCase, defect: Defect) -> TwinCase | PipelineCase:
    """The case with the defect in its candidate; sample and truth stay those of the case."""
    changes: dict[str, Any] = {}
    if defect.edit is not None or defect.arguments is not None:
        changes["candidate"] = f"{__name__}:{defect.name}"
    elif defect.candidate is not None:
        changes["candidate"] = defect.candidate
    else:
        changes["rename"] = defect.rename
    return dataclasses.replace(case, twin=dataclasses.replace(case.twin, **changes))


def __getattr__(name: str) -> Callable[..., Any]:
    """The constructor of the candidate that has the defect of this name."""
    if name.startswith("__") or name not in _defects():
        raise AttributeError(f"there is no defect {name!r}")
    return functools.partial(_build, _defects()[name])


def _build(defect: Defect, **arguments: Any) -> Any:
    target = _twins()[defect.twin].candidate
    cell = build(target, {**arguments, **(defect.arguments or {})})
    edited = defect.edit(cell) if defect.edit is not None else None
    return cell if edited is None else edited

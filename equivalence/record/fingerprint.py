"""What a record belongs to: the fingerprint of one side of a case, and the digest of its values.

A record may be used only where a run would give the same. The fingerprint tells by the
declaration and the sources, before anything is drawn; the digest tells by the very numbers that
the candidate gets.
"""

import ast
import functools
import hashlib
import importlib.metadata
import json
import math
import zlib
from collections.abc import Iterator, Mapping
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np

from equivalence.declare.twin import Case
from equivalence.judge.sketch import Sketch
from equivalence.judge.truth import Reference
from equivalence.sample import Sample

FORMAT = 2
"""Of a record. To be raised when the engine changes what a truth or a sensitivity is, or what is
told of a reference."""

CANDIDATE_FORMAT = "candidate 1"
"""Of a recorded candidate. To be raised when the engine changes what a trace is."""

PACKAGES = ("torch", "torchvision")
FRAMEWORKS = (*PACKAGES, "mindspore")
"""Sources that are known by their version."""


def key(case: Case, seed: int, unit_roundoff: float) -> str:
    """Names a record: devices that compute in the same precision share it."""
    return f"{case.sample_name} seed={seed} u=2^{round(math.log2(unit_roundoff))}"


def candidate_key(case: Case, seed: int, unit_roundoff: float) -> str:
    """Names a recorded candidate."""
    return f"{case.name} {key(case, seed, unit_roundoff).partition(' ')[2]}"


def fingerprint(case: Case, seed: int, unit_roundoff: float) -> str:
    """A SHA-256 of all that determines the truth, but for the engine itself and its libraries."""
    twin = case.twin
    own = {"format": FORMAT, "reference": twin.reference, "sources": sources(twin.reference)}
    return _sum(_declared(case, seed, unit_roundoff) | own | {"sketch": _sketch()})


def candidate_fingerprint(case: Case, seed: int, unit_roundoff: float) -> str:
    """A SHA-256 of all that determines the candidate's run, but for the engine and MindSpore."""
    twin = case.twin
    own = {
        "format": CANDIDATE_FORMAT,
        "candidate": twin.candidate,
        "sources": sources(twin.candidate),
        "case": case.name,
        "sizes": twin.sizes,
        "rename": dict(twin.rename),
    }
    return _sum(_declared(case, seed, unit_roundoff) | own)


def _declared(case: Case, seed: int, unit_roundoff: float) -> dict[str, Any]:
    """What both sides are given."""
    twin = case.twin
    return {
        "arguments": case.arguments,
        "dimensions": case.dimensions,
        "inputs": [str(draw) for draw in twin.inputs],
        "phase": case.phase,
        "dtype": case.dtype,
        "steps": twin.steps,
        "computes": twin.computes,
        "raises": twin.raises,
        "random_layers": twin.random_layers,
        "seed": seed,
        "unit_roundoff": unit_roundoff,
    }


def _sum(declared: dict[str, Any]) -> str:
    text = json.dumps(declared, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _sketch() -> str:
    """Changes when sketches are made otherwise, by the engine or by NumPy's generator."""
    values = np.arange(1.0, 2001.0)
    return hashlib.sha256(Sketch(values.shape, ("fingerprint",)).of(values)).hexdigest()


@functools.cache
def sources(target: str) -> str:
    """A SHA-256 of the module of "module:attribute" and of all that it imports of its package.

    Found without importing any. The frameworks, which have versions, count for nothing.
    """
    module = target.partition(":")[0]
    top = module.partition(".")[0]
    sums, waiting = {}, [module]
    while waiting and top not in FRAMEWORKS:
        name = waiting.pop()
        path = _file(name)
        if name in sums or path is None:
            continue
        text = path.read_text()
        sums[name] = hashlib.sha256(text.encode()).hexdigest()
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        waiting += [found for found in _imported(text, package) if found.partition(".")[0] == top]
        waiting += [package] if package else []
    return hashlib.sha256(json.dumps(sums, sort_keys=True).encode()).hexdigest()


def _file(module: str) -> Path | None:
    """The source of a module; None where there is none, such as for an attribute."""
    path: list[str] | None = None
    for end in range(len(parts := module.split("."))):
        found = PathFinder.find_spec(".".join(parts[: end + 1]), path)
        if found is None:
            return None
        path = found.submodule_search_locations
    return Path(found.origin) if found.origin and found.origin.endswith(".py") else None


def _imported(text: str, package: str) -> Iterator[str]:
    """The modules that a source imports, perhaps with attributes of them taken for modules."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))


def digest(
    sample: Sample,
    weights: Mapping[str, tuple[int, ...]],
    pulled_back: Mapping[int, tuple[int, ...]],
    steps: int | None,
) -> int:
    """A CRC-32 of every input, weight and cotangent that the candidate gets.

    weights: shapes by the reference's names; pulled_back: those of the outputs with a cotangent.
    """
    values = [x for step in range(1, (steps or 1) + 1) for x in sample.inputs(step)]
    values += [sample.weight(name, shape) for name, shape in weights.items()]
    values += [sample.cotangent(i, shape) for i, shape in pulled_back.items()]
    crc = 0
    for each in values:
        crc = zlib.crc32(np.ascontiguousarray(each), crc)
    return crc


def digest_of(known: Reference, steps: int | None) -> int:
    """The digest of a reference's sample."""
    shapes = {name: slot.shape for name, slot in known.slots.items()}
    return digest(known.sample, shapes, known.expected.pulled_back, steps)


def version(package: str) -> str | None:
    """The installed version without its build, "2.13.0" of "2.13.0+cpu"; None where there is none.

    The package is not imported.
    """
    try:
        return importlib.metadata.version(package).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


def versions(packages: tuple[str, ...] = (*PACKAGES, "numpy")) -> dict[str, str | None]:
    """Of what a record is made with; a truth, if nothing else is said."""
    return {package: version(package) for package in packages}


def other_version(case: Case, made: dict[str, str | None]) -> str | None:
    """Which library would give another network than was recorded, in words; None if none would.

    Networks of torchvision are sources of another project: its version stands for them. One that
    is not installed changes nothing.
    """
    if not case.twin.reference.startswith("torchvision."):
        return None
    here = version("torchvision")
    if here is None or here == made["torchvision"]:
        return None
    return f"recorded with torchvision {made['torchvision']}, and {here} is installed"

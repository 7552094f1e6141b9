"""What a record belongs to: the fingerprint of a sample's reference, and the digest of its values.

A record may be used only where a run would give the same truth. The fingerprint tells by the
declaration and the sources, before anything is drawn; the digest tells by the very numbers that
the candidate is going to get.
"""

import ast
import functools
import hashlib
import importlib.metadata
import json
import math
import zlib
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path

import numpy as np

from equivalence.known import Reference
from equivalence.sample import Sample
from equivalence.sketch import Sketch
from equivalence.twin import Case

FORMAT = 1
"""Of a record. To be raised when the engine changes what a truth or a sensitivity is."""

PACKAGES = ("torch", "torchvision")
"""Sources that are known by their version."""


def key(case: Case, seed: int, unit_roundoff: float) -> str:
    """Names a record: devices that compute in the same precision share it."""
    return f"{case.sample_name} seed={seed} u=2^{round(math.log2(unit_roundoff))}"


def fingerprint(case: Case, seed: int, unit_roundoff: float) -> str:
    """A SHA-256 of all that determines the truth, but for the engine itself and its libraries."""
    twin = case.twin
    declared = {
        "format": FORMAT,
        "reference": twin.reference,
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
        "sources": sources(twin.reference),
        "sketch": _sketch(),
    }
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

    Found without importing any. Torch and torchvision, which have versions, count for nothing.
    """
    module = target.partition(":")[0]
    top = module.partition(".")[0]
    sums, waiting = {}, [module]
    while waiting and top not in PACKAGES:
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


def digest(known: Reference, steps: int | None) -> int:
    """A CRC-32 of every input, weight and cotangent that the candidate gets."""
    sample: Sample = known.sample
    values = [x for step in range(1, (steps or 1) + 1) for x in sample.inputs(step)]
    values += [sample.weight(name, slot.shape) for name, slot in known.slots.items()]
    values += [sample.cotangent(i, shape) for i, shape in known.expected.pulled_back.items()]
    crc = 0
    for each in values:
        crc = zlib.crc32(np.ascontiguousarray(each), crc)
    return crc


def version(package: str) -> str | None:
    """The installed version without its build, "2.13.0" of "2.13.0+cpu"; None where there is none.

    The package is not imported.
    """
    try:
        return importlib.metadata.version(package).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


def versions() -> dict[str, str | None]:
    """Of what a truth is made with."""
    return {package: version(package) for package in (*PACKAGES, "numpy")}


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

"""Decides whether a record belongs to a case: by a fingerprint of its declaration, and by a digest.

A record may be used only if a run would give the same. The fingerprint compares the declaration
and the sources, before a sample is drawn. The digest compares the inputs, weights and cotangents
that the candidate gets.
"""

import ast
import functools
import hashlib
import importlib.metadata
import json
import math
import sys
import zlib
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np

from equivalence import folders
from equivalence.checkpoints import files
from equivalence.declare.draws import Draw
from equivalence.declare.network import Network
from equivalence.declare.twin import TwinCase
from equivalence.judge.sketch import Sketch
from equivalence.judge.tensors import Shapes
from equivalence.sample import Sample
from equivalence.truth.known import Reference

MEANING = 7
"""What a recorded truth is. Raise it when the engine changes what a truth or a unit means: all
records are stale then. How a file is written has a number of its own, `store.FORMAT`."""

CANDIDATE_MEANING = "candidate 2"
"""What a recorded run of a candidate is. Raise it when the engine changes what a trace holds."""

PACKAGES = ("torch", "torchvision")
"""Packages on which a truth depends."""

FRAMEWORKS = (*PACKAGES, "mindspore")
"""Packages whose version stands for their sources."""


def key(case: TwinCase, seed: int, products: float) -> str:
    """The name of a recorded truth; devices that compute in the same precision share it."""
    return f"{case.recorded.sample} seed={seed} u=2^{round(math.log2(products))}"


def candidate_key(case: TwinCase, seed: int, products: float) -> str:
    """The name of a recorded candidate."""
    return f"{case.name} {key(case, seed, products).partition(' ')[2]}"


def fingerprint(case: TwinCase, seed: int, products: float) -> str:
    """A SHA-256 of everything that determines the truth, except the engine and its libraries."""
    twin = case.twin
    own = {
        "format": MEANING,
        "reference": folders.split(twin.reference)[1],
        "sources": sources(twin.reference),
    }
    own |= _networks(case, "reference")
    declared = {**_declared(case, seed, products), **case.recorded.determining}
    return _sum(declared | own | {"sketch": _sketch()})


def candidate_fingerprint(case: TwinCase, seed: int, products: float) -> str:
    """A SHA-256 of everything that determines the run, except the engine and MindSpore."""
    twin = case.twin
    own = {
        "arguments": case.arguments,
        "dimensions": case.dimensions,
        "format": CANDIDATE_MEANING,
        "candidate": folders.split(twin.candidate)[1],
        "sources": _candidate_sources(twin.candidate),
        "case": case.name,
        "sizes": twin.sizes,
        "rename": dict(twin.rename),
    }
    own |= _networks(case, "candidate")
    if twin.pair != "name":
        own["pair"] = twin.pair
    return _sum(_declared(case, seed, products) | own)


def _candidate_sources(target: str) -> str:
    """The SHA-256 of a candidate's sources, or of the file of an exported graph."""
    return files.digest(target) if folders.is_exported(target) else sources(target)


def _networks(case: TwinCase, side: str) -> dict[str, Any]:
    """The sources of a side's networks among the arguments, where there are any."""
    found = [each for each in case.arguments.values() if isinstance(each, Network)]
    return {"networks": [sources(getattr(each, side)) for each in found]} if found else {}


def _declared(case: TwinCase, seed: int, products: float) -> dict[str, Any]:
    """The part of the declaration that both sides share."""
    twin = case.twin
    given: dict[str, Any] = {}
    given |= {"weights": files.digest(str(twin.weights))} if twin.weights else {}
    given |= {} if twin.backward else {"backward": False}
    return given | {
        "inputs": _identified(twin.inputs),
        "phase": case.phase,
        "dtype": case.dtype,
        "steps": twin.steps,
        "computes": twin.computes,
        "raises": twin.raises and twin.raises.error,
        "random_layers": twin.random_layers,
        "seed": seed,
        "unit_roundoff": products,
    }


def _identified(inputs: Any) -> Any:
    """The inputs as JSON: a list of texts, or keywords with texts. Files count by their content."""
    if isinstance(inputs, dict):
        return {key: _spelled(each) for key, each in inputs.items()}
    return [_spelled(each) for each in inputs]


def _spelled(tree: Any) -> str:
    """One input as text: the identity of a draw, or constants and draws with what holds them."""
    if isinstance(tree, Draw):
        return tree.identity
    if isinstance(tree, dict):
        return f"{{{', '.join(f'{key!r}: {_spelled(child)}' for key, child in tree.items())}}}"
    if isinstance(tree, tuple | list):
        return f"{type(tree).__name__}({', '.join(map(_spelled, tree))})"
    return repr(tree)


def _sum(declared: dict[str, Any]) -> str:
    """A SHA-256 of a declaration as JSON."""
    text = json.dumps(declared, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _sketch() -> str:
    """A SHA-256 of one sketch; another engine or generator of NumPy may give another one."""
    values = np.arange(1.0, 2001.0)
    return hashlib.sha256(Sketch(values.shape, ("fingerprint",)).of(values).data).hexdigest()


@functools.cache
def sources(target: str) -> str:
    """A SHA-256 of a target's module and of all modules of its package that it imports.

    target: "module:attribute". No module is imported for this. Modules of the frameworks are left
    out, since their version stands for them.
    """
    folder, rest = folders.split(target)
    module = rest.partition(":")[0]
    top = module.partition(".")[0]
    sums, waiting = {}, [module]
    while waiting and top not in FRAMEWORKS:
        name = waiting.pop()
        path = _file(name, folder)
        if name in sums or path is None:
            continue
        text = path.read_text()
        sums[name] = hashlib.sha256(text.encode()).hexdigest()
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        found = imported(ast.parse(text), package)
        waiting += [each for each in found if each.partition(".")[0] == top]
        waiting += [package] if package else []
    return hashlib.sha256(json.dumps(sums, sort_keys=True).encode()).hexdigest()


def _file(module: str, folder: str) -> Path | None:
    """The source file of a module; None without one, for instance for an attribute.

    folder: where to look first; "" is no folder.
    """
    path: list[str] | None = [folder, *sys.path] if folder else None
    found = None
    for end in range(len(parts := module.split("."))):
        found = PathFinder.find_spec(".".join(parts[: end + 1]), path)
        if found is None:
            return None
        path = found.submodule_search_locations
    origin = found.origin if found else None
    return Path(origin) if origin and origin.endswith(".py") else None


def imported(source: ast.AST, package: str) -> Iterator[str]:
    """The modules that a source imports; some of the names may be attributes instead.

    package: the package that the source is in, for its relative imports.
    """
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))


def digest(sample: Sample, weights: Shapes, pulled_back: Shapes, calls: int) -> int:
    """A CRC-32 of every input, weight and cotangent that the candidate gets.

    weights: the shapes of the weights, by the reference's names.
    pulled_back: the shapes of the outputs with a cotangent, by name.
    calls: how many times a run calls the candidate.
    """
    values = [x for step in range(1, calls + 1) for x in sample.inputs(step)]
    values += [sample.weight(name, shape) for name, shape in weights.items()]
    values += [sample.cotangent(i, shape) for i, shape in pulled_back.items()]
    crc = 0
    for each in values:
        crc = zlib.crc32(np.ascontiguousarray(each).data, crc)
    return crc


def digest_of(reference: Reference, calls: int) -> int:
    """The digest of a reference's sample."""
    shapes = {name: slot.shape for name, slot in reference.slots.items()}
    return digest(reference.sample, shapes, reference.expected.pulled_back, calls)


@functools.cache  # each record asks, and a package's metadata takes milliseconds to read
def version(package: str) -> str | None:
    """The installed version of a package without its build: "2.13.0" for "2.13.0+cpu".

    Returns None if the package is not installed. The package is not imported.
    """
    try:
        return importlib.metadata.version(package).partition("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return None


def versions(packages: tuple[str, ...] = (*PACKAGES, "numpy")) -> dict[str, str | None]:
    """The installed versions of packages; by default, of those on which a truth depends."""
    return {package: version(package) for package in packages}


def other_version(case: TwinCase, recorded: dict[str, str | None]) -> str | None:
    """Which library may give another network than the recorded one, in words; None if none may.

    recorded: the versions in the record.

    The version of torchvision stands for the sources of its networks, and the version of torch for
    its functions, of which operators are compared. A package that is not installed changes nothing.
    """
    package = case.recorded.source.partition(".")[0]
    if package not in PACKAGES or (package == "torch" and not case.alone):
        return None
    here = version(package)
    if here is None or here == recorded[package]:
        return None
    return f"recorded with {package} {recorded[package]}, and {here} is installed"

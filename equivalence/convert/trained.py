"""The weights of a checkpoint, for both sides of a case: `Twin.weights`.

A PyTorch file has the reference's names. Those of a MindSpore file are paired as the case pairs its
weights. Nothing is left over and nothing is cast in silence: a file that does not fit is an error.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from equivalence import dtypes
from equivalence.checkpoints import files
from equivalence.checkpoints.formats import MINDSPORE, Checkpoint, StoredWeight
from equivalence.convert import joined, optimizer_state, source
from equivalence.declare.twin import TwinCase
from equivalence.errors import TorchMissingError, WeightError
from equivalence.host import environment
from equivalence.judge import tensors
from equivalence.sides.protocols import ReferenceSide
from equivalence.structure import pairing
from equivalence.structure.weights import REFERENCE_ONLY, comparable
from equivalence.words import nearest

if TYPE_CHECKING:
    from equivalence.sides.mindspore_network import MindSporeNetwork


class LazyValues(Mapping[str, np.ndarray]):
    """Name -> values, which are read when they are asked for, and not kept.

    names: the names. read: gives the values of a name.
    """

    def __init__(self, names: Iterable[str], read: Callable[[str], np.ndarray]):
        self._names, self._read = dict.fromkeys(names), read

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise KeyError(name)
        return self._read(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


_last: list[tuple[tuple, Mapping[str, np.ndarray]]] = []


def weights(
    case: TwinCase,
    build_reference: Callable[[TwinCase], ReferenceSide],
    build_candidate: "Callable[[TwinCase], MindSporeNetwork]",
) -> Mapping[str, np.ndarray]:
    """The reference's name -> values of each weight, in the case's dtype, from `Twin.weights`.

    They are kept until another case asks; those of a case by layer stay in the file. Raises
    EquivalenceError where the file cannot be read or does not fit the reference one to one.
    """
    twin = case.twin
    file = str(twin.weights)
    sides = (twin.reference, twin.candidate, twin.steps, case.dtype, repr(case.arguments))
    key = (files.digest(file), *sides)
    if not (_last and _last[0][0] == key):
        _last[:] = [(key, _read(case, Path(file), build_reference, build_candidate))]
    return _last[0][1] if twin.by_layer else dict(_last[0][1])


def _read(
    case: TwinCase, path: Path, build_reference: Callable, build_candidate: Callable
) -> Mapping[str, np.ndarray]:
    framework = files.framework_of(path)
    if not environment.installed("torch"):
        return _by_record(case, path, framework)
    read = files.read(path, framework)
    reference = build_reference(case)
    if framework == MINDSPORE:
        read.weights = _translated(case, path, read, reference, build_candidate(case))
    else:
        source.unwrap(read, reference.names())
    _demand_fits(path, read.weights, reference)
    names = reference.names()
    drawn = [n for n, slot in reference.slots().items() if not slot.is_constant and not _counts(n)]
    own = {names.get(name, name): weight for name, weight in read.weights.items()}
    given = LazyValues(drawn, lambda name: _rounded(path, name, own[name], case))
    return given if case.twin.by_layer else dict(given)


def _by_record(case: TwinCase, path: Path, framework: str) -> Mapping[str, np.ndarray]:
    """The weights on a host without torch, where a record vouches that they fit."""
    if framework == MINDSPORE or path.suffix != ".safetensors":
        raise TorchMissingError(
            f"{case.name}: {path} is read with torch, which is not installed; save the weights "
            f"as a .safetensors with the reference's names"
        )
    read = files.read(path, framework)
    source.unwrap(read, ())
    floats = {n: weight for n, weight in read.weights.items() if "float" in weight.dtype}
    return {name: _rounded(path, name, weight, case) for name, weight in floats.items()}


def _translated(
    case: TwinCase,
    path: Path,
    read: Checkpoint,
    reference: ReferenceSide,
    candidate: "MindSporeNetwork",
) -> dict[str, StoredWeight]:
    """The weights of a MindSpore file by the reference's names, without an optimiser's state."""
    slots = candidate.slots()
    partners = pairing.partners(case, reference.slots(), slots)
    paths = {parameter.name: name for name, parameter in candidate.parameters.items()}
    state = optimizer_state.state_names(read.weights)
    own = {paths.get(n, n): weight for n, weight in read.weights.items() if n not in state}
    strange = [name for name in own if name not in slots]
    if strange:
        raise WeightError(
            f"{path} holds {strange[0]}, which the candidate does not have"
            f"{nearest(strange[0], slots)}{_others(strange)}"
        )
    found = {partners[name]: weight for name, weight in own.items() if name in partners}
    for group in partners.groups:
        if own.keys() >= group.candidate.keys():
            found |= joined.to_reference(group, own)
    return found


def _demand_fits(path: Path, found: Mapping[str, StoredWeight], reference: ReferenceSide) -> None:
    """Raise WeightError unless the file has all weights of the reference, and no others."""
    slots, names = reference.slots(), reference.names()
    own = {names.get(name, name): name for name in found}
    missing = [n for n, slot in slots.items() if not (n in own or slot.is_constant or _counts(n))]
    strange = [name for name in found if names.get(name, name) not in slots and not _counts(name)]
    if missing:
        name = missing[0]
        some = set(own) & set(slots)
        cure = "" if some else "; convert takes a part of a file, with --key and --strip"
        raise WeightError(
            f"{path} lacks {name} {slots[name].shape} of the reference"
            f"{nearest(name, strange or found)}{_others(missing)}{cure}"
        )
    if strange:
        raise WeightError(
            f"{path} holds {strange[0]} {found[strange[0]].shape}, which the reference does not "
            f"have{nearest(strange[0], slots)}{_others(strange)}"
        )
    made = reference.constants.trace(reference.module)
    for name, weight in found.items():
        head = names.get(name, name)
        if _counts(head):
            continue
        if weight.shape != slots[head].shape:
            raise WeightError(
                f"{path}: {name} is {weight.shape}, and the reference has {slots[head].shape}"
            )
        if head != name and head in found and not weight.same(found[head]):
            raise WeightError(
                f"{path}: {name} and {head} are one weight of the reference, and differ"
            )
        kept = made.get(tensors.buffer(head))
        if slots[head].is_constant and kept is not None:
            _demand_constant(path, name, weight, kept)
        elif "float" not in weight.dtype:
            raise WeightError(f"{path}: {name} is {weight.dtype}, and the reference's is a float")


def _demand_constant(path: Path, name: str, weight: StoredWeight, kept: np.ndarray) -> None:
    """Raise WeightError if the file has other values of a constant than the constructor makes."""
    values = comparable(_numbers(weight))
    if not np.array_equal(values, kept, equal_nan=values.dtype.kind == "f"):
        raise WeightError(
            f"{path}: {name} has other values than the reference's constructor makes; such a "
            f"buffer is a part of the network, and is not loaded"
        )


def _numbers(weight: StoredWeight) -> np.ndarray:
    """The values of a weight; bfloat16 as the same numbers in float32."""
    if weight.dtype != "bfloat16":
        return weight.values
    return (weight.values.astype(np.uint32) << 16).view(np.float32)


def _rounded(path: Path, name: str, weight: StoredWeight, case: TwinCase) -> np.ndarray:
    """The values of a weight in the case's dtype.

    They must be exact in it, but for half precision, to which a case rounds all weights.
    """
    values = _numbers(weight)
    if values.dtype.kind == "f" and np.isnan(values).any():
        count, first = np.isnan(values).sum(), np.argwhere(np.isnan(values))[0]
        raise WeightError(
            f"{path}: {name} is NaN in {count} of {values.size} elements, the first at "
            f"{tuple(map(int, first))}, so that no run tells anything: save it again from a state "
            "before that"
        )
    with np.errstate(over="ignore"):
        rounded = dtypes.rounded(np.array(values), case.dtype)  # files are read as they lie
    if case.dtype in dtypes.HALVES:
        exact = np.array_equal(np.isinf(rounded), np.isinf(values))
    else:
        exact = np.array_equal(rounded.astype(values.dtype), values, equal_nan=True)
    if not exact:
        raise WeightError(
            f"{path}: {name} is {weight.dtype} with values that {case.dtype} does not have; save "
            f"it as {case.dtype}, since neither side gets others"
        )
    return rounded


def _counts(name: str) -> bool:
    """Whether a name is PyTorch's count of batches, which starts at zero on both sides."""
    return name.rpartition(".")[2] in REFERENCE_ONLY


def _others(names: list[str]) -> str:
    return f" ({len(names) - 1} more alike)" if len(names) > 1 else ""

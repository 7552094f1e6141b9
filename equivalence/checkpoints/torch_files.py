"""Reads and writes PyTorch's checkpoints: a state dict, alone or with the optimiser's."""

import pickle
import pickletools
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from equivalence.checkpoints.formats import (
    Checkpoint,
    StoredWeight,
    TorchOptimizer,
    damaged,
    weight_of,
)
from equivalence.errors import CheckpointError
from equivalence.words import listed

STATE_DICT_KEYS = ("state_dict", "model", "model_state_dict")
"""Keys under which a training's file may have its state dict."""
OPTIMIZER_KEYS = ("optimizer", "optimizer_state_dict")
"""Keys under which a training's file may have the optimiser's state dict."""

PICKLES = 4
"""How many pickles an older file, which is no archive, begins with."""

OBJECTS = (
    "holds Python objects (a whole module, perhaps), which are not loaded; save "
    "model.state_dict() and convert that"
)
"""What is wrong with a file whose weights are in an object."""

REFUSALS = ("Unsupported", "is blocked", "Only persistent_load of storage")
"""What torch says of a pickle that it does not run."""


class NotImported:
    """Stands for an object of a class that is not imported. It keeps nothing of it."""

    def __new__(cls, *_: Any, **__: Any) -> "NotImported":
        return object.__new__(cls)

    def __init__(self, *_: Any, **__: Any):
        pass

    def __setstate__(self, state: Any) -> None:
        pass


def read_torch(
    path: Path, _framework: str, head: bytes, verify: bool = True, key: str | None = None
) -> Checkpoint:
    """Read a PyTorch file; `head` are its first bytes. Raises CheckpointError.

    verify: whether its checksums are computed.
    key: where the state dict is, "model" or "ema.module"; None looks for it.
    """
    import torch

    loaded, archive = _load(path, head, verify)
    state, extras = _state_dict(path, loaded, key)
    optimizer = next((key for key in OPTIMIZER_KEYS if key in extras), None)
    weights: dict[str, StoredWeight] = {}
    aliases: dict[str, str] = {}
    storages: dict[tuple, str] = {}
    for name, tensor in state.items():
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_meta:
            raise CheckpointError(f"{path}: {name} is no dense tensor; only those are converted")
        storage = (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride())
        first = storages.setdefault(storage, name) if tensor.numel() else name
        if first != name:
            aliases[name] = first
            weights[name] = weights[first]
            continue
        weights[name] = _weight(path, name, tensor)
    checkpoint = Checkpoint(weights, aliases, extras, checked=archive)
    if optimizer:
        checkpoint.optimizer = _optimizer(path, loaded[optimizer], optimizer)
        checkpoint.extras = tuple(name for name in extras if name != optimizer)
    return checkpoint


def read_arrays(path: Path) -> dict[str, StoredWeight]:
    """All tensors of a PyTorch file, by their keys joined with dots; "" for a tensor by itself.

    Raises CheckpointError for a file that is missing, empty or damaged, or holds objects.
    """
    import torch

    with path.open("rb") as file:
        head = file.read(64)
    if not head:
        raise CheckpointError(f"{path} is empty; write it again")
    found: dict[str, StoredWeight] = {}

    def take(name: str, value: Any) -> None:
        if isinstance(value, NotImported):
            raise CheckpointError(f"{path} {OBJECTS}")
        if isinstance(value, torch.Tensor):
            if value.layout != torch.strided or value.is_quantized or value.is_meta:
                raise CheckpointError(f"{path}: {name or 'its content'} is no dense tensor")
            found[name] = _weight(path, name, value)
        elif isinstance(value, Mapping):
            for key, each in value.items():
                take(f"{name}.{key}" if name else str(key), each)
        elif isinstance(value, tuple | list):
            for place, each in enumerate(value):
                take(f"{name}.{place}" if name else str(place), each)

    take("", _load(path, head)[0])
    return found


def _load(path: Path, head: bytes, verify: bool = True) -> tuple[Any, bool]:
    """The content of a PyTorch file, and whether it is an archive, which has checksums."""
    import torch

    try:
        archive = zipfile.is_zipfile(path)
        # torch.load does not look at the archive's checksums.
        if archive and verify:
            _demand_sums(path)
        with warnings.catch_warnings(), torch.serialization.safe_globals(_known(path, archive)):
            warnings.simplefilter("ignore")
            loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=archive)
    except CheckpointError:
        raise
    except Exception as error:  # a damaged pickle can raise anything
        refused = isinstance(error, pickle.UnpicklingError)
        unsafe = refused and any(words in str(error) for words in REFUSALS)
        if (unsafe and head.startswith((b"PK", b"\x80"))) or "TorchScript" in str(error):
            raise CheckpointError(f"{path} {OBJECTS}") from None
        raise damaged(path, "PyTorch", head) from None
    return loaded, archive


def _demand_sums(path: Path) -> None:
    """Raise CheckpointError if a part of an archive has another checksum, or is there twice."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(set(names)) != len(names):
            raise CheckpointError(f"{path} is damaged: it has a part twice; save it again")
        if archive.testzip() is not None:
            raise CheckpointError(
                f"{path} is damaged: its checksum does not match (or it was saved with "
                f"set_crc32_options(False)); copy, download or save it again"
            )


def _known(path: Path, archive: bool) -> list[Any]:
    """What torch may use for the classes and functions that a file names.

    It is torch that decides on its own ones. NumPy's scalars are made; `NotImported` stands for
    everything else, such as the arguments of a command line, and nothing of that is imported.
    """
    scalars = np.float64(0).__reduce__()[0]
    known: list[Any] = [np.dtype, *{type(np.dtype(code)) for code in "?bhilqBHILQefd"}]
    known += [(scalars, f"numpy.{core}.multiarray.scalar") for core in ("core", "_core")]
    own = {each[1] if isinstance(each, tuple) else "numpy.dtype" for each in known}
    for name in set(_named(path, archive)) - own:
        module, _, leaf = name.rpartition(".")
        if module.partition(".")[0] != "numpy" or not leaf.endswith("DType"):
            known.append((type(leaf, (NotImported,), {"__module__": module}), name))
    return known


def _named(path: Path, archive: bool) -> Iterator[str]:
    """The dotted names of all classes and functions in a file's pickles, which are not run."""
    if archive:
        with zipfile.ZipFile(path) as parts:
            pickles = [name for name in parts.namelist() if name.endswith("/data.pkl")]
            contents = [parts.open(name) for name in pickles]
            for content in contents:
                yield from _globals(content)
        return
    with path.open("rb") as content:
        for _ in range(PICKLES):
            yield from _globals(content)


def _globals(content: Any) -> Iterator[str]:
    for operation, argument, _ in pickletools.genops(content):
        if operation.name == "GLOBAL":
            yield str(argument).replace(" ", ".")


def _weight(path: Path, name: str, tensor: Any) -> StoredWeight:
    """The values of a tensor as a weight; no copy where they are contiguous."""
    import torch

    content = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    dtype = str(tensor.dtype).removeprefix("torch.")
    return weight_of(path, name, dtype, tuple(tensor.shape), content.view(torch.uint8).numpy())


def _optimizer(path: Path, loaded: Any, key: str) -> TorchOptimizer:
    """The state dict of an optimiser; CheckpointError where there is none, or it has no tensors.

    key: where it is in the file.
    """
    import torch

    try:
        state, groups = loaded["state"], [dict(group) for group in loaded["param_groups"]]
        numbers = [number for group in groups for number in group["params"]]
        entries = {number: dict(state[number]) for number in numbers if number in state}
    except (KeyError, TypeError, ValueError):
        raise CheckpointError(
            f"{path} has no optimiser's state dict under {key!r}; save optimizer.state_dict()"
        ) from None
    state_by_number: dict[int, dict[str, StoredWeight]] = {}
    for number, entry in entries.items():
        state_by_number[number] = {}
        for key, value in entry.items():
            name = f"{key} of parameter {number}"
            if isinstance(value, int | float):  # a count of steps, in older files
                value = torch.tensor(float(value))
            if value is not None and not isinstance(value, torch.Tensor):
                raise CheckpointError(f"{path}: {name} is no tensor but a {type(value).__name__}")
            if value is not None:
                state_by_number[number][key] = _weight(path, name, value)
    return TorchOptimizer(state_by_number, groups)


def _state_dict(
    path: Path, loaded: Any, key: str | None
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The state dict in a file's content, and the names of the entries beside it."""
    import torch

    state = loaded
    extras: tuple[str, ...] = ()
    if key is not None:
        state = _below(path, loaded, key)
        extras = tuple(str(k) for k in loaded if not f"{key}.".startswith(f"{k}."))
    elif isinstance(loaded, Mapping):
        for name in STATE_DICT_KEYS:
            if isinstance(loaded.get(name), Mapping):
                state, extras = loaded[name], tuple(str(k) for k in loaded if k != name)
                break
    if isinstance(state, NotImported):
        raise CheckpointError(f"{path} {OBJECTS}")
    if not isinstance(state, Mapping):
        raise CheckpointError(
            f"{path} holds a {type(state).__name__}, no state dict; save model.state_dict()"
        )
    odd = [name for name, v in state.items() if not isinstance(v, torch.Tensor)]
    if odd and isinstance(state[odd[0]], NotImported):
        raise CheckpointError(f"{path} {OBJECTS}")
    if odd:
        nested = [k for k in state if isinstance(state[k], Mapping) and isinstance(k, str)]
        cure = f" (there is {listed(nested)})" if nested else ""
        raise CheckpointError(
            f"{path}: {odd[0]!r} is no tensor but a {type(state[odd[0]]).__name__}; a state dict "
            f"has tensors only, or lies under {' or '.join(map(repr, STATE_DICT_KEYS))}, or under "
            f"what --key names{cure}"
        )
    if wrong := [name for name in state if not isinstance(name, str)]:
        raise CheckpointError(f"{path}: {wrong[0]!r} is no name of a weight")
    return state, extras


def _below(path: Path, loaded: Any, key: str) -> Any:
    """The entry of a file's content under a dotted key; a name may have dots itself."""

    def find(content: Any, rest: str) -> Any:
        if not isinstance(content, Mapping):
            return None
        if rest in content:
            return content[rest]
        ends = [place for place, letter in enumerate(rest) if letter == "."]
        found = (find(content.get(rest[:end]), rest[end + 1 :]) for end in ends)
        return next((each for each in found if each is not None), None)

    found = find(loaded, key)
    if isinstance(found, Mapping | NotImported):
        return found
    entries = loaded.items() if isinstance(loaded, Mapping) else ()
    names = [str(name) for name, entry in entries if isinstance(entry, Mapping)]
    has = f"there is {listed(names)}" if names else "it has no dictionary in it; leave --key out"
    what = "nothing" if found is None else f"a {type(found).__name__}"
    raise CheckpointError(f"{path} has {what} under {key!r}, no state dict: {has}")


def write_torch(
    path: Path,
    _framework: str,
    weights: Mapping,
    aliases: Mapping,
    optimizer: TorchOptimizer | None = None,
) -> None:
    """Write a PyTorch file: the state dict, or a training's file if there is an optimiser."""
    import torch

    def tensor(weight: StoredWeight) -> torch.Tensor:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it may not be written to, and is not
            values = torch.from_numpy(np.require(weight.values, requirements=("C", "A")))
        return values.view(torch.bfloat16) if weight.dtype == "bfloat16" else values

    tensors: dict[str, torch.Tensor] = {}
    for name, weight in weights.items():
        shared = aliases.get(name)
        tensors[name] = tensors[shared] if shared in tensors else tensor(weight)
    if optimizer is None:
        torch.save(tensors, path)
        return
    state = {
        number: {key: tensor(weight) for key, weight in entry.items()}
        for number, entry in optimizer.state.items()
    }
    whole = {"model": tensors, "optimizer": {"state": state, "param_groups": optimizer.groups}}
    torch.save(whole, path)

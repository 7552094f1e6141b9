"""Reads and writes PyTorch's checkpoints: a state dict, alone or with the optimiser's."""

import pickle
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from equivalence.convert.formats import Checkpoint, TorchOptimizer, Weight, damaged, weight_of
from equivalence.errors import CheckpointError

STATE_DICT_KEYS = ("state_dict", "model", "model_state_dict")
"""Keys under which a training's file may have its state dict."""
OPTIMIZER_KEYS = ("optimizer", "optimizer_state_dict")
"""Keys under which a training's file may have the optimiser's state dict."""


def read_torch(path: Path, _framework: str, head: bytes) -> Checkpoint:
    """Read a PyTorch file; `head` are its first bytes. Raises CheckpointError."""
    import torch

    try:
        # torch.load does not look at the archive's checksums.
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                if archive.testzip() is not None:
                    raise CheckpointError(
                        f"{path} is damaged: its checksum does not match (or it was saved with "
                        f"set_crc32_options(False)); copy, download or save it again"
                    )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = torch.load(path, map_location="cpu", weights_only=True)
    except CheckpointError:
        raise
    except Exception as error:  # a damaged pickle can raise anything
        unsafe = isinstance(error, pickle.UnpicklingError) and "Unsupported" in str(error)
        if (unsafe and head.startswith((b"PK", b"\x80"))) or "TorchScript" in str(error):
            raise CheckpointError(
                f"{path} holds Python objects (a whole module, perhaps), which are not loaded; "
                f"save model.state_dict() and convert that"
            ) from None
        raise damaged(path, "PyTorch", head) from None
    state, extras = _state_dict(path, loaded)
    optimizer = next((key for key in OPTIMIZER_KEYS if key in extras), None)
    weights, aliases, storages = {}, {}, {}
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
    checkpoint = Checkpoint(weights, aliases, extras, checked=zipfile.is_zipfile(path))
    if optimizer:
        checkpoint.optimizer = _optimizer(path, loaded[optimizer])
        checkpoint.extras = tuple(name for name in extras if name != optimizer)
    return checkpoint


def _weight(path: Path, name: str, tensor: Any) -> Weight:
    """The values of a tensor as a weight."""
    import torch

    content = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    content = content.view(torch.uint8).numpy().tobytes()
    dtype = str(tensor.dtype).removeprefix("torch.")
    return weight_of(path, name, dtype, tuple(tensor.shape), content)


def _optimizer(path: Path, loaded: Any) -> TorchOptimizer:
    """The state dict of an optimiser; CheckpointError where there is none, or it has no tensors."""
    import torch

    try:
        state, groups = loaded["state"], [dict(group) for group in loaded["param_groups"]]
        numbers = [number for group in groups for number in group["params"]]
        entries = {number: dict(state[number]) for number in numbers if number in state}
    except (KeyError, TypeError, ValueError):
        raise CheckpointError(
            f"{path} has no optimiser's state dict under 'optimizer'; save optimizer.state_dict()"
        ) from None
    state_by_number: dict[int, dict[str, Weight]] = {}
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


def _state_dict(path: Path, loaded: Any) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The state dict in a file's content, and the names of the entries beside it."""
    import torch

    state, extras = loaded, ()
    if isinstance(loaded, Mapping):
        for key in STATE_DICT_KEYS:
            if isinstance(loaded.get(key), Mapping):
                state, extras = loaded[key], tuple(str(k) for k in loaded if k != key)
                break
    if not isinstance(state, Mapping):
        raise CheckpointError(
            f"{path} holds a {type(state).__name__}, no state dict; save model.state_dict()"
        )
    odd = [name for name, v in state.items() if not isinstance(v, torch.Tensor)]
    if odd:
        raise CheckpointError(
            f"{path}: {odd[0]!r} is no tensor but a {type(state[odd[0]]).__name__}; a state dict "
            f"has tensors only, or lies under {' or '.join(map(repr, STATE_DICT_KEYS))}"
        )
    return state, extras


def write_torch(
    path: Path,
    _framework: str,
    weights: Mapping,
    aliases: Mapping,
    optimizer: TorchOptimizer | None = None,
) -> None:
    """Write a PyTorch file: the state dict, or a training's file if there is an optimiser."""
    import torch

    def tensor(weight: Weight) -> torch.Tensor:
        values = torch.from_numpy(weight.values.copy(order="C"))
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

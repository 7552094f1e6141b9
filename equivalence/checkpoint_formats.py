"""The formats of checkpoints: PyTorch's archive, MindSpore's `.ckpt`, safetensors."""

import binascii
import json
import math
import os
import pickle
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import safetensors

from equivalence.errors import CheckpointError

PYTORCH, MINDSPORE = "pytorch", "mindspore"

# Name of a dtype -> its name in a safetensors file. NumPy has no bfloat16: its bits are a uint16.
DTYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
}

STATE_DICT_KEYS = ("state_dict", "model")


@dataclass(frozen=True)
class Weight:
    """The values of a weight, any shape. `values` of a bfloat16 are its bits, as uint16."""

    dtype: str
    values: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def same(self, other: "Weight") -> bool:
        """Equal in dtype, shape and every bit; NaN equals the same NaN, 0 is not -0."""
        return (self.dtype, self.shape, self.values.tobytes()) == (
            other.dtype,
            other.shape,
            other.values.tobytes(),
        )


@dataclass
class Checkpoint:
    """What a file holds: its weights in order.

    aliases: name -> an earlier name whose storage it shares. extras: entries beside the weights
    that were not read. checked: whether the file has checksums, which held.
    """

    weights: dict[str, Weight]
    aliases: dict[str, str] = field(default_factory=dict)
    extras: tuple[str, ...] = ()
    checked: bool = True


def numpy_dtype(dtype: str) -> np.dtype:
    """The dtype in which NumPy holds the bits of `dtype`."""
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


# Place and first bytes of a file -> its kind, and what to do with it.
LOOKS = {
    (0, b"PK\x03\x04"): ("PyTorch", "name it .pth"),
    (0, b"\x80"): ("PyTorch", "name it .pth"),
    (8, b"{"): ("safetensors", "name it .safetensors"),
    (0, b"\x89HDF"): ("HDF5", "export it to .safetensors first"),
    (0, b"version https://git-lfs"): ("git lfs", "run git lfs pull"),
}


def _damaged(path: Path, kind: str, head: bytes) -> CheckpointError:
    """The file does not parse as `kind`: its first bytes may tell of another."""
    for (place, start), (looks, remedy) in LOOKS.items():
        if head.startswith(start, place) and looks != kind:
            return CheckpointError(f"{path} looks like {looks}, not {kind}: {remedy}")
    return CheckpointError(
        f"{path} is damaged, cut off, or no {kind} file; copy or download it again"
    )


def _checksum_differs(path: Path) -> CheckpointError:
    return CheckpointError(
        f"{path} is damaged: its checksum does not match; copy or download it again"
    )


def _size_differs(
    path: Path, name: str, dtype: str, shape: tuple[int, ...], size: int
) -> CheckpointError:
    return CheckpointError(f"{path} is damaged: {name} is {dtype} {shape}, but has {size} bytes")


def _weight(path: Path, name: str, dtype: str, shape: tuple[int, ...], content: bytes) -> Weight:
    if dtype not in DTYPES:
        raise CheckpointError(
            f"{path}: {name} is {dtype}, which cannot be converted; cast it to one of "
            f"{', '.join(DTYPES)}"
        )
    bits = numpy_dtype(dtype)
    if len(content) != math.prod(shape) * bits.itemsize:
        raise _size_differs(path, name, dtype, shape, len(content))
    return Weight(dtype, np.frombuffer(content, bits).reshape(shape))


# --- PyTorch -------------------------------------------------------------------------------------


def read_torch(path: Path, _framework: str, head: bytes) -> Checkpoint:
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
        raise _damaged(path, "PyTorch", head) from None
    state, extras = _state_dict(path, loaded)
    weights, aliases, storages = {}, {}, {}
    for name, tensor in state.items():
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_meta:
            raise CheckpointError(f"{path}: {name} is no dense tensor; only those are converted")
        place = (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride())
        first = storages.setdefault(place, name) if tensor.numel() else name
        if first != name:
            aliases[name] = first
            weights[name] = weights[first]
            continue
        content = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
        content = content.view(torch.uint8).numpy().tobytes()
        dtype = str(tensor.dtype).removeprefix("torch.")
        weights[name] = _weight(path, name, dtype, tuple(tensor.shape), content)
    return Checkpoint(weights, aliases, extras, checked=zipfile.is_zipfile(path))


def _state_dict(path: Path, loaded: Any) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """The state dict in what was loaded, and the names of what lies beside it."""
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


def write_torch(path: Path, _framework: str, weights: Mapping, aliases: Mapping) -> None:
    import torch

    tensors: dict[str, torch.Tensor] = {}
    for name, weight in weights.items():
        if name in aliases and aliases[name] in tensors:
            tensors[name] = tensors[aliases[name]]
        else:
            tensor = torch.from_numpy(weight.values.copy(order="C"))
            tensors[name] = tensor.view(torch.bfloat16) if weight.dtype == "bfloat16" else tensor
    torch.save(tensors, path)


# --- MindSpore -----------------------------------------------------------------------------------


def read_ckpt(path: Path, _framework: str, head: bytes) -> Checkpoint:
    import mindspore as ms

    if head.startswith((b"PK\x03\x04", b"\x80")):  # PyTorch Lightning calls its files .ckpt, too
        raise _damaged(path, "MindSpore", head)
    try:
        loaded = ms.load_checkpoint(str(path), crc_check=True)
    except ValueError as error:
        if "dict is empty" in str(error):
            return Checkpoint({})
        if "crc check" in str(error.__cause__):
            raise _checksum_differs(path) from None
        if "memory" in str(error):
            raise CheckpointError(f"{path} does not fit into memory") from None
        raise _damaged(path, "MindSpore", head) from None
    weights = {}
    for name, value in loaded.items():
        if not isinstance(value, ms.Tensor):
            raise CheckpointError(
                f"{path}: {name!r} is no tensor but a {type(value).__name__}; save "
                f"the network alone"
            )
        dtype, shape = str(value.dtype).lower(), tuple(value.shape)
        weights[name] = _weight(path, name, dtype, shape, value.get_bytes())
    with path.open("rb") as file:
        file.seek(-min(17, path.stat().st_size), os.SEEK_END)
        checked = file.read(7) == b"crc_num"
    if not checked:
        _demand_sizes(path, weights)
    return Checkpoint(weights, checked=checked)


def _demand_sizes(path: Path, weights: Mapping[str, Weight]) -> None:
    """MindSpore gives a weight the shape that the file tells, whatever values there are."""
    from mindspore.train.checkpoint_pb2 import Checkpoint as Entries

    sizes = dict.fromkeys(weights, 0)
    for entry in Entries.FromString(path.read_bytes()).value:  # one weight may have several
        sizes[entry.tag] += len(entry.tensor.tensor_content)
    for name, weight in weights.items():
        if sizes[name] != weight.values.nbytes:
            raise _size_differs(path, name, weight.dtype, weight.shape, sizes[name])


def write_ckpt(path: Path, _framework: str, weights: Mapping, _aliases: Mapping) -> None:
    import mindspore as ms

    entries = []
    for name, weight in weights.items():
        dtype = getattr(ms, "bool_" if weight.dtype == "bool" else weight.dtype)
        content = weight.values.tobytes()
        tensor = ms.Tensor.convert_bytes_to_tensor(content, weight.shape, dtype)
        entries.append({"name": name, "data": ms.Tensor(tensor)})
    ms.save_checkpoint(entries, str(path), crc_check=True)


# --- Safetensors ---------------------------------------------------------------------------------

TAGS = {PYTORCH: "pt", MINDSPORE: "ms"}


def read_safetensors(path: Path, framework: str, head: bytes) -> Checkpoint:
    content = path.read_bytes()
    try:
        entries = dict(safetensors.deserialize(content))
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    except (safetensors.SafetensorError, ValueError):
        raise _damaged(path, "safetensors", head) from None
    metadata = header.pop("__metadata__", None) or {}
    if metadata.get("format") in set(TAGS.values()) - {TAGS[framework]}:
        raise CheckpointError(f"{path} is no {framework} file: it says format={metadata['format']}")
    names = {code: name for name, code in DTYPES.items()}
    weights = {
        name: _weight(
            path,
            name,
            names.get(entries[name]["dtype"], entries[name]["dtype"]),
            tuple(entries[name]["shape"]),
            bytes(entries[name]["data"]),
        )
        for name in sorted(header, key=lambda name: header[name]["data_offsets"])
    }
    stored = metadata.get("crc32") or (_as_mindspore(weights) and metadata.get("crc_num"))
    if stored and stored != str(_checksum(weights)):
        raise _checksum_differs(path)
    # safetensors.torch.save_model keeps one name of several, and tells the others.
    aliases = {n: kept for n, kept in metadata.items() if kept in weights and n not in weights}
    weights |= {name: weights[kept] for name, kept in aliases.items()}
    return Checkpoint(weights, aliases, checked=bool(stored))


def write_safetensors(path: Path, framework: str, weights: Mapping, _aliases: Mapping) -> None:
    arrays = {name: w.values.copy(order="C") for name, w in weights.items()}
    specs = {
        name: safetensors.TensorSpec(
            dtype=weights[name].dtype,
            shape=values.shape,
            data_ptr=values.ctypes.data,
            data_len=values.nbytes,
        )
        for name, values in arrays.items()
    }
    checksum = str(_checksum(weights))
    metadata = {"format": TAGS[framework], "crc32": checksum}
    if framework == MINDSPORE and _as_mindspore(weights):
        metadata["crc_num"] = checksum
    safetensors.serialize_file(specs, path, metadata)


def _checksum(weights: Mapping[str, Weight]) -> int:
    """CRC-32 of all names and values, names sorted."""
    crc = 0
    for name in sorted(weights):
        crc = binascii.crc32(weights[name].values.tobytes(), binascii.crc32(name.encode(), crc))
    return crc


def _as_mindspore(weights: Mapping[str, Weight]) -> bool:
    """Whether MindSpore's own sum comes to the same: it has another for integer scalars, and
    none for bfloat16.
    """
    return not any(
        weight.dtype == "bfloat16" or (not weight.shape and "float" not in weight.dtype)
        for weight in weights.values()
    )

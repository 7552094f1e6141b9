"""What a checkpoint holds, and two of its formats: MindSpore's `.ckpt` and safetensors."""

import binascii
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import safetensors

from equivalence.errors import CheckpointError

PYTORCH, MINDSPORE = "pytorch", "mindspore"

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
"""Name of a dtype -> its name in a safetensors file. NumPy holds bfloat16's bits as uint16."""

COUNTS = ("epoch_num", "step_num")
"""Entries that MindSpore's ModelCheckpoint adds to the weights."""


@dataclass(frozen=True)
class Weight:
    """The values of one weight.

    dtype: a key of DTYPES.
    values: of any shape; the bits of a bfloat16 as uint16.
    """

    dtype: str
    values: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def same(self, other: "Weight") -> bool:
        """Equal in dtype, shape and every bit: NaN equals the same NaN, and 0 differs from -0."""
        return (self.dtype, self.shape, self.values.tobytes()) == (
            other.dtype,
            other.shape,
            other.values.tobytes(),
        )


@dataclass
class TorchOptimizer:
    """The state dict of a PyTorch optimiser.

    state: number of a parameter -> name of a quantity -> its values.
    groups: its `param_groups`, unchanged; "params" are numbers.
    """

    state: dict[int, dict[str, Weight]]
    groups: list[dict[str, Any]]

    def same(self, other: "TorchOptimizer | None") -> bool:
        """Equal in all values, bit for bit, and in all hyperparameters."""
        return (
            other is not None
            and repr(self.groups) == repr(other.groups)
            and self.state.keys() == other.state.keys()
            and all(self._same_entry(other, number) for number in self.state)
        )

    def _same_entry(self, other: "TorchOptimizer", number: int) -> bool:
        ours, theirs = self.state[number], other.state[number]
        return ours.keys() == theirs.keys() and all(ours[key].same(theirs[key]) for key in ours)


@dataclass
class Checkpoint:
    """What a file holds.

    weights: name -> values, in the order of the file.
    aliases: name -> an earlier name with the same storage.
    extras: entries beside the weights, which were not read.
    optimizer: the state of a PyTorch training's optimiser.
    checked: whether the file has checksums; they are right.
    """

    weights: dict[str, Weight]
    aliases: dict[str, str] = field(default_factory=dict)
    extras: tuple[str, ...] = ()
    optimizer: TorchOptimizer | None = None
    checked: bool = True


def numpy_dtype(dtype: str) -> np.dtype:
    """The dtype in which NumPy holds the bits of `dtype`."""
    return np.dtype("uint16" if dtype == "bfloat16" else dtype)


LOOKS = {
    (0, b"PK\x03\x04"): ("PyTorch", "name it .pth"),
    (0, b"\x80"): ("PyTorch", "name it .pth"),
    (8, b"{"): ("safetensors", "name it .safetensors"),
    (0, b"\x89HDF"): ("HDF5", "export it to .safetensors first"),
    (0, b"version https://git-lfs"): ("git lfs", "run git lfs pull"),
}
"""(offset in bytes, the bytes there) -> the kind of the file, and what to do with it."""


def damaged(path: Path, kind: str, head: bytes) -> CheckpointError:
    """The error for a file that is no valid `kind`; its first bytes may show another kind."""
    for (offset, start), (looks, remedy) in LOOKS.items():
        if head.startswith(start, offset) and looks != kind:
            return CheckpointError(f"{path} looks like {looks}, not {kind}: {remedy}")
    return CheckpointError(
        f"{path} is damaged, cut off, or no {kind} file; copy or download it again"
    )


def checksum_differs(path: Path) -> CheckpointError:
    """The error for a file whose checksum does not match its values."""
    return CheckpointError(
        f"{path} is damaged: its checksum does not match; copy or download it again"
    )


def _size_differs(
    path: Path, name: str, dtype: str, shape: tuple[int, ...], size: int
) -> CheckpointError:
    """The error for a weight whose number of bytes does not match its shape."""
    return CheckpointError(f"{path} is damaged: {name} is {dtype} {shape}, but has {size} bytes")


def weight_of(path: Path, name: str, dtype: str, shape: tuple[int, ...], content: bytes) -> Weight:
    """A weight from its bytes in a file; CheckpointError where dtype or size are wrong."""
    if dtype not in DTYPES:
        raise CheckpointError(
            f"{path}: {name} is {dtype}, which cannot be converted; cast it to one of "
            f"{', '.join(DTYPES)}"
        )
    bits = numpy_dtype(dtype)
    if len(content) != math.prod(shape) * bits.itemsize:
        raise _size_differs(path, name, dtype, shape, len(content))
    return Weight(dtype, np.frombuffer(content, bits).reshape(shape))


# --- MindSpore -----------------------------------------------------------------------------------


def read_ckpt(path: Path, _framework: str, head: bytes) -> Checkpoint:
    """Read a .ckpt; `head` are its first bytes. Raises CheckpointError."""
    import mindspore as ms

    if head.startswith((b"PK\x03\x04", b"\x80")):  # PyTorch Lightning calls its files .ckpt, too
        raise damaged(path, "MindSpore", head)
    try:
        loaded = ms.load_checkpoint(str(path), crc_check=True)
    except ValueError as error:
        if "dict is empty" in str(error):
            return Checkpoint({})
        if "crc check" in str(error.__cause__):
            raise checksum_differs(path) from None
        if "memory" in str(error):
            raise CheckpointError(f"{path} does not fit into memory") from None
        raise damaged(path, "MindSpore", head) from None
    weights = {}
    for name, value in loaded.items():
        if not isinstance(value, ms.Tensor):
            raise CheckpointError(
                f"{path}: {name!r} is no tensor but a {type(value).__name__}; save "
                f"the network alone"
            )
        dtype, shape = str(value.dtype).lower(), tuple(value.shape)
        weights[name] = weight_of(path, name, dtype, shape, value.get_bytes())
    with path.open("rb") as file:
        file.seek(-min(17, path.stat().st_size), os.SEEK_END)
        checked = file.read(7) == b"crc_num"
    if not checked:
        _demand_sizes(path, weights)
    extras = tuple(name for name in COUNTS if name in weights and not weights[name].shape)
    for name in extras:
        del weights[name]
    return Checkpoint(weights, extras=extras, checked=checked)


def _demand_sizes(path: Path, weights: Mapping[str, Weight]) -> None:
    """Raise CheckpointError if a weight's bytes do not fit its shape; MindSpore does not check."""
    from mindspore.train.checkpoint_pb2 import Checkpoint as Entries

    sizes = dict.fromkeys(weights, 0)
    for entry in Entries.FromString(path.read_bytes()).value:  # one weight may have several
        sizes[entry.tag] += len(entry.tensor.tensor_content)
    for name, weight in weights.items():
        if sizes[name] != weight.values.nbytes:
            raise _size_differs(path, name, weight.dtype, weight.shape, sizes[name])


def write_ckpt(path: Path, _framework: str, weights: Mapping, _aliases: Mapping) -> None:
    """Write a .ckpt with a checksum."""
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
"""A framework -> its name in the metadata of a safetensors file."""


def read_safetensors(path: Path, framework: str, head: bytes) -> Checkpoint:
    """Read a .safetensors of `framework`; `head` are its first bytes. Raises CheckpointError."""
    content = path.read_bytes()
    try:
        entries = dict(safetensors.deserialize(content))
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    except (safetensors.SafetensorError, ValueError):
        raise damaged(path, "safetensors", head) from None
    metadata = header.pop("__metadata__", None) or {}
    if metadata.get("format") in set(TAGS.values()) - {TAGS[framework]}:
        raise CheckpointError(f"{path} is no {framework} file: it says format={metadata['format']}")
    names = {code: name for name, code in DTYPES.items()}
    weights = {
        name: weight_of(
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
        raise checksum_differs(path)
    # safetensors.torch.save_model keeps one name of several, with the others in the metadata.
    aliases = {
        n: original for n, original in metadata.items() if original in weights and n not in weights
    }
    weights |= {name: weights[original] for name, original in aliases.items()}
    return Checkpoint(weights, aliases, checked=bool(stored))


def write_safetensors(path: Path, framework: str, weights: Mapping, _aliases: Mapping) -> None:
    """Write a .safetensors with a checksum."""
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
    """CRC-32 of all names and values, in the order of the names."""
    crc = 0
    for name in sorted(weights):
        crc = binascii.crc32(weights[name].values.tobytes(), binascii.crc32(name.encode(), crc))
    return crc


def _as_mindspore(weights: Mapping[str, Weight]) -> bool:
    """Whether MindSpore's own checksum is equal to ours.

    It differs for integer scalars, and does not exist for bfloat16.
    """
    return not any(
        weight.dtype == "bfloat16" or (not weight.shape and "float" not in weight.dtype)
        for weight in weights.values()
    )

"""What a checkpoint holds, and the errors that all formats share."""

import math
import mmap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from equivalence.errors import CheckpointError

PYTORCH, MINDSPORE = "pytorch", "mindspore"

Buffer = bytes | memoryview | np.ndarray
"""Bytes, wherever they lie."""

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


@dataclass(frozen=True)
class StoredWeight:
    """The values of one weight.

    dtype: a key of DTYPES.
    values: of any shape; the bits of a bfloat16 as uint16.
    """

    dtype: str
    values: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def content(self) -> np.ndarray:
        """The bytes of the values in the order of C; no copy where they lie so already."""
        return np.ascontiguousarray(self.values).reshape(-1).view(np.uint8)

    def same(self, other: "StoredWeight") -> bool:
        """Equal in dtype, shape and every bit: NaN equals the same NaN, and 0 differs from -0."""
        if self is other:
            return True
        if (self.dtype, self.shape) != (other.dtype, other.shape):
            return False
        ours, theirs = self.content, other.content
        whole = len(ours) // 8 * 8  # eight bytes at a time, since a byte each takes eight times
        return np.array_equal(
            ours[:whole].view("u8"), theirs[:whole].view("u8")
        ) and np.array_equal(ours[whole:], theirs[whole:])


@dataclass
class TorchOptimizer:
    """The state dict of a PyTorch optimiser.

    state: number of a parameter -> name of a quantity -> its values.
    groups: its `param_groups`, unchanged; "params" are numbers.
    """

    state: dict[int, dict[str, StoredWeight]]
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

    weights: dict[str, StoredWeight]
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


def size_differs(
    path: Path, name: str, dtype: str, shape: tuple[int, ...], size: int
) -> CheckpointError:
    """The error for a weight whose number of bytes does not match its shape."""
    return CheckpointError(f"{path} is damaged: {name} is {dtype} {shape}, but has {size} bytes")


def twice(path: Path, name: str) -> CheckpointError:
    """The error for a file in which a name stands for two weights."""
    return CheckpointError(f"{path} holds two weights called {name}: which one counts is not known")


def mapped(path: Path) -> memoryview:
    """The content of a file; its pages are read when they are used. Raises OSError if empty."""
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def weight_of(
    path: Path, name: str, dtype: str, shape: tuple[int, ...], content: Buffer
) -> StoredWeight:
    """A weight whose values lie in `content`, without a copy.

    Raises CheckpointError where dtype or size are wrong.
    """
    if dtype not in DTYPES:
        raise CheckpointError(
            f"{path}: {name} is {dtype}, which cannot be converted; cast it to one of "
            f"{', '.join(DTYPES)}"
        )
    bits = numpy_dtype(dtype)
    if len(content) != math.prod(shape) * bits.itemsize:
        raise size_differs(path, name, dtype, shape, len(content))
    return StoredWeight(dtype, np.frombuffer(content, bits).reshape(shape))

"""Reads and writes MindSpore's `.ckpt`: a protocol buffer, and a checksum behind it.

MindSpore's own functions copy every value several times. The buffer has few fields, so that here
its values are used where they lie in the file:

    Checkpoint: repeated Value = 1
    Value: name = 1, Tensor = 2 (another field: no tensor)
    Tensor: repeated dimension = 1, dtype = 2, content = 3

A weight of many bytes has several values in a row, each with a part of its content.
"""

import binascii
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equivalence.checkpoints.formats import (
    DTYPES,
    Checkpoint,
    StoredWeight,
    checksum_differs,
    damaged,
    mapped,
    twice,
    weight_of,
)
from equivalence.errors import CheckpointError

COUNTS = ("epoch_num", "step_num")
"""Entries that MindSpore's ModelCheckpoint adds to the weights."""

TYPES = {name: name.capitalize().replace("Uint", "UInt") for name in DTYPES} | {
    "bfloat16": "BFloat16"
}
"""Name of a dtype -> its name in a .ckpt."""

MARK, SUM = b"crc_num", 10
"""What stands before a checksum at the end of a file; the number of its bytes."""

PART = 512 << 20
"""The most bytes of a value, as in MindSpore's own files."""

INTEGER, BYTES = 0, 2
"""Kinds of fields of a protocol buffer."""


def read_ckpt(path: Path, _framework: str, head: bytes, verify: bool = True) -> Checkpoint:
    """Read a .ckpt; `head` are its first bytes. Raises CheckpointError.

    verify: whether its checksum is computed.
    """
    if head.startswith((b"PK\x03\x04", b"\x80")):  # PyTorch Lightning calls its files .ckpt, too
        raise damaged(path, "MindSpore", head)
    content = mapped(path)
    end = len(content) - len(MARK) - SUM
    checked = end >= 0 and content[end : end + len(MARK)] == MARK
    body = content[:end] if checked else content
    if checked and verify and binascii.crc32(body) != int.from_bytes(content[-SUM:], "big"):
        raise checksum_differs(path)
    try:
        entries = list(_entries(body))
    except (ValueError, IndexError):
        raise damaged(path, "MindSpore", head) from None
    weights: dict[str, StoredWeight] = {}
    for name, dtype, shape, parts in entries:
        if dtype is None or dtype == "str":
            kind = dtype or "map"
            raise CheckpointError(
                f"{path}: {name!r} is no tensor but a {kind}; save the network alone"
            )
        if name in weights:
            raise twice(path, name)
        whole = parts[0] if len(parts) == 1 else np.concatenate([np.asarray(p) for p in parts])
        weights[name] = weight_of(path, name, dtype, shape, whole)
    extras = tuple(name for name in COUNTS if name in weights and not weights[name].shape)
    for name in extras:
        del weights[name]
    return Checkpoint(weights, extras=extras, checked=checked)


Entry = tuple[str, str | None, tuple[int, ...], list[memoryview]]
"""Name, dtype (None: no tensor), shape and the parts of the content."""


def _entries(body: memoryview) -> Iterator[Entry]:
    """The entries of a checkpoint; ValueError or IndexError where it is none."""
    last: Entry | None = None
    for number, value in _fields(body):
        if number != 1:
            raise ValueError(number)
        entry = _entry(value)
        if last and last[:3] == entry[:3]:
            last[3].extend(entry[3])
            continue
        if last:
            yield last
        last = entry
    if last:
        yield last


def _entry(value: memoryview) -> Entry:
    fields = dict(_fields(value))
    name = str(fields[1], "utf-8") if 1 in fields else None
    if not name or set(fields) - {1, 2, 3}:
        raise ValueError(name)
    if 2 not in fields:
        return name, None, (), []
    tensor = list(_fields(fields[2]))
    dimensions = [size for number, size in tensor if number == 1]
    (dtype,) = (str(each, "utf-8") for number, each in tensor if number == 2)
    (content,) = (each for number, each in tensor if number == 3)
    shape = () if dimensions == [0] else tuple(dimensions)
    return name, dtype.lower(), shape, [content]


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """Number and value of each field of a message: an integer, or bytes as a memoryview."""
    place = 0
    while place < len(message):
        key, place = _integer(message, place)
        value, place = _integer(message, place)
        if key & 7 == INTEGER:
            yield key >> 3, value
            continue
        if key & 7 != BYTES:
            raise ValueError(key)
        start, place = place, place + value
        if place > len(message):
            raise ValueError("cut off")
        yield key >> 3, message[start:place]


def _integer(message: memoryview, place: int) -> tuple[int, int]:
    """An integer in groups of seven bits, and the place behind it."""
    value = shift = 0
    while True:
        byte = message[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
        if shift > 63:
            raise ValueError("no integer")


def write_ckpt(
    path: Path, _framework: str, weights: Mapping[str, StoredWeight], _aliases: Mapping
) -> None:
    """Write a .ckpt with a checksum."""
    crc = 0
    with path.open("wb") as file:
        for name, weight in weights.items():
            content = weight.content
            for start in range(0, len(content), PART):
                part = content[start : start + PART]
                for piece in (_header(name, weight, len(part)), part.data):
                    crc = binascii.crc32(piece, crc)
                    file.write(piece)
        file.write(MARK + crc.to_bytes(SUM, "big"))


def _header(name: str, weight: StoredWeight, size: int) -> bytes:
    """What stands before `size` bytes of the content of a weight."""
    dimensions = b"".join(_tagged(1, INTEGER, length) for length in weight.shape)
    tensor = dimensions + _text(2, TYPES[weight.dtype]) + _tagged(3, BYTES, size)
    value = _text(1, name) + _tagged(2, BYTES, len(tensor) + size) + tensor
    return _tagged(1, BYTES, len(value) + size) + value


def _text(number: int, text: str) -> bytes:
    encoded = text.encode()
    return _tagged(number, BYTES, len(encoded)) + encoded


def _tagged(number: int, kind: int, value: int) -> bytes:
    """The number and kind of a field, and an integer."""
    return bytes([*_groups(number << 3 | kind), *_groups(value)])


def _groups(value: int) -> Sequence[int]:
    """An integer in groups of seven bits, the lowest first."""
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return [*groups, value]

"""Reads and writes safetensors, with a checksum of its own beside the weights."""

import binascii
import json
from collections.abc import Mapping
from pathlib import Path

import safetensors

from equivalence.checkpoints.formats import (
    DTYPES,
    MINDSPORE,
    PYTORCH,
    Checkpoint,
    StoredWeight,
    checksum_differs,
    damaged,
    mapped,
    twice,
    weight_of,
)
from equivalence.errors import CheckpointError

TAGS = {PYTORCH: "pt", MINDSPORE: "ms"}
"""A framework -> its name in the metadata of a safetensors file."""


def framework_of(path: Path) -> str | None:
    """The framework that a safetensors file names; None where it names none, or is damaged."""
    try:
        with safetensors.safe_open(str(path), "numpy") as file:
            tag = (file.metadata() or {}).get("format")
    except (safetensors.SafetensorError, OSError):
        return None
    return next((framework for framework, name in TAGS.items() if name == tag), None)


def read_safetensors(path: Path, framework: str, head: bytes, verify: bool = True) -> Checkpoint:
    """Read a .safetensors of `framework`; `head` are its first bytes. Raises CheckpointError.

    verify: whether its checksum is computed.
    """

    def once(pairs: list[tuple]) -> dict:
        entries: dict = {}
        for name, entry in pairs:
            if name in entries:
                raise twice(path, name)
            entries[name] = entry
        return entries

    content = mapped(path)
    start = 8 + int.from_bytes(content[:8], "little")
    try:
        header = json.loads(bytes(content[8:start]), object_pairs_hook=once)
        with safetensors.safe_open(str(path), "numpy"):  # demands that offsets and sizes fit
            pass
    except (safetensors.SafetensorError, ValueError, RecursionError):
        raise damaged(path, "safetensors", head) from None
    metadata = header.pop("__metadata__", None) or {}
    if metadata.get("format") in set(TAGS.values()) - {TAGS[framework]}:
        raise CheckpointError(f"{path} is no {framework} file: it says format={metadata['format']}")
    names = {code: name for name, code in DTYPES.items()}
    weights = {}
    for name in sorted(header, key=lambda name: header[name]["data_offsets"]):
        entry = header[name]
        first, last = entry["data_offsets"]
        dtype = names.get(entry["dtype"], entry["dtype"])
        values = content[start + first : start + last]
        weights[name] = weight_of(path, name, dtype, tuple(entry["shape"]), values)
    stored = metadata.get("crc32") or (_as_mindspore(weights) and metadata.get("crc_num"))
    if stored and verify and stored != str(checksum(weights)):
        raise checksum_differs(path)
    # safetensors.torch.save_model keeps one name of several, with the others in the metadata.
    aliases = {
        n: original for n, original in metadata.items() if original in weights and n not in weights
    }
    weights |= {name: weights[original] for name, original in aliases.items()}
    return Checkpoint(weights, aliases, checked=bool(stored))


def write_safetensors(
    path: Path, framework: str, weights: Mapping[str, StoredWeight], _aliases: Mapping
) -> None:
    """Write a .safetensors with a checksum."""
    contents = {name: weight.content for name, weight in weights.items()}
    specs = {
        name: safetensors.TensorSpec(
            dtype=weights[name].dtype,
            shape=weights[name].shape,
            data_ptr=content.ctypes.data,
            data_len=content.nbytes,
        )
        for name, content in contents.items()
    }
    total = str(checksum(weights))
    metadata = {"format": TAGS[framework], "crc32": total}
    if framework == MINDSPORE and _as_mindspore(weights):
        metadata["crc_num"] = total
    safetensors.serialize_file(specs, path, metadata)


def checksum(weights: Mapping[str, StoredWeight]) -> int:
    """CRC-32 of all names and values, in the order of the names."""
    crc = 0
    for name in sorted(weights):
        crc = binascii.crc32(weights[name].content.data, binascii.crc32(name.encode(), crc))
    return crc


def _as_mindspore(weights: Mapping[str, StoredWeight]) -> bool:
    """Whether MindSpore's own checksum is equal to ours.

    It differs for integer scalars, and does not exist for bfloat16.
    """
    return not any(
        weight.dtype == "bfloat16" or (not weight.shape and "float" not in weight.dtype)
        for weight in weights.values()
    )

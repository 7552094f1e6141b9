"""The files of records: one of each while a run records, one of a twin's or of a run's in the end.

A folder of records is its `manifest.json` and the files that this names. A file's name carries
its checksum, so that recording writes new files beside the old ones and then the manifest, in one
step: whoever reads sees the records of before or all of the new ones.
"""

import contextlib
import fcntl
import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.numpy

from equivalence.errors import RecordError
from equivalence.files import DRAFT, written
from equivalence.record.codec import Arrays
from equivalence.record.fingerprint import CANDIDATE_FORMAT, FORMAT

MANIFEST = "manifest.json"
SUFFIX = ".safetensors"

Records = dict[str, tuple[Arrays, dict[str, Any]]]
"""Of one file, by key: the arrays of each record, and the rest of it."""


@dataclass(frozen=True)
class Kind:
    """What a folder holds records of.

    format: of its files. group: whose records a file has, of a twin or of a run. cure: of a file
    that cannot be read; renew: of one of another format. listed: what the manifest repeats of each
    record, so that no file is opened for it.
    """

    format: int | str
    group: str
    cure: str
    renew: str
    listed: tuple[str, ...] = ("fingerprint", "versions")


TRUTH = Kind(
    FORMAT,
    "twin",
    "restore it from version control, or run `make record` where torch is installed",
    "run `make record` where torch is installed",
    ("fingerprint", "versions", "multiplies"),
)
CANDIDATE = Kind(
    CANDIDATE_FORMAT,
    "run",
    "copy the whole folder again, or run `make record-candidate` again where the device is",
    "run `make record-candidate` again where the device is, with the same version",
)


def part(parts: Path, group: str, key: str) -> Path:
    """The file of one record, while a run records."""
    return parts / group / (hashlib.sha256(key.encode()).hexdigest()[:16] + SUFFIX)


def packed(group: str, records: Records, kind: Kind = TRUTH) -> bytes:
    """The content of a file; the same records give the same bytes."""
    arrays = {
        f"{key}/{name}": values.copy(order="C")  # also 0-d, which ascontiguousarray makes 1-d
        for key, (own, _) in sorted(records.items())
        for name, values in own.items()
    }
    told = {key: rest for key, (_, rest) in sorted(records.items())}
    # A single entry, since safetensors writes several in any order. Tensors keep theirs.
    header = json.dumps({"format": kind.format, kind.group: group, "samples": told})
    return safetensors.numpy.save(arrays, {"records": header})


def unpacked(path: Path, content: bytes, group: str, kind: Kind = TRUTH) -> Records:
    """The records in a file's content. Raises RecordError where it is not of that group."""
    try:
        arrays = safetensors.numpy.load(content)
        end = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(json.loads(content[8:end])["__metadata__"]["records"])
        made, of, told = header["format"], header.get(kind.group), header["samples"]
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError):
        raise RecordError(f"{path} is no file of records: {kind.cure}") from None
    if made != kind.format:
        raise _other_format(path, made, kind)
    if of != group:
        raise RecordError(f"{path} holds records of {of!r}, not of {group!r}: {kind.cure}")
    records: Records = {key: ({}, rest) for key, rest in told.items()}
    for name, values in arrays.items():
        key = next((key for key in records if name.startswith(f"{key}/")), None)
        if key is None:
            raise RecordError(f"{path} has an array {name!r} of no sample: {kind.cure}")
        records[key][0][name.removeprefix(f"{key}/")] = values
    return records


def _other_format(path: Path, made: Any, kind: Kind) -> RecordError:
    return RecordError(
        f"{path} has format {made!r}, and this version reads {kind.format!r}: {kind.renew}"
    )


def manifest(folder: Path, kind: Kind = TRUTH) -> dict[str, dict[str, Any]]:
    """What the folder holds: group -> its file, checksum, size, and samples. {} without a folder.

    Raises RecordError where it cannot be read.
    """
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text())
        made = found["format"]
        groups = found[f"{kind.group}s"] if made == kind.format else {}
        for entry in groups.values():
            entry["file"], entry["sha256"], entry["bytes"], entry["samples"]
    except FileNotFoundError:
        return {}
    except (OSError, KeyError, TypeError, ValueError, AttributeError):
        raise RecordError(f"{path} is damaged: {kind.cure}") from None
    if made != kind.format:
        raise _other_format(path, made, kind)
    return groups


def read(folder: Path, group: str, entry: Mapping[str, Any], kind: Kind = TRUTH) -> Records:
    """The records of a group, by its entry in the manifest. Raises RecordError for any damage."""
    path = folder / entry["file"]
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path} cannot be read ({error.strerror}): {kind.cure}") from None
    if len(content) < entry["bytes"]:
        size = f"{len(content)} of {entry['bytes']} bytes"
        raise RecordError(f"{path} is cut off, {size}: {kind.cure}")
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise RecordError(f"{path} is damaged, its SHA-256 is not the manifest's: {kind.cure}")
    return unpacked(path, content, group, kind)


def pack(parts: Iterable[Path], folder: Path, kind: Kind = TRUTH) -> int:
    """Put what was recorded into the folder; how many records. Parts of one must not clash.

    Other records of the same groups stay while they are declared, and all of other groups. What
    was damaged or has another format is dropped. One group at a time is in memory.
    """
    fresh: dict[str, list[Path]] = defaultdict(list)
    for path in parts:
        fresh[path.parent.name].append(path)
    if not fresh:
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        groups = _readable(folder, kind)
        for group, own in fresh.items():
            records: Records = {}
            for path in own:
                records |= unpacked(path, path.read_bytes(), group, kind)
            kept = _kept(folder, group, groups.get(group), records, kind)
            content = packed(group, kept, kind)
            checksum = hashlib.sha256(content).hexdigest()
            name = f"{group}-{checksum[:8]}{SUFFIX}"
            written(folder / name, content)
            groups[group] = {
                "file": name,
                "sha256": checksum,
                "bytes": len(content),
                "samples": {
                    key: {what: rest[what] for what in kind.listed}
                    for key, (_, rest) in sorted(kept.items())
                },
            }
        told = {"format": kind.format, f"{kind.group}s": groups}
        text = json.dumps(told, indent=1, sort_keys=True) + "\n"
        written(folder / MANIFEST, text.encode())
        listed = {MANIFEST, *(entry["file"] for entry in groups.values())}
        for path in folder.iterdir():
            if path.name not in listed and path.suffix in (SUFFIX, DRAFT):
                path.unlink()
    return sum(map(len, fresh.values()))


def _readable(folder: Path, kind: Kind) -> dict[str, dict[str, Any]]:
    """The manifest; without one that can be read nothing is known of the files."""
    with contextlib.suppress(RecordError):
        return manifest(folder, kind)
    return {}


def _kept(folder: Path, group: str, entry: Mapping | None, fresh: Records, kind: Kind) -> Records:
    """The records of a group with fresh ones, which say what is declared, in place of old ones.

    Where a reference multiplies nothing, its fresh record serves for all unit roundoffs.
    """
    declared = {name for _, rest in fresh.values() for name in rest.pop("declared")}
    old: Records = {}
    if entry is not None:
        with contextlib.suppress(RecordError):
            old = read(folder, group, entry, kind)
    told = {key.rpartition(" ")[0]: rest.get("multiplies") for key, (_, rest) in fresh.items()}
    old = {
        key: record
        for key, record in old.items()
        if key.rsplit(" ", 2)[0] in declared and told.get(key.rpartition(" ")[0]) is not False
    }
    return old | fresh


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Alone in the folder: of two runs that recorded, one after the other packs."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)

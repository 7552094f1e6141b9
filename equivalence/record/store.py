"""The files of records.

While a run records, each record has a file of its own, a part. In the end, the parts are packed:
one file holds all truths of a twin or an operator, or one run of a candidate. A folder of records
consists of `manifest.json` and the files that it names. The name of a file includes its checksum.
New files are written beside the old ones, and then the manifest is replaced in one step: a reader
sees either the old records or all of the new ones.
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
from equivalence.files import DRAFT, write
from equivalence.record.codec import Arrays

FORMAT = 7
"""How a file of truths is written. Raise it when that changes; what its records mean has a number
of its own, `fingerprint.MEANING`, so that the files can be written anew from the old ones."""

CANDIDATE_FORMAT = "candidate 2"
"""How a file of a candidate's run is written."""

MANIFEST = "manifest.json"
SUFFIX = ".safetensors"

Records = dict[str, tuple[Arrays, dict[str, Any]]]
"""The records of one file: key -> (arrays, everything else as JSON)."""


@dataclass(frozen=True)
class RecordKind:
    """A kind of records.

    format: the format of its files.
    group: what one file holds the records of: a "twin" or a "run".
    cure: what to do about a file that cannot be read.
    renew: what to do about a file of another format.
    listed: the fields of a record that the manifest repeats, so that no file is opened for them.
    """

    format: int | str
    group: str
    cure: str
    renew: str
    listed: tuple[str, ...] = ("fingerprint", "versions")


TRUTH = RecordKind(
    FORMAT,
    "twin",
    "restore it from version control, or run pytest with --record=write where torch is installed",
    "run pytest with --record=write where torch is installed",
    ("fingerprint", "versions", "multiplies"),
)
CANDIDATE = RecordKind(
    CANDIDATE_FORMAT,
    "run",
    "copy the whole folder again, or run `make record-candidate` again where the device is",
    "run `make record-candidate` again where the device is, with the same version",
)


def part(parts: Path, group: str, key: str) -> Path:
    """The path of the part of one record, while a run records."""
    return parts / group / (hashlib.sha256(key.encode()).hexdigest()[:16] + SUFFIX)


def encode_file(group: str, records: Records, kind: RecordKind = TRUTH) -> bytes:
    """The content of a file with these records; the same records give the same bytes.

    Its arrays are named "NUMBER/ARRAY" by the place of their sample in the header.
    """
    ordered = sorted(records.items())
    arrays = {
        f"{number}/{name}": values.copy(order="C")  # not ascontiguousarray, which makes 0-d 1-d
        for number, (_, (own, _)) in enumerate(ordered)
        for name, values in own.items()
    }
    samples = {key: rest for key, (_, rest) in ordered}
    # A single entry, since safetensors writes several in any order. Tensors keep their order.
    content = {"format": kind.format, kind.group: group, "samples": samples}
    header = json.dumps(content, separators=(",", ":"))
    return safetensors.numpy.save(arrays, {"records": header})


def decode_file(path: Path, content: bytes, group: str, kind: RecordKind = TRUTH) -> Records:
    """The records in a file's content. Raises RecordError if it is damaged or of another group."""
    try:
        arrays = safetensors.numpy.load(content)
        end = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(json.loads(content[8:end])["__metadata__"]["records"])
        found, owner, samples = header["format"], header.get(kind.group), header["samples"]
        records: Records = {key: ({}, dict(rest)) for key, rest in samples.items()}
    except (safetensors.SafetensorError, AttributeError, KeyError, TypeError, ValueError):
        raise RecordError(f"{path} is no file of records: {kind.cure}") from None
    if found != kind.format:
        raise _other_format(path, found, kind)
    if owner != group:
        raise RecordError(f"{path} holds records of {owner!r}, not of {group!r}: {kind.cure}")
    by_number = {str(number): own for number, (own, _) in enumerate(records.values())}
    for name, values in arrays.items():
        number, _, array = name.partition("/")
        if number not in by_number:
            raise RecordError(f"{path} has an array {name!r} of no sample: {kind.cure}")
        by_number[number][array] = values
    return records


def _other_format(path: Path, found: Any, kind: RecordKind) -> RecordError:
    return RecordError(
        f"{path} has format {found!r}, and this version reads {kind.format!r}: {kind.renew}"
    )


def manifest(folder: Path, kind: RecordKind = TRUTH) -> dict[str, dict[str, Any]]:
    """The content of a folder: group -> its file, SHA-256, size in bytes, and samples.

    Returns {} if there is no manifest. Raises RecordError if it cannot be read.
    """
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_text())
        found = content["format"]
        groups = content[f"{kind.group}s"] if found == kind.format else {}
        for entry in groups.values():
            _demand_entry(entry, kind)
    except FileNotFoundError:
        return {}
    except (OSError, KeyError, TypeError, ValueError, AttributeError):
        raise RecordError(f"{path} is damaged: {kind.cure}") from None
    if found != kind.format:
        raise _other_format(path, found, kind)
    return groups


def _demand_entry(entry: Any, kind: RecordKind) -> None:
    """Raise an exception of Python's own unless an entry of a manifest has its form."""
    fields = {"file": str, "sha256": str, "bytes": int, "samples": dict}
    whole = all(isinstance(entry[name], form) for name, form in fields.items())
    samples = [{name: sample[name] for name in kind.listed} for sample in entry["samples"].values()]
    if not whole or not all(isinstance(sample["versions"], dict) for sample in samples):
        raise ValueError("it has another form")


def read(folder: Path, group: str, entry: Mapping[str, Any], kind: RecordKind = TRUTH) -> Records:
    """The records of a group. Raises RecordError if its file is missing or damaged.

    entry: the group's entry in the manifest.
    """
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
    return decode_file(path, content, group, kind)


def pack(parts: Iterable[Path], folder: Path, kind: RecordKind = TRUTH) -> int:
    """Pack parts into the folder; return the number of parts. No two parts may hold one record.

    Other records of the same groups stay if they are still declared. All records of other groups
    stay. Records that are damaged or have another format are dropped. Memory holds one group at a
    time.
    """
    fresh: dict[str, list[Path]] = defaultdict(list)
    for path in parts:
        fresh[path.parent.name].append(path)
    if not fresh:
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder):
        groups = _readable_manifest(folder, kind)
        for group, own in fresh.items():
            records: Records = {}
            for path in own:
                records |= decode_file(path, path.read_bytes(), group, kind)
            kept = _merge(folder, group, groups.get(group), records, kind)
            content = encode_file(group, kept, kind)
            checksum = hashlib.sha256(content).hexdigest()
            name = f"{group}-{checksum[:8]}{SUFFIX}"
            write(folder / name, content)
            groups[group] = {
                "file": name,
                "sha256": checksum,
                "bytes": len(content),
                "samples": {
                    key: {what: rest[what] for what in kind.listed}
                    for key, (_, rest) in sorted(kept.items())
                },
            }
        manifest = {"format": kind.format, f"{kind.group}s": groups}
        text = json.dumps(manifest, indent=1, sort_keys=True) + "\n"
        write(folder / MANIFEST, text.encode())
        listed = {MANIFEST, *(entry["file"] for entry in groups.values())}
        for path in folder.iterdir():
            if path.name not in listed and path.suffix in (SUFFIX, DRAFT):
                path.unlink()
    return sum(map(len, fresh.values()))


def _readable_manifest(folder: Path, kind: RecordKind) -> dict[str, dict[str, Any]]:
    """The manifest; {} if it cannot be read."""
    with contextlib.suppress(RecordError):
        return manifest(folder, kind)
    return {}


def _merge(
    folder: Path, group: str, entry: Mapping | None, fresh: Records, kind: RecordKind
) -> Records:
    """The old records of a group that are still declared, and the fresh ones.

    The fresh records say what is declared. If a reference has no product, its fresh record serves
    for all unit roundoffs, and its old records are dropped.
    """
    declared = {name for _, rest in fresh.values() for name in rest.pop("declared")}
    old: Records = {}
    if entry is not None:
        with contextlib.suppress(RecordError):
            old = read(folder, group, entry, kind)
    multiplies = {
        key.rpartition(" ")[0]: rest.get("multiplies") for key, (_, rest) in fresh.items()
    }
    old = {
        key: record
        for key, record in old.items()
        if key.rsplit(" ", 2)[0] in declared and multiplies.get(key.rpartition(" ")[0]) is not False
    }
    return old | fresh


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Hold a lock on the folder, so that only one run packs at a time."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)

"""The files of records: one of a sample while a run records, one of a twin once it is done.

A folder of records is its `manifest.json` and the files that this names. A file's name carries
its checksum, so that recording writes new files beside the old ones and then the manifest, in one
step: whoever reads sees the records of before or all of the new ones.
"""

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.numpy

from equivalence.errors import RecordError
from equivalence.record_codec import Arrays
from equivalence.record_fingerprint import FORMAT

MANIFEST = "manifest.json"
SUFFIX = ".safetensors"
CURE = "restore it from version control, or run `make record` where torch is installed"

Records = dict[str, tuple[Arrays, dict[str, Any]]]
"""Of one twin, by key: the arrays of each sample, and the rest of it."""


def written(path: Path, content: bytes) -> None:
    """A file with that content, complete or not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def packed(twin: str, records: Records) -> bytes:
    """The content of a file; the same records give the same bytes."""
    arrays = {
        f"{key}/{name}": values.copy(order="C")  # also 0-d, which ascontiguousarray makes 1-d
        for key, (own, _) in sorted(records.items())
        for name, values in own.items()
    }
    told = {key: rest for key, (_, rest) in sorted(records.items())}
    # A single entry, since safetensors writes several in any order. Tensors keep theirs.
    header = json.dumps({"format": FORMAT, "twin": twin, "samples": told})
    return safetensors.numpy.save(arrays, {"records": header})


def unpacked(path: Path, content: bytes, twin: str) -> Records:
    """The records in a file's content. Raises RecordError where it is not of that twin."""
    try:
        arrays = safetensors.numpy.load(content)
        end = 8 + int.from_bytes(content[:8], "little")
        header = json.loads(json.loads(content[8:end])["__metadata__"]["records"])
        made, of, told = header["format"], header["twin"], header["samples"]
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError):
        raise RecordError(f"{path} is no file of records: {CURE}") from None
    if made != FORMAT:
        raise _other_format(path, made)
    if of != twin:
        raise RecordError(f"{path} holds records of {of!r}, not of {twin!r}: {CURE}")
    records: Records = {key: ({}, rest) for key, rest in told.items()}
    for name, values in arrays.items():
        key = next((key for key in records if name.startswith(f"{key}/")), None)
        if key is None:
            raise RecordError(f"{path} has an array {name!r} of no sample: {CURE}")
        records[key][0][name.removeprefix(f"{key}/")] = values
    return records


def _other_format(path: Path, made: Any) -> RecordError:
    return RecordError(
        f"{path} has format {made!r}, and this version reads {FORMAT}: run `make record` where "
        "torch is installed"
    )


def manifest(folder: Path) -> dict[str, dict[str, Any]]:
    """What the folder holds: twin -> its file, checksum, size, and samples. {} without a folder.

    Raises RecordError where it cannot be read.
    """
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text())
        made, twins = found["format"], found["twins"]
        for entry in twins.values():
            entry["file"], entry["sha256"], entry["bytes"], entry["samples"]
    except FileNotFoundError:
        return {}
    except (OSError, KeyError, TypeError, ValueError, AttributeError):
        raise RecordError(f"{path} is damaged: {CURE}") from None
    if made != FORMAT:
        raise _other_format(path, made)
    return twins


def read(folder: Path, twin: str, entry: Mapping[str, Any]) -> Records:
    """The records of a twin, by its entry in the manifest. Raises RecordError for any damage."""
    path = folder / entry["file"]
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path} cannot be read ({error.strerror}): {CURE}") from None
    if len(content) < entry["bytes"]:
        raise RecordError(f"{path} is cut off, {len(content)} of {entry['bytes']} bytes: {CURE}")
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise RecordError(f"{path} is damaged, its SHA-256 is not the manifest's: {CURE}")
    return unpacked(path, content, twin)


def pack(parts: Iterable[Path], folder: Path) -> int:
    """Put what was recorded into the folder; how many samples. Parts of one sample must not clash.

    Other samples of the same twins stay while they are declared, and all of other twins. What was
    damaged or has another format is dropped.
    """
    fresh: dict[str, Records] = {}
    for part in parts:
        content = part.read_bytes()
        twin = part.parent.name
        fresh.setdefault(twin, {}).update(unpacked(part, content, twin))
    if not fresh:
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        twins = _readable(folder)
        for twin, records in fresh.items():
            kept = _kept(folder, twin, twins.get(twin), records)
            content = packed(twin, kept)
            checksum = hashlib.sha256(content).hexdigest()
            name = f"{twin}-{checksum[:8]}{SUFFIX}"
            written(folder / name, content)
            twins[twin] = {
                "file": name,
                "sha256": checksum,
                "bytes": len(content),
                "samples": {key: _entry(rest) for key, (_, rest) in sorted(kept.items())},
            }
        text = json.dumps({"format": FORMAT, "twins": twins}, indent=1, sort_keys=True) + "\n"
        written(folder / MANIFEST, text.encode())
        listed = {MANIFEST, *(entry["file"] for entry in twins.values())}
        for path in folder.iterdir():
            if path.name not in listed:
                path.unlink()
    return sum(map(len, fresh.values()))


def _entry(rest: Mapping[str, Any]) -> dict[str, Any]:
    return {what: rest[what] for what in ("fingerprint", "versions")}


def _readable(folder: Path) -> dict[str, dict[str, Any]]:
    """The manifest; without one that can be read nothing is known of the files."""
    with contextlib.suppress(RecordError):
        return manifest(folder)
    return {}


def _kept(folder: Path, twin: str, entry: Mapping | None, fresh: Records) -> Records:
    """The records of a twin with fresh ones in place of their former selves."""
    declared = {sample for _, rest in fresh.values() for sample in rest["declared"]}
    old: Records = {}
    if entry is not None:
        with contextlib.suppress(RecordError):
            old = read(folder, twin, entry)
    old = {key: record for key, record in old.items() if key.rsplit(" ", 2)[0] in declared}
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

"""What `recorded` writes: a folder with a manifest, and one file of arrays for each step.

`recorded.json` lists the arrays in the order of the run, and the checksums of the files, and has
one of its own. A step's arrays are in one `.npz`, which any tool opens:

    run_a/recorded.json
    run_a/start.npz     the weights with which the run begins
    run_a/step0.npz     `layer1.0.conv1/forward.0.output.0`, ..., `weights/fc.weight`

An array that a step has twice is written once. Float16 and bfloat16 are written in float32, with
their dtype in the manifest. A large array is written as its sketch, with a checksum of it whole.
"""

import hashlib
import json
import os
import threading
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from equivalence import dtypes, files
from equivalence.errors import CheckpointError, writing
from equivalence.judge.sketch import Sketch
from equivalence.words import counted

MANIFEST = "recorded.json"
FORMAT = 1

AGAIN = "record it again"


@dataclass(frozen=True)
class Entry:
    """An array of a recorded run.

    name: its name in the run, such as `step0/fc/forward.0.output.0`.
    file: the file that has it.
    member: its name there: another's where both are the same numbers.
    dtype, shape: those of the whole array.
    digest: see `digest`.
    sketched: whether the file has its sketch instead.
    """

    name: str
    file: str
    member: str
    dtype: str
    shape: tuple[int, ...]
    digest: str
    sketched: bool = False

    @property
    def sketch(self) -> Sketch | None:
        """How the array is sketched; None where it is whole."""
        return sketch_of(self.shape, self.dtype) if self.sketched else None


@dataclass
class Manifest:
    """What a folder says of itself.

    made: the framework, its release and its mode.
    files: name -> size in bytes and SHA-256 of each file.
    entries: the arrays, in the order of the run.
    left_out: how many arrays were left out at the limit, with their bytes and the first name.
    notes: what was not recorded and why, in sentences.
    finished: whether the recorder came to its end.
    """

    made: dict[str, str]
    files: dict[str, list] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    left_out: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    finished: bool = False

    def write(self, folder: Path) -> None:
        """Write it, with its checksum."""
        content = {"format": FORMAT, **asdict(self)}
        content["checksum"] = _checksum(content)
        files.write(folder / MANIFEST, json.dumps(content, indent=0) + "\n")


def read(path: Path) -> Manifest:
    """The manifest at a path; the files that it names are there, and whole.

    Raises CheckpointError where it or a file is damaged or missing, or the run did not end.
    """
    try:
        content = json.loads(path.read_text())
        found, number = content.pop("checksum"), content["format"]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CheckpointError(f"{path} is damaged; {AGAIN}") from None
    if number != FORMAT:
        raise CheckpointError(f"{path} is of another release (format {number}); {AGAIN}")
    if found != _checksum(content):
        raise CheckpointError(f"{path} is damaged: its checksum is another one; {AGAIN}")
    del content["format"]
    entries = [Entry(**{**each, "shape": (*each["shape"],)}) for each in content.pop("entries")]
    manifest = Manifest(entries=entries, **content)
    if not manifest.finished:
        raise CheckpointError(
            f"{path.parent} is half written: what recorded it did not come to its end; {AGAIN}"
        )
    for name, (size, sha) in manifest.files.items():
        _check(path.parent / name, size, sha)
    return manifest


def load(path: Path, entry: Entry) -> np.ndarray:
    """The values of an array in its dtype, or its sketch."""
    with np.load(path, allow_pickle=False) as file:
        values = file[entry.member]
    return values if entry.sketched else dtypes.rounded(values, entry.dtype)


def sketch_of(shape: tuple[int, ...], dtype: str) -> Sketch:
    """How an array is sketched: alike in all runs, whatever its name."""
    return Sketch((*shape, 2) if dtype.startswith("complex") else shape, ("recorded",))


def digest(values: np.ndarray) -> str:
    """A checksum of the numbers: the same for 0 and -0, and for all that is no number."""
    values = np.ascontiguousarray(dtypes.plain(values))
    if values.dtype.kind in "fc":
        values = values + values.dtype.type(0)
        values[np.isnan(values)] = np.nan
    return hashlib.sha256(values.reshape(-1).view(np.uint8).data).hexdigest()


class FolderWriter:
    """Writes a folder: one file at a time, and a manifest.

    folder: is made; it must be empty.
    whole: how many elements an array may have that is written whole.
    limit: bytes of arrays; what would be more is left out, and counted.
    """

    def __init__(self, folder: Path, made: Mapping[str, str], whole: int, limit: int):
        self.manifest = Manifest({**made})
        self.limit = limit
        self._folder, self._whole, self._left = folder, whole, limit
        self._lock = threading.RLock()  # gradients may come from other threads
        self._file: _Draft | None = None
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CheckpointError(f"{folder} is there already; name another folder, or remove it")
        with writing(folder, CheckpointError):
            self.manifest.write(folder)

    def begin(self, stem: str) -> None:
        """Open the file of a step; its arrays are named `stem/...`."""
        with writing(self._folder, CheckpointError):
            self._file = _Draft(self._folder / f"{stem}.npz", stem)

    def end(self) -> None:
        """Close the file of the step, and give it its name."""
        if self._file is not None:
            with writing(self._folder, CheckpointError):
                self.manifest.files[self._file.path.name] = self._file.close()
        self._file = None

    def add(self, name: str, values: np.ndarray) -> bool:
        """Write an array; returns whether there was room for it."""
        with self._lock, writing(self._folder, CheckpointError):
            return self._add(name, values)

    def _add(self, name: str, values: np.ndarray) -> bool:
        file = self._file
        if file is None:
            raise CheckpointError(f"no step is open for {name}")
        dtype, shape, found = dtypes.name(values.dtype), values.shape, digest(values)
        plain, number = name, 1
        while name in file.names:  # such as a gradient of a second backward pass
            name, number = f"{plain}.again{number}", number + 1
        key = (found, dtype, shape)
        sketched = values.size > self._whole
        member = file.members.get(key, name)
        if member == name:
            if sketched:
                values = sketch_of(shape, dtype).of(dtypes.paired(dtypes.plain(values)))
            elif dtype in dtypes.HALVES:
                values = dtypes.plain(values).astype(np.float32)
            if values.nbytes > self._left:
                self._leave_out(f"{file.stem}/{name}", values.nbytes)
                return False
            self._left -= values.nbytes
            file.members[key] = name
            file.write(name, values)
        file.names.add(name)
        self.manifest.entries.append(
            Entry(f"{file.stem}/{name}", file.path.name, member, dtype, shape, found, sketched)
        )
        return True

    def _leave_out(self, name: str, size: int) -> None:
        out = self.manifest.left_out
        out.setdefault("first", name)
        out["arrays"] = out.get("arrays", 0) + 1
        out["bytes"] = out.get("bytes", 0) + size

    def finish(self) -> None:
        """End the folder: from now on it can be read."""
        self.end()
        out = self.manifest.left_out
        if out:
            self.manifest.notes.append(
                f"{counted(out['arrays'], 'array')} ({out['bytes'] / 1e6:.1f} MB) beyond the limit "
                f"left out, from {out['first']} on"
            )
        self.manifest.finished = True
        with writing(self._folder, CheckpointError):
            self.manifest.write(self._folder)


class _Draft:
    """A file of arrays that is being written.

    names: those of its arrays; `members`: digest, dtype and shape -> the name it is written under.
    """

    def __init__(self, path: Path, stem: str):
        self.path, self.stem = path, stem
        self.names: set[str] = set()
        self.members: dict[tuple, str] = {}
        self._part = files.draft(path)
        self._zip = zipfile.ZipFile(self._part, "w", zipfile.ZIP_STORED)

    def write(self, name: str, values: np.ndarray) -> None:
        with self._zip.open(f"{name}.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array(member, np.asarray(values), allow_pickle=False)

    def close(self) -> list:
        self._zip.close()
        with self._part.open("rb+") as file:
            os.fsync(file.fileno())
        found = [self._part.stat().st_size, files.sha256(self._part)]
        self._part.replace(self.path)
        return found


def _check(path: Path, size: int, sha: str) -> None:
    """Raise CheckpointError where a file is not what the manifest says."""
    if not path.is_file():
        raise CheckpointError(f"{path} is missing, which {MANIFEST} names; copy it, or {AGAIN}")
    if path.stat().st_size != size or files.sha256(path) != sha:
        raise CheckpointError(f"{path} is damaged: its checksum is another one; {AGAIN}")


def _checksum(content: Mapping[str, Any]) -> str:
    """The SHA-256 of a manifest without its checksum."""
    own = {key: value for key, value in content.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()

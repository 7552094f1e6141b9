"""The arrays of a file or of a folder. Nothing in them is executed."""

import functools
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from equivalence import dtypes
from equivalence.checkpoints import files, torch_files
from equivalence.checkpoints.formats import PYTORCH, StoredWeight
from equivalence.dumps import layout
from equivalence.errors import CheckpointError
from equivalence.judge.sketch import Sketch
from equivalence.words import counted, listed

ARRAYS = (".npy", ".npz")
"""Suffixes of NumPy's files."""

SUFFIXES = (*ARRAYS, *files.FORMATS)

PROBE = "dump.json"
"""The file in which msprobe lists what it wrote, in the order of the run."""

LISTS = (PROBE, "stack.json", "construct.json")
"""What msprobe writes beside arrays."""


@dataclass(frozen=True)
class ArrayOnDisk:
    """An array on disk.

    path: its file.
    dtype: the name of its dtype there.
    shape: its shape.
    load: gives its values; bfloat16 in float32, see `dtypes`. Its sketch, where it has one.
    sketch: how it is sketched; None of a whole array.
    digest: the checksum of its numbers, see `layout`; "" where it has none.
    """

    path: Path
    dtype: str
    shape: tuple[int, ...]
    load: Callable[[], np.ndarray]
    sketch: Sketch | None = None
    digest: str = ""


@dataclass
class Dump:
    """What a file or a folder holds.

    path: the file or the folder.
    arrays: name -> array, in the order of the run where that is known, else by name.
    ordered: whether the order is that of the run.
    unread: what lies beside and holds no array, by its name.
    notes: what its recorder says that it lacks.
    made: what its recorder says of the run: framework, version, mode and phase.
    """

    path: Path
    arrays: dict[str, ArrayOnDisk]
    ordered: bool = False
    unread: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    made: dict[str, str] = field(default_factory=dict)


def is_stored(text: str) -> bool:
    """Whether a text names a folder without Python files, or a file with arrays."""
    path = Path(text)
    return path.suffix in SUFFIXES or (path.is_dir() and not any(path.glob("*.py")))


def read(path: Path) -> Dump:
    """The arrays of a file, or of all files of a folder and the folders in it.

    Raises CheckpointError where there is no such path, no array in it, or a file is damaged, holds
    objects, or has two arrays of one name.
    """
    if not path.exists():
        raise CheckpointError(f"{path} is not there; name a file or a folder with arrays")
    if path.is_dir():
        dump = _of_folder(path)
    else:
        dump = Dump(path, {name or path.stem: each for name, each in _of_file(path).items()})
    if not dump.arrays:
        also = f"; what is there: {listed(dump.unread)}" if dump.unread else ""
        raise CheckpointError(f"{path} has no array: none of {', '.join(SUFFIXES)}{also}")
    return dump


def _of_folder(folder: Path) -> Dump:
    dump = Dump(folder, {})
    if any(folder.glob("*.index.json")):  # a checkpoint of several files
        dump.arrays = _weights(folder, files.read(folder, files.framework_of(folder)).weights)
        return dump
    order: list[str] = []
    paths = sorted(each for each in folder.rglob("*") if each.is_file())
    listed_files: set[Path] = set()
    for path in [each for each in paths if each.name == layout.MANIFEST]:
        listed_files |= {path, *_add_recorded(dump, path)}
    for path in [each for each in paths if each not in listed_files]:
        below = path.relative_to(folder)
        if path.name == PROBE:
            order += _order(path)
        if path.suffix not in SUFFIXES:
            dump.unread += [] if path.name in LISTS else [str(below)]
            continue
        stem = below.with_suffix("").as_posix()
        for name, stored in _of_file(path).items():
            dump.arrays[f"{stem}/{name}" if name else stem] = stored
    places = {name: place for place, name in enumerate(order)}
    if places:
        first = {n: _place(places, n) for n in dump.arrays}
        dump.arrays = dict(sorted(dump.arrays.items(), key=lambda each: first[each[0]]))
        dump.ordered = True
    return dump


def _add_recorded(dump: Dump, path: Path) -> set[Path]:
    """Add what a manifest of `recorded` lists, in the order of the run; returns the files."""
    manifest = layout.read(path)
    below = path.parent.relative_to(dump.path).as_posix()
    prefix = "" if below == "." else f"{below}/"
    for each in manifest.entries:
        file = path.parent / each.file
        load = functools.partial(layout.load, file, each)
        dump.arrays[prefix + each.name] = ArrayOnDisk(
            file, each.dtype, each.shape, load, each.sketch, each.digest
        )
    dump.made |= manifest.made
    dump.notes += [f"{path.parent}: {note}" for note in manifest.notes]
    dump.ordered = True
    return {path.parent / name for name in manifest.files}


def _order(path: Path) -> list[str]:
    """The names of calls in an msprobe list, in the order of the run."""
    try:
        listed_calls = json.loads(path.read_text())["data"]
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{path} is no list of msprobe: {error!r}; dump it again") from None
    return [*listed_calls] if isinstance(listed_calls, Mapping) else []


def _place(places: Mapping[str, int], name: str) -> int:
    """The place of the call that wrote an array: its name begins with that of the call."""
    call = name.rpartition("/")[2]
    while call:
        if call in places:
            return places[call]
        call = call.rpartition(".")[0]
    return len(places)


def _of_file(path: Path) -> dict[str, ArrayOnDisk]:
    """Name -> array in one file; the name is "" where a file holds one array."""
    if path.suffix == ".npy":
        return {"": _numpy(path)}
    if path.suffix == ".npz":
        return dict(_zipped(path))
    if path.suffix not in SUFFIXES:
        raise CheckpointError(f"{path} has no arrays: it is none of {', '.join(SUFFIXES)}")
    framework = files.framework_of(path)
    try:
        return _weights(path, files.read(path, framework, empty=True).weights)
    except CheckpointError:
        if files.FORMATS[path.suffix] != PYTORCH:
            raise
    return _weights(path, torch_files.read_arrays(path))  # no state dict: a tensor, or nested ones


def _numpy(path: Path) -> ArrayOnDisk:
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise _damaged(path, error) from None
    return _stored(path, values, lambda: np.array(values))


def _zipped(path: Path) -> Iterator[tuple[str, ArrayOnDisk]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            for name in file.files:
                values = file[name]
                yield name, _stored(path, values, functools.partial(np.asarray, values))
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise _damaged(path, error) from None


def _damaged(path: Path, error: Exception) -> CheckpointError:
    if any(words in str(error) for words in ("pickle", "Python objects")):
        return CheckpointError(f"{path} holds objects; save arrays of numbers")
    return CheckpointError(f"{path} cannot be read as {path.suffix}; write it again")


def _weights(path: Path, weights: Mapping[str, StoredWeight]) -> dict[str, ArrayOnDisk]:
    return {
        name: _stored(path, each.values, _loader(each), each.dtype)
        for name, each in weights.items()
    }


def _loader(weight: StoredWeight) -> Callable[[], np.ndarray]:
    def load() -> np.ndarray:
        if weight.dtype != "bfloat16":
            return np.array(weight.values)
        bits = weight.values.astype(np.uint32) << 16
        return dtypes.marked(bits.view(np.float32))

    return load


def _stored(
    path: Path, values: np.ndarray, load: Callable[[], np.ndarray], dtype: str = ""
) -> ArrayOnDisk:
    if values.dtype.kind not in "biufc":
        raise CheckpointError(f"{path} holds {values.dtype}, no numbers; save arrays of numbers")
    return ArrayOnDisk(path, dtype or dtypes.name(values.dtype), values.shape, load)


def unread_line(dump: Dump) -> str:
    """What was not read, in words; "" where all was."""
    if not dump.unread:
        return ""
    return (
        f"{counted(len(dump.unread), 'file')} in {dump.path} hold no arrays: {listed(dump.unread)}"
    )

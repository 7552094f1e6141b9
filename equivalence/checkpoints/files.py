"""Reads and writes checkpoint files of both frameworks, as arrays by name. Executes no content.

The checksums in a file show damage. A PyTorch archive always has them; a `.ckpt` or a
`.safetensors` has them if it was written here or with MindSpore's `crc_check=True`. A new file is
read back and compared bit for bit before it replaces an old one.
"""

import functools
import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import safetensors

from equivalence.checkpoints import (
    mindspore_files,
    safetensors_files,
    shards,
    torch_files,
)
from equivalence.checkpoints.formats import (
    MINDSPORE,
    PYTORCH,
    Checkpoint,
    StoredWeight,
    TorchOptimizer,
)
from equivalence.errors import CheckpointError
from equivalence.files import sha256

FORMATS = {
    ".pth": PYTORCH,
    ".pt": PYTORCH,
    ".bin": PYTORCH,
    ".ckpt": MINDSPORE,
    ".safetensors": None,
}
"""Suffix of a file -> its framework; None: a safetensors file may be of either."""


def read(path: Path, framework: str, empty: bool = False, key: str | None = None) -> Checkpoint:
    """Read a checkpoint of `framework`; the suffix tells the format.

    path: a file, the index of several files, or the folder of an index.
    empty: whether it may hold no weights.
    key: where a PyTorch file has its state dict, "ema.module"; None looks for it.

    Raises CheckpointError for a file that is missing, empty, damaged or of another kind, and for
    one that holds anything but tensors, or a dtype outside DTYPES.
    """
    index = shards.index_of(path)
    if index is None:
        return _read_file(path, framework, empty, key=key)
    whole = Checkpoint({})
    for shard, names in shards.members(index).items():
        part = _read_file(shard, framework, key=key)
        if part.optimizer:
            raise CheckpointError(f"{shard} holds the state of an optimiser, which no shard has")
        shards.demand_complete(shard, index, part.weights, names)
        whole.weights |= part.weights
        whole.aliases |= part.aliases
        whole.extras += part.extras
        whole.checked &= part.checked
    return whole


def _read_file(
    path: Path, framework: str, empty: bool = False, verify: bool = True, key: str | None = None
) -> Checkpoint:
    """Read one file. verify: whether its checksums are computed."""
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except FileNotFoundError:
        raise CheckpointError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise CheckpointError(f"{path} is a folder; name the checkpoint file in it") from None
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    if not head:
        if empty and path.suffix == ".ckpt":  # what MindSpore writes of no weights
            return Checkpoint({}, checked=False)
        raise CheckpointError(f"{path} is empty; copy or download it again")
    if FORMATS.get(path.suffix) == PYTORCH:
        checkpoint = torch_files.read_torch(path, framework, head, verify, key)
    elif key is not None:
        raise CheckpointError(f"{path} has names alone; --key is for dictionaries in PyTorch files")
    elif path.suffix == ".ckpt":
        checkpoint = mindspore_files.read_ckpt(path, framework, head, verify)
    else:
        checkpoint = safetensors_files.read_safetensors(path, framework, head, verify)
    if not checkpoint.weights and not empty:
        raise CheckpointError(f"{path} holds no weights")
    return checkpoint


def framework_of(path: Path) -> str:
    """The framework of a checkpoint: by its suffix, or as a .safetensors says; else PyTorch.

    Raises CheckpointError for another suffix.
    """
    suffix = shards.suffix_of(path)
    if suffix not in FORMATS:
        raise CheckpointError(f"{path} does not end in {', '.join(FORMATS)}")
    index = shards.index_of(path)
    first = path if index is None else next(iter(shards.members(index)))
    return FORMATS[suffix] or safetensors_files.framework_of(first) or PYTORCH


def digest(name: str) -> str:
    """A SHA-256 of the content of a checkpoint, with all its shards. Raises CheckpointError."""
    path = Path(name)
    index = shards.index_of(path)
    files = [path] if index is None else [index, *shards.members(index)]
    try:
        states = [(each, each.stat()) for each in files]
        sums = [_digest_of(each, state.st_mtime_ns, state.st_size) for each, state in states]
    except FileNotFoundError:
        raise CheckpointError(f"{path}: there is no such file") from None
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error.strerror}") from None
    return hashlib.sha256(b"".join(sums)).hexdigest()


@functools.lru_cache(maxsize=256)
def _digest_of(path: Path, _modified: int, _size: int) -> bytes:
    """A SHA-256 of a file, kept until it changes."""
    return bytes.fromhex(sha256(path))


def write(
    path: Path,
    framework: str,
    weights: Mapping[str, StoredWeight],
    aliases: Mapping[str, str],
    optimizer: TorchOptimizer | None = None,
    shard: int | None = None,
) -> None:
    """Write a checkpoint of `framework` and read it back; `path` is replaced at the very end.

    weights: name -> values.
    aliases: name -> a name in `weights` that shares its storage, where the format can say so.
    optimizer: the state of a PyTorch training's optimiser; a .safetensors cannot hold it.
    shard: the most bytes of a file; the weights are then in shards beside the index of `path`,
        and older shards of that name are removed. None: one file.

    Raises CheckpointError, and leaves the old file, when anything fails.
    """
    if optimizer and (path.suffix == ".safetensors" or shard):
        raise CheckpointError(f"{path} cannot hold an optimiser's state; write a .pth, one file")
    if path.suffix == ".ckpt":
        if not weights:
            raise CheckpointError(
                f"{path} would be empty, and MindSpore loads no empty .ckpt: a network without "
                f"weights needs none"
            )
        empty = [name for name, weight in weights.items() if not weight.values.size]
        if empty:
            raise CheckpointError(
                f"{path} cannot hold {empty[0]}, which has no elements: MindSpore leaves such "
                f"weights out of a .ckpt; write a .safetensors"
            )
    try:
        with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
            if shard is None:
                draft = Path(folder) / path.name
                _write_file(draft, path, framework, weights, aliases, optimizer)
                draft.replace(path)
            else:
                _write_shards(Path(folder), path, framework, weights, aliases, shard)
    except (OSError, RuntimeError, ValueError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{path} cannot be written: {_line(error)}") from error


def _write_shards(
    folder: Path,
    path: Path,
    framework: str,
    weights: Mapping[str, StoredWeight],
    aliases: Mapping[str, str],
    size: int,
) -> None:
    """Write shards and their index into `folder`, and move them beside `path`, the index last."""
    groups = shards.split(weights, aliases, size)
    named = dict(zip(shards.names_of(path, len(groups)), groups, strict=True))
    for name, group in named.items():
        own = {alias: first for alias, first in aliases.items() if alias in group}
        _write_file(folder / name, path.with_name(name), framework, group, own)
    index = shards.index_for(path)
    (folder / index.name).write_text(shards.index_text(named))
    before = shards.present(path)
    placed: list[Path] = []
    try:
        for name in (*named, index.name):
            placed.append((folder / name).replace(path.with_name(name)))
    except BaseException:
        for each in placed:
            each.unlink(missing_ok=True)
        raise
    for old in set(before) - set(placed):
        old.unlink()


def _write_file(
    draft: Path,
    path: Path,
    framework: str,
    weights: Mapping[str, StoredWeight],
    aliases: Mapping[str, str],
    optimizer: TorchOptimizer | None = None,
) -> None:
    """Write `draft`, which will be `path`, and read it back.

    Its checksums are not computed again: every bit is compared.
    """
    if path.suffix == ".ckpt":
        mindspore_files.write_ckpt(draft, framework, weights, aliases)
    elif path.suffix == ".safetensors":
        safetensors_files.write_safetensors(draft, framework, weights, aliases)
    else:
        training = {"optimizer": optimizer} if optimizer else {}
        torch_files.write_torch(draft, framework, weights, aliases, **training)
    read_back = _read_file(draft, framework, empty=not weights, verify=False)
    _compare(path, read_back.weights, weights)
    if optimizer and not optimizer.same(read_back.optimizer):
        raise CheckpointError(f"{path} was not written: the optimiser reads back otherwise")
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.chmod(0o644)


def _compare(
    path: Path, read_back: Mapping[str, StoredWeight], weights: Mapping[str, StoredWeight]
) -> None:
    """Raise CheckpointError if a weight reads back differently from what was written."""
    differing = [
        name
        for name in {**weights, **read_back}
        if name not in read_back or name not in weights or not read_back[name].same(weights[name])
    ]
    if differing:
        raise CheckpointError(
            f"{path} was not written: {differing[0]} and {len(differing) - 1} other weights read "
            f"back otherwise than they were"
        )


def _line(error: BaseException) -> str:
    """The first line of an error's text."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return text.strip().splitlines()[0]

"""Reads and writes checkpoint files of both frameworks, as arrays by name. Executes no content.

The checksums in a file show damage. A PyTorch archive always has them; a `.ckpt` or a
`.safetensors` has them if it was written here or with MindSpore's `crc_check=True`. A new file is
read back and compared bit for bit before it replaces an old one.
"""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import safetensors

from equivalence.convert import formats, torch_files
from equivalence.convert.formats import MINDSPORE, PYTORCH, Checkpoint, TorchOptimizer, Weight
from equivalence.errors import CheckpointError

FORMATS = {".pth": PYTORCH, ".pt": PYTORCH, ".ckpt": MINDSPORE, ".safetensors": None}
"""Suffix of a file -> its framework; None: a safetensors file may be of either."""


def read(path: Path, framework: str, empty: bool = False) -> Checkpoint:
    """Read a checkpoint of `framework`; the suffix tells the format.

    empty: whether it may hold no weights.

    Raises CheckpointError for a file that is missing, empty, damaged or of another kind, and for
    one that holds anything but tensors, or a dtype outside DTYPES.
    """
    reader = {".ckpt": formats.read_ckpt, ".safetensors": formats.read_safetensors}.get(
        path.suffix, torch_files.read_torch
    )
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
    checkpoint = reader(path, framework, head)
    if not checkpoint.weights and not empty:
        raise CheckpointError(f"{path} holds no weights")
    return checkpoint


def write(
    path: Path,
    framework: str,
    weights: Mapping[str, Weight],
    aliases: Mapping[str, str],
    optimizer: TorchOptimizer | None = None,
) -> None:
    """Write a checkpoint of `framework` and read it back; `path` is replaced at the very end.

    weights: name -> values.
    aliases: name -> a name in `weights` that shares its storage, where the format can say so.
    optimizer: the state of a PyTorch training's optimiser; a .safetensors cannot hold it.

    Raises CheckpointError, and leaves the old file, when anything fails.
    """
    writer = {".ckpt": formats.write_ckpt, ".safetensors": formats.write_safetensors}.get(
        path.suffix, torch_files.write_torch
    )
    if optimizer and path.suffix == ".safetensors":
        raise CheckpointError(f"{path} cannot hold an optimiser's state; write a .pth")
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
            draft = Path(folder) / path.name
            training = {"optimizer": optimizer} if optimizer else {}
            writer(draft, framework, weights, aliases, **training)
            read_back = read(draft, framework, empty=not weights)
            _compare(path, read_back.weights, weights)
            if optimizer and not optimizer.same(read_back.optimizer):
                raise CheckpointError(f"{path} was not written: the optimiser reads back otherwise")
            with draft.open("rb") as file:
                os.fsync(file.fileno())
            draft.chmod(0o644)  # MindSpore makes its files read-only
            draft.replace(path)
    except (OSError, RuntimeError, ValueError, safetensors.SafetensorError) as error:
        raise CheckpointError(f"{path} cannot be written: {_line(error)}") from error


def _compare(path: Path, read_back: Mapping[str, Weight], weights: Mapping[str, Weight]) -> None:
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

"""A folder like another one, with drawn pictures in the place of its own; and sides that read it.

A side reads its folder where a function of the user's says so: in an argument, given or left at its
default, or in a name of its module, such as ROOT. Each gets the folder of drawn pictures.
"""

import contextlib
import inspect
import os
import sys
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from PIL import Image, UnidentifiedImageError

from equivalence import files
from equivalence.declare.pipeline import Pictures
from equivalence.errors import EquivalenceError
from equivalence.pipelines.encoded import encode
from equivalence.stream.patches import patched
from equivalence.targets import resolve

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".tif", ".tiff", ".webp", ".gif")
"""The ends of the names of picture files, in small letters."""

POOL = 8
"""How many different pictures are drawn; the files of a folder have them by turns."""

MOST = 100_000
"""Files of a folder that is mirrored at most."""

UNKNOWN = (48, 64)
"""The size of a picture that stands for a file that Pillow cannot read."""


class UnmirroredError(EquivalenceError):
    """A folder has no picture files, or too many files."""


def mirror(original: Path, pictures: Pictures, seed: int, into: Path) -> None:
    """Fill an empty folder: all files of another one, with drawn pictures for its own.

    What is no picture, and the number and names of all files, stay.

    Raises UnmirroredError.
    """
    whole, pool = into / "whole", into / "pool"
    whole.mkdir()
    pool.mkdir()
    count = drawn = 0
    for folder, folders, names in os.walk(original):
        folders.sort()
        here = whole / Path(folder).relative_to(original)
        here.mkdir(exist_ok=True)
        for name in sorted(names):
            count += 1
            if count > MOST:
                raise UnmirroredError(f"the folder has more than {MOST} files")
            source: Path = Path(folder, name).absolute()
            if is_picture(name):
                number, drawn = drawn % POOL, drawn + 1
                made = pool / str(number)
                if drawn <= POOL:
                    made.write_bytes(encode(pictures, number, _size(source), seed))
                source = made
            (here / name).symlink_to(source)
    if not drawn:
        raise UnmirroredError("the folder has no picture files")


def is_picture(name: str) -> bool:
    """Whether a file of this name is a picture."""
    return name.lower().endswith(ENDINGS)


def _size(file: Path) -> tuple[int, int]:
    try:
        with Image.open(file) as image:
            return image.height, image.width
    except (UnidentifiedImageError, OSError):
        return UNKNOWN


def has_pictures(folder: Path) -> bool:
    """Whether there is a picture file in a folder, among the first MOST files."""
    count = 0
    for _, _, names in os.walk(folder):
        if any(map(is_picture, names)):
            return True
        count += 1 + len(names)
        if count > MOST:
            break
    return False


@dataclass(frozen=True)
class Places:
    """Where a side holds folders of pictures: in which arguments, and names of its module."""

    module: ModuleType | None
    arguments: Mapping[str, str | Path]
    names: Mapping[str, str | Path]

    @property
    def folders(self) -> list[Path]:
        """The folders."""
        return [Path(each).resolve() for each in (*self.arguments.values(), *self.names.values())]


def places(target: str, arguments: Mapping[str, Any]) -> Places:
    """Where the side that a target builds with these arguments holds folders of pictures."""
    function = resolve(target)
    with contextlib.suppress(TypeError, ValueError):  # what has no signature has no defaults
        parameters = inspect.signature(function).parameters.values()
        defaults = {each.name: each.default for each in parameters}
        arguments = {**defaults, **arguments}
    module = sys.modules.get(getattr(function, "__module__", ""), None)
    names = {
        name: value
        for name, value in (vars(module) if module else {}).items()
        if not name.startswith("__") and _is_folder(value)
    }
    given = {name: value for name, value in arguments.items() if _is_folder(value)}
    return Places(module, given, names)


def _is_folder(value: Any) -> bool:
    if not isinstance(value, str | Path) or not str(value):
        return False
    folder = Path(value)
    try:
        return folder.is_dir() and folder.resolve().parent != folder and has_pictures(folder)
    except OSError:  # a text that is too long for a name, say
        return False


class Mirrors:
    """Folders of drawn pictures for both sides of a pipeline, which go with this object.

    every: side -> where it holds its folders.

    Raises UnmirroredError where a side holds none.
    """

    def __init__(self, every: Mapping[str, Places], pictures: Pictures, seed: int):
        kept = files.temporary()
        weakref.finalize(self, kept.cleanup)
        self._every = every
        self._copies: dict[Path, Path] = {}
        for side, held in every.items():
            if not held.folders:
                raise UnmirroredError(
                    f"the {side} takes no folder of pictures, neither as an argument nor by a name "
                    "of its module"
                )
            for folder in held.folders:
                if folder not in self._copies:
                    into = Path(kept.name, str(len(self._copies)))
                    into.mkdir()
                    mirror(folder, pictures, seed, into)
                    self._copies[folder] = into / "whole"

    def arguments(self, side: str) -> dict[str, str | Path]:
        """The arguments of a side that are other folders now."""
        return self._copied(self._every[side].arguments)

    def _copied(self, held: Mapping[str, str | Path]) -> dict[str, str | Path]:
        copies = {name: self._copies[Path(value).resolve()] for name, value in held.items()}
        return {n: str(each) if isinstance(held[n], str) else each for n, each in copies.items()}

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """A context in which the names of both modules are other folders."""
        with contextlib.ExitStack() as stack:
            for held in self._every.values():
                if held.names:
                    stack.enter_context(patched(held.module, **self._copied(held.names)))
            yield

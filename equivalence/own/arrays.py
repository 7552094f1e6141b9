"""Inputs that are not drawn: the arrays of a file."""

import zipfile
from pathlib import Path

import numpy as np

from equivalence.declare.draws import Draw
from equivalence.errors import DeclarationError

ENDINGS = (".npy", ".npz")
"""Endings of files of arrays."""


class Given(Draw):
    """An input with the values of an array. The options are the path and the name within a file."""

    def __post_init__(self) -> None:
        pass  # `file` has checked it

    def __str__(self) -> str:
        return f"file({', '.join(repr(each) for each in self.options.values() if each)})"

    @property
    def names(self) -> set[str]:
        """The names of the configuration that the shape uses: none."""
        return set()

    def array(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:  # noqa: ARG002
        """The values; nothing is drawn."""
        values = np.load(self.options["path"], allow_pickle=False)
        return values[self.options["name"]] if self.options["name"] else values


def file(path: str | Path, name: str | None = None) -> Draw:
    """An input with the values of a file.

    name: which array of a .npz; None for a .npy.
    """
    path = Path(path).absolute()
    try:
        values = np.load(path, allow_pickle=False)
        values = values[name] if name else values
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        words = "is not there" if not path.exists() else f"cannot be read: {error}"
        raise DeclarationError(f"input {path} {words}; write it with numpy.save") from None
    if values.dtype.kind not in "fiub" or values.dtype == np.float64:
        raise DeclarationError(
            f"input {path} is {values.dtype}, in which no case computes; save it as float32, "
            "or as integers"
        )
    options = {"path": str(path), "name": name}
    return Given("file", values.shape, options, values.dtype.kind == "f")


def files_of(path: str | Path) -> list[Draw]:
    """All arrays of a file, in its order."""
    if not str(path).endswith(".npz"):
        return [file(path)]
    try:
        with np.load(path, allow_pickle=False) as values:
            names = [*values.files]
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):
        return [file(path)]  # which says why
    return [file(path, name) for name in names]

"""What the commands that take two networks are told of them. Loads no framework, nor NumPy."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Networks(NamedTuple):
    """Two networks, their weights, and where and how they run: an option each, by its name.

    reference, candidate: what builds them, "MODULE:ATTRIBUTE".
    weights: a checkpoint for both; None: they are drawn.
    arguments: what both are called with, as pairs.
    pair: "name", "order" or a file of pairs. rename: pairs of names, MindSpore's first.
    constant: buffers that the candidate keeps in no weight. random: layers that are pinned.
    phase, execution, dtype, device, seed: of the cases.
    torch_path, mindspore_path: the folders that the sides are imported from.
    """

    reference: str
    candidate: str
    weights: Path | None
    arguments: Sequence[tuple[str, Any]]
    pair: str
    rename: Sequence[tuple[str, str]]
    constant: Sequence[str]
    random: Sequence[str]
    phase: Sequence[str]
    execution: Sequence[str]
    dtype: Sequence[str]
    device: str
    seed: int
    torch_path: Path | None
    mindspore_path: Path | None

    @property
    def paths(self) -> tuple[Path | None, Path | None]:
        """The folders that the reference and the candidate are imported from."""
        return self.torch_path, self.mindspore_path

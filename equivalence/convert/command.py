"""`python -m equivalence convert`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equivalence.convert.convert import convert


def command(
    source: Path,
    destination: Path,
    arguments: Sequence[tuple[str, Any]],
    rename: Sequence[tuple[str, str]],
    **options: Any,
) -> int:
    """Convert a checkpoint and print what became of it; returns the exit code."""
    conversion = convert(
        source, destination, arguments=dict(arguments), rename=dict(rename), **options
    )
    print(f"{source} -> {destination}", *conversion.lines(), sep="\n")
    print(f"{destination}: {conversion.count()}, verified by reading back")
    return 0

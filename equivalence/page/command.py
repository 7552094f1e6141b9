"""`equivalence page RESULTS`: the page of results that other runs wrote, as of a CI's artefacts."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equivalence.errors import DeclarationError
from equivalence.output import write
from equivalence.page.write import page
from equivalence.words import listed

NEEDED = {"case", "seed"}
"""The fields that each line of results has."""


def command(results: Sequence[Path], html: Path | None) -> int:
    """Write the page of some files of results; returns the exit code.

    html: the file to write; None: `index.html` beside the first results.
    """
    path = html or results[0].with_name("index.html")
    if path in results or path.is_dir():
        raise DeclarationError(f"--html {path} is no file to write the page to; name another")
    write(path, page(f"Results of {listed([*map(str, results)])}", map(read, results)))
    print(f"written to {path}")
    return 0


def read(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of results. Raises DeclarationError for one that is none."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        told = getattr(error, "strerror", None) or "it is no text"
        raise DeclarationError(f"{path} cannot be read: {told}; name a results.jsonl") from None
    results = []
    for number, line in enumerate(lines, 1):
        try:
            result = json.loads(line)
        except ValueError as error:
            raise DeclarationError(f"{path}:{number} is damaged: {error}; run again") from None
        if not isinstance(result, dict) or not result.keys() >= NEEDED:
            raise DeclarationError(f"{path}:{number} is no line of results; name a results.jsonl")
        results.append(result)
    return results

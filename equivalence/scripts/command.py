"""`equivalence train TORCH MINDSPORE`: two trainings as they stand."""

import contextlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from equivalence import files
from equivalence.own.command import DIFFERENT, demand_writable, tell
from equivalence.scripts.compare import trainings
from equivalence.scripts.running import Training
from equivalence.scripts.text import document, lines


def command(
    reference: str,
    candidate: str,
    steps: int,
    torch_args: str,
    mindspore_args: str,
    rename: Sequence[tuple[str, str]],
    constant: Sequence[str],
    execution: str | None,
    json_file: Path | None,
) -> int:
    """Compare two trainings and print what became of them; 1 where they differ."""
    demand_writable(json_file, "--json", replace=True)
    with contextlib.redirect_stdout(sys.stderr):  # trainings print
        result = trainings(
            Training("reference", reference, torch_args, steps),
            Training("candidate", candidate, mindspore_args, steps),
            steps,
            dict(rename),
            constant,
            execution == "pynative",
            tell,
        )
    print("\n".join(lines(result)))
    if json_file is not None:
        files.write(json_file, json.dumps(document(result), indent=1) + "\n")
    return 0 if result else DIFFERENT

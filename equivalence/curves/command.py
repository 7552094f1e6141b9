"""`equivalence curve A B`."""

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from equivalence import files
from equivalence.curves.compare import curve
from equivalence.curves.monitored import MonitoredResult
from equivalence.curves.result import CurveResult, lines
from equivalence.errors import DeclarationError

DIFFERENT = 1
"""The exit code where the curves differ."""


def command(
    reference: str,
    candidate: str,
    pattern: str | None,
    rename: Sequence[tuple[str, str]],
    steps: int,
    runs: int,
    seed: int,
    image: Path | None,
    json_file: Path | None,
) -> int:
    """Compare two curves and print what is found; returns the exit code."""
    for path, option in ((image, "--picture"), (json_file, "--json")):
        if path is not None and (path.is_dir() or not os.access(path.absolute().parent, os.W_OK)):
            raise DeclarationError(f"{option} {path} cannot be written; name another file")
    with contextlib.redirect_stdout(sys.stderr):  # trainings print
        result = curve(
            reference,
            candidate,
            pattern=pattern,
            rename=dict(rename),
            steps=steps,
            runs=runs,
            seed=seed,
            tell=_tell,
        )
    if isinstance(result, MonitoredResult):
        print("\n".join(result.lines()))
        if image is not None:
            raise DeclarationError("--picture draws curves, and these are monitors; --json has all")
        if json_file is not None:
            files.write(json_file, json.dumps(result.document(), indent=1) + "\n")
        return 0 if result else DIFFERENT
    print("\n".join(lines(result)))
    if image is not None:
        files.write(image, result.picture())
        print(f"{image}: a picture")
    if json_file is not None:
        files.write(json_file, json.dumps(document(result), indent=1) + "\n")
    return 0 if result else DIFFERENT


def document(result: CurveResult) -> dict[str, object]:
    """All of a result as JSON."""
    return {
        "reference": result.reference.name,
        "candidate": result.candidate.name,
        "inside" if result.runs else "same_digits": bool(result),
        "runs": result.runs,
        "metrics": [
            {
                "reference": each.reference,
                "candidate": each.candidate,
                "steps": each.theirs.steps.tolist(),
                "values": [each.theirs.values.tolist(), each.ours.values.tolist()],
                "allowed": each.band.allowed(1, each.ours.digits).tolist() if each.band else None,
                "leaves": vars(each.leaving) if each.leaving else None,
                "departs": vars(each.departure) if each.departure else None,
                "fits": each.fits,
            }
            for each in result.metrics
        ],
    }


def _tell(doing: str) -> None:
    print(f"... {doing}", file=sys.stderr, flush=True)

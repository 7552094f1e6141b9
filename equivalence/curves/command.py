"""`equivalence curve A B`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equivalence.curves.compare import curve
from equivalence.curves.monitored import MonitoredResult
from equivalence.curves.result import CurveResult, lines
from equivalence.errors import DeclarationError
from equivalence.output import answer, aside, demand_writable, tell, write


def command(
    rename: Sequence[tuple[str, str]], image: Path | None, json_file: Path | None, **options: Any
) -> int:
    """Compare two curves and print what is found; returns the exit code.

    options: the others of `curve`.
    """
    demand_writable(image, "--picture")
    demand_writable(json_file, "--json")
    with aside():
        result = curve(**options, rename=dict(rename), tell=tell)
    if isinstance(result, MonitoredResult):
        code = answer(result.lines(), bool(result), json_file, result.document())
        if image is not None:
            raise DeclarationError("--picture draws curves, and these are monitors; --json has all")
        return code
    text = lines(result)
    if image is not None:
        write(image, result.picture())
        text = [*text, f"{image}: a picture"]
    return answer(text, bool(result), json_file, document(result))


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

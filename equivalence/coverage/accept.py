"""`python -m equivalence accept`: keeps the errors of a complete green run of the gate."""

from pathlib import Path

from equivalence.coverage.known import GATE, counterparts, demand, gate
from equivalence.errors import CoverageError
from equivalence.report import accepted


def command(results: Path, device: str) -> int:
    """Write the figures in a device's results beside the records; returns the exit code."""
    demand("the gate", GATE)
    figures = accepted.collect(accepted.results_of(results, device))
    accepted.demand_all(figures, counterparts(), gate(device))
    path = accepted.path_of(device)
    if path.exists():
        try:
            print(accepted.count_changes(figures, accepted.read(path)))
        except CoverageError as error:
            print(f"what was accepted before is replaced: {error}")
    accepted.write(figures, path)
    print(f"{path}: {accepted.summary(figures)}")
    return 0

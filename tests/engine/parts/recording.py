"""Shorthand for the tests of records: folders of them, and cases judged by these."""

import contextlib
import tempfile
from pathlib import Path

from equivalence.comparison import check
from equivalence.comparison.kept import forget
from equivalence.declare.draws import normal
from equivalence.errors import EquivalenceError
from equivalence.host.isolation import isolated
from equivalence.record import candidates, store, truths
from equivalence.record.truths import Library
from tests.engine.parts import small

LINEAR = {"in_features": 40, "out_features": 24}


def affine(candidate="tests.engine.parts.networks_ms:Affine", rows=30, **twin):
    """A case with tensors that are kept whole and others that are sketched."""
    twin = {"config": LINEAR, "reference": "torch.nn:Linear"} | twin
    return small.case(twin.pop("reference"), candidate, normal(rows, 40), **twin)


def sized():
    """A case of two sizes."""
    return affine(rows="ROWS", sizes=[{"ROWS": 3}, {"ROWS": 30}])


def judged(case, folder: Path, mode: str, seed: int = 0):
    """The outcome of a case by the records in a folder; what is recorded waits beside it."""
    library = None if mode == truths.IGNORE else Library(folder, mode, folder / "../parts")
    forget()
    try:
        with isolated(), truths.using(library):
            return check.check(case, seed)
    finally:
        forget()


def recorded(folder: Path, *cases, seed: int = 0) -> int:
    """Record cases and put them into the folder; how many samples."""
    for case in cases:
        assert judged(case, folder, truths.WRITE, seed).record == truths.WRITTEN
    return store.pack((folder / "../parts").rglob("*.safetensors"), folder)


def run_by(runs, case, seed: int = 0):
    """The outcome of a case whose candidate is kept by, or read from, those runs."""
    forget()
    try:
        with isolated(), candidates.using(runs):
            return check.check(case, seed)
    finally:
        forget()


def kept(folder: Path, *cases, seed: int = 0) -> int:
    """Keep what the candidates of cases give, and what they raise, in the folder; how many."""
    with tempfile.TemporaryDirectory() as parts:
        for case in cases:
            with contextlib.suppress(EquivalenceError):
                run_by(candidates.CandidateWriter(Path(parts)), case, seed)
        found = Path(parts).rglob("*.safetensors")
        return store.pack(found, folder, store.CANDIDATE)


def replayed(case, folder: Path, seed: int = 0):
    """The outcome of a case by the run that the folder holds."""
    return run_by(candidates.CandidateReader(folder), case, seed)

"""Shorthand for the tests of records: a folder of them, and cases judged by it."""

from pathlib import Path

from equivalence import check, record, record_files
from equivalence.draws import normal
from equivalence.isolation import isolated
from equivalence.record import Library
from tests.engine import small

LINEAR = {"in_features": 40, "out_features": 24}


def affine(candidate="tests.engine.networks_ms:Affine", rows=30, **twin):
    """A case with tensors that are kept whole and others that are sketched."""
    twin = {"config": LINEAR, "reference": "torch.nn:Linear"} | twin
    return small.case(twin.pop("reference"), candidate, normal(rows, 40), **twin)


def judged(case, folder: Path, mode: str, seed: int = 0):
    """The outcome of a case by the records in a folder; what is recorded waits beside it."""
    library = None if mode == record.IGNORE else Library(folder, mode, folder / "../parts")
    check._known.clear()
    try:
        with isolated(), record.using(library):
            return check.check(case, seed)
    finally:
        check._known.clear()


def recorded(folder: Path, *cases, seed: int = 0) -> int:
    """Record cases and put them into the folder; how many samples."""
    for case in cases:
        assert judged(case, folder, record.WRITE, seed).record == record.WRITTEN
    return record_files.pack((folder / "../parts").rglob("*.safetensors"), folder)

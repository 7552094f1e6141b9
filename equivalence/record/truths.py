"""Recorded truth: a run may read from a file what running the reference would give.

A record is used where there is one for exactly this sample: the same declaration, sources, seed
and unit roundoff, and the very same numbers for the candidate. Otherwise the reference is run, or
the case is refused. It also tells whether the reference multiplies matrices, which decides by
which unit roundoff a case is judged on a device with a coarse compute mode. See `record_files.py`
for the files and `sketch.py` for what is kept.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from equivalence import files
from equivalence.declare.batches import Batches
from equivalence.declare.twin import Case, cases
from equivalence.errors import RecordError
from equivalence.judge.truth import Reference
from equivalence.record import codec, fingerprint, store
from equivalence.record.store import Records
from equivalence.sample import Sample

USE, IGNORE, REQUIRE, WRITE = MODES = ("use", "ignore", "require", "write")

FOLDER = "fixtures/truth"

USED, STALE, WRITTEN = "used", "stale", "written"
"""`Reference.record`."""


def recordable(case: Case) -> bool:
    """Whether cases of its kind are recorded: twins whose inputs are drawn."""
    return not case.alone and not isinstance(case.twin.inputs, Batches)


class Library:
    """The records of a folder, in one of the `MODES` but for "ignore", which needs none.

    parts: folder for what this run records.
    """

    def __init__(self, folder: Path, mode: str, parts: Path | None = None):
        self.folder, self.mode, self.parts = folder, mode, parts
        self._manifest: dict[str, dict[str, Any]] | None = None
        self._open: tuple[str, Records] | None = None

    def reference(
        self,
        case: Case,
        seed: int,
        unit_roundoff: float,
        draw: Callable[[], Sample],
        run: Callable[[bool], Reference],
    ) -> Reference:
        """The reference's side of a case, from its record, or else by `run`.

        draw: makes the sample anew. run: runs the reference; given True, as it is to be kept.
        Raises RecordError where a record that is wanted is damaged, and where one that is
        required is missing or stale.
        """
        if self.mode == WRITE:
            return self._write(case, seed, unit_roundoff, draw, run(True))
        found = self._entry(case, seed, unit_roundoff)
        if found is None:
            self._demand(case, _missing(seed))
            return run(False)
        why = _stale(case, seed, unit_roundoff, found)
        if why is None:
            known = self._decoded(case, fingerprint.key(case, seed, unit_roundoff), draw())
            if known is not None:
                return known
            made = found["versions"]["numpy"]
            why = f"other inputs or weights are drawn here than with the engine and NumPy {made}"
        self._demand(case, f"its record is stale: {why}")
        known = run(False)
        known.record = STALE
        return known

    def multiplies(
        self, case: Case, seed: int, units: Sequence[float], run: Callable[[], bool]
    ) -> bool:
        """Whether the reference has convolutions or matrix products, by a record, or else by `run`.

        units: the unit roundoffs that there may be a record of; each says it in so many words.
        Raises RecordError where one that is required is missing or stale.
        """
        why = _missing(seed)
        for unit_roundoff in units if self.mode != WRITE else ():
            found = self._entry(case, seed, unit_roundoff)
            stale = found and _stale(case, seed, unit_roundoff, found)
            if found and not stale:
                return found["multiplies"]
            why = f"its record is stale: {stale}" if stale else why
        self._demand(case, why)
        return run()

    def _entry(self, case: Case, seed: int, unit_roundoff: float) -> dict[str, Any] | None:
        """What the manifest tells of a record."""
        if self._manifest is None:
            self._manifest = store.manifest(self.folder)
        entry = self._manifest.get(case.twin.name, {"samples": {}})
        return entry["samples"].get(fingerprint.key(case, seed, unit_roundoff))

    def _demand(self, case: Case, why: str) -> None:
        if self.mode == REQUIRE:
            raise RecordError(
                f"{case.name}: {why}; run `make record` where torch is installed, or leave out "
                "--record=require"
            )

    def _decoded(self, case: Case, key: str, sample: Sample) -> Reference | None:
        """The record, read back; None where the values that it was made of are not the sample's."""
        twin = case.twin.name
        if self._open is None or self._open[0] != twin:
            entry = self._manifest[twin]
            self._open = twin, store.read(self.folder, twin, entry)
        try:
            arrays, rest = self._open[1][key]
            known = codec.decode(arrays, rest, sample)
            same = fingerprint.digest_of(known, case.twin.steps) == rest["digest"]
        except (KeyError, TypeError, ValueError) as error:
            path = self.folder / self._manifest[twin]["file"]
            raise RecordError(
                f"{path} lacks what {key!r} needs ({error}): {store.TRUTH.cure}"
            ) from error
        known.record = USED
        return known if same else None

    def _write(
        self,
        case: Case,
        seed: int,
        unit_roundoff: float,
        draw: Callable[[], Sample],
        known: Reference,
    ) -> Reference:
        """Write a part; the reference as it will be read back, so that the run judges by that."""
        key = fingerprint.key(case, seed, unit_roundoff)
        arrays, rest = codec.encode(known)
        rest |= {
            "fingerprint": fingerprint.fingerprint(case, seed, unit_roundoff),
            "digest": fingerprint.digest_of(known, case.twin.steps),
            "versions": fingerprint.versions(),
            "declared": sorted(_samples(case)),
        }
        twin = case.twin.name
        content = store.packed(twin, {key: (arrays, rest)})
        path = store.part(self.parts, twin, key)
        arrays, rest = store.unpacked(path, content, twin)[key]
        read = codec.decode(arrays, rest, draw())
        if fingerprint.digest_of(read, case.twin.steps) != rest["digest"]:
            raise RecordError(f"{case.name}: its sample cannot be drawn again as it was")
        files.written(path, content)
        read.record = WRITTEN
        return read


def _missing(seed: int) -> str:
    return f"there is no record of it with seed {seed}"


def _stale(case: Case, seed: int, unit_roundoff: float, entry: dict[str, Any]) -> str | None:
    """Why a record is not of this case as it is now; None where it is."""
    if entry["fingerprint"] != fingerprint.fingerprint(case, seed, unit_roundoff):
        return "its declaration or the source of its reference has changed since"
    return fingerprint.other_version(case, entry["versions"])


def _samples(case: Case) -> set[str]:
    """The names of all samples of a case's twin."""
    return {one.sample_name for each in cases(case.twin, case.device) for one in each.sizes}


_active: Library | None = None


def active() -> Library | None:
    """The records that cases are judged by now; None where references are run."""
    return _active


def writing() -> bool:
    """Whether references are recorded now."""
    return _active is not None and _active.mode == WRITE


@contextlib.contextmanager
def using(library: Library | None) -> Iterator[None]:
    """Within, cases are judged by these records, or by none."""
    global _active
    before, _active = _active, library
    try:
        yield
    finally:
        _active = before

"""Recorded truth: a run reads the reference's side from a file instead of running the reference.

A record is used only for exactly its sample: the same declaration, sources, seed and unit
roundoff, and the same inputs, weights and cotangents. Otherwise the reference is run, or the case
is refused. A record also says whether the reference multiplies matrices. This decides the unit
roundoff of a case on a device with a coarse compute mode. See `store.py` for the files, and
`judge/sketch.py` for large tensors.
"""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from equivalence import files
from equivalence.declare.batches import Batches
from equivalence.declare.twin import TwinCase, cases
from equivalence.errors import RecordError
from equivalence.record import codec, fingerprint, store
from equivalence.record.store import Records
from equivalence.sample import Sample
from equivalence.truth.known import Reference

USE, IGNORE, REQUIRE, WRITE = MODES = ("use", "ignore", "require", "write")
"""Values of `--record`: use a record if there is one, ignore records, refuse a case without one,
write records."""

FOLDER = "fixtures/truth"
"""The folder of recorded truths, below the root of the project."""

USED, STALE, WRITTEN = "used", "stale", "written"
"""Values of `Reference.record`."""


def recordable(case: TwinCase) -> bool:
    """Whether a case can be recorded: it is compared as a whole, and its inputs are drawn.

    What draws is pinned in a record: its numbers are not replayed on a host without torch.
    """
    if case.replayed is not None:
        return False
    return not isinstance(case.twin.inputs, Batches) and not case.twin.by_layer


class Library:
    """The recorded truths of a folder.

    folder: the folder.
    mode: one of the `MODES`, but not "ignore", which needs no library.
    parts: the folder for the records of this run; None if it writes none.
    """

    def __init__(self, folder: Path, mode: str, parts: Path | None = None):
        self.folder, self.mode, self.parts = folder, mode, parts
        self._declared: dict[str, set[str]] = {}
        self._open: tuple[str, Records] | None = None

    def reference(
        self,
        case: TwinCase,
        seed: int,
        products: float,
        draw: Callable[[], Sample],
        run: Callable[[bool], Reference],
    ) -> Reference:
        """The reference's side of a case, from its record, or by `run`.

        draw: draws the sample.
        run: runs the reference; its argument says whether the result is to be recorded.

        Raises RecordError if the record is damaged, or if it is required and is missing or stale.
        """
        if self.mode == WRITE:
            return self._write(case, seed, products, draw, run(True))
        entry = self._entry(case, seed, products)
        if entry is None:
            self._demand(case, _no_record(seed))
            return run(False)
        why = _why_stale(case, seed, products, entry)
        if why is None:
            reference = self._decode(case, fingerprint.key(case, seed, products), draw())
            if reference is not None:
                return reference
            numpy = entry["versions"]["numpy"]
            why = f"other inputs or weights are drawn here than with the engine and NumPy {numpy}"
        self._demand(case, f"its record is stale: {why}")
        reference = run(False)
        reference.record = STALE
        return reference

    def declare(self, group: str, cases: Callable[[], Iterable[TwinCase]]) -> None:
        """Say which cases the file of a group is for; records of other samples are dropped.

        cases: gives them. Without this, they are those of the twin of a case that is recorded.
        """
        if group not in self._declared:
            self._declared[group] = {case.recorded.sample for case in cases()}

    def answers(self, case: TwinCase, seed: int, products: float) -> bool:
        """Whether `reference` reads or writes a record, or must; a stale one counts, too."""
        return self.mode != USE or self._entry(case, seed, products) is not None

    def multiplies(
        self, case: TwinCase, seed: int, units: Sequence[float], run: Callable[[], bool]
    ) -> bool:
        """Whether the reference has convolutions or matrix products, by a record or by `run`.

        units: the unit roundoffs for which a record may exist; each record has the answer.

        Raises RecordError if a record is required and is missing or stale.
        """
        why = _no_record(seed)
        for products in units if self.mode != WRITE else ():
            entry = self._entry(case, seed, products)
            stale = entry and _why_stale(case, seed, products, entry)
            if entry and not stale:
                return entry["multiplies"]
            why = f"its record is stale: {stale}" if stale else why
        self._demand(case, why)
        return run()

    @functools.cached_property
    def _manifest(self) -> dict[str, dict[str, Any]]:
        return store.manifest(self.folder)

    def _entry(self, case: TwinCase, seed: int, products: float) -> dict[str, Any] | None:
        """The entry of a record in the manifest; None without one."""
        group = self._manifest.get(case.recorded.group, {"samples": {}})
        return group["samples"].get(fingerprint.key(case, seed, products))

    def _demand(self, case: TwinCase, why: str) -> None:
        """Raise RecordError if the mode requires a record."""
        if self.mode == REQUIRE:
            raise RecordError(
                f"{case.name}: {why}; run pytest with --record=write where torch is "
                "installed, or leave out --record=require"
            )

    def _decode(self, case: TwinCase, key: str, sample: Sample) -> Reference | None:
        """The reference from its record; None if the record belongs to another sample.

        Raises RecordError if the record lacks a part.
        """
        group = case.recorded.group
        if self._open is None or self._open[0] != group:
            entry = self._manifest[group]
            self._open = group, store.read(self.folder, group, entry)
        try:
            arrays, rest = self._open[1][key]
            reference = codec.decode(arrays, rest, sample)
            same = fingerprint.digest_of(reference, case.calls) == rest["digest"]
        except (IndexError, KeyError, TypeError, ValueError) as error:
            path = self.folder / self._manifest[group]["file"]
            raise RecordError(
                f"{path} lacks what {key!r} needs ({error}): {store.TRUTH.cure}"
            ) from error
        reference.record = USED
        return reference if same else None

    def _write(
        self,
        case: TwinCase,
        seed: int,
        products: float,
        draw: Callable[[], Sample],
        reference: Reference,
    ) -> Reference:
        """Write a part; return the reference as it is read back, by which this run judges."""
        key = fingerprint.key(case, seed, products)
        arrays, rest = codec.encode(reference)
        rest |= {
            "fingerprint": fingerprint.fingerprint(case, seed, products),
            "digest": fingerprint.digest_of(reference, case.calls),
            "versions": fingerprint.versions(),
            "declared": sorted(self._declared.get(case.recorded.group) or _samples(case)),
        }
        group = case.recorded.group
        content = store.encode_file(group, {key: (arrays, rest)})
        if self.parts is None:
            raise RecordError(f"{case.name}: no folder for the records of this run")
        path = store.part(self.parts, group, key)
        arrays, rest = store.decode_file(path, content, group)[key]
        read = codec.decode(arrays, rest, draw())
        if fingerprint.digest_of(read, case.calls) != rest["digest"]:
            raise RecordError(f"{case.name}: its sample cannot be drawn again as it was")
        files.write(path, content)
        read.record = WRITTEN
        return read


def _no_record(seed: int) -> str:
    return f"there is no record of it with seed {seed}"


def _why_stale(case: TwinCase, seed: int, products: float, entry: dict[str, Any]) -> str | None:
    """Why a record does not belong to the present case; None if it does."""
    if entry["fingerprint"] != fingerprint.fingerprint(case, seed, products):
        return "its declaration or the source of its reference has changed since"
    return fingerprint.other_version(case, entry["versions"])


def _samples(case: TwinCase) -> set[str]:
    """The names of all samples of a case's twin."""
    return {one.recorded.sample for each in cases(case.twin, case.device) for one in each.sizes}


_active: Library | None = None


def active() -> Library | None:
    """The library that gives the references now; None if they are run."""
    return _active


def required() -> bool:
    """Whether every reference must be read from a record, so that torch is not needed."""
    return _active is not None and _active.mode == REQUIRE


def writing() -> bool:
    """Whether references are being recorded."""
    return _active is not None and _active.mode == WRITE


@contextlib.contextmanager
def using(library: Library | None) -> Iterator[None]:
    """A context in which `library` gives the references; with None, they are run."""
    global _active
    before, _active = _active, library
    try:
        yield
    finally:
        _active = before

"""Recorded candidates: what runs of candidates gave on one host, judged on another.

The host of the device keeps whole traces, one record for each run. A host without it, and without
MindSpore, reads them in place of the runs; there, everything else of a comparison is done as ever:
the reference, the pairing of weights, the verdict and the search for branch flips. A record is
used for exactly the case, and the very numbers, that it was made with; otherwise the case is
refused.

Tensors are kept whole, whatever their size: only then can the place of an error be told, and a
branch flip be tried out on them. A file has those of one run, as "RUN/TENSOR", and in its header
as JSON the weights that the candidate has, its random layers, and what it raised.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from equivalence import errors, files
from equivalence.declare.twin import Case
from equivalence.errors import EquivalenceError, RecordError
from equivalence.judge.tensors import Trace
from equivalence.record import fingerprint, store, truths
from equivalence.record.store import CANDIDATE
from equivalence.sample import Sample
from equivalence.sides.weights import Slot

AGAIN = "run `make record-candidate` again where the device is, with the same version"

STORED = "fiub"
"""Kinds of arrays that a file holds; of others, which no candidate may give, dtype and shape."""


class Writer:
    """Keeps what candidates give, as parts for `record_files.pack`."""

    def __init__(self, parts: Path):
        self.parts = parts

    def candidate(
        self, case: Case, seed: int, unit_roundoff: float, build: Callable[[], Any]
    ) -> "Kept":
        """The candidate that `build` gives, whose run is kept; also what it raises."""
        return Kept(self.parts, case, seed, unit_roundoff, build)

    def made_with(self, _case: Case, _seed: int, _unit_roundoff: float) -> None:
        """Nothing: the run is made here."""


class Kept:
    """A candidate whose run is kept in a file; in all else it is that candidate."""

    def __init__(
        self, parts: Path, case: Case, seed: int, unit_roundoff: float, build: Callable[[], Any]
    ):
        self.steps, self.name = case.twin.steps, case.name
        self.key = fingerprint.candidate_key(case, seed, unit_roundoff)
        self.path = store.part(parts, self.name, self.key)
        self.rest = {
            "fingerprint": fingerprint.candidate_fingerprint(case, seed, unit_roundoff),
            "versions": fingerprint.versions(("mindspore", "numpy")),
            "declared": [case.name],
        }
        with self._keeping_what_it_raises():
            built = build()
        self.candidate = built.candidate if isinstance(built, Kept) else built
        self.rest["slots"] = {n: [s.shape, s.kind] for n, s in self.slots().items()}
        self.rest["random_layers"] = self.random_layers()
        self._write({})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.candidate, name)

    def run(
        self,
        sample: Sample,
        partners: Mapping[str, str],
        phase: str,
        outputs: Mapping[int, tuple[int, ...]],
    ) -> Trace:
        """The candidate's trace, which is written."""
        self.rest["digest"] = _digest(sample, self.slots(), partners, outputs, self.steps)
        with self._keeping_what_it_raises():
            recorded = self.candidate.run(sample, partners, phase, outputs)
        self.rest["trace"] = {name: [v.shape, str(v.dtype)] for name, v in recorded.items()}
        self._write({name: v for name, v in recorded.items() if v.dtype.kind in STORED})
        return recorded

    @contextlib.contextmanager
    def _keeping_what_it_raises(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self.rest["raised"] = [type(error).__name__, errors.words(error)]
            self._write({})
            raise

    def _write(self, arrays: Trace) -> None:
        content = store.packed(self.name, {self.key: (arrays, self.rest)}, CANDIDATE)
        files.written(self.path, content)


class Reader:
    """The recorded runs of a folder. Raises RecordError where there is none, or no manifest."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._manifest = store.manifest(folder, CANDIDATE)
        if not self._manifest:
            raise RecordError(
                f"{folder / store.MANIFEST} is not there: name the folder that `make "
                "record-candidate` has written where the device is"
            )

    def candidate(
        self, case: Case, seed: int, unit_roundoff: float, _build: Callable[[], Any]
    ) -> "Replayed":
        """What is on record of a candidate; raises what it raised.

        Raises RecordError where it is missing, damaged, or not of exactly this case.
        """
        path, entry = self._entry(case, seed, unit_roundoff)
        declared = fingerprint.candidate_fingerprint(case, seed, unit_roundoff)
        if entry["fingerprint"] != declared:
            raise RecordError(
                f"{case.name}: its run in {path} is stale, its declaration or the source of its "
                f"candidate has changed since: {AGAIN}"
            )
        key = fingerprint.candidate_key(case, seed, unit_roundoff)
        records = store.read(self.folder, case.name, self._manifest[case.name], CANDIDATE)
        try:
            replayed = Replayed(case, path, *records[key])
        except (KeyError, TypeError, ValueError) as error:
            raise RecordError(f"{path} lacks what {key!r} needs ({error}): {AGAIN}") from error
        if replayed.raised is not None:
            raise replayed.raised
        return replayed

    def made_with(self, case: Case, seed: int, unit_roundoff: float) -> str:
        """The version that a run was made with, in words."""
        _, entry = self._entry(case.sizes[0], seed, unit_roundoff)
        return f"MindSpore {entry['versions']['mindspore']}"

    def _entry(self, case: Case, seed: int, unit_roundoff: float) -> tuple[Path, dict[str, Any]]:
        """A run's file, and what the manifest tells of the run."""
        run = self._manifest.get(case.name, {"samples": {}})
        key = fingerprint.candidate_key(case, seed, unit_roundoff)
        if key not in run["samples"]:
            raise RecordError(
                f"{case.name}: {self.folder} has no run of it with seed {seed}: {AGAIN} and "
                f"`SEED={seed}`"
            )
        return self.folder / run["file"], run["samples"][key]


class Replayed:
    """A candidate as it is on record. Raises KeyError, TypeError or ValueError where that lacks.

    raised: what the candidate raised when it was built or run; None where it did not.
    """

    def __init__(self, case: Case, path: Path, arrays: Trace, rest: Mapping[str, Any]):
        self.case, self.path = case, path
        self.raised = _raised(*rest["raised"]) if "raised" in rest else None
        if self.raised is not None:
            return
        self._slots = {n: Slot(tuple(shape), kind) for n, (shape, kind) in rest["slots"].items()}
        self._random_layers, self.numpy = rest["random_layers"], rest["versions"]["numpy"]
        self.trace: Trace | None = None
        if "trace" in rest:
            self.digest = rest["digest"]
            self.trace = {
                name: arrays[name] if np.dtype(dtype).kind in STORED else np.empty(shape, dtype)
                for name, (shape, dtype) in rest["trace"].items()
            }

    def slots(self) -> dict[str, Slot]:
        """Those that the candidate had."""
        return self._slots

    def random_layers(self) -> list[str]:
        """Those that the candidate had."""
        return self._random_layers

    def run(
        self,
        sample: Sample,
        partners: Mapping[str, str],
        _phase: str,
        outputs: Mapping[int, tuple[int, ...]],
    ) -> Trace:
        """The trace on record. Raises RecordError where it has none, or of other numbers."""
        if self.trace is None:
            raise RecordError(
                f"{self.case.name}: {self.path} has no trace of it, since it crashed or did not "
                f"fit its reference then: {AGAIN}"
            )
        digest = _digest(sample, self._slots, partners, outputs, self.case.twin.steps)
        if digest != self.digest:
            raise RecordError(
                f"{self.case.name}: its run in {self.path} was given other inputs or weights than "
                f"are drawn here (there with NumPy {self.numpy}): {AGAIN}"
            )
        return self.trace


def _raised(name: str, words: str) -> Exception:
    """What was raised: an error of the engine, or an exception of the name that it had there."""
    known = {error.__name__: error for error in EquivalenceError.__subclasses__()}
    return known.get(name, type(name, (Exception,), {}))(words)


def _digest(
    sample: Sample,
    slots: Mapping[str, Slot],
    partners: Mapping[str, str],
    outputs: Mapping[int, tuple[int, ...]],
    steps: int | None,
) -> int:
    shapes = {partners[name]: slot.shape for name, slot in slots.items()}
    return fingerprint.digest(sample, shapes, outputs, steps)


_active: Writer | Reader | None = None


def active(case: Case) -> Writer | Reader | None:
    """What the candidate of a case is kept by now, or read from; None where it is just run."""
    return _active if truths.recordable(case) else None


@contextlib.contextmanager
def using(runs: Writer | Reader | None) -> Iterator[None]:
    """Within, candidates are kept by this, or read from it, or just run."""
    global _active
    before, _active = _active, runs
    try:
        yield
    finally:
        _active = before

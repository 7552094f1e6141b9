"""Recorded candidates: runs of candidates on one host, for another host to judge.

The host with the device records whole traces, one record for each run. A host without the device
and without MindSpore reads these records instead of running the candidate. It does the rest of a
comparison as usual: the reference, the pairing of weights, the verdict and the search for branch
flips. A record is used only for exactly its case, with the same inputs, weights and cotangents;
otherwise the case is refused.

Tensors are recorded whole, whatever their size, so that the index of an error can be reported and
branch flips can be tried. Its header holds, as JSON, the candidate's weights, its random layers,
and the exception that it raised.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from equivalence import dtypes, errors, files
from equivalence.declare.twin import TwinCase
from equivalence.errors import EquivalenceError, RecordError
from equivalence.judge.tensors import Trace
from equivalence.randomness.layers import DROPOUT, RandomLayer
from equivalence.record import fingerprint, store, truths
from equivalence.record.store import CANDIDATE
from equivalence.sides.feed import Feed
from equivalence.structure.weights import Slot

CURE = "run `make record-candidate` again where the device is, with the same version"

STORED_KINDS = "fiub"
"""Kinds of NumPy dtypes whose values are recorded. For any other kind, only dtype and shape are: no
candidate may return it."""


class CandidateWriter:
    """Records runs of candidates, as parts for `store.pack`.

    parts: the folder for the parts.
    """

    def __init__(self, parts: Path):
        self.parts = parts

    def candidate(
        self, case: TwinCase, seed: int, products: float, build: Callable[[], Any]
    ) -> "KeptCandidate":
        """The candidate that `build` returns; its run, or the exception it raises, is recorded."""
        return KeptCandidate(self.parts, case, seed, products, build)

    def made_with(self, _case: TwinCase, _seed: int, _products: float) -> None:
        """Return None: the candidate runs on this host."""


class KeptCandidate:
    """A candidate whose run is recorded; all else is the candidate's own."""

    def __init__(
        self, parts: Path, case: TwinCase, seed: int, products: float, build: Callable[[], Any]
    ):
        self.calls, self.name = case.calls, case.name
        self.key = fingerprint.candidate_key(case, seed, products)
        self.path = store.part(parts, self.name, self.key)
        self.rest: dict[str, Any] = {
            "fingerprint": fingerprint.candidate_fingerprint(case, seed, products),
            "versions": fingerprint.versions(("mindspore", "numpy")),
            "declared": [case.name],
        }
        with self._keep_exception():
            self.built = build().built
        self.rest["slots"] = {n: [s.shape, s.kind] for n, s in self.slots().items()}
        self.rest["random_layers"] = [RandomLayer(path, DROPOUT) for path in self.dropouts()]
        self._write({})

    def slots(self) -> dict[str, Slot]:
        """The shape and kind of each weight, by its path."""
        return self.built.slots()

    def unheld(self) -> list[str]:
        """The attributes that hold cells without making them cells of the network."""
        return self.built.unheld()

    def dropouts(self) -> list[str]:
        """The paths of the cells that draw random numbers while training."""
        return self.built.dropouts()

    def call_before(self, feed: Feed, both: bool) -> None:
        """Run with the values of another sample; that run is not recorded."""
        self.built.call_before(feed, both)

    def drawn_by(self, note: Callable[[], list[RandomLayer]]) -> list[RandomLayer]:
        """The draws that `note` finds in a run, which are also recorded."""
        layers = self.rest["random_layers"] = note()
        return layers

    def run(self, feed: Feed) -> Trace:
        """The candidate's trace, which is also recorded."""
        self.rest["digest"] = _digest(feed, self.slots(), self.calls)
        with self._keep_exception():
            trace = self.built.run(feed)
        self.rest["trace"] = {name: [v.shape, dtypes.name(v.dtype)] for name, v in trace.items()}
        stored = {name: v for name, v in trace.items() if v.dtype.kind in STORED_KINDS}
        self._write({name: dtypes.plain(values) for name, values in stored.items()})
        return trace

    @contextlib.contextmanager
    def _keep_exception(self) -> Iterator[None]:
        """Record the exception that the block raises, and raise it again."""
        try:
            yield
        except Exception as error:
            self.rest["raised"] = [type(error).__name__, errors.words(error)]
            self._write({})
            raise

    def _write(self, arrays: Trace) -> None:
        """Write the file of this run."""
        content = store.encode_file(self.name, {self.key: (arrays, self.rest)}, CANDIDATE)
        files.write(self.path, content)


class CandidateReader:
    """The recorded runs of a folder. Raises RecordError if the folder has no manifest."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._manifest = store.manifest(folder, CANDIDATE)
        if not self._manifest:
            raise RecordError(
                f"{folder / store.MANIFEST} is not there: name the folder that `make "
                "record-candidate` has written where the device is"
            )

    def candidate(
        self, case: TwinCase, seed: int, products: float, _build: Callable[[], Any]
    ) -> "ReplayedCandidate":
        """The recorded candidate of a case; raises the exception that is recorded, if any.

        Raises RecordError if the record is missing, damaged, or not of exactly this case.
        """
        path, entry = self._entry(case, seed, products)
        declared = fingerprint.candidate_fingerprint(case, seed, products)
        if entry["fingerprint"] != declared:
            raise RecordError(
                f"{case.name}: its run in {path} is stale, its declaration or the source of its "
                f"candidate has changed since: {CURE}"
            )
        key = fingerprint.candidate_key(case, seed, products)
        records = store.read(self.folder, case.name, self._manifest[case.name], CANDIDATE)
        try:
            replayed = ReplayedCandidate(case, path, *records[key])
        except (KeyError, TypeError, ValueError) as error:
            raise RecordError(f"{path} lacks what {key!r} needs ({error}): {CURE}") from error
        if replayed.raised is not None:
            raise replayed.raised
        return replayed

    def made_with(self, case: TwinCase, seed: int, products: float) -> str:
        """The version of MindSpore of a recorded run, in words."""
        _, entry = self._entry(case.sizes[0], seed, products)
        return f"MindSpore {entry['versions']['mindspore']}"

    def _entry(self, case: TwinCase, seed: int, products: float) -> tuple[Path, dict[str, Any]]:
        """The file of a run, and its entry in the manifest. Raises RecordError without one."""
        run = self._manifest.get(case.name, {"samples": {}})
        key = fingerprint.candidate_key(case, seed, products)
        if key not in run["samples"]:
            raise RecordError(
                f"{case.name}: {self.folder} has no run of it with seed {seed}: {CURE} and "
                f"`SEED={seed}`"
            )
        return self.folder / run["file"], run["samples"][key]


class ReplayedCandidate:
    """A candidate from its record.

    raised: the exception that the candidate raised when it was built or run; None without one.
    trace: the recorded trace; None if the candidate did not run to its end.

    Raises KeyError, TypeError or ValueError if the record lacks a part.
    """

    built = None
    """The network is not here."""

    def __init__(self, case: TwinCase, path: Path, arrays: Trace, rest: Mapping[str, Any]):
        self.case, self.path = case, path
        self.raised = _exception(*rest["raised"]) if "raised" in rest else None
        if self.raised is not None:
            return
        self._slots = {n: Slot(tuple(shape), kind) for n, (shape, kind) in rest["slots"].items()}
        self.random_layers = [RandomLayer(*each) for each in rest["random_layers"]]
        self.numpy = rest["versions"]["numpy"]
        self.trace: Trace | None = None
        if "trace" in rest:
            self.digest = rest["digest"]
            self.trace = {
                name: dtypes.rounded(arrays[name], dtype)
                if dtype == "bfloat16" or np.dtype(dtype).kind in STORED_KINDS
                else np.empty(shape, dtype)
                for name, (shape, dtype) in rest["trace"].items()
            }

    def slots(self) -> dict[str, Slot]:
        """The shape and kind of each weight of the candidate, by its name."""
        return self._slots

    def unheld(self) -> list[str]:
        """A run that was recorded had all its weights."""
        return []

    def dropouts(self) -> list[str]:
        """The paths of the candidate's layers that draw random numbers."""
        return [each.path for each in self.random_layers]

    def drawn_by(self, _note: Callable[[], list[RandomLayer]]) -> list[RandomLayer]:
        """The draws of the candidate that were recorded."""
        return self.random_layers

    def call_before(self, *_: Any) -> None:
        """Do nothing: the recorded run came after such a call."""

    def run(self, feed: Feed) -> Trace:
        """The recorded trace. Raises RecordError if it is missing or belongs to another sample."""
        if self.trace is None:
            raise RecordError(
                f"{self.case.name}: {self.path} has no trace of it, since it crashed or did not "
                f"fit its reference then: {CURE}"
            )
        digest = _digest(feed, self._slots, self.case.calls)
        if digest != self.digest:
            raise RecordError(
                f"{self.case.name}: its run in {self.path} was given other inputs or weights than "
                f"are drawn here (there with NumPy {self.numpy}): {CURE}"
            )
        return self.trace


def _exception(name: str, words: str) -> Exception:
    """The recorded exception: an error of the engine, or a new type of exception of that name."""
    own = {error.__name__: error for error in EquivalenceError.__subclasses__()}
    return own.get(name, type(name, (Exception,), {}))(words)


def _digest(feed: Feed, slots: Mapping[str, Slot], calls: int) -> int:
    """The digest of everything that the candidate gets, see `fingerprint.digest`."""
    return fingerprint.digest(feed.sample, feed.partners.needed(slots), feed.outputs, calls)


_active: CandidateWriter | CandidateReader | None = None


def active(case: TwinCase) -> CandidateWriter | CandidateReader | None:
    """What records or replays the candidate of a case now; None if the candidate just runs."""
    return _active if truths.recordable(case) and not case.alone else None


@contextlib.contextmanager
def using(runs: CandidateWriter | CandidateReader | None) -> Iterator[None]:
    """A context in which `runs` records or replays candidates; with None, they just run."""
    global _active
    before, _active = _active, runs
    try:
        yield
    finally:
        _active = before

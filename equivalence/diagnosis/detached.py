"""What the reference cuts out of its gradients on purpose, and the candidate does not: a sentence.

`detach`, `.data` and `torch.no_grad` are undone one by one in runs of the reference. Where the
candidate is right beside such a run, the cut is the difference.
"""

import linecache
from collections.abc import Collection
from types import FrameType
from typing import Any

import torch

from equivalence.diagnosis.found import CUT
from equivalence.diagnosis.search import Search
from equivalence.errors import of_models
from equivalence.files import shown
from equivalence.judge import tensors
from equivalence.judge.truth import Truth
from equivalence.stream.observer import RUN, callers
from equivalence.stream.torch_stream import Call, Observer, set_grad_enabled
from equivalence.truth.compute import whole
from equivalence.truth.measurement import NOISY_RUNS

CUTS = (torch.Tensor.detach, torch.detach, torch.Tensor.data.__get__)
"""What gives the same values without a gradient."""

Place = tuple[str, int, int]
"""A source file, the number of a line, and the instruction: one line may cut more than once."""


class Undone(Observer):
    """Undoes cuts of the gradient: what is detached stays what it was.

    places: those of the models' code whose cuts are undone; None: all.
    seen: the places that cut, in order.
    """

    slot = "code"

    def __init__(self, places: Collection[Place] | None = None):
        self.places = places
        self.seen: dict[Place, bool] = {}

    def replace(self, call: Call) -> Any:
        """What would be detached, as it is; nothing for a switch."""
        cuts = call.function in CUTS
        if cuts or (call.function is set_grad_enabled and not call.args[0]):
            place = _place()
            if place and (self.places is None or place in self.places):
                self.seen[place] = True
                return call.args[0] if cuts else None
        return RUN


def _place() -> Place | None:
    """The innermost place in the models' own code that runs; None where it is none of theirs."""
    outside = (each for each in callers() if "torch" not in _package(each))
    frame = next(outside, None)
    if frame is None or not of_models(frame.f_code.co_filename):
        return None
    return frame.f_code.co_filename, frame.f_lineno, frame.f_lasti


def _package(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "").partition(".")[0]


def explain(search: Search) -> list[str]:
    """The cuts without which the reference gives what the candidate does, in a sentence."""
    local = search.root
    differing = local.judgement.differing
    if not differing or not all(tensors.of_gradient(v.name) for v in differing):
        return []
    try:
        search.measurement.run(watch=(every := Undone()))
        places = list(every.seen)
        for some in [*([place] for place in places), *([places] if len(places) > 1 else [])]:
            if _right(search, local.trace, some):
                return [_told(some, places)]
    except RuntimeError:  # a tensor that is detached to be written in place
        pass
    return []


def _right(search: Search, trace: tensors.Trace, places: Collection[Place]) -> bool:
    """Whether the candidate is right beside a reference without these cuts."""
    measurement = search.measurement
    expected: Truth = whole(measurement.run(watch=Undone(places)))
    for probe in range(NOISY_RUNS):
        run = measurement.run(measurement.perturbed(probe), Undone(places))
        for name, values in run.items():
            if expected[name].truth.dtype.kind == "f":
                expected[name].widen(values)
    return expected.keys() == trace.keys() and all(
        tensor.within(trace[name], measurement.unit_roundoff) for name, tensor in expected.items()
    )


def _told(undone: Collection[Place], places: Collection[Place]) -> str:
    """What is said of cuts. places: all that the reference makes."""
    where = dict.fromkeys(_shown(place, places, len(undone) > 1) for place in undone)
    return (
        f"{CUT}{', '.join(where)}, and the candidate does not: beside a "
        "reference without that cut it is right; if the cut is meant, write ops.stop_gradient there"
    )


def _shown(place: Place, places: Collection[Place], every: bool) -> str:
    file, line, _ = place
    beside = sorted(each for each in places if each[:2] == (file, line))
    which = "" if every or len(beside) == 1 else f", cut {beside.index(place) + 1} of {len(beside)}"
    return f"{shown(file)}:{line}{which} ({linecache.getline(file, line).strip()})"

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

Line = tuple[str, int]
"""A source file, and the number of a line."""


class Undone(Observer):
    """Undoes cuts of the gradient: what is detached stays what it was.

    lines: the lines of the models' code whose cuts are undone; None: all.
    seen: the lines that cut, in order.
    """

    slot = "code"

    def __init__(self, lines: Collection[Line] | None = None):
        self.lines = lines
        self.seen: dict[Line, bool] = {}

    def replace(self, call: Call) -> Any:
        """What would be detached, as it is; nothing for a switch."""
        cuts = call.function in CUTS
        if cuts or (call.function is set_grad_enabled and not call.args[0]):
            line = _line()
            if line and (self.lines is None or line in self.lines):
                self.seen[line] = True
                return call.args[0] if cuts else None
        return RUN


def _line() -> Line | None:
    """The innermost line of the models' own code that runs; None where it is none of theirs."""
    outside = (each for each in callers() if "torch" not in _package(each))
    frame = next(outside, None)
    if frame is None or not of_models(frame.f_code.co_filename):
        return None
    return frame.f_code.co_filename, frame.f_lineno


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
        lines = list(every.seen)
        for some in [*([line] for line in lines), *([lines] if len(lines) > 1 else [])]:
            if _right(search, local.trace, some):
                return [_told(some)]
    except RuntimeError:  # a tensor that is detached to be written in place
        pass
    return []


def _right(search: Search, trace: tensors.Trace, lines: Collection[Line]) -> bool:
    """Whether the candidate is right beside a reference without these cuts."""
    measurement = search.measurement
    expected: Truth = whole(measurement.run(watch=Undone(lines)))
    for probe in range(NOISY_RUNS):
        run = measurement.run(measurement.perturbed(probe), Undone(lines))
        for name, values in run.items():
            if expected[name].truth.dtype.kind == "f":
                expected[name].widen(values)
    return expected.keys() == trace.keys() and all(
        tensor.within(trace[name], measurement.unit_roundoff) for name, tensor in expected.items()
    )


def _told(lines: Collection[Line]) -> str:
    where = ", ".join(
        f"{shown(file)}:{number} ({linecache.getline(file, number).strip()})"
        for file, number in lines
    )
    return (
        f"{CUT}{where}, and the candidate does not: beside a "
        "reference without that cut it is right; if the cut is meant, write ops.stop_gradient there"
    )

"""The time of each layer's forward pass on both sides, by hooks around the layers.

A layer is one that holds no other. Each waits until what came before it is there, so that the times
add up to more than a step that overlaps its layers. A layer that is called several times has the
sum. What runs within a compiled graph cannot be seen: MindSpore's side is that of PyNative mode.
"""

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equivalence.comparison import sides
from equivalence.declare.twin import TwinCase
from equivalence.stream.observer import attached
from equivalence.structure import layers, pairing
from equivalence.timing.sides import mindspore_step, torch_step
from equivalence.timing.steps import FEWEST, REFERENCE, WARM_UP, Step, aligned, milliseconds

MOST = 10
"""Layers of a table, those first that lose the most."""

CANDIDATE = "MindSpore pynative"


@dataclass(frozen=True)
class LayerTimes:
    """A layer of the reference and its partner.

    path, kind: the reference's; partner: the candidate's path.
    reference, candidate: median seconds of a step's forward passes through it.
    """

    path: str
    kind: str
    partner: str
    reference: float
    candidate: float


def measure(
    case: TwinCase, seed: int = 0, clock: Callable[[], float] = time.perf_counter
) -> list[LayerTimes]:
    """The times of all layers that have a partner and run on both sides, the slowest loss first.

    case: one in PyNative mode.
    """
    import mindspore as ms
    import torch

    sample = sides.draw(case, seed)
    reference, candidate = sides.build_reference(case), sides.build_candidate(case)
    partners = pairing.partners(case, reference.slots(), candidate.slots())
    ours = [*reference.layers()]
    pairs = layers.align(ours, candidate.layers(partners), partners.rename)
    theirs = torch_step(reference, sample, case.phase)
    port = mindspore_step(candidate, sides.build_reference(case), case, sample)

    def wait() -> None:
        if reference.device.type == "cuda":
            torch.cuda.synchronize()

    modules = {path: module for path, module in reference.module.named_modules() if path in pairs}
    cells = dict(candidate.cell.cells_and_names())
    found = {
        REFERENCE: _timed(theirs, _innermost(modules), wait, clock),
        CANDIDATE: _timed(port, _innermost(cells), ms.runtime.synchronize, clock),
    }
    rows = [
        LayerTimes(
            layer.path,
            layer.kind,
            pairs[layer.path],
            found[REFERENCE][layer.path],
            found[CANDIDATE][pairs[layer.path]],
        )
        for layer in ours
        if layer.path in found[REFERENCE] and pairs[layer.path] in found[CANDIDATE]
    ]
    return sorted(rows, key=lambda row: row.reference - row.candidate)


def _innermost(named: Mapping[str, Any]) -> dict[str, Any]:
    """The layers that hold no other."""
    holders = {path.rpartition(".")[0] for path in named}
    return {path: layer for path, layer in named.items() if path and path not in holders}


def _timed(
    step: Step, named: Mapping[str, Any], wait: Step, clock: Callable[[], float]
) -> dict[str, float]:
    """The median seconds of each layer over some steps; layers that do not run have none."""
    taken: dict[str, float] = {}
    begun: dict[str, float] = {}
    hooks = []

    def before(path: str) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            wait()
            begun[path] = clock()

        return hook

    def after(path: str) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            wait()
            taken[path] = taken.get(path, 0.0) + clock() - begun[path]

        return hook

    for path, layer in named.items():
        hooks.append(layer.register_forward_pre_hook(before(path)))
        hooks.append(layer.register_forward_hook(after(path)))
    rounds: list[dict[str, float]] = []
    with attached(hooks):
        for number in range(WARM_UP + FEWEST):
            taken.clear()
            step()
            if number >= WARM_UP:
                rounds.append(dict(taken))
    return {path: statistics.median(each[path] for each in rounds) for path in rounds[-1]}


def table(rows: Sequence[LayerTimes], most: int = MOST) -> list[str]:
    """The layers at which the candidate loses the most, in milliseconds."""
    titles = ["ms forward, largest loss first", "partner", REFERENCE, CANDIDATE, "ratio"]
    body = [
        [
            f"{row.path} ({row.kind})",
            row.partner if row.partner != row.path else "",
            milliseconds(row.reference),
            milliseconds(row.candidate),
            f"{row.candidate / row.reference:.2f}" if row.reference else "-",
        ]
        for row in rows[:most]
    ]
    return [*aligned(titles, body), *_rest(rows[most:])]


def _rest(rows: Iterable[LayerTimes]) -> list[str]:
    """What the other layers take together."""
    rows = [*rows]
    if not rows:
        return []
    theirs = milliseconds(sum(row.reference for row in rows))
    ours = milliseconds(sum(row.candidate for row in rows))
    return [f"{len(rows)} other layers: {theirs} in {REFERENCE}, {ours} in {CANDIDATE}"]

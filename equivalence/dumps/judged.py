"""What a recorded run holds, judged by the original: it is run on what was recorded to go in.

Each step is judged by itself, with the inputs, the weights at its begin and the cotangents of the
outputs as they were recorded; so each array has the unit of all comparisons, roundings of the
reference's float64 run. Not judged are weights at the end of a step, which an optimiser has made,
and losses with their gradients, which a script computes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from equivalence.dumps import names
from equivalence.dumps.read import ArrayOnDisk, Dump
from equivalence.errors import DeclarationError, blaming
from equivalence.judge import tensors
from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET, UNIT_ROUNDOFF
from equivalence.nesting import Arguments, Position
from equivalence.sample import INTEGER_BUFFERS, Sample
from equivalence.sides.torch_network import TorchNetwork
from equivalence.structure.layers import Site
from equivalence.truth.measurement import NOISY_RUNS, Measurement

MORE_RUNS = 8
"""Noisy runs in all, where an array is over the budget by the first."""

PARTS = {"output": "forward", "cotangent": "backward"}
"""The part of a site -> the word of a record."""

HEAD, TAIL = "forward.0.input.", "backward.0.output."
"""The beginnings of the names of what goes into the network, forward and backward."""

SINGLE = UNIT_ROUNDOFF["float32"]


@dataclass
class JudgedRun:
    """A recorded run beside the original.

    roundings: name of an array -> its error in roundings; infinite for another shape.
    notes: why a step is not judged, in sentences.
    """

    roundings: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def right(self, name: str) -> bool | None:
        """Whether an array is within the budget; None where it is not judged."""
        error = self.roundings.get(name)
        return None if error is None else error <= BUDGET


def judge(dump: Dump, network: TorchNetwork, phase: str, rename: Mapping[str, str]) -> JudgedRun:
    """Judge all steps of a recorded run by the original, in a phase.

    rename: runs of segments of the dump's names -> the original's.

    Raises DeclarationError where no step can be judged, and SideError where the original cannot be
    called with what was recorded.
    """
    found = JudgedRun()
    for step in dict.fromkeys(name.partition("/")[0] for name in dump.arrays):
        if step.startswith("step"):
            _judge_step(dump, step, network, phase, rename, found)
    if not found.roundings:
        why = f": {found.notes[0]}" if found.notes else ""
        raise DeclarationError(
            f"{dump.path} has no step that the original can be run on{why}; `recorded` writes such"
        )
    return found


def _judge_step(
    dump: Dump,
    step: str,
    network: TorchNetwork,
    phase: str,
    rename: Mapping[str, str],
    found: JudgedRun,
) -> None:
    arrays = {
        name.removeprefix(f"{step}/"): each
        for name, each in dump.arrays.items()
        if name.startswith(f"{step}/")
    }
    before = "start" if step == "step0" else f"step{int(step.removeprefix('step')) - 1}"
    begin = f"{before}/weights/"
    weights = {
        name.removeprefix(begin): each
        for name, each in dump.arrays.items()
        if name.startswith(begin)
    }
    if why := _lacking(arrays, weights):
        found.notes.append(f"{dump.path}: {step} is not judged: {why}")
        return
    with blaming("reference", f"{dump.path}, {step}"):
        sample = _RecordedStep(step, arrays, _paired(network, weights, rename))
        network.backward = bool(sample.cotangents)
        measurement = Measurement(network, sample, phase, SINGLE)
        expected, partners = _expected(measurement, arrays, rename, network.backward)
    for name, of in partners.items():
        found.roundings[f"{step}/{name}"] = _error(expected[of], arrays[name])


def _error(expected: Expected, stored: ArrayOnDisk) -> float:
    """The error of an array in roundings, by the norm that needs more; of its dtype where short."""
    unit_roundoff = max(UNIT_ROUNDOFF.get(stored.dtype, SINGLE), SINGLE)
    values = stored.load()
    if expected.sketch is None or stored.shape != expected.shape:
        return max(expected.errors(values, unit_roundoff))
    known = Expected(expected.truth, expected.dtype, expected.spread, expected.spread_peak)
    return max(known.errors(values, unit_roundoff))  # both are sketches already


def _lacking(arrays: Mapping[str, ArrayOnDisk], weights: Mapping[str, ArrayOnDisk]) -> str:
    """Why a step cannot be judged; "" where it can."""
    inputs = {name: each for name, each in arrays.items() if name.startswith(HEAD)}
    if not inputs:
        return "no input of the network is recorded"
    if any("." in name.removeprefix(HEAD) for name in inputs):
        return "an input is a tuple or a dict"
    if any(name.startswith("forward.1.") for name in arrays):
        return "the network is called more than once in it"
    if not weights:
        return "the weights that it begins with are not recorded"
    if large := next((n for n, each in {**inputs, **weights}.items() if each.sketch), ""):
        return f"of {large} there is a sketch alone; record it with a larger `whole`"
    return ""


def _paired(
    network: TorchNetwork, weights: Mapping[str, ArrayOnDisk], rename: Mapping[str, str]
) -> dict[str, np.ndarray]:
    """The original's name -> values of each weight."""
    slots = network.slots()
    drawn = [n for n, slot in slots.items() if not slot.is_constant]
    drawn = [n for n in drawn if n.rpartition(".")[2] not in INTEGER_BUFFERS]
    partners = names.pair(drawn, weights, _met(rename, weights))
    if missing := [name for name in drawn if name not in partners.values()]:
        raise DeclarationError(
            f"no recorded weight belongs to {missing[0]} of the original, and to "
            f"{len(missing) - 1} more; say which does with --rename CANDIDATE=REFERENCE"
        )
    return {theirs: weights[ours].load() for ours, theirs in partners.items()}


def _met(rename: Mapping[str, str], found: Iterable[str]) -> dict[str, str]:
    """The renames that fit a name: of two runs, they are for one."""
    text = "/".join(found)
    return {ours: theirs for ours, theirs in rename.items() if ours in text}


class _RecordedStep(Sample):
    """The inputs, weights and cotangents of a recorded step."""

    def __init__(
        self, step: str, arrays: Mapping[str, ArrayOnDisk], weights: Mapping[str, np.ndarray]
    ):
        inputs = {n.removeprefix(HEAD): n for n in arrays if n.startswith(HEAD)}
        ordered = sorted((n for n in inputs if n.isdecimal()), key=int)
        keywords = [name for name in inputs if not name.isdecimal()]
        places = {name: Position(at) for at, name in enumerate([*ordered, *keywords])}
        called = Arguments(
            tuple(places[name] for name in ordered), {name: places[name] for name in keywords}
        )
        super().__init__(step, 0, [], "float32", called, weights)
        self._values = [arrays[inputs[name]].load() for name in places]
        self.cotangents = {
            name.removeprefix(TAIL): each.load()
            for name, each in arrays.items()
            if name.startswith(TAIL) and not each.sketch
        }

    def inputs(self, _step: int = 1) -> list[np.ndarray]:
        return [each.astype(np.int64) if each.dtype == np.int32 else each for each in self._values]

    def cotangent(self, output: str, shape: tuple[int, ...]) -> np.ndarray:
        found = self.cotangents.get(output)
        return np.zeros(shape, np.float32) if found is None else found.astype(np.float32)


def _expected(
    measurement: Measurement,
    arrays: Mapping[str, ArrayOnDisk],
    rename: Mapping[str, str],
    backward: bool,
) -> tuple[dict[str, Expected], dict[str, str]]:
    """What the original gives, and which recorded array belongs to which of it."""
    truth = _run(measurement, None, backward)
    partners = names.pair(truth, arrays, _met(rename, arrays))
    expected = {}
    for name, of in partners.items():
        values, sketch = truth[of], arrays[name].sketch
        if sketch is not None and sketch.shape != values.shape:
            sketch = None
        kept = values if sketch is None else sketch.of(values)
        whole = Expected.whole(values) if sketch is None else None
        expected[of] = whole or Expected(kept, str(values.dtype), sketch=sketch)

    def widen(probes: range) -> None:
        for probe in probes:
            for name, values in _run(measurement, probe, backward).items():
                known = expected.get(name)
                if known and known.truth.dtype.kind == "f" and known.shape == values.shape:
                    known.widen(values)

    widen(range(NOISY_RUNS))
    if any(_error(expected[of], arrays[name]) > BUDGET for name, of in partners.items()):
        widen(range(NOISY_RUNS, MORE_RUNS))
    return expected, partners


def _run(measurement: Measurement, probe: int | None, backward: bool) -> dict[str, np.ndarray]:
    """Each result and gradient of one run, by the names of a record."""
    found: dict[str, np.ndarray] = {}

    def sink(site: Site, values: np.ndarray) -> None:
        path = f"{site.layer}/" if site.layer else ""
        found[f"{path}{PARTS[site.part]}.{site.call}.output.{site.name}"] = values

    def called(layer: str, call: int, arguments: Arguments, arrays: list, _: list[int]) -> None:
        for name, values in zip(arguments.names, arrays, strict=True):
            found[f"{layer}/forward.{call}.input.{name}"] = values.copy()

    sample = None if probe is None else measurement.perturbed(probe)
    with measurement.network.observed(sink, called):
        trace = measurement.run(sample)
    given = (HEAD, TAIL, f"/{HEAD}")
    found = {name: values for name, values in found.items() if not name.startswith(given)}
    for name, slot in measurement.network.slots().items():
        if slot.kind == "buffer" and tensors.buffer(name) in trace:
            found[f"weights/{name}"] = trace[tensors.buffer(name)]
    if backward:
        for name in measurement.network.slots():
            if tensors.parameter_gradient(name) in trace:
                found[f"gradients/{name}"] = trace[tensors.parameter_gradient(name)]
    return found

"""Ranks beside one process: their samples are parts of its batch, and their means are its means.

Imports no framework.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from equivalence.loaders.epochs import Epoch
from equivalence.scripts import samples
from equivalence.scripts.judging import STAGES, RunVerdict, StepDeparture
from equivalence.scripts.steps import KeptTensor, Step, StepCall, StepInput, Tensors, TrainingRun
from equivalence.words import counted, listed

SUMS = "losses and gradients of the ranks add up to the original's; they are no means"


def is_cut(ours: Sequence[TrainingRun]) -> bool:
    """Whether ranks have samples of whole batches, each a part of them."""
    return any(call.rows is not None for run in ours for step in run.steps for call in step.calls)


def shared_out(run: TrainingRun, rank: int, ranks: int) -> TrainingRun:
    """A run of one process, with the part of each of its orders that a rank reads, besides."""
    mine = [
        replace(
            each,
            key=f"{each.key} of a rank",
            law=replace(each.law, part=(rank, ranks)),
            samples=-(-each.samples // ranks),
            order=each.order[rank::ranks],
        )
        for each in run.epochs
    ]
    return replace(run, epochs=[*run.epochs, *mine])


def of_samples(run: TrainingRun, own: TrainingRun) -> TrainingRun:
    """A run of whole batches, with the samples that the calls of another have."""
    lost: dict[str, None] = {}
    steps = [
        replace(
            step,
            calls=[*_calls(step.calls, other.calls, lost)],
            targets=[*_targets(step, other)],
        )
        for step, other in zip(run.steps, own.steps, strict=False)
    ]
    notes = [f"not compared, for they are large: {listed([*lost])}"] if lost else []
    return replace(run, steps=[*steps, *run.steps[len(steps) :]], notes=[*run.notes, *notes])


def _calls(
    theirs: Sequence[StepCall], ours: Sequence[StepCall], lost: dict[str, None]
) -> Iterator[StepCall]:
    for call, own in _pairs(theirs, ours):
        if own is None or own.rows is None:
            yield call
            continue
        rows, of = own.rows, _count(call)
        same = [each.shape for each in own.outputs.values()] if len(rows) < of else []
        outputs: Tensors = {}
        for number, (name, stored) in enumerate(call.outputs.items()):
            if same[number : number + 1] == [stored.shape]:
                outputs[name] = stored
            elif stored.sketched:
                lost[f"output {name}"] = None
            else:
                outputs[name] = _taken(stored, rows, of)
        layers = {
            key: (_taken(stored, rows, of), line)
            for key, (stored, line) in call.layers.items()
            if not stored.sketched
        }
        inputs = samples.part(call.inputs, rows, of)
        yield replace(call, inputs=inputs, outputs=outputs, layers=layers)


def _targets(step: Step, other: Step) -> Iterator[StepCall]:
    of = next((n for call in step.calls if (n := _count(call))), 0)
    for call, own in _pairs(step.targets, other.targets):
        if own is None or own.rows is None or not of:
            yield call
        else:
            yield replace(call, inputs=samples.part(call.inputs, own.rows, of))


def _pairs(
    theirs: Sequence[StepCall], ours: Sequence[StepCall]
) -> Iterator[tuple[StepCall, StepCall | None]]:
    """Each call with that of the other side, which has its place among those of its network."""
    seen: Counter[int] = Counter()
    for call in theirs:
        others = [each for each in ours if each.network == call.network]
        place = seen[call.network]
        seen[call.network] += 1
        yield call, others[place] if place < len(others) else None


def _count(call: StepCall) -> int:
    """How many samples a call has; 0 where no tensor tells."""
    given = [each for each in call.inputs if each.values.ndim]
    own = [each for each in given if not each.computed] or given
    return len(own[0].values) if own else 0


def _taken(tensor: KeptTensor, rows: samples.Places, of: int) -> KeptTensor:
    values = samples.taken(tensor.values, rows, of)
    return replace(tensor, values=values, shape=values.shape)


def averaged(theirs: TrainingRun, ours: Sequence[TrainingRun]) -> list[TrainingRun]:
    """Runs of ranks with the losses and gradients of all of them: their means, or their sums.

    Sums where the losses of the first step add up to the original's.
    """
    divisor = len(ours)
    firsts = [run.steps[0].losses for run in (theirs, *ours)]
    if all(len(each) == len(firsts[0]) > 0 for each in firsts):
        whole, *parts = (np.sum(each[0]) for each in firsts)
        total = np.sum(parts)
        if abs(total - whole) < abs(total / divisor - whole):
            divisor = 1
    steps: list[list[Step]] = [[] for _ in ours]
    for each in zip(*(run.steps for run in ours), strict=False):
        losses = _together([step.losses for step in each], divisor)
        gradients = _mean([step.gradients for step in each], divisor)
        for rank, step in enumerate(each):
            steps[rank].append(replace(step, losses=losses or step.losses, gradients=gradients))
    notes = [SUMS] if divisor == 1 else []
    return [
        replace(run, steps=[*made, *run.steps[len(made) :]], notes=[*run.notes, *notes])
        for run, made in zip(ours, steps, strict=True)
    ]


def _together(losses: Sequence[Sequence[np.ndarray]], divisor: int) -> list[np.ndarray]:
    """The losses of ranks by their number; none where these do not pair up."""
    shapes = {tuple(np.shape(loss) for loss in each) for each in losses}
    if len(shapes) != 1:
        return []
    return [_total(each, divisor) for each in zip(*losses, strict=True)]


def _mean(gradients: Sequence[Tensors], divisor: int) -> Tensors:
    """The gradients that all ranks have of a weight."""
    first, *others = gradients
    return {
        name: replace(stored, values=_total([each[name].values for each in gradients], divisor))
        for name, stored in first.items()
        if all(name in each and each[name].shape == stored.shape for each in others)
    }


def _total(values: Sequence[np.ndarray], divisor: int) -> np.ndarray:
    total = np.sum(np.stack(values).astype(np.float64), axis=0) / divisor
    return np.asarray(total, values[0].dtype)


def together(runs: Sequence[TrainingRun]) -> TrainingRun:
    """The runs of all ranks as one of whole batches: what they share is the first rank's."""
    lost: dict[str, None] = {}
    steps = []
    for each in zip(*(run.steps for run in runs), strict=False):
        sides = [[*step.calls] for step in each]
        calls = [_joined(calls, lost) for calls in zip(*sides, strict=False)]
        targets = [
            _joined(calls, lost) for calls in zip(*(step.targets for step in each), strict=False)
        ]
        losses = _together([step.losses for step in each], len(runs))
        gradients = _mean([step.gradients for step in each], len(runs))
        steps.append(
            replace(each[0], calls=calls, targets=targets, losses=losses, gradients=gradients)
        )
    notes = [f"not compared, for they are large: {listed([*lost])}"] if lost else []
    orders = zip(*(run.epochs for run in runs), strict=False)
    epochs = [_interleaved(each) for each in orders]
    return replace(runs[0], steps=steps, epochs=epochs, notes=[*runs[0].notes, *notes])


def _joined(calls: Sequence[StepCall], lost: dict[str, None]) -> StepCall:
    """The calls of all ranks as one."""
    first = calls[0]
    inputs: list[StepInput] = [
        replace(each[0], values=_rows([given.values for given in each]))
        for each in zip(*(call.inputs for call in calls), strict=False)
    ]
    outputs: Tensors = {}
    for name in first.outputs:
        each = [call.outputs[name] for call in calls if name in call.outputs]
        if any(stored.sketched for stored in each):
            lost[f"output {name}"] = None
        else:
            values = _rows([stored.values for stored in each])
            outputs[name] = replace(each[0], values=values, shape=values.shape)
    layers = {}
    for key, (stored, line) in first.layers.items():
        found = [call.layers[key][0] for call in calls if key in call.layers]
        if len(found) == len(calls) and not any(each.sketched for each in found):
            values = _rows([each.values for each in found])
            layers[key] = replace(stored, values=values, shape=values.shape), line
    return replace(first, inputs=inputs, outputs=outputs, layers=layers)


def _rows(values: Sequence[np.ndarray]) -> np.ndarray:
    """The samples of all ranks; what is the same in all of them is no sample's."""
    first = values[0]
    if any(each.shape[1:] != first.shape[1:] for each in values):
        return first
    if all(np.array_equal(each, first) for each in values):
        return first
    if not first.ndim:
        return np.asarray(np.mean(values), first.dtype)
    return np.concatenate(values)


def _interleaved(epochs: Sequence[Epoch]) -> Epoch:
    """The order of all ranks, of which each has every so many."""
    order = [
        place for together in zip(*(e.order for e in epochs), strict=False) for place in together
    ]
    law = replace(epochs[0].law, part=None)
    return replace(epochs[0], law=law, samples=sum(each.samples for each in epochs), order=order)


def demand_alike(runs: Sequence[TrainingRun], fail: Callable[[str], Exception]) -> None:
    """Raise where the weights of ranks part, so that no one process has them."""
    for each in zip(*(run.steps for run in runs), strict=False):
        for name, stored in each[0].reached.items():
            others = [step.reached.get(name) for step in each[1:]]
            if not all(o is not None and np.array_equal(o.values, stored.values) for o in others):
                weight = name.partition(":")[2]
                raise fail(
                    f"its ranks update {weight} by other gradients in step {each[0].number}, so "
                    "that no one process stands for them: compare it with a port on as many ranks"
                )


def compare_samples(
    theirs: TrainingRun, ours: Sequence[TrainingRun], verdicts: Sequence[RunVerdict]
) -> None:
    """Add a departure for samples of a whole batch that no rank reads, or more than one."""
    for place, step in enumerate(theirs.steps):
        each = [run.steps[place] for run in ours if place < len(run.steps)]
        if len(each) < len(ours) or not step.calls:
            continue
        first = [s.calls[0] if s.calls else None for s in each]
        read = [call.rows for call in first if call is not None and call.rows is not None]
        given = step.calls[0].inputs
        if len(read) < len(ours) or any(
            samples.missing(call.inputs, given) for call in first if call is not None
        ):
            continue
        of = _count(step.calls[0])
        names = [_name(given, row) for row in range(of)]
        seen = Counter(names[row] for rows in read for row in rows)
        wanted = Counter(names)
        lost, again = (wanted - seen).total(), (seen - wanted).total()
        if lost or again:
            told = _told(lost, again, of)
            departure = StepDeparture(
                place + 1, "data", "samples", told, first[-1].line if first[-1] else ""
            )
            verdict = verdicts[-1]
            verdict.departures.append(departure)
            verdict.departures.sort(key=lambda d: (d.step, STAGES.index(d.stage)))


def _name(inputs: Sequence[StepInput], row: int) -> bytes:
    of = len(next(each.values for each in inputs if each.values.ndim))
    return b"".join(
        each.values[row].tobytes()
        for each in inputs
        if each.values.ndim and len(each.values) == of and not each.computed
    )


def _told(lost: int, again: int, of: int) -> str:
    told = []
    if lost:
        told.append(f"no rank reads {lost} of the original's {of}")
    if again:
        told.append(f"{counted(again, 'sample')} {'is' if again == 1 else 'are'} read once more")
    return f"of the ranks: {', and '.join(told)}"

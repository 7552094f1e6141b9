"""The first layer of a network that departs in a step. Imports no framework."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from equivalence.judge.expected import Expected
from equivalence.judge.precision import BUDGET
from equivalence.scripts.judging import unit_of
from equivalence.scripts.steps import KeptTensor, ScriptNetwork, StepCall, TrainingRun
from equivalence.structure.layers import Layer, align
from equivalence.words import joined


@dataclass(frozen=True)
class LayerCulprit:
    """Where the forward pass departs.

    told: the layer, or that it is the code before it. line, of_reference: of both scripts.
    layer, of_port: the path of a layer that departs itself, on both sides; "" of code.
    """

    told: str
    line: str
    of_reference: str
    layer: str = ""
    of_port: str = ""


def culprit(
    step: int,
    plain: TrainingRun,
    noisy: Sequence[TrainingRun],
    candidate: TrainingRun,
    rename: Mapping[str, str],
) -> LayerCulprit | None:
    """The first layer that departs in a step; None where none is seen to.

    The runs have looked into that step. A layer whose inputs depart, while all before it is right,
    is not to blame: the code of the network before it is.
    """
    sides = [run.steps[step - 1].calls for run in (plain, candidate, *noisy)]
    for theirs, ours, *others in zip(*sides, strict=False):
        networks = plain.networks[theirs.network], _network(candidate, theirs.network)
        pairs = align(networks[0].layers, named(networks[1]), rename)
        kinds = {layer.path: layer.kind for layer in networks[0].layers}
        before: dict[str, tuple[str, str]] = {}  # the lines of the last layer within each
        last = ""
        for (path, number, what), (stored, line) in theirs.layers.items():
            got = ours.layers.get((pairs.get(path, ""), number, what))
            if got is None or got[0].shape != stored.shape or stored.values.dtype.kind != "f":
                continue
            found = (each.layers.get((path, number, what)) for each in others)
            lines = got[1], line
            if _is_right(stored, got[0], [each[0] for each in found if each is not None]):
                before |= dict.fromkeys(_above(path), lines)
                last = path
                continue
            called = f"{path} ({kinds.get(path, 'layer')})"
            if what.startswith("input"):
                return LayerCulprit(f"the network's code before {called}", *lines)
            if path in before:
                return LayerCulprit(f"the code of {called}", *before[path])
            if apart := _weights_apart(path, theirs, ours, others):
                when = f"after the update of step {step - 1}" if step > 1 else "before"
                called += (
                    f", whose {joined(apart)} {'differs' if len(apart) == 1 else 'differ'} when it "
                    f"is called: what the two scripts do {when} differs"
                )
            return LayerCulprit(called, *lines, path, pairs.get(path, ""))
        if last and not _outputs_are_right(theirs, ours, others):
            return LayerCulprit(f"the network's code after {last}", *before[""])
    return None


def _is_right(plain: KeptTensor, candidate: KeptTensor, noisy: Iterable[KeptTensor]) -> bool:
    """Whether a tensor is within the budget."""
    expected = Expected.whole(plain.values)
    for each in noisy:
        if each.shape == plain.shape:
            expected.widen(each.values)
    return max(expected.errors(candidate.values, unit_of(plain))) <= BUDGET


def _weights_apart(
    path: str, theirs: StepCall, ours: StepCall, others: Sequence[StepCall]
) -> list[str]:
    """The weights of a layer that differ when it is called."""
    begin = f"{theirs.network}:{path}."
    return [
        name.removeprefix(begin)
        for name, stored in theirs.weights.items()
        if name.startswith(begin)
        and stored.values.dtype.kind == "f"
        and name in ours.weights
        and stored.shape == ours.weights[name].shape
        and not _is_right(
            stored, ours.weights[name], [x.weights[name] for x in others if name in x.weights]
        )
    ]


def _outputs_are_right(theirs: StepCall, ours: StepCall, others: Sequence[StepCall]) -> bool:
    return all(
        _is_right(
            stored, ours.outputs[name], [x.outputs[name] for x in others if name in x.outputs]
        )
        for name, stored in theirs.outputs.items()
        if name in ours.outputs and stored.shape == ours.outputs[name].shape
    )


def _above(path: str) -> list[str]:
    """The paths of the layers that a layer is in; "" is the network."""
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(len(parts))]


def _network(run: TrainingRun, of: int) -> ScriptNetwork:
    return next(each for each in run.networks if each.of == of)


def named(network: ScriptNetwork) -> list[Layer]:
    """The layers of a candidate, with the reference's names of their weights."""
    partners = network.partners
    if partners is None:
        return [*network.layers]
    return [
        type(each)(each.path, each.kind, partners.held(each.weights), each.settings, each.made_by)
        for each in network.layers
    ]

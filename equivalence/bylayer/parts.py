"""The parts of a network, each a case for the engine: a unit, and what is around the units."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from equivalence.bylayer import mindspore_parts, torch_parts
from equivalence.bylayer.units import UNCALLED, Unit, UnitCall, mismatch
from equivalence.bylayer.whole import Whole
from equivalence.declare.twin import TwinCase
from equivalence.diagnosis.in_situ import InSitu
from equivalence.errors import DeclarationError
from equivalence.sample import INTEGER_BUFFERS, Sample
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.sides.torch_network import TorchNetwork
from equivalence.structure.weights import Partners

AROUND = "around"
"""What the part is called that is around the units."""

MADE = re.compile(r"(?:.*\.)?(taken|given|moved)\d+")
"""The names of a stand-in's weights."""


@dataclass(frozen=True)
class PartCase(TwinCase):
    """One part of a network as a case.

    own: builds both sides of the part and draws its sample.
    """

    own: Any = None  # type: ignore[misc]  # a field here
    varies: ClassVar[bool] = False

    @property
    def sample_name(self) -> str:
        return f"{super().sample_name}-{self.own.name}"

    def at_size(self, name: str) -> str:
        """A tensor's name, with the part's."""
        return f"{name} of {self.own.name}"


def parts(whole: Whole) -> Iterator[PartCase]:
    """The part around the units, then every call of every unit that both sides call alike.

    Where one is not called alike, nothing can stand for it, and the part around is left out.
    """
    twin = replace(whole.case.twin, settings={}, differs=None)
    given = {each.name: getattr(whole.case, each.name) for each in fields(TwinCase)}
    given["twin"] = twin
    odd = mismatches(whole)
    if not odd:
        yield PartCase(**given, own=UnitsReplaced(whole))
    for unit in whole.units:
        if unit.path not in odd:
            for number in range(len(whole.calls[0][unit.path])):
                yield PartCase(**given, own=Alone(whole, unit, number))


def mismatches(whole: Whole) -> dict[str, str]:
    """Path of a unit -> why its calls are not the same on both sides."""
    theirs, ours = whole.calls
    found = {unit.path: mismatch(theirs[unit.path], ours[unit.path]) for unit in whole.units}
    return {path: why for path, why in found.items() if why is not None}


class Alone:
    """One call of a unit, with the reference's own inputs and cotangents.

    whole: the network.
    unit: the unit.
    number: the number of the call.
    name: names it in texts.
    """

    def __init__(self, whole: Whole, unit: Unit, number: int):
        self.whole, self.unit = whole, unit
        self.theirs, self.ours = (side[unit.path][number] for side in whole.calls)
        self.name = f"{unit.path}[{number}]" if len(whole.calls[0][unit.path]) > 1 else unit.path

    @property
    def paths(self) -> tuple[str, str]:
        """The paths of the part, in the reference and in the candidate."""
        return self.unit.path, self.unit.cell

    def sample(self, case: TwinCase, _seed: int) -> Sample:
        """The sample of the call, with its weights."""
        sample = UnitSample(self.whole.sample, self.unit.path, self.theirs)
        sample.name = case.sample_name
        drawn = {n: slot for n, slot in self.reference(case).slots().items() if _is_drawn(n, slot)}
        sample.given = {n: InSitu.weight(sample, n, slot.shape) for n, slot in drawn.items()}
        return sample

    def reference(self, _case: TwinCase) -> TorchNetwork:
        """The unit of the reference."""
        return torch_parts.unit(self.whole.reference, self.unit.path)

    def candidate(self, case: TwinCase) -> MindSporeNetwork:
        """The unit of the candidate, called as its own network calls it."""
        network = self.whole.new_candidate(case.execution).part(self.unit.cell, case.execution)
        network.arguments = self.ours.arguments
        return network

    def partners(self, _case: TwinCase) -> Partners:
        """The partners of the unit's weights."""
        return self.whole.unit_partners(self.unit)


class UnitSample(InSitu):
    """The sample of one call of a unit; its inputs are given, and its weights.

    Without the given weights, all of it is drawn: other weights, and inputs that are scaled.
    """

    def __init__(self, whole: Sample, path: str, call: UnitCall):
        inputs = [_in_dtype(values, whole) for values in call.inputs]
        super().__init__(whole, path, inputs, call.cotangents, called=call.arguments)

    def draw_again(self) -> bool:
        return False if self.given else super().draw_again()

    def inputs(self, _step: int = 1) -> list[np.ndarray]:
        if self.given:
            return self.layer_inputs
        return [
            self._round(values * self.stream("scale", i).uniform(0.5, 1.5, values.shape))
            if values.dtype.kind == "f"
            else values
            for i, values in enumerate(self.layer_inputs)
        ]

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        if name in self.given or name.startswith("/"):
            return self.given[name] if name in self.given else super().weight(name, shape)
        return Sample.weight(self, name, shape)


def _in_dtype(values: np.ndarray, whole: Sample) -> np.ndarray:
    """An input of the reference as both sides get it; MindSpore has labels in int32."""
    if values.dtype == "int64" and all(each.dtype != "int64" for each in whole.inputs()):
        return values.astype(np.int32)
    return values


class UnitsReplaced:
    """The network with a stand-in in the place of each unit.

    whole: the network.
    """

    name = AROUND
    paths = "", ""

    def __init__(self, whole: Whole):
        self.whole = whole
        theirs, ours = whole.calls
        for unit in whole.units:
            for side, calls in (("reference", theirs), ("candidate", ours)):
                shapes = {_shapes(call) for call in calls[unit.path]}
                if len(shapes) > 1:
                    raise DeclarationError(
                        f"{whole.case.name}: the {side} calls {unit.path} with several shapes, "
                        "for which no stand-in can be made; leave by_layer out"
                    )

    def sample(self, case: TwinCase, seed: int) -> Sample:
        """A sample of the whole network's inputs, with weights for the stand-ins."""
        whole = self.whole.sample
        sample = Joined(case.sample_name, seed, whole.draws, whole.dtype, whole.called)
        if whole.given:
            slots = self.reference(case).slots()
            sample.given = {
                name: sample.weight(name, slot.shape)
                if _of_stand_in(name)
                else whole.weight(name, slot.shape)
                for name, slot in slots.items()
                if _is_drawn(name, slot)
            }
        return sample

    def reference(self, _case: TwinCase) -> TorchNetwork:
        """The reference with its stand-ins."""
        network, stand_ins = self.whole.reference, {}
        for unit in self.whole.units:
            plain = torch_parts.plain(network.module.get_submodule(unit.path))
            call = next(iter(self.whole.calls[0][unit.path]), UNCALLED)
            stand_ins[unit.path] = torch_parts.StandIn(unit.path, call, plain)
        return torch_parts.around(network, stand_ins)

    def candidate(self, case: TwinCase) -> MindSporeNetwork:
        """The candidate with its stand-ins."""
        network, stand_ins = self.whole.new_candidate(case.execution), {}
        for unit in self.whole.units:
            plain = mindspore_parts.plain(network.cell_at(unit.cell))
            theirs, ours = (next(iter(s[unit.path]), UNCALLED) for s in self.whole.calls)
            call = replace(ours, inputs=theirs.inputs)
            stand_ins[unit.cell] = mindspore_parts.stand_in(unit.cell, call, plain)
        return mindspore_parts.around(network, stand_ins)

    def partners(self, case: TwinCase) -> Partners:
        """The partners of the weights around the units, and of those of the stand-ins."""
        slots = self.candidate(case).slots()
        made = {
            name: f"{unit.path}.{name.removeprefix(f'{unit.cell}.')}"
            for unit in self.whole.units
            for name in slots
            if name.startswith(f"{unit.cell}.")
        }
        return self.whole.around(slots, made)


class Joined(Sample):
    """The sample of a network with stand-ins, whose weights are drawn with a size of one."""

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        if _of_stand_in(name) and name not in self._weights and not self.given:
            values = self.stream("weight", name).standard_normal(shape)
            share = np.sqrt(max(values.size, 1)) if ".taken" in name else 1.0
            self._weights[name] = self._round(values / share)
        return super().weight(name, shape)


def _of_stand_in(name: str) -> bool:
    return MADE.fullmatch(name) is not None


def _is_drawn(name: str, slot: Any) -> bool:
    return not slot.is_constant and name.rpartition(".")[2] not in INTEGER_BUFFERS


def _shapes(call: UnitCall) -> tuple:
    return tuple(values.shape for values in call.inputs), tuple(call.outputs)

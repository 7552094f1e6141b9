"""Both networks of a case without their weights, and what each unit gets and gives."""

import functools
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from equivalence.bylayer import mindspore_parts, torch_parts
from equivalence.bylayer.units import Unit, UnitCall, units
from equivalence.comparison import sides
from equivalence.convert import trained
from equivalence.declare.twin import LayeredCase
from equivalence.diagnosis.in_situ import InSitu
from equivalence.diagnosis.search import local_names
from equivalence.errors import DeclarationError, blaming
from equivalence.sample import Sample, call_of, resolve_inputs
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.structure import pairing
from equivalence.structure.layers import align
from equivalence.structure.weights import Partners

Calls = Mapping[str, list[UnitCall]]
"""Path of a unit in the reference -> its calls."""


class Streaming(Sample):
    """A sample that keeps no weight: each is drawn, or read, whenever it is asked for.

    names: another name of a weight -> its name.
    """

    names: Mapping[str, str] = {}

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        values = super().weight(self.names.get(name, name), shape)
        self._weights.clear()
        return values


class Whole:
    """Both networks of a case, without weights, with the units that they consist of.

    case, seed: the case.
    sample: the sample of the whole network.
    reference: the reference; only its parts run.
    partners: candidate name -> reference name of every weight.
    units: the units.
    """

    def __init__(self, case: LayeredCase, seed: int):
        self.case, self.seed = case, seed
        with blaming("reference", case.name):
            self.reference = sides.build_reference(case)
        candidate = self.new_candidate(case.execution)
        theirs, ours = self.reference.slots(), candidate.slots()
        self.partners = pairing.partners(case, theirs, ours, candidate.unheld)
        self.shared = tuple(
            {name: slot.names for name, slot in side.items() if slot.names}
            for side in (theirs, ours)
        )
        layers = self.reference.layers()
        pairs = align(layers, candidate.layers(self.partners), self.partners.rename)
        self.units = units(layers, pairs)
        if not self.units:
            raise DeclarationError(
                f"{case.name}: by_layer finds no block that repeats: no list of both sides has two "
                "layers of one class that hold layers; leave by_layer out"
            )
        self.sample = self._sample()

    def _sample(self) -> Streaming:
        case = self.case
        inputs = resolve_inputs(case.twin.draws, case.dimensions)
        called = call_of(case.twin.inputs, case.dimensions)
        sample = Streaming(case.sample_name, self.seed, inputs, case.dtype, called)
        sample.names = self.reference.names()
        if case.twin.weights:
            given = trained.weights(case, sides.build_reference, sides.build_candidate)
            sample.given = given  # type: ignore[assignment]  # read when asked for, and not kept
        return sample

    def new_candidate(self, execution: str) -> MindSporeNetwork:
        """A new candidate, whose weights have no values."""
        case = replace(self.case, execution=execution)
        with blaming("candidate", case.name):
            return sides.build_candidate(case)

    def unit_partners(self, unit: Unit) -> Partners:
        """The partners of the weights in a unit, by their names in it."""
        return local_names(unit.path, unit.cell, self.partners, self.shared)

    @cached_property
    def calls(self) -> tuple[Calls, Calls]:
        """The calls of each unit in a run of the reference, and in one of the candidate."""
        with blaming("reference", self.case.name):
            theirs = self._stream_reference()
        with blaming("candidate", self.case.name):
            ours = self._stream_candidate()
        return theirs, ours

    def _stream_reference(self) -> Calls:
        """Run the reference forward and backward, with the weights of one unit at a time."""
        case, streamed = self.case, {}

        def load(path: str):
            part = torch_parts.unit(self.reference, path)
            module = part.loaded(InSitu(self.sample, path, [], {}), case.phase, case.dtype)
            return module.requires_grad_(False)

        for unit in self.units:
            plain = torch_parts.plain(self.reference.module.get_submodule(unit.path))
            once = functools.partial(load, unit.path)
            streamed[unit.path] = torch_parts.Streamed(unit.path, once, plain)
        network = torch_parts.around(self.reference, streamed)
        network.run(self.sample, case.phase, case.dtype)
        return {path: each.calls for path, each in streamed.items()}

    def _stream_candidate(self) -> Calls:
        """Run the candidate forward in PyNative mode, with the weights of one unit at a time."""
        case, streamed = self.case, {}

        def load(unit: Unit):
            part = self.new_candidate("pynative").part(unit.cell, "pynative")
            sample = InSitu(self.sample, unit.path, [], {})
            part.loaded(Feed(sample, self.unit_partners(unit), case.phase))
            return part

        network = self.new_candidate("pynative")
        for unit in self.units:
            plain = mindspore_parts.plain(network.cell_at(unit.cell))
            once = functools.partial(load, unit)
            streamed[unit.cell] = mindspore_parts.Streamed(unit.cell, once, plain)
        network = mindspore_parts.around(network, streamed)
        feed = Feed(self.sample, self.around(network.slots()), case.phase)
        network.run(feed)
        if network.stand_ins.every:  # the run was broken off where a kernel was missing
            for each in streamed.values():
                each.calls.clear()
            network.run(feed)
        return {unit.path: streamed[unit.cell].calls for unit in self.units}

    def around(self, slots: Mapping[str, object], extra: Mapping[str, str] = {}) -> Partners:
        """The partners of the weights around the units.

        slots: the weights of the candidate there.
        extra: pairs of other weights.
        """
        aliases = {
            other: self.partners[name]
            for name, others in self.shared[1].items()
            if name in self.partners
            for other in others
        }
        pairs = {n: t for n, t in {**aliases, **self.partners}.items() if n in slots}
        groups = [each for each in self.partners.groups if slots.keys() >= each.candidate.keys()]
        inside = tuple(f"{unit.path}." for unit in self.units)
        constants = [name for name in self.partners.constants if not name.startswith(inside)]
        partners = Partners({**pairs, **extra}, constants, groups)
        partners.rename = self.partners.rename
        return partners

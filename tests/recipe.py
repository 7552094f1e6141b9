"""A training recipe, and its stages as cases."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from equivalence.declare.batches import Batches
from equivalence.declare.declaration import Demand, shown
from equivalence.declare.initial import Initial, InitialCase
from equivalence.declare.pipeline import PipelineCase
from equivalence.declare.twin import Twin, TwinCase, cases
from tests.checklist import Checklist


@dataclass(frozen=True)
class Recipe:
    """A way to train a network: its data, its initial weights, and its step.

    Each stage is a case of its own that is fed what the reference gives, so that a wrong stage
    leaves the others right. `step` is a twin whose inputs are the batches of a pipeline.
    `checklist` says on both sides what the training consists of; None: nobody has filled it in.
    """

    step: Twin
    initial: Initial
    checklist: Checklist | None = None

    def __post_init__(self) -> None:
        demand = Demand("recipe", self, getattr(self.step, "name", None))
        demand(isinstance(self.step, Twin), f"step is {shown(self.step)}; write a Twin")
        fed = isinstance(self.step.inputs, Batches)
        demand(fed, "inputs of the step are draws; write the Batches of a pipeline")
        demand(self.step.steps is not None, "steps of the step is None; write how many it makes")
        demand(isinstance(self.initial, Initial), f"initial is {shown(self.initial)}; write one")
        one = len(self.initial.configs) == 1
        demand(one, "initial has several configs, of which one would be compared; write that one")

    @property
    def name(self) -> str:
        return self.step.name

    def stages(self, device: str) -> Iterator[tuple[str, PipelineCase | InitialCase | TwinCase]]:
        """The stages in order: (name, case)."""
        yield "preprocessing", self.step.inputs.case
        yield "initial_weights", InitialCase(self.initial, self.initial.configs[0])
        every = list(cases(self.step, device))
        for case in every:
            twin = replace(case.network.twin, name=f"{self.name}_network")
            yield "forward_and_backward", replace(case, twin=twin)
        for case in every:
            yield "update", case

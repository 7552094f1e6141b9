"""Declarations of data-parallel trainings. Imports no framework."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from equivalence.declare.batches import demand_fits, demand_inputs, draws_of
from equivalence.declare.declaration import (
    Configured,
    Declaration,
    demanding,
    fields_checked,
    is_number,
    shown,
    stem,
)
from equivalence.declare.draws import Draw

RUNS = {
    "torchrun": ("reference", "torchrun"),
    "pynative": ("candidate", "msrun"),
    "graph": ("candidate", "msrun"),
}
"""Execution -> (the side that it runs, the program that starts the ranks)."""

STATISTICS = ("own", "first")
"""Whose buffers a rank has at the beginning of a step."""

LIMIT = 120.0
"""How many seconds of processor time a rank may take by default; beyond, the run is ended and the
case raises SideError. Ranks that hang are ended after as many on the clock."""


@fields_checked
@dataclass(frozen=True)
class DataParallel(Declaration):
    """A MindSpore training on several ranks and the PyTorch training that it must equal.

    Both callables build the training step of one rank, as for a `Twin` with `steps`. The step also
    has a method `batches(arrays, batch_size)`, which gives the batches of one epoch of this rank;
    each row of the arrays is one sample. MindSpore's step keeps the gradients of its latest update
    as `averaged`, in the order of `optimizer.parameters`. PyTorch's step has a method `update()`,
    which applies the gradients to the weights; it can be built without other ranks.

    name: an identifier; no other declaration of this kind has it.
    reference: the callable that builds PyTorch's step, "module:attribute".
    candidate: the callable that builds MindSpore's step.
    inputs: the draws of the whole data set, with the samples along the first axis.
    batch_size: samples of one rank in one step.
    steps: how many steps are run, at least 2.
    ranks: how many processes train together, at least 2.
    configs: keyword arguments of both callables, one mapping for each case.
    executions: the keys of RUNS that are compared.
    level: "gate" or "nightly".
    rename: candidate names -> reference names, as for a `Twin`.
    statistics: "own", where each rank keeps the buffers of its own batches; "first", where the
        first rank's are sent to all before each step, as `DistributedDataParallel` does it unless
        it gets `broadcast_buffers=False`.
    limit: how many seconds of processor time each rank may take.

    Raises DeclarationError where a field is wrong.

    >>> from equivalence import DataParallel, normal
    >>> steps = {"reference": "my_torch:step", "candidate": "my_mindspore:step"}
    >>> ddp = DataParallel("ddp", **steps, inputs=[normal(23, 8)], batch_size=5, steps=5)
    >>> ddp.ranks, ddp.executions
    (2, ('torchrun', 'pynative', 'graph'))
    """

    name: str
    reference: str
    candidate: str
    inputs: Sequence[Draw]
    batch_size: int
    steps: int
    ranks: int = 2
    configs: Sequence[Mapping[str, Any]] = ({},)
    executions: Sequence[str] = tuple(RUNS)
    level: str = "gate"
    rename: Mapping[str, str] = field(default_factory=dict)
    statistics: str = "own"
    limit: float = LIMIT

    def __post_init__(self) -> None:
        demand = demanding("distributed", self, ("reference", "candidate"))
        demand_inputs(demand)
        plain = isinstance(self.inputs, tuple) and list(self.inputs) == draws_of(self.inputs)
        demand(plain, "inputs are no list of draws alone; write draws of samples")
        for field_name in ("batch_size", "steps", "ranks"):
            demand.whole(field_name)
        demand(self.batch_size > 0, "batch_size must be at least 1")
        demand(self.ranks > 1, "ranks: one rank is not distributed")
        demand(self.steps > 1, "steps: one step does not show whether the ranks stay together")
        demand.among("executions", tuple(RUNS))
        demand.renames("rename")
        demand(
            self.statistics in STATISTICS,
            f"statistics is {shown(self.statistics)}; write 'own' or 'first'",
        )
        right = is_number(self.limit) and self.limit > 0
        demand(right, f"limit is {shown(self.limit)}; write seconds, a number above zero")
        demand_fits(demand, self.configs)
        for config in self.configs:
            samples = sorted({(draw.resolve(config) or ())[:1] for draw in self.inputs})
            complaint = (
                f"inputs have {shown(samples)} samples along the first axis; give all the same"
            )
            demand(len(samples) == 1 and samples != [()], complaint)


@dataclass(frozen=True)
class DataParallelCase(Configured):
    """One comparison: a training under one configuration, in one execution, on the CPU."""

    twin: DataParallel
    config: Mapping[str, Any]
    execution: str
    device: ClassVar[str] = "cpu"

    @property
    def sample_name(self) -> str:
        """The name of the sample; all executions share it and its truth."""
        return f"{stem(self.twin.name, self.config)}-ranks{self.twin.ranks}"


def cases(declared: DataParallel) -> Iterator[DataParallelCase]:
    """All cases of a declaration; cases that share a truth follow each other."""
    for config in declared.configs:
        for execution in declared.executions:
            yield DataParallelCase(declared, config, execution)

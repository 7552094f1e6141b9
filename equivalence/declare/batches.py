"""The inputs of a twin: what may be declared, and the batches of a data pipeline among it."""

import keyword
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from equivalence import nesting
from equivalence.declare.declaration import Demand, fields_checked, is_number, shown
from equivalence.declare.draws import Draw
from equivalence.declare.pipeline import Pipeline, PipelineCase


@fields_checked
@dataclass(frozen=True)
class Batches:
    """The inputs of a twin: batches of (images, labels) from the reference side of a pipeline.

    Both sides of the twin get the same batches. The pipeline's own case compares the two pipelines.

    pipeline: the data pipeline.
    config: the configuration of the pipeline; it must select one rank.
    together: how many batches are stacked along a new first axis to make one input, for a step
    that trains a whole epoch; None: each batch is one input.

    Raises DeclarationError where a field is wrong.

    >>> from equivalence import Batches, Pipeline
    >>> photos = Pipeline("photos", "my_torch:photos", "my_mindspore:photos", "my_data:write")
    >>> Batches(photos, {"size": 32, "batch_size": 4}).case.name
    'photos-size32-batch_size4-pipeline-cpu'
    """

    pipeline: Pipeline
    config: Mapping[str, Any] = field(hash=False)
    together: int | None = None

    def __post_init__(self) -> None:
        demand = Demand("batches", self, getattr(self.pipeline, "name", None))
        given = isinstance(self.pipeline, Pipeline)
        demand(given, f"pipeline is {shown(self.pipeline)}; write a Pipeline")
        demand.mapping("config", self.config)
        several = "num_shards" in self.config and "shard_id" not in self.config
        demand(not several, "config has num_shards and no shard_id; a twin is fed by one rank")
        if self.together is not None:
            demand.whole("together")
            demand(self.together > 0, "together must be at least 1")

    @property
    def case(self) -> PipelineCase:
        """The pipeline's case, which compares these batches with the candidate pipeline's."""
        return PipelineCase(self.pipeline, self.config)

    def __iter__(self) -> Iterator[Draw]:
        """The draws of the inputs: none, since the pipeline gives them."""
        return iter(())


def draws_of(inputs: Any) -> list[Draw]:
    """The draws in inputs of any structure, in order; none where a pipeline gives them."""
    if isinstance(inputs, Batches):
        return []
    return [leaf for _, leaf in nesting.leaves(inputs) if isinstance(leaf, Draw)]


def demand_inputs(demand: Demand) -> None:
    """Demand that the inputs have a draw, or are the `Batches` of a pipeline."""
    inputs = demand.declared.inputs
    if isinstance(inputs, Batches):
        return
    demand(not isinstance(inputs, Draw), "inputs is one draw; write a list")
    if isinstance(inputs, Mapping):
        demand.mapping("inputs", inputs)
        odd = [key for key in inputs if keyword.iskeyword(key)]
        demand(not odd, f"inputs has the keyword {shown(odd and odd[0])}, a word of Python's own")
        object.__setattr__(demand.declared, "inputs", dict(inputs))
    else:
        demand.listed("inputs")
    inputs = demand.declared.inputs
    demand(bool(inputs), "has no inputs")
    _demand_nested(demand, inputs)
    demand(bool(draws_of(inputs)), "inputs has no draw; write normal(2, 3) or file('x.npy')")


def _demand_nested(demand: Demand, tree: Any) -> None:
    """Demand that a nesting of inputs has draws, constants and plain containers alone."""
    if isinstance(tree, dict | tuple | list):
        kind = type(tree).__name__
        plain = type(tree) in (dict, tuple, list)
        demand(plain, f"inputs has a {kind}; write a plain tuple, list or dict")
        odd = [key for key in tree if not isinstance(key, str)] if isinstance(tree, dict) else []
        demand(not odd, f"inputs has a dict with the key {shown(odd and odd[0])}; write a text")
        for child in tree.values() if isinstance(tree, dict) else tree:
            _demand_nested(demand, child)
        return
    array = hasattr(tree, "shape") and not isinstance(tree, Draw)
    cure = "save it by numpy.save, and write file('x.npy')"
    demand(not array, f"inputs has an array, a {type(tree).__name__}; {cure}")
    right = tree is None or isinstance(tree, Draw | bool | str) or is_number(tree)
    cure = "write normal(2, 3); None, True, numbers and texts are passed as they are"
    demand(right, f"inputs has {shown(tree)}, which is no draw; {cure}")


def demand_fits(
    demand: Demand,
    configs: Sequence[Mapping[str, Any]],
    sizes: Sequence[Mapping[str, Any]] = (),
    empty: bool = False,
    double: bool = False,
) -> None:
    """Demand that the inputs have a shape under each configuration and size.

    A name in capitals that no input uses is an error, too. empty, double: as of `Draw.demand_fit`.
    """
    inputs = draws_of(demand.declared.inputs)
    names = {name for draw in inputs for name in draw.names}
    for config in configs:
        for dimensions in [{**config, **size} for size in sizes or ({},)]:
            missing = sorted(names - set(dimensions))
            demand(not missing, f"an input shape names {missing}, not in {dict(config)}")
            for draw in inputs:
                draw.demand_fit(demand, dimensions, empty, double)
            some = not inputs or any(draw.resolve(dimensions) is not None for draw in inputs)
            demand(some, f"inputs are all left out under {shown(dict(config))}; keep one")
        unused = sorted(key for key in config if key.isupper() and key not in names)
        demand(
            not unused,
            f"configs name {unused}, which is in capitals and no input has; such a "
            "name only sizes inputs",
        )

"""Inputs from files: a twin gets the batches of a data pipeline instead of random arrays."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from equivalence.declare.declaration import Demand, fields_checked, shown
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

"""Inputs from files: a twin that is fed what a data pipeline gives."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equivalence.declare.declaration import Demand, shown
from equivalence.declare.draws import Draw
from equivalence.errors import DeclarationError
from equivalence.pipelines.compare import BATCH, Both, Pipeline, PipelineCase
from equivalence.sample import Sample


@dataclass(frozen=True)
class Batches:
    """The batches of a pipeline's reference, (images, labels) each, as the inputs of a twin.

    Both sides get these; whether the candidate's own pipeline gives them, too, is the pipeline's
    case. `config` is the pipeline's. `together`: batches that make one input, along a first axis
    of its own, for a step that is an epoch.
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
        """The comparison that shows the candidate's pipeline to give the same."""
        return PipelineCase(self.pipeline, self.config)

    def __iter__(self) -> Iterator[Draw]:
        """No input is drawn."""
        return iter(())

    def sample(self, name: str, seed: int, dtype: str) -> "Fed":
        """The batches from the files of that seed, with drawn weights."""
        (items,) = Both(self.case, seed).items("reference", BATCH, "float32")
        batches = [(item["image"], item["label"].astype(np.int32)) for item in items]
        if self.together is not None:
            whole = len(batches) // self.together * self.together
            batches = [
                tuple(np.stack(part) for part in zip(*batches[i : i + self.together], strict=True))
                for i in range(0, whole, self.together)
            ]
        return Fed(name, seed, batches, dtype)


class Fed(Sample):
    """A sample whose inputs are given, one batch for each step, and the rest drawn."""

    def __init__(self, name: str, seed: int, batches: Sequence[tuple], dtype: str):
        super().__init__(name, seed, [], dtype)
        self.batches = batches

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        if step > len(self.batches):
            raise DeclarationError(
                f"{self.name}: step {step} has no batch; the pipeline gives {len(self.batches)}"
            )
        return [self._round(values) for values in self.batches[step - 1]]

    @property
    def differentiable(self) -> list[int]:
        return [i for i, values in enumerate(self.batches[0]) if values.dtype.kind == "f"]

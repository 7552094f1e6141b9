"""Declarations of data pipelines. Imports no framework.

Both sides read the same files, which are written from the base seed. A side is a callable
`f(folder, **arguments)` that returns an object with

    stages   the names of the stages in order; the first is `read`, which gives a sample as its
             file has it, the last is `batch`
    run(s)   the outputs of stage s in order: dicts of columns as NumPy arrays, such as `image` and
             `label`, single samples before `batch`, batches from then on

or a loader as it stands: a `DataLoader` or `Dataset` of PyTorch, a `Dataset` of MindSpore. A
reference with stages also has `run(s, dtype, perturb)`: it computes in that dtype, float64
included, and `perturb` changes the first floating array. Stages of the same name compute the same;
each side may have further stages between them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from equivalence.declare.declaration import (
    Configured,
    Declaration,
    demanding,
    fields_checked,
    is_whole,
    shown,
    stem,
)
from equivalence.declare.difference import Difference, demand_difference


@fields_checked
@dataclass(frozen=True)
class Pipeline(Declaration):
    """A MindSpore data pipeline and the PyTorch pipeline that it must equal.

    name: an identifier; no other declaration of this kind has it.
    reference: the callable that builds PyTorch's pipeline, "module:attribute".
    candidate: the callable that builds MindSpore's pipeline.
    files: the callable that fills an empty folder with files, from a seed; None where both sides
    know what they read, and take no folder.
    configs: keyword arguments, one mapping for each case. Keys in capitals go, in small letters,
    to `files` alone. With `num_shards` and no `shard_id`, the part of every rank is compared.
    level: "gate" or "nightly".
    differs: a known difference, whose cause names the stage first; None where the sides must be
    equal.

    Raises DeclarationError where a field is wrong.

    >>> from equivalence import Pipeline, grid
    >>> sides = {"reference": "my_torch:photos", "candidate": "my_mindspore:photos"}
    >>> Pipeline("photos", **sides, files="my_data:write", configs=grid(size=[32, 56])).configs
    ({'size': 32}, {'size': 56})
    """

    name: str
    reference: str
    candidate: str
    files: str | None = None
    configs: Sequence[Mapping[str, Any]] = ({},)
    level: str = "gate"
    differs: Difference | None = None

    def __post_init__(self) -> None:
        targets = ("reference", "candidate", *(("files",) if self.files is not None else ()))
        demand = demanding("pipeline", self, targets)
        demand_difference(demand)
        for config in self.configs:
            demand("folder" not in config, "configs name 'folder', which each side is given anyway")
            ranks, rank = config.get("num_shards", 1), config.get("shard_id", 0)
            right = is_whole(ranks) and ranks > 0
            demand(right, f"configs have the num_shards {shown(ranks)}; write a number of ranks")
            right = is_whole(rank) and 0 <= rank < ranks
            demand(right, f"configs have the shard_id {shown(rank)}; write a rank below {ranks}")


@dataclass(frozen=True)
class PipelineCase(Configured):
    """One comparison: a pipeline under one configuration, always on the CPU.

    batches: how many batches of a loader are read; None: all.
    """

    twin: Pipeline
    config: Mapping[str, Any]
    batches: int | None = None
    execution: ClassVar[str] = "pipeline"
    device: ClassVar[str] = "cpu"

    @property
    def sample_name(self) -> str:
        """The name of the sample; the files are written from it and the base seed."""
        return stem(self.twin.name, self.config)

    @property
    def ranks(self) -> list[dict[str, int]]:
        """For each compared rank, the keyword arguments that it gets besides `arguments`."""
        if "num_shards" not in self.config or "shard_id" in self.config:
            return [{}]
        return [{"shard_id": rank} for rank in range(self.config["num_shards"])]


def cases(pipeline: Pipeline) -> Iterator[PipelineCase]:
    """All cases of a pipeline."""
    for config in pipeline.configs:
        yield PipelineCase(pipeline, config)

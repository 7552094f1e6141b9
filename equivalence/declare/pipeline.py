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

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

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
from equivalence.errors import DeclarationError

PICTURES = {
    "grey": "that are grey",
    "grey_alpha": "that are grey with alpha",
    "alpha": "with alpha",
    "palette": "of a palette",
    "palette_alpha": "of a palette with a transparent colour",
    "bits": "of black and white alone, in a bit each",
    "deep": "that are grey in 16 bits",
    "cmyk": "in CMYK",
    "turned": "that EXIF turns",
    "pixel": "of one pixel",
    "odd": "of odd sizes",
    "wide": "that are very wide",
    "tall": "that are very tall",
}
"""Kind of pictures that a folder may hold -> in words, after "pictures"."""

_PICTURES = re.compile(r"(\w+)(?:\((\d+), (\d+)\))?")


class Pictures(NamedTuple):
    """Pictures that stand for those of a folder.

    kind: a key of PICTURES.
    size: height and width of all in pixels; None: each as large as the one that it stands for, or
    of several sizes where sizes are what the kind is about.

    >>> Pictures.read("turned(24, 31)").told
    'pictures that EXIF turns, 24 x 31'
    """

    kind: str
    size: tuple[int, int] | None = None

    @classmethod
    def read(cls, text: str) -> "Pictures":
        """The pictures that a text names. Raises DeclarationError where it names none."""
        found = _PICTURES.fullmatch(text)
        if found is None or found[1] not in PICTURES:
            raise DeclarationError(f"pictures {shown(text)} are not among {', '.join(PICTURES)}")
        return cls(found[1], (int(found[2]), int(found[3])) if found[2] else None)

    def __str__(self) -> str:
        return self.kind if self.size is None else f"{self.kind}{self.size}"

    @property
    def told(self) -> str:
        """In words."""
        size = "" if self.size is None else f", {self.size[0]} x {self.size[1]}"
        return f"pictures {PICTURES[self.kind]}{size}"


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
    without: a kind of pictures, a key of PICTURES, that the sides read otherwise and that is not
    compared -> why.

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
    without: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        targets = ("reference", "candidate", *(("files",) if self.files is not None else ()))
        demand = demanding("pipeline", self, targets)
        demand_difference(demand)
        demand.words("without")
        for kind in self.without:
            demand(kind in PICTURES, f"without {shown(kind)} is not among {', '.join(PICTURES)}")
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
    pictures: as text, which stand for those of the folder; None: they are read as they are.
    """

    twin: Pipeline
    config: Mapping[str, Any]
    batches: int | None = None
    pictures: str | None = None
    execution: ClassVar[str] = "pipeline"
    device: ClassVar[str] = "cpu"

    @property
    def sample_name(self) -> str:
        """The name of the sample; the files are written from it and the base seed."""
        name = stem(self.twin.name, self.config)
        return name if self.pictures is None else f"{name}-{self.pictures}"

    @property
    def limits(self) -> Mapping[str, str]:
        """The kinds of pictures that are not compared, each with the reason."""
        return self.twin.without

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

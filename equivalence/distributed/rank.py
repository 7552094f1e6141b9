"""What one rank of a run does; a launcher calls `python -m equivalence.distributed.rank FOLDER`.

Its steps are those of the side's training step, on the batches that the step's own loader gives
this rank. Its trace is its result. All ranks but the first begin with weights of their own, to
show whether the first rank's weights are sent to them.
"""

import contextlib
import faulthandler
import importlib
import json
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from equivalence import errors, files
from equivalence.distributed.launch import ASKED, LAUNCHERS, Rank, say
from equivalence.errors import DeclarationError, SideError
from equivalence.host import watch
from equivalence.judge.tensors import Trace
from equivalence.nesting import Arguments
from equivalence.sample import Sample
from equivalence.words import listed

SAMPLES = "samples"
"""The name, in a trace, of the numbers of the samples that a rank read, in order."""


@dataclass(frozen=True)
class RankJob:
    """What all ranks of a run do. The sample's arrays lie beside it in the folder.

    launcher: a key of LAUNCHERS.
    target: "module:attribute" that builds the training step.
    arguments: what it is called with.
    execution: MindSpore's mode, "pynative" or "graph".
    rename: MindSpore's names -> PyTorch's names, where they are not the standard ones.
    slots: name -> (shape, kind) of the reference's weights.
    sample: the name of the sample.
    seed: the base seed.
    batch_size: samples in a batch.
    steps: number of steps.
    """

    launcher: str
    target: str
    arguments: Mapping[str, Any]
    execution: str
    rename: Mapping[str, str]
    slots: Mapping[str, Sequence]
    sample: str
    seed: int
    batch_size: int
    steps: int

    def write(self, folder: Path, arrays: Sequence[np.ndarray], weights: Trace) -> list[str]:
        """Write the job and its sample into `folder`; returns the arguments of this program."""
        data = {f"{number}": values for number, values in enumerate(arrays)}
        np.savez(folder / "data.npz", **data)
        np.savez(folder / "weights.npz", **weights)
        (folder / "job.json").write_text(json.dumps(asdict(self)))
        return [__name__, str(folder)]


def of_rank(name: str, rank: int) -> str:
    """The name of a tensor, with its rank."""
    return f"{name}@rank{rank}"


def demand_step(target: str, step: Any, names: Sequence[str]) -> None:
    """Demand that a step of data parallel training has what its ranks use."""
    missing = [name for name in names if not hasattr(step, name)]
    if missing:
        raise DeclarationError(
            f"{target!r} builds a {type(step).__name__} without {listed(missing)}; a step of data "
            f"parallel training has {listed(names, len(names))}"
        )


class RankSample(Sample):
    """The sample of one rank: its batches, and its initial weights.

    Updates are differences from the first rank's initial weights.
    """

    def __init__(self, job: RankJob, rank: int, folder: Path):
        with np.load(folder / "weights.npz", allow_pickle=False) as stored:
            self.first_weights = dict(stored)
        with np.load(folder / "data.npz", allow_pickle=False) as stored:
            arrays = list(stored.values())
        called = Arguments.plain(len(arrays))
        super().__init__(f"{job.sample} rank {rank}", job.seed, [], "float32", called)
        self.job, self.rank = job, rank
        self.arrays = [np.arange(len(arrays[0]), dtype=np.int32), *arrays]
        self.loader: Any = None
        self.epoch: Iterator[Any] = iter(())
        self.indices: list[np.ndarray] = []

    def inputs(self, step: int = 1) -> list[np.ndarray]:
        """The next batch of the loader; after the last one, the first batch of the next epoch."""
        say(f"step {step} of {self.job.steps}")
        batch = next(self.epoch, None)
        if batch is None:
            self.epoch = iter(self.loader(self.arrays, self.job.batch_size))
            batch = next(self.epoch, None)
        if batch is None:
            raise DeclarationError(f"the loader of rank {self.rank} gives no batch")
        indices, *inputs = map(np.asarray, batch)
        self.indices.append(indices)
        return inputs

    def weight(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        return self.first_weights[name] if self.rank == 0 else super().weight(name, shape)

    def initial(self, name: str, shape: tuple[int, ...]) -> np.ndarray:  # noqa: ARG002
        return self.first_weights[name]


def main(folder: Path) -> None:
    """Run one rank, or the scheduler that MindSpore has besides."""
    job = RankJob(**json.loads((folder / "job.json").read_text()))
    if os.environ.get("MS_ROLE") == "MS_SCHED":
        _framework(job).communicate()
        return
    rank = Rank(folder, int(os.environ[LAUNCHERS[job.launcher].rank]))
    with keep_own_files(rank):
        watch.start()
        say("import")
        framework = _framework(job)
        say("communication")
        framework.communicate()
        say("build")
        sample = RankSample(job, rank.number, folder)
        trace = framework.train(job, sample)
        trace[SAMPLES] = np.concatenate(sample.indices).astype(np.int64)
        say("end")
        reached = {file: sorted(every) for file, every in watch.reached().items()}
        files.write(rank.file("reached"), json.dumps(reached))
        part = rank.file("part")
        with part.open("wb") as file:
            np.savez(file, **trace)
        part.replace(rank.file("npz"))
        framework.leave()


def _framework(job: RankJob) -> Any:
    """The module of the framework, with `communicate`, `train` and `leave`."""
    return importlib.import_module(
        f"equivalence.distributed.rank_{LAUNCHERS[job.launcher].package}"
    )


@contextlib.contextmanager
def keep_own_files(rank: Rank) -> Iterator[None]:
    """Let a rank write its log, its process id, its stack, and the exception that it raises."""
    log = os.open(rank.file("log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(log, stream)
    faulthandler.enable()
    faulthandler.register(ASKED)
    faulthandler.register(signal.SIGTERM, chain=True)
    files.write(rank.file("pid"), str(os.getpid()))
    try:
        yield
    except BaseException as error:
        traceback.print_exc()
        lines = errors.words(error).splitlines()
        words = "\n".join(line.removeprefix("- ") for line in lines if line.strip("-"))
        did = error.did if isinstance(error, SideError) else ""
        files.write(rank.file("failed"), did or f"raised {type(error).__name__}: {words}")
        raise


if __name__ == "__main__":
    main(Path(sys.argv[1]))

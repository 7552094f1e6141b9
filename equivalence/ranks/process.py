"""Starts the ranks of a script, and is what each of their processes does.

The reference's script runs under `torchrun`, and the candidate's under `msrun`; one process under
neither. Each calls `python -m equivalence.ranks.process FOLDER`.
"""

import importlib
import os
import pickle
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from equivalence import files
from equivalence.declare.data_parallel import LIMIT
from equivalence.distributed import launch
from equivalence.distributed.launch import ALONE, launcher_of, say
from equivalence.distributed.rank import keep_own_files
from equivalence.distributed.torch_meeting import meeting
from equivalence.host.isolation import isolated
from equivalence.ranks.parts import OfRank, Parts
from equivalence.scripts.compare import run_of_reference
from equivalence.scripts.recording import RunRecorder
from equivalence.scripts.running import ScriptTraining
from equivalence.scripts.steps import TrainingRun

LAUNCHED_BY = {"reference": "torchrun", "candidate": "msrun"}


@dataclass(frozen=True)
class LaunchJob:
    """What all ranks of a launch do.

    training: of one side. folder: the working directory. ranks: how many there are.
    steps: how many are run at most.
    noises: the runs of the reference: 0 without noise, n with the n-th.
    given: of each rank, the reference's run that it gets; none before there is one.
    whole: whether each rank has samples of that run's batches, which are of one process, or this
        process has those of all ranks.
    kept: the ranks of the candidate that keep their own initial weights.
    looked_into: the step of which layers are noted; 0: of none.
    """

    training: ScriptTraining
    folder: str
    ranks: int
    steps: int
    noises: Sequence[int] = ()
    given: Sequence[TrainingRun] = ()
    rename: Mapping[str, str] = field(default_factory=dict)
    constants: Sequence[str] = ()
    eager: bool = False
    whole: bool = False
    kept: Sequence[int] = ()
    looked_into: int = 0

    @property
    def launcher(self) -> str:
        """A key of LAUNCHERS, or ALONE."""
        return LAUNCHED_BY[self.training.role] if self.ranks > 1 else ALONE


@dataclass
class Ran:
    """What a rank leaves.

    runs: those of its script. met: whether the script has met other ranks.
    parts: number of a network of the reference -> what of its weights the rank has in part.
    begun: names of weights that begin as another rank's -> that rank.
    """

    runs: list[TrainingRun]
    met: bool = True
    parts: dict[int, Parts] = field(default_factory=dict)
    begun: dict[str, int] = field(default_factory=dict)


def run(job: LaunchJob) -> list[Ran]:
    """What all ranks leave. Raises SideError where one fails."""
    with files.temporary() as temporary:
        folder = Path(temporary)
        (folder / "job").write_bytes(pickle.dumps(job))
        name = f"the {job.training.role} {job.training.name}"
        started = launch.RanksRun(name, job.launcher, job.ranks, folder, LIMIT)
        status = started.status_of([__name__, temporary])
        ran: list[Ran] = [pickle.loads(r.file("npz").read_bytes()) for r in started.ranks]
        if status:  # MindSpore's processes may crash as they end
            ran[0].runs[0].notes.append(
                f"{job.launcher} ended with status {status} after all ranks of the "
                f"{job.training.role} had left their results"
            )
        return ran


def main(folder: Path) -> None:
    """Run the script of one rank, or the scheduler that MindSpore has besides."""
    job: LaunchJob = pickle.loads((folder / "job").read_bytes())
    if os.environ.get("MS_ROLE") == "MS_SCHED":
        from equivalence.distributed import rank_mindspore

        rank_mindspore.communicate()
        return
    variable = launcher_of(job.launcher).rank
    number = int(os.environ[variable]) if variable else 0
    rank = launch.Rank(folder, number)
    with keep_own_files(rank):
        os.chdir(job.folder)
        training = replace(job.training, rank=number) if job.ranks > 1 else job.training
        ran = (_reference if training.role == "reference" else _candidate)(job, training, number)
        say("end")
        part = rank.file("part")
        part.write_bytes(pickle.dumps(ran))
        part.replace(rank.file("npz"))


class _Telling(RunRecorder):
    """Says in the log of a rank how far it is."""

    waits = True

    def updated(self) -> None:
        super().updated()
        say(f"step {len(self.run.steps) + 1} of {self.steps}")


def _reference(job: LaunchJob, training: ScriptTraining, number: int) -> Ran:
    """The runs of one rank of the reference, or of all of it."""
    given = job.given[number] if job.given else None
    runs: list[TrainingRun] = []

    def every() -> None:
        nonlocal given
        for noise in job.noises:
            steps = min(job.steps, len(given.steps)) if given else job.steps
            say(f"step 1 of {steps}")
            made = run_of_reference(training, steps, given, noise, job.looked_into, kind=_Telling)
            runs.append(made)
            given = given or made

    if job.ranks == 1:
        every()
        return Ran(runs, False)
    with meeting(number, job.ranks) as met:
        every()
    return Ran(runs, met.asked)


def _candidate(job: LaunchJob, training: ScriptTraining, number: int) -> Ran:
    """The run of one rank of the candidate, or of all of it."""
    from equivalence.scripts.mindspore_side import MindSporeSide
    from equivalence.stand_ins.context import StandIns

    def run() -> Ran:
        paired = OfRank(job.given, number, job.rename, job.constants)
        side = MindSporeSide(job.eager)
        steps = min(job.steps, len(paired.theirs.steps))
        recorder = _Telling(side, steps, paired.theirs, paired, job.looked_into)
        recorder.loads = number not in job.kept
        recorder.cut = (number, job.ranks) if job.whole else None
        say(f"step 1 of {recorder.steps}")
        with isolated():
            training.run(recorder, side.watching(recorder))
        return Ran([recorder.run], True, paired.parts, paired.begun)

    stand_ins = StandIns(every=False)
    ran = stand_ins.running(run)
    ran.runs[0].stand_ins = tuple(sorted(stand_ins.used))
    return ran


if __name__ == "__main__":  # what is pickled here is to be found by the module's own name
    importlib.import_module("equivalence.ranks.process").main(Path(sys.argv[1]))

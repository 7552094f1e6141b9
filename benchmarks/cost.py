"""What a comparison costs: its time beside one bare step of each side, and its memory.

    python benchmarks/cost.py [--phase eval] [NAME...]

Names are those of `SIZED`, or of the catalogue of right networks (`benchmarks/catalogue`). Each
runs in a process of its own, in PyNative mode on the CPU, after warm-up steps of each side, so that
imports and the frameworks' own first calls are not counted. It is compared by a run of the
reference, and once more by its record. Times are of the processor, which others on the machine do
not change. The tables go to the terminal and to `reports/cost.md`.
"""

import argparse
import contextlib
import gc
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence.host import environment  # noqa: E402

environment.prepare()

from benchmarks import catalogue  # noqa: E402
from benchmarks.overhead import Clock  # noqa: E402
from equivalence import files, kinds  # noqa: E402
from equivalence.comparison import kept  # noqa: E402
from equivalence.declare.draws import normal  # noqa: E402
from equivalence.declare.twin import PHASES, Twin, TwinCase, cases  # noqa: E402
from equivalence.host import memory  # noqa: E402
from equivalence.host.isolation import isolated  # noqa: E402
from equivalence.record import store, truths  # noqa: E402
from equivalence.timing.sides import builders  # noqa: E402
from equivalence.timing.steps import REFERENCE, machine, measured  # noqa: E402

MIB = 2**20


def _sized(name: str, *shape: int, **config: object) -> Twin:
    """A network of the catalogue on another input."""
    (twin,) = (each for each in catalogue.declared() if each.name == name)
    (made,) = twin.configs
    return replace(twin, inputs=[normal(*shape)], configs=({**made, **config},))


SIZED: Mapping[str, Callable[[], Twin]] = {
    "encoder_38m": lambda: _sized("encoder_12", 2, 256, 512, width=512),
    "unet_256": lambda: _sized("unet_96", 2, 3, 256, 256),
    "resnet50_224": lambda: _sized("vision_resnet50", 4, 3, 224, 224),
}
"""Name -> a network of the catalogue at a size of its users. These are measured without names."""


@dataclass(frozen=True)
class Cost:
    """What one case costs.

    case: its name.
    steps: the processor seconds of a bare step of both sides together, medians of several.
    reference: those of the reference's step alone.
    seconds: those of the comparison.
    recorded: those of the comparison by a record.
    one_run: the bytes of weights and activations of one run of the reference in float64.
    memory: how many bytes the comparison needs at its peak, beyond what the process had before.
    verdict: "equal", "differs", or the names of the excuses behind an equal verdict.
    spent: where the time of the comparison went: label -> processor seconds.
    """

    case: str
    steps: float
    reference: float
    seconds: float
    recorded: float
    one_run: int
    memory: int
    verdict: str
    spent: Mapping[str, float]


def of(case: TwinCase, seed: int = 0) -> Cost:
    """Measure a case in this process."""
    with isolated():
        timed = measured(builders([case]), time.process_time)
        steps = {side: times.quartiles[1] for side, times in timed.items()}
    del timed
    with isolated(), _watched() as clock, _peak() as peak:
        started = time.process_time()
        outcome = kinds.check(case, seed)
        seconds = time.process_time() - started
    clock.spent["the rest"] = seconds - sum(clock.spent.values())
    with isolated():
        recorded, one_run = _recorded(case, seed), _one_run(case, seed)
    verdict = ", ".join(outcome.excuses) or "equal" if outcome.passed else "differs"
    return Cost(
        case.name,
        sum(steps.values()),
        steps[REFERENCE],
        seconds,
        recorded,
        one_run,
        peak(),
        verdict,
        clock.spent,
    )


def _recorded(case: TwinCase, seed: int) -> float:
    """The processor seconds of a comparison by a record, which is written before."""
    with tempfile.TemporaryDirectory() as folder:
        parts = Path(folder) / "parts"
        for mode in (truths.WRITE, truths.REQUIRE):
            kept.forget()
            library = truths.Library(Path(folder), mode, parts)
            with truths.using(library):
                started = time.process_time()
                kinds.check(case, seed)
                seconds = time.process_time() - started
            if mode == truths.WRITE:
                store.pack(parts.rglob("*.*"), Path(folder))
    return seconds


def _one_run(case: TwinCase, seed: int) -> int:
    """The bytes that one run of the reference in float64 keeps: weights, and for its backward."""
    import torch

    from equivalence.comparison import sides

    kept.forget()
    network, held = sides.build_reference(case), {}

    def keep(value: Any) -> Any:
        storage = value.untyped_storage()
        held[storage.data_ptr()] = storage.nbytes()
        return value

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda value: value):
        network.run(sides.draw(case, seed), case.phase, "float64")
    for value in (*network.module.parameters(), *network.module.buffers()):
        keep(value)
    return sum(held.values())


@contextlib.contextmanager
def _watched() -> Iterator[Clock]:
    """A context in which the time of what a comparison runs is counted by labels."""
    clock = Clock(time.process_time)
    with contextlib.ExitStack() as wrapped:
        for owner, name, label in places():
            wrapped.enter_context(mock.patch.object(owner, name, getattr(owner, name)))
            clock.wrap(owner, name, label)
        yield clock


def places() -> Iterator[tuple[object, str, str | Callable[..., str]]]:
    """What is timed: (owner, name of a function of it, label)."""
    from equivalence.comparison import comparison, second_call
    from equivalence.judge import expected
    from equivalence.sample import Perturbed, Sample
    from equivalence.sides import mindspore_network, torch_network

    def run(_: object, sample: object, __: str, dtype: str, ___: object = None) -> str:
        if dtype != "float64":
            return "reference: its own run"
        perturbed = getattr(sample, "rounding", None)
        return f"reference: {'perturbed' if perturbed else 'truth'} in float64"

    yield torch_network.TorchNetwork, "__init__", "reference: build"
    yield torch_network.TorchNetwork, "run", run
    yield torch_network.TorchNetwork, "settle", "reference: move off kinks"
    yield torch_network.TorchNetwork, "_load", "reference: load weights"
    yield mindspore_network.MindSporeNetwork, "__init__", "candidate: build"
    yield mindspore_network.MindSporeNetwork, "run", "candidate: run"
    yield mindspore_network.MindSporeNetwork, "call_before", "candidate: forward in other phase"
    yield mindspore_network.MindSporeNetwork, "_load", "candidate: load weights"
    yield second_call, "prepare", "candidate: call before"
    for owner in (Sample, Perturbed):
        for draw in ("inputs", "weight", "cotangent"):
            yield owner, draw, "draw"
    yield expected, "_faint", "norms"
    yield expected, "distance", "norms"
    yield comparison.CaseAtSeed, "judge", "judge"


@contextlib.contextmanager
def _peak() -> Iterator[Callable[[], int]]:
    """A context that gives how many bytes the process has at its peak beyond those at its start."""
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with contextlib.suppress(OSError):  # Linux alone
        Path("/proc/self/clear_refs").write_text("5")
        before = memory.sizes(memory.PROCESS)["VmRSS"]
    held: list[int] = []
    yield lambda: held[0] - before
    held.append(memory.sizes(memory.PROCESS)["VmHWM"])


def table(costs: Sequence[Cost]) -> list[str]:
    """In Markdown, a row for each case."""
    lines = [
        "| case | bare steps of both sides, s | comparison, s | ratio | by a record, s | ratio "
        "| weights and activations in float64, MiB | peak memory, MiB | ratio | verdict |",
        "| --- |" + " --- |" * 9,
    ]
    return lines + [
        f"| {each.case} | {each.steps:.2f} | {each.seconds:.1f} | {each.seconds / each.steps:.1f} "
        f"| {each.recorded:.1f} | {each.recorded / each.steps:.1f} "
        f"| {each.one_run / MIB:.0f} | {each.memory / MIB:.0f} | {each.memory / each.one_run:.1f} "
        f"| {each.verdict} |"
        for each in costs
    ]


def shares(cost: Cost) -> list[str]:
    """In Markdown: where the time of a comparison went, in bare steps of both sides."""
    lines = [f"| {cost.case} | s | bare steps |", "| --- | --- | --- |"]
    return lines + [
        f"| {label} | {seconds:.2f} | {seconds / cost.steps:.2f} |"
        for label, seconds in sorted(cost.spent.items(), key=lambda each: -each[1])
    ]


def _of_network(asked: tuple[str, str]) -> Cost:
    name, phase = asked
    known = {twin.name: twin for twin in catalogue.declared()}
    twin = SIZED[name]() if name in SIZED else known[name]
    return of(next(cases(replace(twin, phases=(phase,), executions=("pynative",)), "cpu")))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the networks that are named; without names `SIZED`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="a network")
    parser.add_argument("--phase", choices=PHASES, help="both without it")
    options = parser.parse_args(arguments)
    known = {twin.name for twin in catalogue.declared()} | {*SIZED}
    for name in options.names:
        if name not in known:
            parser.error(f"the catalogue has no network {name!r}")
    phases = (options.phase,) if options.phase else PHASES
    asked = [(name, phase) for name in options.names or SIZED for phase in phases]
    costs = []
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        for cost in pool.imap(_of_network, asked, chunksize=1):
            costs.append(cost)
            print(table(costs)[-1], *shares(cost), sep="\n", flush=True)
    lines = [machine("cpu"), "", *table(costs)]
    for cost in costs:
        lines += ["", *shares(cost)]
    files.write(ROOT / "reports" / "cost.md", "\n".join(lines) + "\n")
    print("", *lines[: len(costs) + 4], sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

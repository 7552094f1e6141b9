"""The time of a step on both sides: forward and backward, or a whole training step.

    python benchmarks/step_times.py [--device ascend] [NAME...]

The sides take turns, so that what else the machine does hits them alike; the first rounds are left
out. Tensors and weights are on the device before a step begins, and a step ends when all of its
results are there. PyTorch runs where the suite runs it: on the CPU, or beside a GPU on CUDA where
torch has it. On a CPU both sides have one thread. The table goes to the terminal and to
`reports/step_times.md`, every single time to `reports/step_times.json`.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence.host import environment  # noqa: E402
from equivalence.runs import sides  # noqa: E402

environment.prepare()

import numpy as np  # noqa: E402

from equivalence import files, nesting  # noqa: E402
from equivalence.declare.draws import normal  # noqa: E402
from equivalence.declare.twin import EXECUTIONS, Twin, TwinCase, cases  # noqa: E402
from equivalence.errors import EquivalenceError  # noqa: E402
from equivalence.host import devices  # noqa: E402
from equivalence.host.isolation import isolated  # noqa: E402
from equivalence.structure import weights  # noqa: E402

WARM_UP = 2
"""Rounds that are run and left out."""

ROUNDS, FEWEST = 50, 5
"""Rounds that are timed, and how many are when they take long."""

PATIENCE = 20.0
"""Seconds after which no round but the fewest is begun."""

REFERENCE = "PyTorch"


@dataclass(frozen=True)
class Times:
    """One side of a row: seconds of each timed step; first: until the first step was done, with
    building, loading and, for a graph, compiling."""

    first: float
    steps: Sequence[float]

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """Lower quartile, median and upper quartile, interpolated linearly."""
        low, middle, high = np.percentile(self.steps, (25, 50, 75))
        return float(low), float(middle), float(high)


@dataclass(frozen=True)
class Row:
    """A step, and the times of every side."""

    name: str
    sides: Mapping[str, Times]


def measured(
    builders: Mapping[str, Callable[[], Callable[[], object]]],
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Times]:
    """Time sides by turns. Each builder makes its side ready and gives what does one step."""
    steps, first = {}, {}
    for side, build in builders.items():
        started = clock()
        steps[side] = build()
        steps[side]()
        first[side] = clock() - started
    taken: dict[str, list[float]] = {side: [] for side in steps}
    begun = clock()
    for number in range(WARM_UP + ROUNDS):
        if number >= WARM_UP + FEWEST and clock() - begun > PATIENCE:
            break
        for side, step in steps.items():
            started = clock()
            step()
            elapsed = clock() - started
            if number >= WARM_UP:
                taken[side].append(elapsed)
    return {side: Times(first[side], taken[side]) for side in steps}


def table(rows: Sequence[Row]) -> list[str]:
    """In Markdown: median and quartiles in milliseconds, times PyTorch's median, first step."""
    sides = list(dict.fromkeys(side for row in rows for side in row.sides))
    titles = ["step, ms: median (quartiles)", *sides]
    titles += [f"{side} / {REFERENCE}" for side in sides if side != REFERENCE]
    titles += [f"first step of {side}, s" for side in sides] + ["rounds"]
    body = [[row.name, *_cells(row, sides)] for row in rows]
    widths = [max(map(len, column)) for column in zip(titles, *body, strict=True)]
    lines = [
        "| " + " | ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True))
        for cells in (titles, ["-" * width for width in widths], *body)
    ]
    return [f"{line} |" for line in lines]


def _cells(row: Row, sides: Sequence[str]) -> Iterable[str]:
    nothing = "-"
    for side in sides:
        yield _spread(row.sides[side]) if side in row.sides else nothing
    for side in sides:
        if side != REFERENCE:
            both = side in row.sides and REFERENCE in row.sides
            yield f"{_median(row, side) / _median(row, REFERENCE):.2f}" if both else nothing
    for side in sides:
        yield f"{row.sides[side].first:.1f}" if side in row.sides else nothing
    yield str(min(len(times.steps) for times in row.sides.values()))


def _median(row: Row, side: str) -> float:
    return row.sides[side].quartiles[1]


def _spread(times: Times) -> str:
    low, middle, high = map(_milliseconds, times.quartiles)
    return f"{middle} ({low}-{high})"


def _milliseconds(seconds: float) -> str:
    """Three digits, or all before the point."""
    value = 1e3 * seconds
    return f"{value:.0f}" if value >= 100.0 else f"{value:.3g}"


# What is timed.


def steps_of(device: str) -> dict[str, list[TwinCase]]:
    """By name: a case for each execution mode of a twin, with sizes as in use."""
    from tests.recipes import declared as recipes
    from tests.twins import declared

    twins = {twin.name: twin for twin in declared()}
    twins |= {recipe.name: recipe.step for recipe in recipes()}

    def sized(name: str, *shape: int, **config: Any) -> list[TwinCase]:
        return _cases(replace(twins[name], inputs=[normal(*shape)], configs=[config]), device)

    plain = {"groups": 1, "dilation": 1}
    return {
        "conv3x3, 64 planes, 4 x 56 x 56": sized(
            "conv3x3", 4, 64, 56, 56, in_planes=64, out_planes=64, stride=1, **plain
        ),
        "conv7x7, stride 2, 4 x 224 x 224": sized(
            "conv7x7", 4, 3, 224, 224, in_planes=3, out_planes=64, stride=2
        ),
        "bottleneck, 256 planes, 4 x 56 x 56": sized(
            "bottleneck", 4, 256, 56, 56, inplanes=256, planes=64, stride=1
        ),
        "ResNet50, 2 x 64 x 64": sized("resnet", 2, 3, 64, 64, depth=50, num_classes=10),
        "ResNet50, 4 x 224 x 224": sized("resnet", 4, 3, 224, 224, depth=50, num_classes=1000),
        "training step, small network": _cases(twins["imagenet_recipe"], device),
        "training step, ResNet50 on CIFAR-10": _cases(twins["resnet50_on_cifar10"], device),
    }


def _cases(twin: Twin, device: str) -> list[TwinCase]:
    (config, *_) = twin.configs
    if "total_steps" in config:  # a schedule ends there
        config = {**config, "total_steps": 1 + WARM_UP + ROUNDS}
    twin = replace(twin, configs=[config], phases=("train",), executions=EXECUTIONS)
    return list(cases(twin, device))


def builders(of_step: Sequence[TwinCase]) -> dict[str, Callable[[], Callable[[], object]]]:
    """What makes each side of a step ready: PyTorch, and MindSpore in every execution mode."""

    sample = sides.draw(of_step[0], 0)
    reference = sides.build_reference(of_step[0])
    phase = of_step[0].phase
    made = {REFERENCE: lambda: _torch_step(sides.build_reference(of_step[0]), sample, phase)}
    for case in of_step:
        made[f"MindSpore {case.execution}"] = lambda case=case: _mindspore_step(
            sides.build_candidate(case), reference, case, sample
        )
    return made


def _torch_step(network: Any, sample: Any, phase: str = "train") -> Callable[[], object]:
    import torch

    network._load(sample, phase, "float32")
    inputs = network._inputs(sample, "float32")

    def timed(call: Callable[[], object]) -> Callable[[], object]:
        def step() -> object:
            with network._computing(sample, "float32"):
                result = call()
            if network.device.type == "cuda":
                torch.cuda.synchronize()
            return result

        return step

    if hasattr(network, "step"):
        network.step.to(network.device).train()
        return timed(lambda: network.step(*inputs))
    for i in sample.differentiable:
        inputs[i].requires_grad_()
    leaves = [each for each in (*inputs, *network.module.parameters()) if each.requires_grad]
    with network._computing(sample, "float32"):
        outputs = nesting.named(network.module(*inputs))
    along = [
        torch.from_numpy(sample.cotangent(name, tuple(out.shape))).to(out)
        for name, out in outputs.items()
    ]
    del outputs

    def backward() -> object:
        outputs = nesting.named(network.module(*inputs))
        return torch.autograd.grad(list(outputs.values()), leaves, along)

    return timed(backward)


def _mindspore_step(
    network: Any, reference: Any, case: TwinCase, sample: Any
) -> Callable[[], object]:
    import mindspore as ms

    partners = weights.pair(reference.slots(), network.slots(), case.twin.rename)
    arguments = [ms.Tensor(values) for values in sample.inputs()]
    if case.twin.steps:
        network._load(sample, partners)
        network._set_phase("train")
    else:
        made = reference.run(sample, case.phase, "float32")
        shapes = {
            name.partition(".")[2]: values.shape
            for name, values in made.items()
            if name.startswith("output.")
        }
        network.run(sample, partners, case.phase, shapes)  # makes the step
        arguments += [ms.Tensor(sample.cotangent(i, shape)) for i, shape in shapes.items()]

    def step() -> None:
        network._enter()  # the sides take turns, and the mode is the process's
        network._step(*arguments)
        ms.runtime.synchronize()

    return step


def machine(device: str) -> str:
    """On what it was measured."""
    found = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        found = next((x.partition(":")[2].strip() for x in lines if "model name" in x), found)
    versions = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("mindspore", "torch")
    )
    cores, load = os.cpu_count(), os.getloadavg()[0]
    return f"{versions}; {device}; {cores} cores, {found}, load {load:.1f}; one thread each"


def kept(rows: Sequence[Row], where: str, folder: Path) -> None:
    """Write both files, each complete or not at all."""
    every = [
        {"step": row.name, "side": side, "first": times.first, "seconds": list(times.steps)}
        for row in rows
        for side, times in row.sides.items()
    ]
    texts = {
        "step_times.md": "\n".join([where, "", *table(rows)]),
        "step_times.json": json.dumps({"machine": where, "times": every}, indent=1),
    }
    for name, text in texts.items():
        files.write(folder / name, text + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Time the steps whose names have one of the words; all of them without words."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", metavar="NAME", help="part of a step's name")
    parser.add_argument("--device", choices=devices.DEVICES, default="cpu")
    options = parser.parse_args(arguments)
    if not devices.present(options.device):
        parser.error(f"MindSpore finds no {options.device} device on this host")
    known = steps_of(options.device)
    words = [word.lower() for word in options.words]
    chosen = [name for name in known if not words or any(w in name.lower() for w in words)]
    if not chosen:
        parser.error(f"no step is called so; there are: {'; '.join(known)}")
    rows = []
    for name in chosen:
        try:
            with isolated():
                rows.append(Row(name, measured(builders(known[name]))))
        except EquivalenceError as error:
            raise SystemExit(f"{name}: {error}") from None
        print(f"{name}: {', '.join(map(_spread, rows[-1].sides.values()))} ms", flush=True)
    where = machine(options.device)
    kept(rows, where, ROOT / "reports")
    print("", where, "", *table(rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

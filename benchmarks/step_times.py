"""The time of a step on both sides: forward and backward, or a whole training step.

    python benchmarks/step_times.py [--device ascend] [NAME...]

The sides take turns, so that what else the machine does hits them alike; the first rounds are left
out. Tensors and weights are on the device before a step begins, and a step ends when all of its
results are there. PyTorch runs where the suite runs it: on the CPU, or beside a GPU on CUDA where
torch has it. On a CPU both sides have one thread. The table goes to the terminal and to
`reports/step_times.md`, every single time to `reports/step_times.json`.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence.host import environment  # noqa: E402

environment.prepare()

from equivalence import files  # noqa: E402
from equivalence.declare.draws import normal  # noqa: E402
from equivalence.declare.twin import EXECUTIONS, Twin, TwinCase, cases  # noqa: E402
from equivalence.errors import EquivalenceError  # noqa: E402
from equivalence.host import devices  # noqa: E402
from equivalence.host.isolation import isolated  # noqa: E402
from equivalence.timing.sides import builders  # noqa: E402
from equivalence.timing.steps import (  # noqa: E402
    ROUNDS,
    WARM_UP,
    Row,
    every_time,
    machine,
    measured,
    spread,
    table,
)

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


def kept(rows: Sequence[Row], where: str, folder: Path) -> None:
    """Write both files, each complete or not at all."""
    texts = {
        "step_times.md": "\n".join([where, "", *table(rows)]),
        "step_times.json": json.dumps({"machine": where, "times": every_time(rows)}, indent=1),
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
        print(f"{name}: {', '.join(map(spread, rows[-1].sides.values()))} ms", flush=True)
    where = machine(options.device)
    kept(rows, where, ROOT / "reports")
    print("", where, "", *table(rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

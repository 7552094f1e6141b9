"""What a conversion costs beside a plain loop: time, CPU time and memory.

Each conversion and its plain loop (load, rename, save, without any check) run in turn, each in a
process of its own, on a checkpoint of random weights. The system tells what a process used. Prints
the median of every figure, and the ratio.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

MAKE = """
import sys, torch, safetensors.torch
folder, size = sys.argv[1], float(sys.argv[2]) * 2**30
state, layer = {}, 0
while size > 0:
    for name, shape in (("q", (3072, 1024)), ("o", (1024, 1024)), ("up", (4096, 1024))):
        for leaf, values in (("weight", torch.randn(shape)), ("bias", torch.randn(shape[0]))):
            state[f"{layer}.{name}.{leaf}"] = values
            size -= 4 * values.numel()
    layer += 1
torch.save(state, folder + "/in.pth")
safetensors.torch.save_file(state, folder + "/in.safetensors")
"""

TO_CKPT = """
import sys, torch, mindspore as ms
state = torch.load(sys.argv[1], map_location="cpu")
renamed = {name.replace("norm.weight", "norm.gamma"): v for name, v in state.items()}
entries = [{"name": n, "data": ms.Tensor(v.numpy())} for n, v in renamed.items()]
ms.save_checkpoint(entries, sys.argv[2])
"""

TO_PTH = """
import sys, torch, mindspore as ms
state = ms.load_checkpoint(sys.argv[1])
renamed = {name.replace("norm.gamma", "norm.weight"): v for name, v in state.items()}
torch.save({n: torch.from_numpy(v.asnumpy()) for n, v in renamed.items()}, sys.argv[2])
"""

SAFELY = """
import sys
from safetensors.numpy import load_file, save_file
state = load_file(sys.argv[1])
save_file({n.replace("norm.weight", "norm.gamma"): v for n, v in state.items()}, sys.argv[2])
"""

WAYS = (
    ("in.pth", "out.ckpt", TO_CKPT, ()),
    ("out.ckpt", "out.pth", TO_PTH, ()),
    ("in.safetensors", "out.safetensors", SAFELY, ("--to", "mindspore")),
)
"""Source, destination, the plain loop, options of the conversion."""


@dataclass(frozen=True)
class Cost:
    """What a process used: seconds, seconds of CPU, bytes of memory at its peak."""

    wall: float
    cpu: float
    memory: float


def run(command: Sequence[str]) -> Cost:
    """The cost of a Python command in a process of its own; RuntimeError where it fails."""
    started = time.perf_counter()
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    python = sys.executable
    child = os.posix_spawn(python, [python, *command], environment, file_actions=quiet)
    _, status, used = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} failed")
    wall, cpu = time.perf_counter() - started, used.ru_utime + used.ru_stime
    return Cost(wall, cpu, 1024 * used.ru_maxrss)


def median(costs: Sequence[Cost]) -> Cost:
    """The median of each figure."""
    each = zip(*((c.wall, c.cpu, c.memory) for c in costs), strict=True)
    return Cost(*map(statistics.median, each))


def line(name: str, ours: Cost, plain: Cost) -> str:
    """A row of the table."""
    figures = [
        f"{one:6.2f} {two:6.2f} {one / two:5.2f}"
        for one, two in (
            (ours.wall, plain.wall),
            (ours.cpu, plain.cpu),
            (ours.memory / 2**30, plain.memory / 2**30),
        )
    ]
    return f"{name:32}" + "   ".join(figures)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all ways and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", default="1", metavar="GIB", help="of the weights (default 1)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="of each (default 3)")
    options = parser.parse_args(arguments)
    print("ours, plain, ratio:             seconds              CPU seconds            peak GiB")
    with tempfile.TemporaryDirectory() as folder:
        run(["-c", MAKE, folder, options.size])
        for source, target, loop, more in WAYS:
            files = [f"{folder}/{source}", f"{folder}/{target}"]
            plain = ["-c", loop, files[0], f"{folder}/plain{Path(target).suffix}"]
            ours = ["-m", "equivalence", "convert", *files, "--force", *more]
            costs = [(run(ours), run(plain)) for _ in range(options.runs)]
            medians = [median(each) for each in zip(*costs, strict=True)]
            print(line(f"{source} -> {target}", *medians), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

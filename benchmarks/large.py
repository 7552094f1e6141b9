"""A decoder beyond memory, compared layer by layer: time and peak memory.

Writes random weights shard by shard, one layer in each, and compares both sides with them:

    python benchmarks/large.py --width 2048 --depth 16 24      # 1 and 1.5 billion parameters
    python benchmarks/large.py --width 256 --depth 8 --wrong    # with a mistake in layers.4

The folder of the weights is removed at the end.
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from equivalence.host import environment  # noqa: E402

environment.prepare()

import numpy as np  # noqa: E402

from benchmarks import torch_decoder  # noqa: E402
from equivalence.__main__ import main as equivalence  # noqa: E402
from equivalence.checkpoints import files  # noqa: E402
from equivalence.checkpoints.formats import PYTORCH, StoredWeight  # noqa: E402

SUFFIX = ".safetensors"


def write(folder: Path, vocabulary: int, width: int, depth: int) -> int:
    """Write the weights, one shard at a time; returns the number of parameters."""
    import torch

    with torch.device("meta"):
        whole = torch_decoder.Decoder(vocabulary, width, 1, depth)
    shapes = {name: tuple(each.shape) for name, each in whole.named_parameters()}
    shards: dict[str, list[str]] = {}
    for name in shapes:
        layer = name.split(".")[1] if name.startswith("layers.") else "around"
        shards.setdefault(f"model-{layer}{SUFFIX}", []).append(name)
    rng = np.random.default_rng(0)
    for shard, names in shards.items():
        weights = {name: StoredWeight("float32", _drawn(rng, shapes[name])) for name in names}
        files.write(folder / shard, PYTORCH, weights, {})
    places = {name: shard for shard, names in shards.items() for name in names}
    (folder / f"model{SUFFIX}.index.json").write_text(json.dumps({"weight_map": places}))
    return sum(int(np.prod(shape)) for shape in shapes.values())


def _drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    if len(shape) == 1:
        return rng.uniform(0.5, 1.5, shape).astype(np.float32)
    return rng.standard_normal(shape, np.float32) / np.float32(np.sqrt(shape[1]))


def main() -> None:
    """Compare a decoder of each depth."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--depth", type=int, nargs="+", default=[4, 8])
    parser.add_argument("--vocabulary", type=int, default=8192)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--wrong", action="store_true")
    asked = parser.parse_args()
    for depth in asked.depth:
        with tempfile.TemporaryDirectory() as folder:
            count = write(Path(folder), asked.vocabulary, asked.width, depth)
            sizes = {"vocabulary": asked.vocabulary, "width": asked.width, "depth": depth}
            sizes["heads"] = max(asked.width // 64, 1)
            ours = "Wrong" if asked.wrong else "Decoder"
            sides = ["benchmarks.torch_decoder:Decoder", f"benchmarks.mindspore_decoder:{ours}"]
            given = ["--input", f"integers(1, {asked.tokens}, high={asked.vocabulary})"]
            given += ["--arguments", *(f"{key}={value}" for key, value in sizes.items())]
            given += ["--weights", folder, "--phase", "eval", "--execution", "pynative"]
            begun, used = time.monotonic(), time.process_time()
            equivalence(["compare", *sides, *given, "--by-layer"])
            took, used = time.monotonic() - begun, time.process_time() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"depth {depth}: {count / 1e6:.1f} M parameters, {count * 4 / 2**30:.2f} GiB in "
            f"float32; {took:.0f} s, {used / depth:.1f} s of a processor for each layer; "
            f"peak memory {peak:.2f} GiB",
            flush=True,
        )


if __name__ == "__main__":
    main()

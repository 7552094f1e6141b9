"""Right trainings of 300 steps within their band, and wrong ones with the step at which they leave.

python benchmarks/curves.py [--steps N] writes reports/curves.md, the table of docs/training.md.
"""

import argparse
import functools
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from equivalence.host import environment

environment.prepare()

from benchmarks import curves_mindspore, curves_torch  # noqa: E402
from equivalence import curve  # noqa: E402

RIGHT = [
    ("mlp", "sgd", "constant", 0.05, 0),
    ("mlp", "momentum", "cosine", 0.05, 1),
    ("mlp", "adamw", "warmup", 3e-3, 2),
    ("mlp", "momentum", "steps", 0.02, 3),
    ("cnn", "sgd", "cosine", 0.1, 4),
    ("cnn", "momentum", "steps", 0.05, 5),
    ("cnn", "adamw", "constant", 3e-3, 6),
    ("transformer", "momentum", "warmup", 0.02, 7),
    ("transformer", "adamw", "cosine", 2e-3, 8),
    ("transformer", "sgd", "constant", 0.05, 9),
]
"""Network, optimiser, schedule, largest rate and seed."""

WRONG = {
    "rate late by a step": ("mlp", "momentum", "cosine", 0.05, 0),
    "decay on norms": ("mlp", "momentum", "cosine", 0.05, 1),
    "label smoothing lost": ("mlp", "sgd", "constant", 0.05, 2),
    "other shuffle": ("mlp", "sgd", "constant", 0.05, 3),
    "momentum lost": ("cnn", "momentum", "steps", 0.05, 4),
    "EMA decay": ("mlp", "momentum", "cosine", 0.05, 5),
    "BN momentum": ("cnn", "adamw", "constant", 3e-3, 6),
    "flip lost": ("cnn", "sgd", "cosine", 0.1, 7),
    "mean in BGR": ("transformer", "adamw", "cosine", 2e-3, 8),
    "scaled loss": ("transformer", "momentum", "warmup", 0.02, 9),
}
"""Mistake -> the training that has it."""


def compared(setting: tuple, mistake: str = "", steps: int = 300, runs: int = 6):
    """The result of one pair."""
    *fields, seed = setting
    theirs = functools.partial(curves_torch.train, *fields)
    ours = functools.partial(curves_mindspore.train, curves_torch, *fields, mistake=mistake)
    return curve(theirs, ours, steps=steps, runs=runs, seed=seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--runs", type=int, default=6)
    options = parser.parse_args()
    Path("reports").mkdir(exist_ok=True)
    lines = [
        "| training | verdict | largest share of the band | shows from (last step) | seconds |"
    ]
    lines.append("|---|---|---|---|---|")
    failed = 0
    for mistake, setting in [*(("", each) for each in RIGHT), *WRONG.items()]:
        begun = time.monotonic()
        result = compared(setting, mistake, options.steps, options.runs)
        seconds = time.monotonic() - begun
        failed += bool(result) == bool(mistake)
        lines.append(row(setting, mistake, result, seconds))
        print(lines[-1], flush=True)
    Path("reports/curves.md").write_text("\n".join(lines) + "\n")
    print(f"{failed} wrong verdicts", file=sys.stderr)
    return 1 if failed else 0


def row(setting: tuple, mistake: str, result, seconds: float) -> str:
    """One line of the table."""
    name = ", ".join(map(str, setting[:3])) + (f": {mistake}" if mistake else "")
    metric = min(
        (each for each in result.metrics if each.differs),
        key=lambda each: each.leaving.step,
        default=result.metrics[0],
    )
    allowed = metric.band.allowed()
    share = max(
        float((abs(each.ours.values - each.theirs.values) / each.band.allowed()).max())
        for each in result.metrics
    )
    told = "inside"
    if metric.leaving:
        told = f"leaves at step {metric.leaving.step} ({metric.reference})"
        told += f"; fits: {'; '.join(metric.fits[:2]) or 'nothing tried'}"
    last = allowed[-1] / abs(metric.band.plain[-1])
    return f"| {name} | {told} | {share:.2g} | {last:.1e} | {seconds:.0f} |"


if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parents[1])
    sys.exit(main())

"""Mistakes of a port that show late: an edit of the port of `pairs`, and where it is found."""

from dataclasses import dataclass
from pathlib import Path

PAIRS = Path(__file__).parent / "pairs"


@dataclass(frozen=True)
class Late:
    """A mistake that the first steps do not show.

    name: what it is. old, new: the edit. step, stage: where it must be found.
    """

    name: str
    old: str
    new: str
    step: int
    stage: str


LATE = (
    Late("warm-up ends a step early", "s < WARMUP", "s < WARMUP - 2", 39, "schedule"),
    Late("milestone one off", "s // 80", "(s + 1) // 80", 80, "schedule"),
    Late("decay begins late", "step == 70", "step == 71", 72, "settings"),
    Late("growth interval", "(1024.0, 2, 25)", "(1024.0, 2, 26)", 26, "scale"),
    Late("growth factor", "(1024.0, 2, 25)", "(1024.0, 4, 25)", 26, "scale"),
    Late("weight of the loss", "step < 90", "step < 91", 91, "loss"),
    Late("bound of the average's decay", "min(0.9, ", "min(0.8, ", 37, "averages"),
    Late(
        "clipping that only the late steps leave out",
        "            grads = ops.clip_by",
        "            grads = grads if step > 60 else ops.clip_by",
        63,
        "clipping",
    ),
    Late(
        "an update that is skipped every 50 steps",
        "        if finite:",
        "        if finite and step % 50 != 49:",
        50,
        "gradients",
    ),
    Late(
        "a counter that wraps",
        "        step += 1\n",
        "        step = (step + 1) % 64\n",
        65,
        "averages",
    ),
    Late("an epoch too few", "range(15)", "range(14)", 113, "data"),
)

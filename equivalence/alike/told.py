"""What the answer says of two sides of one framework. Loads no framework."""

from equivalence.declare.twin import MindSporeCase, TorchCase, Twin, TwinCase

NO_TRUTH = (
    "Without the original nothing has a float64 truth, so this says whether they are the same, not "
    "whether they are right: a difference is counted in roundings of the first network's own run. "
    "--reference MODULE:ATTRIBUTE names an original in PyTorch, by which both are judged."
)
UNREACHED = (
    "Only these inputs were compared: further samples are not tried, and decisions that they do "
    "not reach are not counted."
)


def of_sides(twin: Twin, kind: type[TwinCase] | None) -> tuple[str, ...]:
    """Which network stands for the original and which for the port; nothing of a usual twin."""
    if kind not in (TorchCase, MindSporeCase):
        return ()
    framework = "PyTorch" if kind is TorchCase else "MindSpore"
    told = (
        f"Both are {framework}'s: the first, {twin.reference}, stands for the original, and the "
        f"second, {twin.candidate}, for the port."
    )
    return (told,) if kind is TorchCase else (told, NO_TRUTH, UNREACHED)

"""Which operators a port computes in fewer bits than the original, where both have half precision.

Rounding may hide it: an operator in float16 among others in float16 is within what they make
together. So it is no difference of numbers, but one of precision, and is told.
"""

from collections.abc import Mapping, Sequence

from equivalence.dtypes import HALVES
from equivalence.words import counted, listed

Precisions = Mapping[str, Sequence[str]]
"""Kind of operator -> the dtype of what it gives, call by call."""

KINDS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "softmax": (
        ("_softmax", "_log_softmax", "_safe_softmax"),
        ("Softmax", "SoftmaxExt", "LogSoftmax", "LogSoftmaxExt"),
    ),
    "layer norm": (("native_layer_norm",), ("LayerNorm", "LayerNormExt", "LayerNormV3")),
    "batch norm": (
        ("native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update"),
        ("BatchNorm", "BatchNormExt", "BatchNormWithActivation"),
    ),
    "group norm": (("native_group_norm",), ("GroupNorm",)),
    "mean": (("mean",), ("ReduceMean", "MeanExt")),
    "sum": (("sum", "cumsum"), ("ReduceSum", "SumExt", "CumSum", "CumsumExt")),
    "exponential": (("exp", "logsumexp"), ("Exp", "LogSumExp")),
    "root": (("sqrt", "rsqrt"), ("Sqrt", "Rsqrt")),
    "power": (("pow",), ("Pow", "PowTensorScalar", "Square")),
    "addition": (("add", "add_"), ("Add", "AddExt", "InplaceAddExt")),
}
"""Kind in words -> the operators of PyTorch, and those of MindSpore, whose bits matter."""


def mixed(theirs: Precisions) -> bool:
    """Whether a network computes in float32 and in half precision."""
    halves = {dtype in HALVES for each in theirs.values() for dtype in each}
    return len(halves) == 2


ALIGNED = ("addition",)
"""Kinds that are compared where both sides make as many calls alone: others have more of them."""


def told(
    theirs: Precisions, ours: Precisions, places: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """What the port computes in half precision, and the original in float32.

    Call by call where both sides make as many of a kind; else where the original never does it in
    half precision.

    theirs, ours: by the names of the operators of each framework.
    places: the port's operator -> the line of its own code, "net.py:12", call by call.

    >>> told({"_softmax": ["float32"]}, {"Softmax": ["float16", "float16"]})
    ['the port computes softmax in float16 (2 of 2 calls), and the original in float32']
    >>> told({"_softmax": ["float16"]}, {"Softmax": ["float16"]})
    []
    """
    lines = []
    for kind, names in KINDS.items():
        first, second = (
            [dtype for name in of_side for dtype in seen.get(name, ())]
            for of_side, seen in zip(names, (theirs, ours), strict=True)
        )
        fewer = _fewer(first, second, kind in ALIGNED)
        if not fewer:
            continue
        known = [place for name in names[1] for place in (places or {}).get(name, ())]
        where = [*dict.fromkeys(known[i] for i in fewer if i < len(known) and known[i])]
        calls = f"{len(fewer)} of {counted(len(second), 'call')}"
        lines.append(
            f"the port computes {kind} in {second[fewer[0]]} ({calls}), and the original in "
            f"{next(dtype for dtype in first if dtype not in HALVES)}"
            + (f": {listed(where)}" if where else "")
        )
    return lines


def _fewer(theirs: Sequence[str], ours: Sequence[str], aligned: bool) -> list[int]:
    """The numbers of the port's calls that have fewer bits than the original's."""
    halves = [i for i, dtype in enumerate(ours) if dtype in HALVES]
    if len(theirs) == len(ours):
        return [i for i in halves if theirs[i] not in HALVES]
    never = bool(theirs) and not {*theirs} & {*HALVES}
    return halves if never and not aligned else []

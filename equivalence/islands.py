"""Which operators a port computes in fewer bits than the original, where one has half precision.

Rounding may hide it: an operator in float16 among others in float16 is within what they make
together. So it is no difference of numbers, but one of precision, and is told.
"""

from collections.abc import Mapping, Sequence

from equivalence.dtypes import HALVES
from equivalence.words import counted

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
}
"""Kind in words -> the operators of PyTorch, and those of MindSpore, whose bits matter."""


def told(theirs: Precisions, ours: Precisions) -> list[str]:
    """What the port computes in half precision, and the original never does.

    theirs, ours: by the names of the operators of each framework.

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
        halves = [dtype for dtype in second if dtype in HALVES]
        if first and halves and not {*first} & {*HALVES}:
            calls = f"{len(halves)} of {counted(len(second), 'call')}"
            lines.append(
                f"the port computes {kind} in {halves[0]} ({calls}), and the original in {first[0]}"
            )
    return lines

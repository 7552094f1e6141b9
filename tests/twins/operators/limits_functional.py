"""What counterparts of convolutions, poolings, padding, resizing, norms and losses cannot do."""

from collections.abc import Mapping
from typing import Any

from equivalence.declare.draws import Draw
from equivalence.declare.operator import LIMITS, Example

DECLARES_NOTHING = True


def each(value: Any, rank: int) -> tuple:
    """What an argument that is one number or one for each axis says for each axis."""
    return value if isinstance(value, tuple) else (value,) * rank


def _maps(*ranks: int):
    return lambda example: len(example.inputs[0].shape) in ranks


# Convolutions.


def _one_and_bias(example: Example) -> bool:
    """Whether the output of a convolution with a bias is of length one."""
    told, (*_, side), (*_, kernel) = example.arguments, *(d.shape for d in example.inputs[:2])
    room = side + 2 * told["padding"] - told["dilation"] * (kernel - 1) - 1
    return len(example.inputs) > 2 and room < told["stride"]


def _far_padding(example: Example) -> bool:
    """Whether the output of a transposed convolution is padded by its stride or more."""
    told, rank = example.arguments, len(example.inputs[0].shape) - 2
    pairs = zip(each(told["output_padding"], rank), each(told["stride"], rank), strict=True)
    return any(padding >= stride for padding, stride in pairs)


LIMITS["one_and_bias"] = _one_and_bias
LIMITS["far_padding"] = _far_padding
LIMITS["dilated_depth"] = lambda example: each(example.arguments["dilation"], 3)[0] > 1
LIMITS["thin"] = lambda example: bool(example.inputs[1].shape[1] % example.arguments["groups"])

# Poolings.


def _uneven(example: Example) -> bool:
    """Whether an adaptive pooling's windows differ in size, or overlap."""
    side, size = example.inputs[0].shape[2], example.arguments["output_size"]
    return bool(side % size)


LIMITS["uneven"] = _uneven
LIMITS["kept"] = lambda example: None in each(example.arguments["output_size"], 1)
LIMITS["divided_border"] = lambda example: (
    example.arguments["divisor_override"] is not None
    and not example.arguments["count_include_pad"]
    and bool(example.arguments["padding"] or example.arguments["ceil_mode"])
)

# Resizing, and norms of maps.


def _to_one(example: Example) -> bool:
    """Whether a line is brought to one point, from more, its middle."""
    told, side = example.arguments, example.inputs[0].shape[2]
    (size,) = told["size"] if "size" in told else (int(told["scale_factor"][0] * side),)
    return size == 1 and side > 1 and not told["align_corners"]


LIMITS["to_one"] = _to_one
LIMITS["kept_scale"] = lambda example: (
    "scale_factor" in example.arguments and not example.arguments["recompute_scale_factor"]
)
LIMITS["lines"] = _maps(3)
LIMITS["volumes"] = _maps(5)
LIMITS["reflected_point"] = lambda example: (
    example.arguments["padding_mode"] == "reflection"
    and example.arguments["align_corners"]
    and 1 in example.inputs[0].shape[2:]
)

# Losses.


def _ignores(labels: Draw, arguments: Mapping[str, Any]) -> bool:
    """Whether some of the labels may be ignored."""
    ignored = arguments["ignore_index"]
    return ignored in labels.options["values"] if labels.kind == "given" else ignored >= 0


LIMITS["weighted"] = lambda example: len(example.inputs) > 2
LIMITS["learned_target"] = lambda example: example.inputs[1].differentiable
LIMITS["maps"] = _maps(3, 4, 5)
LIMITS["half_scalar"] = lambda example: example.dtype == "float16" and example.inputs[0].shape == ()
LIMITS["reduced_one"] = lambda example: (
    set(example.inputs[0].shape) <= {1} and example.arguments["reduction"] != "none"
)
LIMITS["ignored_label"] = lambda example: (
    example.arguments["reduction"] == "none" and _ignores(example.inputs[1], example.arguments)
)
LIMITS["log_input"] = lambda example: example.arguments["log_input"]
LIMITS["mean_of_no_batch"] = lambda example: (
    example.inputs[0].shape == () and example.arguments["reduction"] == "batchmean"
)
LIMITS["at_margin"] = lambda example: (
    example.inputs[0].kind == "ties" and example.arguments["margin"] % 1 == 0
)
LIMITS["fraction"] = lambda example: example.arguments["margin"] % 1 > 0

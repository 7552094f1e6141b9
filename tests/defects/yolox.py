"""Mistakes in a port of YOLOX: one line of `ms_models/yolox.py` or `yolox_loss.py` is changed.

The diagnosis must name the statement that was changed: its line.
"""

from dataclasses import replace

from equivalence import normal, uniform
from equivalence.declare.twin import Twin
from ms_models import yolox, yolox_loss
from tests.defects.lines import Lines, Mistake
from tests.twins.yolox import MAPS, SMALL

BOXES = uniform(12, 4, low=3.0, high=9.0)

NETWORKS = {
    "Focus": ([normal(2, 3, 12, 10)], {"in_channels": 3, "out_channels": 8, "ksize": 3}),
    "CSPLayer": ([normal(3, 8, 7, 6)], {"in_channels": 8, "out_channels": 12, "n": 1}),
    "SPPBottleneck": ([normal(2, 8, 11, 10)], {"in_channels": 8, "out_channels": 10}),
    "YOLOXHead": (
        [(normal(3, 8, 6, 5), normal(3, 16, 4, 3), normal(3, 32, 3, 3))],
        {"num_classes": 4, "width": 0.03125},
    ),
    "Decoded": ([normal(2, 8, 6, 5), normal(2, 8, 3, 3), normal(2, 8, 2, 2)], {}),
}
"""Network -> its inputs and its configuration."""

LOSSES = {
    "BoxLoss": ([BOXES, BOXES], {"kind": "iou"}),
    "loss_of_maps": ([*MAPS, *SMALL], {"box": "iou", "l1": True}),
}
"""The same of the losses."""

# ruff: noqa: E501  a mistake is one line
# fmt: off
MISTAKES = tuple(Mistake(*each) for each in (
    ("patches_in_reading_order", "Focus", "x.transpose(0, 5, 3, 1, 2, 4)", "x.transpose(0, 3, 5, 1, 2, 4)"),
    ("residual_of_a_bottleneck_lost", "CSPLayer", "return y + x if self.add else y", "return y", ("y = self.conv2(self.conv1(x))",), "m.0"),
    ("halves_exchanged_in_csp", "CSPLayer", "(deep, self.conv2(x))", "(self.conv2(x), deep)"),
    ("poolings_in_a_row", "SPPBottleneck", "(*parts, pool(x))", "(*parts, pool(parts[-1]))"),
    ("objectness_by_the_classes", "YOLOXHead", "self.obj_preds[i](boxes)", "self.obj_preds[i](classes)"),
    ("scores_before_boxes", "YOLOXHead", "ops.cat(parts, axis=1))", "ops.cat(parts[::-1], axis=1))"),
    ("rows_for_columns", "Decoded", "ops.stack((across, down), axis=2)", "ops.stack((down, across), axis=2)"),
    ("offsets_not_scaled", "Decoded", "(found[..., :2] + corners) * strides", "found[..., :2] + corners * strides"),
    ("sizes_not_scaled", "Decoded", "ops.exp(found[..., 2:4]) * strides", "ops.exp(found[..., 2:4])"),
))

LOSS_MISTAKES = tuple(Mistake(*each) for each in (
    ("overlap_not_squared", "BoxLoss", "1 - iou * iou", "1 - iou"),
    ("classes_without_overlap", "loss_of_maps", "classes.astype(found.dtype) * overlaps[..., None]", "classes.astype(found.dtype)", (), "head"),
    ("divided_by_all_cells", "loss_of_maps", "count = ops.maximum(taken.sum(), 1.0)", "count = taken.size", ("return total / count",), "head"),
    ("cells_of_two_objects", "loss_of_maps", "ops.where(several, first.astype(costs.dtype), matched) > 0", "matched > 0"),
    ("cells_rounded_up", "loss_of_maps", "best.sum(-1, keepdims=True).astype(ms.int32)", "ops.ceil(best.sum(-1, keepdims=True)).astype(ms.int32)"),
    ("weight_of_boxes_lost", "loss_of_maps", "((5 * boxes + scores) * taken)", "((boxes + scores) * taken)", (), "head"),
    ("gradient_through_the_assignment", "loss_of_maps", "ops.stop_gradient(decode(maps))", "decode(maps)"),
))
# fmt: on

_FAMILIES = (
    (Lines(__name__, yolox, "pt_reference.yolox", MISTAKES), NETWORKS),
    (Lines(__name__, yolox_loss, "pt_reference.yolox_loss", LOSS_MISTAKES), LOSSES),
)
DEFECTS = tuple(defect for lines, _ in _FAMILIES for defect in lines.defects)


def twins() -> tuple[Twin, ...]:
    """The twins of all networks, with right candidates."""
    return tuple(
        replace(twin, configs=[config])
        for lines, networks in _FAMILIES
        for name, (inputs, config) in networks.items()
        for twin in lines.twins({name: inputs})
    )


def __getattr__(name: str) -> type:
    """The network that has the mistake of this name."""
    for lines, _ in _FAMILIES:
        if name in lines.mistakes:
            return lines.network(name)
    raise AttributeError(f"there is no mistake {name!r}")

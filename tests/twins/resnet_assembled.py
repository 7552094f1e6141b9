"""The residual networks of the r0.5 and r1.7 guides, small."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid

SIDES = {
    "reference": "pt_reference.resnet_assembled:AssembledResNet",
    "candidate": "ms_models.resnet_assembled:AssembledResNet",
    "level": "nightly",
}
WIDE = {"rename": {"end_point": "fc"}}
POOLED = {
    "rename": {
        "e2.0": "conv2",
        "e2.1": "bn2",
        "down_sample_layer": "downsample",
        "end_point": "fc",
    }
}
SMALL = {"layers": (1, 2, 1), "stem": 8, "num_classes": 5}

TWINS = (
    Twin(
        "resnet_wide",
        configs=grid(block="wide", widths=(16, 24, 32), **SMALL),
        inputs=[normal(2, 3, 46, 33)],
        **SIDES,
        **WIDE,
    ),
    Twin(
        "resnet_pooled",
        configs=grid(block="pooled", widths=(32, 48, 64), **SMALL),
        inputs=[normal(2, 3, 46, 33)],
        **SIDES,
        **POOLED,
    ),
)

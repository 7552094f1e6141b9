"""Whole ResNets."""

from equivalence.declare.initial import Initial
from equivalence.declare.twin import grid

RESNET = {"reference": "pt_reference.resnet:resnet", "candidate": "ms_models.resnet:resnet"}

INITIALS = (
    Initial(
        "resnet_of_basic_blocks",
        configs=grid(depth=18, zero_init_residual=[False, True]),
        **RESNET,
    ),
    Initial(
        "resnet_of_bottlenecks",
        configs=grid(depth=50, zero_init_residual=[False, True]),
        level="nightly",
        **RESNET,
    ),
)

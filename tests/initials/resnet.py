"""Whole ResNets."""

from equivalence.declare.twin import grid
from equivalence.initials.compare import Initial

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

"""YOLOX: its scores begin at the probability of an object, one in a hundred."""

from equivalence.declare.initial import Initial
from equivalence.declare.twin import grid

INITIALS = (
    Initial(
        "yolox_head",
        reference="pt_reference.yolox:YOLOXHead",
        candidate="ms_models.yolox:YOLOXHead",
        configs=grid(num_classes=80, width=0.25, depthwise=[False, True]),
        level="nightly",
    ),
)

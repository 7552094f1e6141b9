"""YOLOX: its scores begin at the probability of an object, one in a hundred."""

from equivalence.declare.initial import Initial
from equivalence.declare.twin import grid


def part(name: str, network: str, **config) -> Initial:
    """A part of both networks; the four biases of the boxes are too few to be told apart."""
    return Initial(
        name,
        reference=f"pt_reference.yolox:{network}",
        candidate=f"ms_models.yolox:{network}",
        configs=grid(**config),
        level="nightly",
    )


INITIALS = (
    part("yolox_class_scores", "YOLOXHead.cls_preds", num_classes=80, width=0.25),
    part("yolox_object_scores", "YOLOXHead.obj_preds", num_classes=80, width=0.25),
)

"""Pictures with boxes: mosaic and mixup by given choices, and letterbox."""

from equivalence.declare.pipeline import Pipeline
from equivalence.declare.twin import grid


def detection(name: str, side: str, **config) -> Pipeline:
    """Functions of the two `yolox_data` modules over the files of `tests.detection_files`."""
    return Pipeline(
        name,
        reference=f"pt_reference.yolox_data:{side}",
        candidate=f"ms_models.yolox_data:{side}",
        files="tests.detection_files:detection",
        configs=grid(**config),
        level="nightly",
    )


PIPELINES = (
    detection("mosaic_and_mixup", "train", size=[64, 96], batch_size=2),
    detection("letterbox", "last_epochs", size=64, batch_size=[2, 4]),
    detection("mosaic_and_mixup_full", "train", size=416, batch_size=4, SCALE=7.1),
)

"""YOLOX from picture files to the average of its weights, with the checklist of its migration."""

from equivalence.declare.initial import Initial
from equivalence.declare.twin import Twin
from tests.checklist import Checklist
from tests.recipe import Recipe
from tests.recipes.making import fed

STEP = {"num_classes": 10, "depth": 0.33, "width": 0.125, "l1": True}
STEP |= {"learning_rate": 0.01, "weight_decay": 5e-4, "decay": 0.9998, "ramp": 2000}
STEP |= {"warmup_steps": 5, "total_steps": 300, "last_steps": 15}

RECIPES = (
    Recipe(
        Twin(
            "yolox_from_files",
            reference="pt_reference.yolox_recipe:step",
            candidate="ms_models.yolox_recipe:step",
            configs=[STEP],
            inputs=fed("mosaic_and_mixup", size=64, batch_size=2),
            # The first update has a rate of zero, and only moves the average.
            steps=2,
            phases=("train",),
            level="nightly",
        ),
        Initial(
            "yolox_from_files_weights",
            reference="pt_reference.yolox:YOLOXHead.cls_preds",
            candidate="ms_models.yolox:YOLOXHead.cls_preds",
            configs=[{"num_classes": 80, "width": 0.25}],
        ),
        Checklist(
            "yolox_from_files",
            reference="pt_reference.yolox_recipe:checklist",
            candidate="ms_models.yolox_recipe:checklist",
            config={"size": 64, "batch_size": 2, **STEP},
        ),
    ),
)

"""A small network over several epochs."""

from equivalence.declare.initial import Initial
from tests.recipes.making import fed, recipe

SMALL = Initial(
    "small_network",
    reference="pt_reference.small:SmallNetwork",
    candidate="ms_models.small:SmallNetwork",
    configs=[{"num_classes": 10}],
)
# Two epochs of eight batches each.
CURVE = {
    "step": "epoch",
    "inputs": fed("cifar10_train", 8, size=32, batch_size=8, num_samples=128, drop_remainder=True),
    "config": {"num_classes": 10, "warmup_steps": 4, "total_steps": 16, "weight_decay": 0.01},
    "initial": SMALL,
    "steps": 2,
}

RECIPES = (
    recipe("training_run", **CURVE),
    recipe("training_run_by_model", candidate="epoch_by_model", executions=("pynative",), **CURVE),
)

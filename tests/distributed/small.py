"""The ImageNet recipe around a small network, on several ranks."""

from typing import Any

from equivalence.declare.data_parallel import DataParallel
from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import grid

# Of 23 samples two ranks read 12 each: one sample is read twice, the third batch of an epoch is
# smaller, and the second epoch begins with the fourth step. The rate changes in every step.
RECIPE = {"num_classes": 5, "warmup_steps": 2, "total_steps": 8, "weight_decay": 0.1}


def small(name: str, ranks: int = 2, **settings: Any) -> DataParallel:
    """One of the trainings; settings of the declaration or of the steps."""
    options = {key: settings.pop(key) for key in ("executions", "level") if key in settings}
    return DataParallel(
        name,
        reference="pt_reference.distributed:small_step",
        candidate="ms_models.distributed:small_step",
        inputs=[normal(23, 3, 12, 10).constant(), integers(23, high=5)],
        batch_size=5,
        steps=5,
        ranks=ranks,
        configs=grid(**RECIPE, **settings),
        **options,
    )


TRAININGS = (
    small("data_parallel", executions=("torchrun", "graph")),
    small("data_parallel_in_pynative", executions=("pynative",), level="nightly"),
    small("data_parallel_split", split=True, level="nightly"),
    small("data_parallel_on_three", ranks=3, level="nightly"),
)

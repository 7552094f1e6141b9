"""Updates by the optimisers of `mindspore.mint.optim`, beside those of `torch.optim`.

AdamW runs anywhere: on a CPU a stand-in makes its updates. Adam and SGD are compared on a CPU where
they are compiled; interpreted, they change no weight there, so that an Ascend alone compares that.
"""

from typing import Any

from equivalence.declare.difference import Difference
from equivalence.declare.twin import Twin, grid
from tests.twins.optim import ADAM, UNEVEN, gradients

COMPILED, INTERPRETED = {"executions": ("graph",)}, {"executions": ("pynative",)}

SGD = (
    grid(learning_rate=0.1, momentum=0.875, weight_decay=0.1, dampening=0.5)
    + grid(learning_rate=0.1, momentum=0.875, weight_decay=0.1, nesterov=True)
    + grid(learning_rate=0.1, weight_decay=0.1)
)
DEFAULTS = grid(learning_rate=1e-3)

FORGETTING = Difference(
    "mint.optim.Adam forgets the largest second moment",
    {"update[10]:*": 0.04} | {f"loss[{step}]": 0.05 for step in range(3, 11)},
)


def updates(optimiser: str, configs: Any, some: str = "", **settings: Any) -> Twin:
    """Ten updates by gradients that are given.

    some: which of them, where an optimiser has several twins.
    """
    settings = {"reference": f"pt_reference.given:{optimiser}", "inputs": UNEVEN} | settings
    return Twin(
        f"mint_{optimiser}{some}",
        candidate=f"ms_models.mint_optim:{optimiser}",
        configs=configs,
        phases=("train",),
        steps=10,
        level="nightly",
        **settings,
    )


ANYWHERE = (
    updates("sgd", SGD, inputs=gradients(), **COMPILED),
    updates("adam", grid(**ADAM, eps=[1e-8, 1e-2]) + DEFAULTS, **COMPILED),
    updates(
        "adam", grid(**ADAM, eps=1e-2, amsgrad=True), "_amsgrad", differs=FORGETTING, **COMPILED
    ),
    updates("adamw", grid(**ADAM, eps=1e-2, amsgrad=[False, True]) + DEFAULTS),
)

ALONE = (
    updates("sgd", SGD, "_interpreted", inputs=gradients(), **INTERPRETED),
    updates("adam", grid(**ADAM, eps=[1e-8, 1e-2]) + DEFAULTS, "_interpreted", **INTERPRETED),
    updates(
        "fused_adamw",
        grid(**ADAM, eps=1e-2, amsgrad=[False, True]) + DEFAULTS,
        reference="pt_reference.given:adamw",
    ),
)
"""What no CPU can run: it ignores changes in place (the finding inplace_add), and refuses to copy
to a part of a parameter, in which FusedAdamW keeps its weights."""

ON_ASCEND = frozenset(twin.name for twin in ALONE)

TWINS = ANYWHERE + ALONE

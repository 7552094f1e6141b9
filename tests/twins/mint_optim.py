"""Every optimiser of `mindspore.mint.optim` beside the one of `torch.optim` of the same name.

The batch is the gradient, and every parameter decays: `mint` has PyTorch's arguments.
"""

from equivalence.declare.twin import Twin, grid
from tests.twins.optim import UNEVEN, gradients

ADAM = {"lr": 0.1, "betas": (0.875, 0.96875), "weight_decay": 0.1, "eps": 1e-2}


def optimiser(name: str, reference: str, configs, inputs) -> tuple[Twin, ...]:
    """One step, and three."""
    return tuple(
        Twin(
            f"mint_{name}_{steps}",
            reference=f"pt_reference.mint_optim:{reference}",
            candidate=f"ms_models.mint_optim:{name}",
            configs=configs,
            inputs=inputs,
            steps=steps,
            phases=("train",),
            level="nightly",
        )
        for steps in (1, 3)
    )


TWINS = (
    *optimiser("adam", "adam", grid(**ADAM, amsgrad=[False, True], maximize=[False, True]), UNEVEN),
    *optimiser(
        "adamw", "adamw", grid(**ADAM, amsgrad=[False, True], maximize=[False, True]), UNEVEN
    ),
    *optimiser("fused_adamw", "adamw", grid(**ADAM, amsgrad=[False, True]), UNEVEN),
    *optimiser(
        "sgd",
        "sgd",
        grid(lr=0.1)
        + grid(lr=0.1, momentum=0.875, dampening=0.5, weight_decay=0.1)
        + grid(lr=0.1, momentum=0.875, weight_decay=0.1, nesterov=True)
        + grid(lr=0.1, momentum=0.875, weight_decay=0.1, maximize=True),
        gradients(),
    ),
)

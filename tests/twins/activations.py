"""Activations. Inputs reach beyond every bend: the six of ReLU6, the threes of the hard swish.

Left out: sigmoid and tanh by themselves, and ELU, whose gradient at large arguments of either
sign rests on the digits of an exp that MindSpore's CPU kernels do not give (ELU: 23 roundings).
"""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid

ONCE = {"inputs": [normal(2, 6, 9, 7, scale=3.0)], "phases": ("train",)}

TWINS = (
    Twin("relu", reference="torch.nn:ReLU", candidate="mindspore.nn:ReLU", **ONCE),
    Twin("relu6", reference="torch.nn:ReLU6", candidate="mindspore.nn:ReLU6", **ONCE),
    Twin("hard_swish", reference="torch.nn:Hardswish", candidate="mindspore.nn:HSwish", **ONCE),
    Twin(
        "leaky_relu",
        reference="torch.nn:LeakyReLU",
        candidate="ms_models.activations:leaky_relu",
        configs=grid(negative_slope=[0.01, 0.1]),
        **ONCE,
    ),
    Twin(
        "gelu",
        reference="torch.nn:GELU",
        candidate="ms_models.activations:gelu",
        configs=grid(approximate=["none", "tanh"]),
        **ONCE,
    ),
    Twin(
        "softmax",
        reference="torch.nn:Softmax",
        candidate="ms_models.activations:softmax",
        configs=grid(dim=1),
        **ONCE,
    ),
    Twin(
        "prelu",
        reference="torch.nn:PReLU",
        candidate="ms_models.activations:prelu",
        configs=grid(num_parameters=[1, 6]),
        rename={"w": "weight"},
        **ONCE,
    ),
)

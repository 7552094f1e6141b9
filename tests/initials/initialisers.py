"""Initialisers by their names, of one layer each."""

from equivalence.declare.difference import Difference
from equivalence.declare.initial import Initial
from equivalence.declare.twin import grid

INITIALISERS = [
    "he_normal",
    "he_uniform",
    "xavier_normal",
    "xavier_uniform",
    "truncated_normal",
    "truncated_normal_in_values",
    "lecun_normal",
    "normal",
    "ones",
    "zeros",
]

CONV = {
    "reference": "pt_reference.initializers:conv",
    "candidate": "ms_models.initializers:conv",
}

INITIALS = (
    Initial(
        "convolution",
        # in, out and their mean are three numbers
        configs=grid(in_planes=24, out_planes=64, kernel_size=3, init=INITIALISERS)
        + grid(in_planes=48, out_planes=96, kernel_size=3, init="he_normal", groups=4),
        **CONV,
    ),
    Initial(
        "dense",
        reference="pt_reference.initializers:dense",
        candidate="ms_models.initializers:dense",
        configs=grid(in_features=200, out_features=80, init=INITIALISERS),
    ),
    Initial(
        "orthogonal_dense",
        reference="pt_reference.orthogonal:dense",
        candidate="ms_models.orthogonal:dense",
        configs=grid(in_features=64, out_features=[32, 96], gain=1.5),
    ),
    Initial(
        "default_truncated_normal",
        configs=grid(in_planes=24, out_planes=64, kernel_size=3, init="truncated_normal_default"),
        differs=Difference(
            "torch draws with standard deviation 1, MindSpore with 0.01",
            {"parameter:weight": 9e6},
        ),
        **CONV,
    ),
    Initial(
        "variance_scaling",
        configs=grid(in_planes=24, out_planes=64, kernel_size=3, init="variance_scaling"),
        differs=Difference(
            "MindSpore 2.10 draws a uniform distribution where a truncated normal is asked for",
            {"parameter:weight": 2.4e4},
        ),
        **CONV,
    ),
)

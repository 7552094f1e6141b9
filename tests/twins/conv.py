"""Convolutions."""

from equivalence.draws import normal
from equivalence.twin import Twin, grid

SIZES = {"H": [16, 15], "W": 12}

TWINS = (
    Twin(
        "conv3x3",
        reference="torchvision.models.resnet:conv3x3",
        candidate="ms_models.conv:conv3x3",
        configs=grid(
            in_planes=8, out_planes=16, stride=[1, 2], groups=[1, 4], dilation=[1, 2], **SIZES
        ),
        inputs=[normal(2, "in_planes", "H", "W")],
        phases=("train",),
    ),
)

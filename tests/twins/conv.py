"""Convolutions: strides on odd and even sizes, groups, dilation, bias."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid

PLANES = {"in_planes": 8, "out_planes": 16}
SIZES = {"H": [14, 15], "W": 11}

TWINS = (
    Twin(
        "conv3x3",
        reference="torchvision.models.resnet:conv3x3",
        candidate="ms_models.conv:conv3x3",
        configs=(
            *grid(**PLANES, stride=[1, 2], groups=1, dilation=1, **SIZES),
            *grid(**PLANES, stride=2, groups=4, dilation=[1, 2], **SIZES),
        ),
        inputs=[normal(2, "in_planes", "H", "W")],
        phases=("train",),
    ),
    Twin(
        "conv1x1",
        reference="torchvision.models.resnet:conv1x1",
        candidate="ms_models.conv:conv1x1",
        configs=grid(**PLANES, stride=[1, 2], **SIZES),
        inputs=[normal(2, "in_planes", "H", "W")],
        phases=("train",),
    ),
    Twin(
        "conv7x7",
        reference="pt_reference.conv:conv7x7",
        candidate="ms_models.conv:conv7x7",
        configs=grid(in_planes=3, out_planes=16, stride=[1, 2], **SIZES),
        inputs=[normal(2, "in_planes", "H", "W")],
        phases=("train",),
    ),
    Twin(
        "conv2d",
        reference="torch.nn:Conv2d",
        candidate="ms_models.conv:conv2d",
        configs=grid(
            in_channels=8, out_channels=8, kernel_size=3, stride=2, padding=1, bias=[True, False]
        ),
        inputs=[normal(2, 8, 15, 12)],
        phases=("train",),
        dtypes=("float32", "float16"),
    ),
    Twin(
        "biased_block",
        reference="pt_reference.conv:biased_block",
        candidate="ms_models.conv:biased_block",
        configs=grid(in_planes=8, out_planes=16),
        inputs=[normal(2, "in_planes", 15, 11)],
    ),
    Twin(
        "biased_block_in_half",
        reference="pt_reference.conv:biased_block",
        candidate="ms_models.conv:biased_block",
        configs=grid(in_planes=8, out_planes=8),
        inputs=[normal(2, "in_planes", 5, 4)],
        dtypes=("float16",),
    ),
)

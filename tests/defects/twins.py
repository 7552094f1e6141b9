"""Twins that the gate does not have, for mistakes that none of its own can show."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid

RIGHT = "tests.defects.operator_candidates:"

TWINS = (
    Twin(
        "rectangular_conv",
        reference="torch.nn:Conv2d",
        candidate=RIGHT + "rectangular_conv",
        configs=grid(
            in_channels=6, out_channels=8, kernel_size=(3, 5), stride=(2, 1), padding=(1, 2)
        ),
        inputs=[normal(2, "in_channels", 13, 10)],
        phases=("train",),
    ),
    Twin(
        "transposed_conv",
        reference="torch.nn:ConvTranspose2d",
        candidate=RIGHT + "transposed_conv",
        configs=grid(
            in_channels=6, out_channels=8, kernel_size=3, stride=2, padding=1, output_padding=1
        ),
        inputs=[normal(2, "in_channels", 7, 5)],
        phases=("train",),
    ),
    Twin(
        "upsampled",
        reference="torch.nn:Upsample",
        candidate=RIGHT + "Upsampled",
        configs=grid(size=(14, 9), mode="bilinear", align_corners=False)
        + grid(size=(14, 10), mode="nearest", align_corners=None),
        inputs=[normal(2, 4, 7, 5)],
        phases=("train",),
    ),
    Twin(
        "adaptive_mean_pool",
        reference="torch.nn:AdaptiveAvgPool2d",
        candidate="mindspore.nn:AdaptiveAvgPool2d",
        configs=grid(output_size=(3, 2)),
        inputs=[normal(2, 4, 7, 5)],
        phases=("train",),
    ),
    Twin(
        "flatten",
        reference="torch.nn:Flatten",
        candidate="mindspore.nn:Flatten",
        inputs=[normal(2, 5, 4, 3)],
        phases=("train",),
    ),
)

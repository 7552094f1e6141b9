"""DeepLab's pooling at several rates and a U-Net."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid

PT, MS = "pt_reference.segmentation:", "ms_models.segmentation:"

ASPP = {
    "reference": PT + "aspp",
    "candidate": MS + "ASPP",
    "random_layers": "eval",
    "level": "nightly",
}
UNET = {"reference": PT + "UNet", "candidate": MS + "UNet", "level": "nightly"}

TWINS = (
    Twin(
        "aspp",
        # The statistics of the pooled branch are those of as many numbers as there are images.
        configs=grid(in_channels=12, rates=(2, 4), out_channels=8),
        inputs=[normal(8, "in_channels", 9, 8)],
        **ASPP,
    ),
    Twin(
        "unet",
        configs=grid(widths=(8, 12), num_classes=3, H=15, W=13)
        + grid(widths=(8, 12, 16), num_classes=3, H=16, W=12),
        inputs=[normal(2, 3, "H", "W")],
        **UNET,
    ),
    Twin(
        "aspp_of_deeplab",
        configs=grid(in_channels=256, rates=(12, 24, 36), out_channels=64),
        inputs=[normal(8, "in_channels", 28, 28)],
        phases=("train",),
        executions=("pynative",),
        **ASPP,
    ),
    Twin(
        "unet_of_128_pixels",
        configs=grid(widths=(16, 32, 64, 128), num_classes=2),
        inputs=[normal(1, 3, 128, 128)],
        phases=("train",),
        executions=("pynative",),
        **UNET,
    ),
)

"""A feature pyramid, aligned regions, suppression, and a second stage made of them."""

from equivalence.declare.draws import given, normal, uniform
from equivalence.declare.twin import Twin, grid

PT, MS = "pt_reference.detection:", "ms_models.detection:"


def detection(name: str, network: str, configs, inputs, **more) -> Twin:
    """Both sides have the network, under the same name."""
    settings = {"phases": ("train",), "level": "nightly"} | more
    return Twin(
        name,
        reference=PT + network,
        candidate=MS + network,
        configs=configs,
        inputs=inputs,
        **settings,
    )


# In pixels of an image of 48 x 40; one is smaller than a place of the map.
BOXES = given(
    4,
    4,
    values=[
        [4.0, 6.0, 30.0, 40.0],
        [10.0, 2.0, 33.0, 35.5],
        [0.5, 1.0, 8.0, 6.5],
        [20.0, 21.0, 22.5, 23.0],
    ],
)
REGIONS = [given(4, values=[0, 1, 0, 1]), BOXES]
SMALL = [normal(2, 6, 12, 10), normal(2, 8, 6, 5), normal(2, 10, 3, 3)]

TWINS = (
    detection(
        "feature_pyramid", "FeaturePyramid", grid(in_channels=(6, 8, 10), out_channels=8), SMALL
    ),
    detection(
        "aligned_regions",
        "AlignedRegions",
        grid(size=3, scale=0.25, samples=2, aligned=[True, False]),
        [normal(2, 6, 12, 10), *REGIONS],
    ),
    detection(
        "suppression",
        "Suppression",
        grid(threshold=0.3),
        # Corners of equal boxes a few pixels apart.
        [
            given(
                8,
                4,
                values=[[x, y, x + 9.5, y + 7.0] for x in (1, 4, 12, 13) for y in (2, 5)],
            ),
            uniform(8),
        ],
        level="gate",
    ),
    detection(
        "detector",
        "Detector",
        grid(in_channels=(6, 8, 10), width=8, size=3, num_classes=4),
        [*SMALL, *REGIONS],
    ),
    detection(
        "feature_pyramid_of_resnet50",
        "FeaturePyramid",
        grid(in_channels=(256, 512, 1024), out_channels=256),
        [normal(1, 256, 40, 32), normal(1, 512, 20, 16), normal(1, 1024, 10, 8)],
        executions=("pynative",),
    ),
)

"""YOLOX by its parts and as a whole."""

from equivalence.declare.draws import given, integers, normal, uniform
from equivalence.declare.twin import Twin, grid
from tests.twins.optim import gradients


def twin(name: str, network: str, inputs, configs=({},), **settings) -> Twin:
    """Both sides have the network under the same name."""
    settings = {"level": "nightly", "phases": ("train",)} | settings
    return Twin(
        name,
        reference=f"pt_reference.{network}",
        candidate=f"ms_models.{network}",
        inputs=inputs,
        configs=configs,
        **settings,
    )


TINY = {"depth": 0.33, "width": 0.125}

PARTS = (
    twin(
        "yolox_focus",
        "yolox:Focus",
        [normal(2, "in_channels", 12, 10)],
        grid(in_channels=3, out_channels=8, ksize=3),
        level="gate",
    ),
    twin(
        "yolox_separable",
        "yolox:DWConv",
        [normal(2, "in_channels", 9, 8)],
        grid(in_channels=6, out_channels=10, ksize=[3, 5], stride=[1, 2]),
    ),
    twin(
        "yolox_csp_layer",
        "yolox:CSPLayer",
        [normal(2, "in_channels", 7, 6)],
        grid(in_channels=8, out_channels=12, n=2, shortcut=[True, False], depthwise=[False, True]),
    ),
    twin(
        "yolox_spp",
        "yolox:SPPBottleneck",
        [normal(2, "in_channels", 11, 10)],
        grid(in_channels=8, out_channels=10, kernel_sizes=[(5, 9, 13), (3, 5)]),
    ),
    twin(
        "yolox_decoded",
        "yolox:Decoded",
        [normal(2, 8, 6, 5), normal(2, 8, 3, 3), normal(2, 8, 2, 2)],
        level="gate",
    ),
    twin("yolox_darknet", "yolox:CSPDarknet", [normal(2, 3, 64, 64)], grid(**TINY)),
    twin("yolox_pafpn", "yolox:YOLOPAFPN", [normal(2, 3, 64, 64)], grid(**TINY)),
)

WHOLE = (
    twin(
        "yolox",
        "yolox:YOLOX",
        [normal(2, 3, 64, 64)],
        grid(num_classes=4, **TINY),
        phases=("train", "eval"),
    ),
)

CLASSES = 4
# So that boxes overlap with objects well, and some objects get several cells.
MAPS = [uniform(3, 5 + CLASSES, side, side, low=-0.5, high=1.0) for side in (8, 4, 2)]


def objects(counts: list[int], low: float, high: float) -> list:
    """Objects of images, of which each has its number; the rows beyond it are padding."""
    images, most = len(counts), max(counts) + 1
    boxes = uniform(images, most, 4, low=low, high=high).constant()
    return [integers(images, most, high=CLASSES), boxes, given(images, values=counts)]


SMALL = objects([3, 0, 5], low=14.0, high=40.0)
"""One image is empty, and in another there are more objects than cells of the coarsest map."""

TRAINING = (
    twin(
        "yolox_assigned",
        "yolox_loss:assigned",
        [*MAPS, *SMALL],
        phases=("eval",),
    ),
    twin(
        "yolox_loss",
        "yolox_loss:loss_of_maps",
        [*MAPS, *SMALL],
        grid(box=["iou", "giou"], l1=False) + grid(box="iou", l1=True),
    ),
    twin(
        "yolox_overlap",
        "yolox_loss:BoxLoss",
        [uniform(40, 4, low=3.0, high=9.0), uniform(40, 4, low=3.0, high=9.0)],
        grid(kind=["iou", "giou"]),
    ),
)

# The last five of 120 steps at the least rate, after ten of warm-up.
RATES = {"warmup_steps": 10, "total_steps": 120, "last_steps": 5}
STEP = {"learning_rate": 0.1, "weight_decay": 0.1, "decay": 0.9998, "ramp": 20}


def training(name: str, side: str, inputs, configs, steps: int) -> Twin:
    """Updates of `yolox_training`."""
    return twin(name, f"yolox_training:{side}", inputs, configs, steps=steps)


STEPS = (
    twin(
        "yolox_rates",
        "yolox_training:warm_cosine_rates",
        [integers(200, high=RATES["total_steps"]), uniform(1, low=0.1, high=0.5)],
        grid(**RATES),
    ),
    training(
        "yolox_given_gradients",
        "given",
        gradients(),
        grid(**STEP, warmup_steps=2, total_steps=8, last_steps=2),
        steps=8,
    ),
    training(
        "yolox_step",
        "detector",
        [normal(3, 3, 64, 64), *SMALL],
        # The first step has a rate of zero.
        grid(num_classes=CLASSES, **TINY, l1=True, **STEP | {"learning_rate": 0.01}, **RATES),
        steps=2,
    ),
)

DETECTED = (
    twin(
        "yolox_detections",
        "yolox_detect:Detected",
        [uniform(2, 60, 5 + CLASSES).constant()],
        # Boxes of up to one pixel, which overlap much.
        grid(confidence=0.3, threshold=[0.2, 0.6]),
        phases=("eval",),
        executions=("pynative",),  # how many there are, the numbers tell
    ),
)

TWINS = PARTS + WHOLE + TRAINING + STEPS + DETECTED

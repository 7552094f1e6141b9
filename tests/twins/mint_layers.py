"""Every layer of `mindspore.mint.nn` beside the layer of `torch.nn` of the same name.

Both get the same arguments: `mint` has PyTorch's names, defaults and weights. A layer that a CPU
has no kernel for is compared there through stand-ins (docs/families/mint.md).
"""

from dataclasses import replace
from typing import Any

from equivalence.declare.draws import Draw, given, integers, normal, uniform
from equivalence.declare.twin import Twin, grid

VECTORS, SERIES = normal(4, 8), normal(2, 4, 12)
MAPS, VOLUMES = normal(2, 4, 9, 8), normal(2, 4, 5, 6, 7)
AROUND_ZERO = normal(4, 9, scale=3.0)
POOLED = {"kernel_size": 3, "stride": 2, "padding": 1}
SCORED = normal(4, 6), integers(4, high=6)
REDUCTIONS = ["none", "mean", "sum"]


def layer(name: str, *inputs: Draw, configs: Any = ({},), **settings: Any) -> Twin:
    """One class of both sides. Only that of the candidate tells where it is from."""
    return Twin(
        f"mint_{name.lower()}",
        reference=f"torch.nn:{name}",
        candidate=f"mindspore.mint.nn:{name}",
        inputs=inputs,
        configs=configs,
        **{"phases": ("train",), "level": "nightly"} | settings,
    )


def padded(kind: str, *, value: bool = False) -> tuple[Twin, ...]:
    """The padding of series, maps and volumes, alike on all sides and each side on its own."""
    more = {"value": 1.5} if value else {}
    return tuple(
        layer(f"{kind}Pad{axes}d", x, configs=grid(padding=[2, sides], **more))
        for axes, x, sides in (
            (1, SERIES, (1, 3)),
            (2, MAPS, (1, 0, 2, 3)),
            (3, VOLUMES, (1, 0, 2, 3, 1, 2)),
        )
    )


WEIGHTED = (
    layer("Linear", VECTORS, configs=grid(in_features=8, out_features=5, bias=[True, False])),
    layer(
        "Conv1d",
        SERIES,
        configs=grid(in_channels=4, out_channels=6, kernel_size=3, stride=[1, 2], padding=1)
        + grid(in_channels=4, out_channels=6, kernel_size=3, groups=2, bias=False),
    ),
    layer(
        "Conv2d",
        MAPS,
        configs=grid(in_channels=4, out_channels=6, kernel_size=3, stride=[1, 2], padding=1)
        + grid(in_channels=4, out_channels=6, kernel_size=(3, 2), groups=2, bias=False)
        + grid(in_channels=4, out_channels=6, kernel_size=3, dilation=2, padding="same"),
    ),
    layer(
        "Conv3d",
        VOLUMES,
        configs=grid(in_channels=4, out_channels=6, kernel_size=3, stride=[1, 2], padding=1),
    ),
    layer(
        "ConvTranspose2d",
        MAPS,
        configs=grid(in_channels=4, out_channels=6, kernel_size=3, stride=1)
        + grid(
            in_channels=4,
            out_channels=6,
            kernel_size=3,
            stride=2,
            padding=1,
            output_padding=1,
            bias=[True, False],
        ),
    ),
    layer("BatchNorm1d", normal(16, 4), configs=grid(num_features=4), phases=("train", "eval")),
    layer(
        "BatchNorm2d",
        MAPS,
        configs=grid(num_features=4)
        + grid(num_features=4, affine=False)
        + grid(num_features=4, eps=1e-3, momentum=0.25)
        + grid(num_features=4, track_running_stats=False),
        phases=("train", "eval"),
    ),
    layer("BatchNorm3d", VOLUMES, configs=grid(num_features=4), phases=("train", "eval")),
    layer(
        "GroupNorm",
        MAPS,
        configs=grid(num_groups=2, num_channels=4, eps=[1e-5, 1e-3]),
    ),
    layer(
        "LayerNorm",
        normal(3, 5, 8),
        configs=grid(normalized_shape=8) + grid(normalized_shape=(5, 8), eps=1e-3),
    ),
    layer(
        "Embedding",
        integers(4, 6, high=10),
        configs=grid(num_embeddings=10, embedding_dim=8)
        + grid(num_embeddings=10, embedding_dim=8, padding_idx=3),
    ),
    layer("PReLU", MAPS, configs=grid(num_parameters=[1, 4])),
)

ACTIVATIONS = (
    layer("ELU", AROUND_ZERO, configs=grid(alpha=[1.0, 0.5])),
    layer("GELU", AROUND_ZERO, configs=grid(approximate=["none", "tanh"])),
    layer("GLU", normal(4, 8), configs=grid(dim=[-1, 0])),
    layer("Hardshrink", AROUND_ZERO, configs=grid(lambd=[0.5, 1.0])),
    layer("Hardsigmoid", AROUND_ZERO),
    layer("Hardswish", AROUND_ZERO),
    layer("Hardtanh", AROUND_ZERO, configs=grid(min_val=-1.0, max_val=[1.0, 2.0])),
    layer("LogSigmoid", AROUND_ZERO),
    layer("LogSoftmax", AROUND_ZERO, configs=grid(dim=[0, -1])),
    layer("Mish", AROUND_ZERO),
    layer("ReLU", AROUND_ZERO),
    layer("ReLU6", normal(4, 9, scale=6.0)),
    layer("SELU", AROUND_ZERO),
    layer("SiLU", AROUND_ZERO),
    layer("Sigmoid", AROUND_ZERO),
    layer("Softmax", AROUND_ZERO, configs=grid(dim=[0, -1])),
    layer("Softshrink", AROUND_ZERO, configs=grid(lambd=[0.5, 1.0])),
    layer("Tanh", AROUND_ZERO),
    layer("Threshold", AROUND_ZERO, configs=grid(threshold=0.5, value=-2.0)),
)

POOLINGS = (
    layer("AdaptiveAvgPool1d", SERIES, configs=grid(output_size=[1, 5])),
    layer("AdaptiveAvgPool2d", MAPS, configs=grid(output_size=[1, (3, 4)])),
    layer("AdaptiveAvgPool3d", VOLUMES, configs=grid(output_size=[1, (2, 3, 4)])),
    layer("AdaptiveMaxPool1d", SERIES, configs=grid(output_size=[1, 5])),
    layer("AdaptiveMaxPool2d", MAPS, configs=grid(output_size=[1, (3, 4)])),
    layer("AvgPool1d", SERIES, configs=grid(**POOLED, count_include_pad=[True, False])),
    layer(
        "AvgPool2d",
        MAPS,
        configs=grid(**POOLED, count_include_pad=[True, False]) + grid(kernel_size=2),
    ),
    layer("AvgPool3d", VOLUMES, configs=grid(**POOLED, count_include_pad=[True, False])),
    layer(
        "MaxPool2d", normal(2, 4, 9, 8, shift=-2.0), configs=grid(**POOLED) + grid(kernel_size=2)
    ),
    layer(
        "MaxUnpool2d",
        normal(1, 2, 2, 3),
        given(1, 2, 2, 3, values=(0, 3, 10, 12, 20, 16, 7, 8, 4, 19, 14, 22)),
        configs=grid(kernel_size=2),
    ),
)

SHAPES = (
    layer("Dropout", VECTORS, configs=grid(p=0.5), random_layers="eval", phases=("train", "eval")),
    layer("Dropout2d", MAPS, configs=grid(p=0.5), random_layers="eval", phases=("train", "eval")),
    layer("Flatten", MAPS, configs=grid(start_dim=[0, 1])),
    layer("Fold", normal(2, 27, 20), configs=grid(output_size=(6, 7), kernel_size=3)),
    layer("Identity", VECTORS),
    layer("PixelShuffle", MAPS, configs=grid(upscale_factor=2)),
    layer("Unfold", MAPS, configs=grid(kernel_size=3) + grid(**POOLED)),
    layer(
        "Upsample",
        MAPS,
        configs=grid(scale_factor=(2.0, 2.0), mode="nearest")
        + grid(size=(13, 11), mode="bilinear", align_corners=[True, False]),
    ),
    layer("UpsamplingBilinear2d", MAPS, configs=grid(size=(13, 11))),
    layer("UpsamplingNearest2d", MAPS, configs=grid(size=(13, 11)) + grid(scale_factor=(2.0, 2.0))),
    *padded("Constant", value=True),
    *padded("Reflection"),
    *padded("Replication"),
    *padded("Zero"),
)

PROBABLE = uniform(4, 6, low=0.125, high=0.875)

LOSSES = (
    layer("BCELoss", PROBABLE, PROBABLE.constant(), configs=grid(reduction=REDUCTIONS)),
    layer(
        "BCEWithLogitsLoss", normal(4, 6), PROBABLE.constant(), configs=grid(reduction=REDUCTIONS)
    ),
    layer(
        "CosineEmbeddingLoss",
        normal(4, 6),
        normal(4, 6),
        given(4, values=(1, -1, 1, -1)),
        configs=grid(margin=0.25, reduction=REDUCTIONS),
    ),
    layer(
        "CrossEntropyLoss",
        normal(4, 6),
        integers(4, high=6),
        configs=grid(reduction=REDUCTIONS) + grid(label_smoothing=0.125) + grid(ignore_index=2),
    ),
    layer(
        "KLDivLoss",
        normal(4, 6),
        PROBABLE.constant(),
        # PyTorch warns of "mean"; the function's examples have it.
        configs=grid(reduction=["none", "sum"]) + grid(log_target=True, reduction="batchmean"),
    ),
    layer("L1Loss", normal(4, 6), normal(4, 6), configs=grid(reduction=REDUCTIONS)),
    layer("MSELoss", normal(4, 6), normal(4, 6), configs=grid(reduction=REDUCTIONS)),
    layer("NLLLoss", *SCORED, configs=grid(reduction=["mean", "sum"])),
    replace(
        layer("NLLLoss", *SCORED, configs=grid(reduction="none")),
        name="mint_nllloss_unreduced",
        without={"ignored label": "unwritten: the kernel of a CPU skips its loss"},
    ),
    layer("SmoothL1Loss", normal(4, 6), normal(4, 6), configs=grid(reduction=REDUCTIONS, beta=0.5)),
    layer(
        "SoftMarginLoss",
        normal(4, 6),
        normal(4, 6).constant(),
        configs=grid(reduction=REDUCTIONS),
    ),
)

TWINS = WEIGHTED + ACTIVATIONS + POOLINGS + SHAPES + LOSSES

"""ConvNeXt, MobileNetV3 and EfficientNet: blocks, small networks, and blocks as people train them.

The blocks of real sizes are those of mobilenet_v3_small, efficientnet_b0 and convnext_tiny.
"""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid

PT, MS = "pt_reference.convnets:", "ms_models.convnets:"

CONVNEXT = {"reference": PT + "convnext_block", "candidate": MS + "ConvNeXtBlock"}
MOBILE = {"reference": PT + "inverted_residual", "candidate": MS + "InvertedResidual"}
EFFICIENT = {"reference": PT + "mbconv", "candidate": MS + "MBConv"}


def inverted(in_channels, kernel, expanded, out_channels, squeeze, hard, stride) -> dict:
    """A block of MobileNetV3, in the order of its paper's tables."""
    return {
        "in_channels": in_channels,
        "kernel": kernel,
        "expanded": expanded,
        "out_channels": out_channels,
        "squeeze": squeeze,
        "hard": hard,
        "stride": stride,
    }


def mb(in_channels, kernel, expansion, out_channels, stride) -> dict:
    """A block of EfficientNet."""
    return {
        "in_channels": in_channels,
        "kernel": kernel,
        "expansion": expansion,
        "out_channels": out_channels,
        "stride": stride,
    }


BLOCKS = (
    Twin(
        "convnext_block",
        configs=grid(dim=8, layer_scale=1e-6),
        inputs=[normal(2, "dim", 9, 8)],
        level="nightly",
        **CONVNEXT,
    ),
    Twin(
        "inverted_residual",
        configs=grid(**inverted(8, 3, 24, 8, True, True, 1))
        + grid(**inverted(8, 5, 16, 16, True, False, 2))
        + grid(**inverted(8, 3, 8, 8, False, False, 1)),
        inputs=[normal(2, "in_channels", 9, 8)],
        level="nightly",
        **MOBILE,
    ),
    Twin(
        "mbconv",
        configs=grid(**mb(8, 3, 4, 8, 1)) + grid(**mb(8, 5, 1, 16, 2)),
        inputs=[normal(2, "in_channels", 9, 8)],
        level="nightly",
        **EFFICIENT,
    ),
)

# Compiled, a whole network takes long; its blocks are.
ONCE = {"executions": ("pynative",), "level": "nightly"}

NETWORKS = (
    Twin(
        "convnext",
        reference=PT + "convnext",
        candidate=MS + "ConvNeXt",
        configs=grid(widths=(8, 16), depths=(1, 2), num_classes=5),
        inputs=[normal(2, 3, 32, 24)],
        **ONCE,
    ),
    Twin(
        "mobilenetv3",
        reference=PT + "mobilenetv3",
        candidate=MS + "MobileNetV3",
        configs=grid(
            blocks=((8, 3, 8, 8, True, False, 2), (8, 5, 24, 8, True, True, 1)),
            last_channel=16,
            num_classes=5,
        ),
        inputs=[normal(4, 3, 31, 24)],
        random_layers="eval",
        **ONCE,
    ),
    Twin(
        "efficientnet",
        reference=PT + "efficientnet",
        candidate=MS + "EfficientNet",
        configs=grid(
            blocks=((8, 3, 1, 8, 1), (8, 5, 4, 16, 2)),
            last_channel=32,
            num_classes=5,
            dropout=0.2,
        ),
        inputs=[normal(4, 3, 31, 24)],
        random_layers="eval",
        **ONCE,
    ),
)

REAL = {"phases": ("train",), **ONCE}

AS_TRAINED = (
    Twin(
        "convnext_block_of_tiny",
        configs=grid(dim=96, layer_scale=1e-6),
        inputs=[normal(1, "dim", 56, 56)],
        **CONVNEXT,
        **REAL,
    ),
    Twin(
        "inverted_residual_of_small",
        configs=grid(**inverted(16, 3, 72, 24, False, False, 2), H=56)
        + grid(**inverted(40, 5, 240, 40, True, True, 1), H=14),
        inputs=[normal(2, "in_channels", "H", "H")],
        **MOBILE,
        **REAL,
    ),
    Twin(
        "mbconv_of_b0",
        configs=grid(**mb(24, 5, 6, 40, 2)),
        inputs=[normal(2, "in_channels", 56, 56)],
        **EFFICIENT,
        **REAL,
    ),
)

TWINS = BLOCKS + NETWORKS + AS_TRAINED

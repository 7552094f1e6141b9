"""Transformers, a U-Net, a detection head, a GAN, and activations with kinks that are no ReLU."""

from equivalence.declare.draws import Draw, integers, normal
from equivalence.declare.twin import Twin

PT, MS = "benchmarks.catalogue.pt.networks:", "benchmarks.catalogue.ms.networks:"


def network(
    name: str,
    attribute: str,
    inputs: list[Draw],
    phases: tuple[str, ...],
    rename: dict[str, str] | None = None,
    **arguments,
) -> Twin:
    """A network that both sides write by hand."""
    return Twin(
        name,
        reference=PT + attribute,
        candidate=MS + attribute,
        inputs=inputs,
        configs=(arguments,),
        phases=phases,
        executions=("pynative",),
        rename=rename or {},
    )


def plain(kind: str) -> Twin:
    """Ten layers of convolution, BatchNorm and an activation with kinks that is no plain ReLU."""
    x, slopes = normal(8, 3, 96, 96), {"w": "weight"} if kind == "prelu" else {}
    return network(f"plain_{kind}", "Plain", [x], ("train",), slopes, kind=kind, channels=48)


def gan(steps: int) -> Twin:
    """Steps in which both networks of a GAN are updated."""
    return Twin(
        f"gan_{steps}",
        reference=PT + "GanStep",
        candidate=MS + "GanStep",
        inputs=[normal(8, 3, 16, 16).constant(), normal(8, 32, 1, 1).constant()],
        phases=("train",),
        executions=("pynative",),
        steps=steps,
    )


def decoder(name: str, layers: int, width: int, mask: str) -> Twin:
    """A language model of Llama's blocks."""
    words = 1000
    return network(
        name,
        "LanguageModel",
        [integers(2, 64, high=words)],
        ("train",),
        layers=layers,
        width=width,
        heads=8,
        vocabulary=words,
        mask=mask,
    )


# 16 x 12 anchors of stride 8, and 8 x 6 of stride 16.
ANCHORS = 16 * 12 + 8 * 6

TWINS = (
    network(
        "encoder_12", "encoder", [normal(2, 64, 256)], ("train",), layers=12, width=256, heads=8
    ),
    decoder("decoder_8", 8, 256, "filled"),
    decoder("decoder_lowest", 2, 128, "lowest"),
    network("unet_96", "UNet", [normal(2, 3, 96, 64)], ("train", "eval"), classes=5),
    network(
        "detection_head",
        "DetectionLoss",
        [normal(2, 64, 16, 12), normal(2, 128, 8, 6), integers(2, ANCHORS, high=20)],
        ("train",),
        channels=64,
        classes=20,
    ),
    gan(1),
    gan(3),
    *map(plain, ("chosen", "clamp", "hardswish", "leaky_relu", "masked", "prelu", "scaled")),
)

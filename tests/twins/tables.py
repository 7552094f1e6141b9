"""Masks, tables and indices: constants of a network, which no sample draws."""

from equivalence.declare.draws import integers, normal, uniform
from equivalence.declare.twin import Twin, grid

TABLES = ["forward", "buffer", "constructor"]
"""Where the cosines and sines of a rotary embedding, or its frequencies, are computed."""

FAR = [16, 2048, 20000, 100000]
"""First positions: the farther, the more a rounding of a frequency turns."""


def twin(name, network, inputs, configs, **more) -> Twin:
    """Both sides have the network, of the same name and arguments."""
    reference, candidate = f"pt_reference.tables:{network}", f"ms_models.tables:{network}"
    return Twin(name, reference, candidate, inputs, configs, level="nightly", **more)


TWINS = (
    twin(
        "rotary",
        "Rotary",
        [normal(2, 3, "length", "size")],
        grid(size=12, length=6, start=[16, 100000], tables=TABLES),
        phases=("train",),
    ),
    twin(
        "rotary_block",
        "Block",
        [normal(2, "length", 24)],
        grid(heads=2, size=12, length=6, start=[16, 100000], tables="buffer"),
        phases=("train",),
    ),
    twin(
        "rotary_block_at_all_positions",
        "Block",
        [normal(2, "length", 24)],
        grid(heads=2, size=12, length=6, start=FAR, tables=TABLES),
        phases=("train",),
    ),
    twin("timesteps", "Timesteps", [integers(5, high=1000)], grid(width=12), phases=("train",)),
    twin(
        "window_attention",
        "WindowAttention",
        [normal("windows", 9, 12)],
        grid(heads=2, size=6, side=3, windows=4),
        phases=("train",),
        constants=("attn_mask",),
    ),
    twin(
        "normalised_pixels",
        "Pixels",
        [uniform(2, 3, 7, 5)],
        grid(planes=4),
        phases=("train",),
    ),
    twin("centred", "Centred", [normal(7, "features")], grid(features=5, classes=4)),
)

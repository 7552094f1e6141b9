"""Networks that decide by comparing values, where rounding may decide: each result then jumps."""

from benchmarks.catalogue import training
from equivalence.declare.draws import Draw, integers, normal
from equivalence.declare.twin import Twin


def network(name: str, attribute: str, *inputs: Draw) -> Twin:
    """A training of one of these networks."""
    return training("decisions", f"decide_{name}", attribute, inputs, pair="order")


TWINS = (
    network("codes", "Codebook", normal(8, 3, 64, 64)),
    network("experts", "Experts", normal(1024, 64)),
    network("spikes", "Spiking", normal(64, 8, 256)),
    network("hardest", "HardestPixels", normal(2, 3, 128, 128), integers(2, 128, 128, high=6)),
    network("neighbours", "Neighbours", normal(2, 256, 3)),
    network("buckets", "Buckets", normal(2, 100, 64)),
    network("quantised", "EightBits", normal(4, 3, 32, 32)),
    network("clamped", "EightBitsClamped", normal(4, 3, 32, 32)),
)

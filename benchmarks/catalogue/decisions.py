"""Networks that decide by comparing values, where rounding may decide: each result then jumps."""

from equivalence.declare.draws import Draw, integers, normal
from equivalence.declare.twin import Twin

PT, MS = "benchmarks.catalogue.pt.decisions:", "benchmarks.catalogue.ms.decisions:"


def network(name: str, attribute: str, *inputs: Draw) -> Twin:
    """A training of a network that both sides write by hand."""
    return Twin(
        f"decide_{name}",
        reference=PT + attribute,
        candidate=MS + attribute,
        inputs=inputs,
        phases=("train",),
        executions=("pynative",),
        pair="order",
    )


TWINS = (
    network("codes", "Codebook", normal(8, 3, 64, 64)),
    network("experts", "Experts", normal(1024, 64)),
    network("spikes", "Spiking", normal(64, 8, 256)),
    network("hardest", "HardestPixels", normal(2, 3, 128, 128), integers(2, 128, 128, high=6)),
    network("neighbours", "Neighbours", normal(2, 256, 3)),
    network("quantised", "Quantised", normal(4, 3, 32, 32)),
)

"""Networks that choose the largest entry: of a cloud's points, of a channel, of two tensors."""

from equivalence.declare.draws import Draw, normal
from equivalence.declare.twin import Twin

PT, MS = "benchmarks.catalogue.pt.chosen:", "benchmarks.catalogue.ms.chosen:"


def network(name: str, attribute: str, x: Draw, **arguments) -> Twin:
    """A training of a network that both sides write by hand."""
    return Twin(
        name,
        reference=PT + attribute,
        candidate=MS + attribute,
        inputs=[x],
        configs=(arguments,),
        phases=("train",),
        executions=("pynative",),
        pair="order",
    )


TWINS = (
    network("pointnet_max", "PointNet", normal(8, 3, 512), reduce="max"),
    network("pointnet_amax", "PointNet", normal(8, 3, 512), reduce="amax"),
    network("cbam", "CBAM", normal(4, 3, 48, 48), channels=32),
    network("maxout", "Maxout", normal(4, 3, 48, 48), channels=32),
)

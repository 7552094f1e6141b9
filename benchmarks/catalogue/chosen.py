"""Networks that choose the largest entry: of a cloud's points, of a channel, of two tensors."""

from benchmarks.catalogue import training
from equivalence.declare.draws import Draw, normal
from equivalence.declare.twin import Twin


def network(name: str, attribute: str, x: Draw, **arguments) -> Twin:
    """A training of one of these networks with these arguments."""
    return training("chosen", name, attribute, [x], configs=(arguments,), pair="order")


TWINS = (
    network("pointnet_max", "PointNet", normal(8, 3, 512), reduce="max"),
    network("pointnet_amax", "PointNet", normal(8, 3, 512), reduce="amax"),
    network("cbam", "CBAM", normal(4, 3, 48, 48), channels=32),
    network("maxout", "Maxout", normal(4, 3, 48, 48), channels=32),
)

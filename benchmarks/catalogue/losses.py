"""Losses whose gradients are signs, or next to nothing beside their terms, on two dense layers."""

from benchmarks.catalogue import training
from equivalence.declare.draws import Draw, integers, normal
from equivalence.declare.twin import Twin


def loss(name: str, attribute: str, *inputs: Draw) -> Twin:
    """A loss of what two layers make of the first input, or of both."""
    return training("losses", f"loss_{name}", attribute, inputs)


TWINS = (
    loss("hinge", "Hinge", normal(64, 16), integers(64, high=8)),
    loss("gan_hinge", "GanHinge", normal(64, 16), normal(64, 16)),
    loss("quantile", "Quantile", normal(64, 16), normal(64, 8)),
    loss("distillation", "Distillation", normal(64, 16), normal(64, 8).constant()),
)

"""What a run of a candidate is fed with. Loads no framework."""

from dataclasses import dataclass, field

from equivalence.judge.tensors import Shapes
from equivalence.sample import Sample
from equivalence.structure.weights import Partners


@dataclass(frozen=True)
class Feed:
    """What a run of a candidate is fed with.

    sample: the inputs, weights and cotangents.
    partners: path of a weight -> the reference's name, by which the sample knows it.
    phase: "train" or "eval".
    outputs: name -> shape of each floating output that has a cotangent; none: forward only.
    """

    sample: Sample
    partners: Partners
    phase: str
    outputs: Shapes = field(default_factory=dict)

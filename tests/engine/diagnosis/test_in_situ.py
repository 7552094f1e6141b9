"""What flows between the layers of the reference, and how far rounding moves it."""

from torch import nn

from equivalence.declare.draws import given, normal
from equivalence.diagnosis import in_situ
from equivalence.sides.torch_network import TorchNetwork
from equivalence.structure.layers import Site
from equivalence.truth.measurement import Measurement
from tests.engine.parts import small

U = 2.0**-24


class Routed(nn.Module):
    """A layer for all rows, and an expert for those with a share of at most three quarters."""

    def __init__(self):
        super().__init__()
        self.every = nn.Linear(4, 4)
        self.expert = nn.Linear(4, 3)

    def forward(self, x, share):
        return self.every(x), self.expert(x[share <= 0.75])


def test_rows_that_rounding_takes_from_a_layer_are_no_change_of_its_values():
    """A share of three quarters is below it or above it once it is rounded."""
    sample = small.sample(normal(32, 4), given(32, values=[0.75] * 32))
    network = TorchNetwork(f"{__name__}:Routed", {})
    flow = in_situ.observe(Measurement(network, sample, "eval", U))
    assert flow.between[Site("expert", 0, "output", "0")].spread == 0.0
    assert flow.between[Site("every", 0, "output", "0")].spread > 0.0


def test_a_call_with_no_rows_is_not_repeated():
    sample = small.sample(normal(3, 4), given(3, values=[0.9] * 3))
    network = TorchNetwork(f"{__name__}:Routed", {})
    flow = in_situ.observe(Measurement(network, sample, "eval", U))
    assert flow.calls("every") == [0]
    assert flow.calls("expert") == []
    assert flow.idle == {"expert"}

"""A network with layers of the reference in the places of its own."""

import numpy as np
import pytest
import torch

from equivalence.comparison import kept, sides
from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.draws import normal
from equivalence.judge.verdict import judge
from equivalence.sides.feed import Feed
from equivalence.statements.lent import Lent, lend, weights
from equivalence.statements.mindspore_calls import MindSporeCalls
from equivalence.structure import pairing
from tests.engine.parts.small import case

WRONG = case(
    "tests.engine.parts.beside_pt:Net",
    "tests.engine.parts.beside_ms:Net",
    normal(2, 6, 16),
)
NORMS = {"one.norm": "one.norm", "two.norm": "two.norm"}


@pytest.fixture(scope="module")
def both():
    """The reference as a measurement, the truth, the candidate, and the partners."""
    known, network = kept.reference(WRONG, 0), sides.build_candidate(WRONG)
    partners = pairing.partners(WRONG, known.slots, network.slots())
    return CaseAtSeed(WRONG, 0).measurement(known.sample), known.expected, network, partners


def run(both, layers):
    """The trace with these layers lent, but for the gradients of their weights, and the calls."""
    measurement, expected, network, partners = both
    lent = lend(measurement, layers, "", {})
    watch = MindSporeCalls(network.cell, lent=lent)
    with watch:
        trace = network.run(Feed(measurement.sample, partners, "train", expected.pulled_back))
    gone = {f"gradient:{name}" for name in weights(measurement, layers.values())}
    return {name: values for name, values in trace.items() if name not in gone}, watch.recording


def judged(both, trace):
    expected = {name: tensor for name, tensor in both[1].items() if name in trace}
    return judge(expected, trace, both[0].unit_roundoff)


def test_one_that_writes_to_what_it_takes_computes_too():
    relu = Lent("relu", torch.nn.ReLU(inplace=True), torch.device("cpu"))
    given = np.array([-1.0, 2.0])
    result, pull = relu.call((given,), {})
    assert (result == [0.0, 2.0]).all()
    assert (given == [-1.0, 2.0]).all()
    assert (pull([np.ones(2)])[0] == [0.0, 1.0]).all()


def test_its_dropout_keeps_everything_where_that_of_the_runs_does():
    ones = np.ones(1000, np.float32)
    dropout = torch.nn.Dropout(0.5).train()
    pinned = Lent("drop", dropout, torch.device("cpu"), pins=True)
    assert (pinned.call((ones,), {})[0] == ones).all()
    free = Lent("drop", dropout, torch.device("cpu"))
    assert (free.call((ones,), {})[0] != ones).any()


def test_it_is_right_forward_and_backward(both):
    assert not judged(both, run(both, {})[0]).equal
    trace, _ = run(both, NORMS)
    assert judged(both, trace).equal
    assert {"output.0", "gradient:input[0]", "gradient:one.fc.weight"} <= trace.keys()


def test_a_lent_layer_is_one_call(both):
    _, recording = run(both, NORMS)
    calls = [call for call in recording.calls if call.name in NORMS]
    assert [call.name for call in calls] == ["one.norm", "two.norm"]
    assert calls[0].statement.text == "return x + 0.5 * self.fc(self.norm(x))"
    assert "LayerNorm" not in {call.name for call in recording.calls}


def test_the_cells_compute_themselves_again_afterwards(both):
    before, _ = run(both, {})
    run(both, NORMS)
    after, _ = run(both, {})
    assert np.array_equal(before["output.0"], after["output.0"])


def test_a_lent_layer_has_no_weights_of_its_own_that_count(both):
    assert weights(both[0], ["one.norm"]) == {"one.norm.weight", "one.norm.bias"}

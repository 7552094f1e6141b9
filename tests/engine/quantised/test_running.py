"""Networks as they are built, and what goes through their layers."""

import numpy as np
import pytest

from equivalence.errors import DeclarationError
from equivalence.quantised.running import LayersRun, RunnableNetwork

PT, MS = "tests.engine.parts.quantised_pt:", "tests.engine.parts.quantised_ms:"
X = [np.random.default_rng(0).standard_normal((4, 32)).astype(np.float32)]


@pytest.mark.parametrize("target", [PT + "trained", MS + "fake"])
def test_each_layer_is_seen_and_gives_the_same_by_itself(target):
    network = RunnableNetwork(target, {})
    run = network.run(X)
    assert {"", "first", "second", "head"} <= {*run.results}
    assert np.array_equal(run.output, run.results["head"])
    for path in ("first", "head"):
        assert np.array_equal(network.alone(path, run.given[path]), run.results[path])
    assert not network.layers["first"].__dict__.get("_forward_hooks")
    assert network.weights()["first.weight"].shape == (64, 32)


def test_what_is_no_network_is_refused():
    with pytest.raises(DeclarationError, match="name what builds a network"):
        RunnableNetwork("collections:OrderedDict", {})
    with pytest.raises(DeclarationError, match="gives no floating output"):
        _ = LayersRun().output

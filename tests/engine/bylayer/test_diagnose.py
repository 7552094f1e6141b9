"""The culprits of a network that is compared layer by layer."""

import pytest

from equivalence import Twin, cases, integers
from equivalence.bylayer import diagnose
from equivalence.host import memory
from equivalence.kinds import diagnose as tell

SIDES = {
    "reference": "tests.engine.parts.torch_blocks:Net",
    "candidate": "tests.engine.parts.mindspore_blocks:Wrong",
}
ONCE = {"phases": ["eval"], "executions": ["pynative"]}


@pytest.fixture(scope="module")
def case():
    return next(
        cases(Twin("net", **SIDES, inputs=[integers(2, 5, high=11)], by_layer=True, **ONCE), "cpu")
    )


def test_layers_are_named_by_their_paths_in_the_whole_network(case):
    found = tell(case, 0)
    assert found.brief[0] == "culprit: layers.1.norm (LayerNorm)"
    assert "eps 1e-05 (reference) 0.01 (candidate)" in found.brief[1]
    assert {"layers.1", "layers.1.fc"} <= {
        layer.reference for layer in diagnose.diagnose(case, 0).layers
    }


def test_a_part_for_which_memory_does_not_suffice_is_named_and_not_looked_into(case, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1000)
    found = tell(case, 0)
    assert found.brief[0] == "culprit: layers.1 (Block)"
    assert "not looked into: that takes about 0.0 GiB of memory, and 0.0 are free" in found.brief[1]

"""The first of two networks of MindSpore, by PyTorch's names."""

from equivalence import Twin, normal
from equivalence.alike.first import First, names
from equivalence.declare.twin import MindSporeCase, cases
from equivalence.structure.weights import Slot

HERE = "tests.engine.parts.alike_ms:"


def test_its_weights_have_the_names_that_tell_how_they_are_drawn():
    twin = Twin("net", HERE + "Net", HERE + "Scaled", [normal(4, 3, 9, 9)])
    first = First(next(cases(twin, "cpu", MindSporeCase)))
    assert "bn.running_var" in first.slots()
    assert "bn.moving_variance" not in first.slots()
    assert first.dropouts() == ["drop"]
    assert [layer.path for layer in first.layers()] == ["", "conv", "bn", "drop", "fc"]


def test_names_stay_as_they_are_where_two_would_be_one():
    slots = {"gamma": Slot((2,), "parameter"), "weight": Slot((2,), "parameter")}
    assert dict(names(slots)) == {"gamma": "gamma", "weight": "weight"}

"""Names of one place in two dumps are paired, whatever either framework calls it."""

import pytest

from equivalence.dumps.names import pair
from equivalence.errors import WeightError

PAIRED = {
    "one array each": ("out", "result"),
    "the same name": ("fc/weight", "fc/weight"),
    "a statistic": ("bn1.running_mean", "bn1.moving_mean"),
    "a norm's weight": ("bn1.weight", "bn1.gamma"),
    "an embedding": ("tokens.weight", "tokens.embedding_table"),
    "a layer of msprobe": (
        "step0/rank0/dump_tensor_data/Module.layer1.0.fc.Linear.forward.0.output.0",
        "step0/rank0/dump_tensor_data/Cell.layer1.0.fc.Dense.forward.0.output.0",
    ),
    "its gradient": (
        "Module.fc.Linear.backward.1.input.0",
        "Cell.fc.Dense.backward.1.input.0",
    ),
    "its weight": (
        "Module.bn.BatchNorm2d.forward.0.parameters.weight",
        "Cell.bn.BatchNorm2d.forward.0.parameters.gamma",
    ),
    "its weight's gradient": (
        "Module.bn.BatchNorm2d.parameters_grad.bias",
        "Cell.bn.BatchNorm2d.parameters_grad.beta",
    ),
    "a function": ("Functional.relu.2.forward.output.0", "Mint.relu.2.forward.output.0"),
    "a graph at another time": (
        "Conv2D.Conv2D-op12.0.0.1623124369613540.output.0.DefaultFormat.float32",
        "Conv2D.Conv2D-op12.3.0.1723124369613540.output.0.DefaultFormat.float32",
    ),
}


@pytest.mark.parametrize("name", PAIRED)
def test_names_of_one_place_are_paired(name):
    reference, candidate = PAIRED[name]
    others = ([], []) if name == "one array each" else (["left"], ["right"])
    assert pair([reference, *others[0]], [candidate, *others[1]]) == {candidate: reference}


def test_another_call_or_another_side_of_it_is_another_place():
    theirs = ["Module.fc.Linear.forward.0.output.0", "Module.fc.Linear.forward.0.input.0"]
    ours = ["Cell.fc.Dense.forward.1.output.0", "Cell.fc.Dense.backward.0.input.0"]
    assert pair(theirs, ours) == {}


def test_a_wrapper_before_all_names_is_taken_off():
    ours = [f"_backbone.{name}" for name in ("fc.weight", "bn.gamma", "bn.moving_variance")]
    theirs = [f"module.{name}" for name in ("fc.weight", "bn.weight", "bn.running_var")]
    assert pair(theirs, ours) == dict(zip(ours, theirs, strict=True))


def test_a_rename_is_applied_and_one_that_fits_nothing_is_refused():
    assert pair(["fc.weight", "a"], ["head.weight", "b"], {"head": "fc"}) == {
        "head.weight": "fc.weight"
    }
    with pytest.raises(WeightError, match="--rename hat=fc: 'hat' is in no name"):
        pair(["fc.weight", "a"], ["head.weight", "b"], {"hat": "fc"})


def test_a_name_that_two_would_share_pairs_nothing():
    theirs = ["Module.a.ReLU.forward.0.output.0", "x"]
    ours = ["Cell.a.ReLU.forward.0.output.0", "Cell.a.Relu6.forward.0.output.0"]
    assert pair(theirs, ours) == {}


def test_pairs_come_in_the_order_of_the_reference():
    assert [*pair(["b", "a"], ["a", "b"])] == ["b", "a"]


def test_names_of_recorded_runs_pair_up_and_take_renames():
    theirs = ["step0/bn/forward.0.output.0", "step0/weights/bn.weight", "step0/weights/fc.bias"]
    ours = ["step0/norm/forward.0.output.0", "step0/weights/norm.gamma", "step0/weights/fc.bias"]
    assert pair(theirs, ours, {"norm": "bn"}) == dict(zip(ours, theirs, strict=True))
    other = [name.replace("step0", "step1") for name in ours]
    assert pair(theirs, other, {"norm": "bn"}) == {}

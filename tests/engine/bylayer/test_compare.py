"""A network that is compared layer by layer is red where it is wrong, and only there."""

import json

import pytest
import torch

from equivalence import Twin, compare, integers, normal
from equivalence.__main__ import main
from equivalence.checkpoints import files
from equivalence.checkpoints.formats import PYTORCH, StoredWeight
from equivalence.errors import DeclarationError, WeightError
from equivalence.own.session import Session
from tests.engine.parts import mindspore_blocks, torch_blocks

TOKENS = integers(2, 5, high=11)


def compared(theirs=None, ours=None, execution="pynative", phase="eval", **fields):
    """The result of a comparison by layer; `ours` are arguments of the candidate."""
    theirs = theirs or {}
    return compare(
        lambda: torch_blocks.Net(**theirs),
        lambda: mindspore_blocks.Net(**theirs, **(ours or {})),
        TOKENS,
        phase=phase,
        execution=execution,
        by_layer=True,
        **fields,
    )


def wrong(result):
    """The names of the tensors that differ."""
    return {tensor.name for tensor in result.tensors if not tensor.equal}


def parts(result):
    """The parts in which a tensor differs."""
    return {name.rpartition(" of ")[2] for name in wrong(result)}


@pytest.mark.parametrize("execution", ["pynative", "graph"])
@pytest.mark.parametrize("tied", [False, True])
def test_right_networks_are_equal_in_every_part(execution, tied):
    result = compared({"tied": tied}, execution=execution)
    assert result, result
    names = {tensor.name for tensor in result.tensors}
    assert {name.rpartition(" of ")[2] for name in names} == {
        "around",
        *(f"layers.{i}" for i in range(3)),
    }
    assert {f"gradient:fc.weight of layers.{i}" for i in range(3)} <= names
    assert {"output.0 of layers.1", "gradient:input[0] of layers.1"} <= names
    assert ("gradient:head.weight of around" in names) is not tied
    assert "gradient:embed.weight of around" in names


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_stand_ins_of_a_part_are_told(execution):
    """The summary counts them: without a kernel, nothing of the operator itself was compared."""
    result = compared(ours={"blocks": {1: {"minted": True}}}, execution=execution)
    assert result, result
    assert [verdict.outcome.stand_ins for verdict in result.verdicts] == [("mint.clone",)]
    assert "  stand-ins  on the CPU in 1 case, for mint.clone 1\n" in str(result)


def test_right_networks_are_equal_while_training():
    assert compared(phase="train")


def test_a_wrong_setting_is_found_in_its_layer():
    result = compared(ours={"blocks": {1: {"epsilon": 1e-2}}})
    assert parts(result) == {"layers.1"}
    assert [culprit.reference for culprit in result.culprits] == ["layers.1.norm"]
    assert [each.path for each in result.settings] == ["layers.1.norm.eps"]


def test_a_layer_without_its_residual_is_found():
    result = compared(ours={"blocks": {2: {"residual": False}}})
    assert parts(result) == {"layers.2"}
    assert [culprit.reference for culprit in result.culprits] == ["layers.2"]
    assert "mindspore_blocks.py" in result.culprits[0].statement


@pytest.mark.usefixtures("undiagnosed")
def test_a_gradient_that_stops_in_a_layer_is_found():
    result = compared(ours={"blocks": {0: {"stop": True}}})
    assert parts(result) == {"layers.0"}
    assert not any(name.startswith("output") for name in wrong(result))


@pytest.mark.usefixtures("undiagnosed")
@pytest.mark.parametrize(
    "execution", ["pynative", pytest.param("graph", marks=pytest.mark.nightly)]
)
def test_layers_in_another_order_are_found(execution):
    result = compared(ours={"order": (0, 2, 1)}, execution=execution)
    assert parts(result) == {"around"}
    assert "gradient:layers.1.taken0 of around" in wrong(result)


@pytest.mark.usefixtures("undiagnosed")
def test_a_factor_between_two_layers_is_found_at_the_second():
    result = compared(ours={"halved": 2})
    assert parts(result) == {"around"}
    assert "gradient:layers.2.taken0 of around" in wrong(result)


@pytest.mark.usefixtures("undiagnosed")
def test_a_gradient_that_stops_between_two_layers_is_found():
    result = compared(ours={"stopped": 2})
    assert parts(result) == {"around"}
    assert "output.0 of around" not in wrong(result)


@pytest.mark.usefixtures("undiagnosed")
@pytest.mark.parametrize(
    ("order", "told"),
    [
        ((0, 2), "layers.1: the reference calls it once, the candidate never"),
        ((0, 1, 1, 2), "layers.1: the reference calls it once, the candidate 2 times"),
    ],
)
def test_a_layer_that_is_dropped_or_called_twice_is_found(order, told):
    result = compared(ours={"order": order})
    name, _, why = told.partition(": ")
    assert not result
    assert {v.name: v.problem for v in result.tensors if v.problem} == {f"calls of {name}": why}


@pytest.mark.usefixtures("undiagnosed")
def test_a_switch_that_a_layer_is_called_with_is_found():
    result = compared(ours={"shift": False})
    assert parts(result) == {f"layers.{i}" for i in range(3)}


@pytest.mark.usefixtures("undiagnosed")
def test_the_weights_of_a_folder_of_shards_are_read_one_layer_at_a_time(tmp_path):
    state = torch_blocks.Net().state_dict()
    places = {}
    for name, values in state.items():
        shard = f"model-{name.split('.')[1]}.safetensors"
        places.setdefault(shard, {})[name] = StoredWeight("float32", values.numpy())
    for shard, weights in places.items():
        files.write(tmp_path / shard, PYTORCH, weights, {})
    index = {name: shard for shard, weights in places.items() for name in weights}
    text = json.dumps({"weight_map": index})
    (tmp_path / "model.safetensors.index.json").write_text(text)
    assert compared(weights=tmp_path)
    assert parts(compared(ours={"order": (1, 0, 2)}, weights=tmp_path)) == {"around"}
    with pytest.raises(WeightError, match=r"lacks layers.3.norm.weight"):
        compared({"depth": 4}, weights=tmp_path)


def test_a_network_without_blocks_is_told_so():
    with pytest.raises(DeclarationError, match="by_layer finds no block that repeats"):
        compare(
            "torch.nn:Linear",
            "mindspore.mint.nn:Linear",
            normal(2, 3),
            by_layer=True,
            configs=[{"in_features": 3, "out_features": 3}],
        )


class Pair(dict):
    """No plain dict."""


def test_a_block_that_gives_more_than_tensors_is_told_so():
    class Odd(torch_blocks.Block):
        def forward(self, *args, **kwargs):
            return Pair(a=super().forward(*args, **kwargs)[0])

    def theirs():
        net = torch_blocks.Net()
        for number in range(3):
            net.layers[number] = Odd(8)
        return net

    with pytest.raises(DeclarationError, match=r"layers\.0 of the reference gets or gives a Pair"):
        compare(theirs, mindspore_blocks.Net, TOKENS, by_layer=True, phase="eval")


def test_no_parameter_of_the_reference_has_values_in_memory():
    from equivalence.sides.torch_network import TorchNetwork

    network = TorchNetwork("tests.engine.parts.torch_blocks:Net", {"tied": True}, empty=True)
    assert all(each.is_meta for each in network.module.parameters())
    assert network.module.head.weight is network.module.embed.weight
    assert not torch.nn.Linear(2, 2).weight.is_meta


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"by_layer": 1}, "by_layer is 1; write True"),
        ({"sizes": [{"T": 3}, {"T": 4}]}, "by_layer and sizes cannot be together"),
        ({"steps": 1, "phases": ["train"]}, "by_layer and steps cannot be together"),
    ],
)
def test_a_declaration_by_layer_is_checked(fields, told):
    with pytest.raises(DeclarationError, match=told):
        Twin("net", "a:B", "c:D", [normal(2, "T")], **{"by_layer": True, **fields})


def test_a_network_that_holds_its_weights_in_memory_is_told_in_one_sentence():
    live = torch_blocks.Net()
    (told,) = Session(_twin(live), "cpu").structure().notes
    assert told.startswith("by layer, and yet the reference is built with 14 weights in memory")
    assert Session(_twin(None), "cpu").structure().notes == ()


def _twin(live):
    ours = "tests.engine.parts.mindspore_blocks:Net"
    theirs = "tests.engine.parts.torch_blocks:Net"
    if live is not None:
        LIVE[:] = [live]
        theirs = f"{__name__}:built"
    return Twin("net", theirs, ours, [TOKENS], by_layer=True)


LIVE = []


def built():
    """A network that is there already."""
    return LIVE[0]


def test_the_command_compares_by_layer_and_tells_how_to_repeat_it(capsys):
    sides = [f"tests.engine.parts.{name}_blocks:Net" for name in ("torch", "mindspore")]
    quick = ["--phase", "eval", "--execution", "pynative", "--by-layer"]
    assert main(["compare", *sides, "--input", "integers(2, 5, high=11)", *quick]) == 0
    out, err = capsys.readouterr()
    assert "equal; all 46 tensors" in out
    assert "... around (1 of 4)" in err
    assert "... layers.2 (4 of 4)" in err
    args = ["--arguments", "depth=2", "--input", "integers(2, 5, high=11)", *quick]
    wrong = sides[1].replace("Net", "Stopped")
    assert main(["compare", sides[0], wrong, *args]) == 1
    out = capsys.readouterr().out
    assert "--by-layer --phase eval" in out
    assert "Net-depth2-eval-float32-pynative-cpu" in out

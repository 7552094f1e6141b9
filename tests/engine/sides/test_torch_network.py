"""The PyTorch side: every weight from the sample, named traces, any precision, again and again."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from equivalence.declare.draws import half, integers, normal
from equivalence.randomness.layers import dropout
from equivalence.sides.torch_modes import as_written
from equivalence.sides.torch_network import TorchNetwork
from equivalence.structure.weights import Slot
from tests.engine.parts.small import PT, sample


def batch_norm(channels=3):
    return TorchNetwork("torch.nn:BatchNorm2d", {"num_features": channels})


def linear(wide=4, narrow=3):
    return TorchNetwork("torch.nn:Linear", {"in_features": wide, "out_features": narrow})


def network(name):
    return TorchNetwork(PT + name, {})


def same(one, two):
    """Whether two traces have the same names in the same order, and the same bits."""
    return list(one) == list(two) and all(
        one[name].dtype == two[name].dtype and np.array_equal(one[name], two[name]) for name in one
    )


def test_slots_are_parameters_then_buffers():
    assert list(batch_norm().slots().items()) == [
        ("weight", Slot((3,), "parameter")),
        ("bias", Slot((3,), "parameter")),
        ("running_mean", Slot((3,), "buffer")),
        ("running_var", Slot((3,), "buffer")),
        ("num_batches_tracked", Slot((), "buffer")),
    ]


def test_a_frozen_parameter_counts_as_a_buffer():
    kinds = {name: slot.kind for name, slot in network("Frozen").slots().items()}
    assert kinds == {
        "head.weight": "parameter",
        "head.bias": "parameter",
        "backbone.weight": "buffer",
        "backbone.bias": "buffer",
    }


def test_a_trace_has_outputs_then_gradients_then_buffers():
    recorded = batch_norm().run(sample(normal(2, 3, 4, 5)), "train", "float32")
    assert list(recorded) == [
        "output.0",
        "gradient:input[0]",
        "gradient:weight",
        "gradient:bias",
        "buffer:running_mean",
        "buffer:running_var",
    ]


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_buffers_are_traced_in_both_phases_and_move_only_in_training(phase):
    drawn = sample(normal(2, 3, 4, 5))
    recorded = batch_norm().run(drawn, phase, "float32")
    for name in ("running_mean", "running_var"):
        moved = not np.array_equal(recorded[f"buffer:{name}"], drawn.weight(name, (3,)))
        assert moved == (phase == "train")


def test_every_weight_is_the_samples():
    drawn, norm = sample(normal(2, 3, 4, 5)), batch_norm()
    norm.run(drawn, "eval", "float32")
    loaded = norm.module.state_dict()
    assert all(
        np.array_equal(loaded[name].numpy(), drawn.weight(name, slot.shape))
        for name, slot in norm.slots().items()
    )


def test_building_draws_no_random_numbers():
    before = torch.get_rng_state()
    network("Initialised")
    assert torch.equal(torch.get_rng_state(), before)


def test_what_random_functions_draw_is_the_same_in_every_run():
    drawn, dropping = sample(normal(50, 4)), network("UnpinnedDropout")
    first = dropping.run(drawn, "train", "float32")
    torch.rand(3)
    assert same(dropping.run(drawn, "train", "float32"), first)
    assert (first["output.0"] == 0.0).any()


def test_nothing_of_a_run_is_left_in_the_next():
    drawn, norm = sample(normal(2, 3, 4, 5)), batch_norm()
    first = norm.run(drawn, "train", "float32")
    norm.run(sample(normal(2, 3, 4, 5), seed=1), "eval", "float64")
    assert same(norm.run(drawn, "train", "float32"), first)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_every_tensor_of_a_run_has_its_precision(dtype):
    recorded = batch_norm().run(sample(normal(2, 3, 4, 5)), "train", dtype)
    assert {str(values.dtype) for values in recorded.values()} == {dtype}


@pytest.mark.parametrize(("dtype", "seen"), [("float32", "float16"), ("float64", "float64")])
def test_what_is_half_precision_beside_others_is_so_but_in_the_truth(dtype, seen):
    recorded = TorchNetwork("torch.nn:Identity", {}).run(sample(half(3)), "train", dtype)
    assert recorded["output.0"].dtype == seen


def test_gradients_are_those_along_the_cotangent():
    drawn = sample(normal(5, 4))
    recorded = linear().run(drawn, "train", "float64")
    (x,) = (values.astype(np.float64) for values in drawn.inputs())
    weight = drawn.weight("weight", (3, 4)).astype(np.float64)
    cotangent = drawn.cotangent(0, (5, 3)).astype(np.float64)
    linear_algebra = {
        "gradient:input[0]": cotangent @ weight,
        "gradient:weight": cotangent.T @ x,
        "gradient:bias": cotangent.sum(0),
    }
    # Products of float32 numbers are exact in float64, sums of a few are in any order nearly so.
    for name, values in linear_algebra.items():
        np.testing.assert_array_almost_equal_nulp(recorded[name], values, nulp=64)


def test_integers_come_in_as_int64_and_have_no_gradient():
    recorded = network("Ranking").run(sample(integers(7, high=5)), "train", "float32")
    assert list(recorded) == ["output.0", "output.1", "gradient:embedding.weight"]
    assert recorded["output.0"].dtype == np.int64
    assert list(network("one_hot").run(sample(integers(7, high=5)), "train", "float32"))


def test_without_floating_outputs_there_are_no_gradients():
    assert list(network("Places").run(sample(normal(5, 4)), "train", "float32")) == ["output.0"]


def test_each_output_is_pulled_back_along_its_own_cotangent():
    drawn = sample(normal(2, 4))
    recorded = network("Nested").run(drawn, "train", "float64")
    first, second, third = (
        drawn.cotangent(i, shape).astype(np.float64)
        for i, shape in enumerate(((2, 3), (2, 3), (2,)))
    )
    along_y = first + 2 * recorded["output.0"] * second + third[:, None]
    np.testing.assert_array_almost_equal_nulp(
        recorded["gradient:dense.bias"], along_y.sum(0), nulp=64
    )


def test_nested_outputs_are_numbered_depth_first():
    recorded = network("Nested").run(sample(normal(2, 4)), "train", "float32")
    shapes = [values.shape for name, values in recorded.items() if name.startswith("output.")]
    assert shapes == [(2, 3), (2, 3), (2,)]


def test_a_plain_callable_is_a_network_without_weights():
    drawn, doubling = sample(normal(2, 4)), network("doubling")
    recorded = doubling.run(drawn, "train", "float32")
    assert doubling.slots() == {}
    assert list(recorded) == ["output.0", "gradient:input[0]"]
    assert np.array_equal(recorded["output.0"], drawn.inputs()[0] * 2)
    assert np.array_equal(recorded["gradient:input[0]"], drawn.cotangent(0, (2, 4)) * 2)


def test_what_the_output_does_not_depend_on_has_a_gradient_of_zeros():
    recorded = network("Halfused").run(sample(normal(2, 4), normal(2, 5)), "train", "float32")
    for name in ("input[1]", "unused.weight", "unused.bias"):
        assert not recorded[f"gradient:{name}"].any()
    for name in ("input[0]", "used.weight", "used.bias"):
        assert recorded[f"gradient:{name}"].all()


def test_a_floating_output_without_gradient_gives_zeros_all_over():
    recorded = network("Steps").run(sample(normal(6, 4)), "train", "float32")
    gradients = {name: values for name, values in recorded.items() if "gradient" in name}
    assert list(gradients) == ["gradient:input[0]", "gradient:dense.weight", "gradient:dense.bias"]
    assert not any(values.any() for values in gradients.values())


def test_a_frozen_parameter_is_traced_as_it_stands():
    drawn = sample(normal(2, 4))
    recorded = network("Frozen").run(drawn, "train", "float32")
    assert "gradient:backbone.weight" not in recorded
    kept = recorded["buffer:backbone.weight"]
    assert np.array_equal(kept, drawn.weight("backbone.weight", (4, 4)))


def test_a_trace_outlives_the_next_run():
    network_of_its_weight = network("ItsOwnWeight")
    first = network_of_its_weight.run(sample(normal(2, 4)), "train", "float32")
    weight = first["output.1"].copy()
    network_of_its_weight.run(sample(normal(2, 4), seed=1), "train", "float32")
    assert np.array_equal(first["output.1"], weight)


def test_dropout_is_named_and_pinned_while_training():
    dropping, drawn = network("Dropping"), sample(normal(50, 4))
    assert dropping.random_layers(drawn, "train") == [dropout("dropout", 0.5, 150)]
    assert dropping.random_layers(drawn, "eval") == []
    assert not dropping.run(drawn, "train", "float32")["output.0"].all()
    dropping = network("Dropping")
    dropping.draws.pinned = ()
    assert dropping.run(drawn, "train", "float32")["output.0"].all()
    assert not dropping.draws.drew
    assert dropping.module.dropout.training


def test_dropout_of_nothing_is_not_named():
    dropping = TorchNetwork(PT + "Dropping", {"p": 0.0})
    assert dropping.random_layers(sample(normal(50, 4)), "train") == []


def seen(built, drawn):
    """The layers, and parts of their calls, that a run shows."""
    calls, sites = {}, set()
    with built.observed(
        lambda site, _: sites.add(site), lambda *call: calls.update({call[0]: call})
    ):
        built.run(drawn, "train", "float64")
    return calls, {(site.layer, site.part) for site in sites}


def test_a_call_with_a_tensor_by_its_name_shows_how_it_is_called():
    calls, sites = seen(network("ByKeyword"), sample(normal(2, 4)))
    assert ("dense", "output") in sites
    (_, number, arguments, arrays, flowing) = calls["dense"]
    assert (number, arguments.names) == (0, ["input"])
    assert [values.shape for values in arrays] == [(2, 4)]
    assert flowing == [0]


def test_a_call_shows_which_of_its_inputs_gradients_flow_to():
    calls, _ = seen(network("ByKeyword"), sample(normal(2, 4).constant()))
    assert calls["dense"][4] == []


def test_a_call_that_switches_something_off_is_shown_without_the_switches():
    arguments = {"d_model": 6, "nhead": 2, "dim_feedforward": 8, "dropout": 0.0}
    encoder = TorchNetwork("torch.nn:TransformerEncoderLayer", arguments)
    calls, _ = seen(encoder, sample(normal(4, 2, 6)))
    assert calls["self_attn"][2].is_plain


def test_a_phase_holds_for_its_own_run_only():
    drawn, norm = sample(normal(2, 3, 4, 5)), batch_norm()
    evaluated = norm.run(drawn, "eval", "float32")
    trained = norm.run(drawn, "train", "float32")
    assert not np.array_equal(trained["output.0"], evaluated["output.0"])
    assert same(norm.run(drawn, "eval", "float32"), evaluated)


def test_what_a_compiler_has_wrapped_runs_as_it_is_written():
    compiled = []

    def backend(graph, _):
        compiled.append(graph)
        return graph.forward

    wrapped = torch.compile(nn.Linear(2, 3), backend=backend)
    with as_written():
        wrapped(torch.ones(1, 2))
    assert compiled == []
    wrapped(torch.ones(1, 2))
    assert compiled


COMPILING = """
import sys, torch
from equivalence.sides.torch_modes import as_written

def refuse(*_):
    raise SystemExit("compiled")

with as_written():
    assert "torch._dynamo" not in sys.modules
    assert torch.compile(torch.nn.Linear(2, 3), backend=refuse)(torch.ones(1, 2)).shape == (1, 3)
    assert torch.compile(torch.relu, backend=refuse)(torch.ones(1, 2)).shape == (1, 2)
torch.compile(torch.relu, backend=refuse)(torch.ones(1, 2))
"""


def test_the_compiler_is_loaded_by_code_that_asks_for_it_and_compiles_nothing():
    done = subprocess.run([sys.executable, "-c", COMPILING], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "compiled"

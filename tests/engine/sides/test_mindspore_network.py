"""The MindSpore side: weights arrive, traces carry reference names, graphs follow the phase."""

import mindspore as ms
import numpy as np
import pytest

from equivalence.declare.draws import integers, normal
from equivalence.errors import WeightError
from equivalence.host import devices
from equivalence.host.isolation import isolated
from equivalence.randomness.layers import dropout
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.structure import weights
from equivalence.structure.weights import Partners, Slot
from tests.engine.parts.small import MS, sample

MAPS = normal(2, 3, 4, 5)
EXECUTIONS = pytest.mark.parametrize("execution", ["pynative", "graph"])


@pytest.fixture(autouse=True)
def isolation():
    with isolated():
        yield


def network(target, execution="pynative", **arguments):
    return MindSporeNetwork(target if ":" in target else MS + target, arguments, execution)


def batch_norm(execution="pynative"):
    return network("mindspore.nn:BatchNorm2d", execution, num_features=3)


def run(built, drawn, outputs, phase="train"):
    """The trace under standard names; `outputs` are the shapes of the floating outputs."""
    partners = Partners({name: weights.reference_name(name, {}) for name in built.slots()})
    return built.run(Feed(drawn, partners, phase, outputs))


def test_slots_are_the_parameters_by_path_and_frozen_ones_are_buffers():
    kinds = {name: slot.kind for name, slot in network("Frozen").slots().items()}
    assert kinds == {
        "backbone.weight": "buffer",
        "backbone.bias": "buffer",
        "head.weight": "parameter",
        "head.bias": "parameter",
    }


def test_a_constructor_that_computes_with_its_initial_weights_has_them():
    assert network("Scaling").slots()["dense.weight"] == Slot((3, 4), "parameter")


def test_a_batch_norm_at_the_root_has_its_statistics_under_the_usual_names():
    # `Parameter.name` says mean and variance there.
    assert batch_norm().slots() == {
        "moving_mean": Slot((3,), "buffer"),
        "moving_variance": Slot((3,), "buffer"),
        "gamma": Slot((3,), "parameter"),
        "beta": Slot((3,), "parameter"),
    }


@EXECUTIONS
def test_a_trace_has_outputs_then_gradients_then_buffers_by_reference_names(execution):
    recorded = run(batch_norm(execution), sample(MAPS), {"0": (2, 3, 4, 5)})
    assert list(recorded) == [
        "output.0",
        "gradient:input[0]",
        "gradient:weight",
        "gradient:bias",
        "buffer:running_mean",
        "buffer:running_var",
    ]


@EXECUTIONS
def test_a_network_follows_the_phase(execution):
    drawn, shape = sample(MAPS), {"0": (2, 3, 4, 5)}
    (x,) = drawn.inputs()
    trained = run(batch_norm(execution), drawn, shape, "train")
    evaluated = run(batch_norm(execution), drawn, shape, "eval")
    for name in ("running_mean", "running_var"):
        kept = drawn.weight(name, (3,))
        assert np.array_equal(evaluated[f"buffer:{name}"], kept)
        assert not np.array_equal(trained[f"buffer:{name}"], kept)
    # The statistics of the batch centre it on beta; those of the sample do not.
    beta = drawn.weight("bias", (3,))
    off = {
        phase: np.abs(trace["output.0"].mean((0, 2, 3)) - beta).max() / np.abs(x).max()
        for phase, trace in (("train", trained), ("eval", evaluated))
    }
    assert off["train"] < 2.0**-20 < 2.0**-8 < off["eval"]


def test_graph_mode_is_graph_mode():
    batch_norm("graph")
    assert ms.get_context("mode") == ms.GRAPH_MODE
    batch_norm("pynative")
    assert ms.get_context("mode") == ms.PYNATIVE_MODE


@EXECUTIONS
def test_gradients_are_those_along_the_cotangent(execution):
    recorded = run(network("doubling", execution), drawn := sample(normal(2, 4)), {"0": (2, 4)})
    assert list(recorded) == ["output.0", "gradient:input[0]"]
    assert np.array_equal(recorded["output.0"], drawn.inputs()[0] * 2)
    assert np.array_equal(recorded["gradient:input[0]"], drawn.cotangent(0, (2, 4)) * 2)


@EXECUTIONS
def test_nested_outputs_are_numbered_depth_first_and_each_has_its_cotangent(execution):
    drawn = sample(normal(2, 4))
    shapes = {"0": (2, 3), "1": (2, 3), "2": (2,)}
    recorded = run(network("Nested", execution), drawn, shapes)
    assert {i: recorded[f"output.{i}"].shape for i in shapes} == shapes
    first, second, third = (drawn.cotangent(i, shape) for i, shape in shapes.items())
    along_y = first + 2 * recorded["output.0"] * second + third[:, None]
    np.testing.assert_array_almost_equal_nulp(
        recorded["gradient:dense.bias"], along_y.sum(0), nulp=64
    )


@EXECUTIONS
def test_an_integer_output_has_no_cotangent(execution):
    recorded = run(network("Ranking", execution), sample(integers(7, high=5)), {"1": (7, 3)})
    assert list(recorded) == ["output.0", "output.1", "gradient:embedding.weight"]
    assert recorded["output.0"].dtype == np.int64
    assert np.array_equal(recorded["output.0"], recorded["output.1"].argmax(1))
    assert recorded["gradient:embedding.weight"].any()


def test_without_floating_outputs_there_is_no_backward_pass():
    assert list(run(network("Places"), sample(normal(5, 4)), {})) == ["output.0"]


@EXECUTIONS
def test_what_the_output_does_not_depend_on_has_a_gradient_of_zeros(execution):
    drawn = sample(normal(2, 4), normal(2, 5))
    recorded = run(network("Halfused", execution), drawn, {"0": (2, 3)})
    for name in ("input[1]", "unused.weight", "unused.bias"):
        assert not recorded[f"gradient:{name}"].any()
    for name in ("input[0]", "used.weight", "used.bias"):
        assert recorded[f"gradient:{name}"].all()


def test_a_cotangent_of_another_shape_is_left_for_the_judge():
    recorded = run(network("doubling"), sample(normal(2, 4)), {"0": (4, 2)})
    assert recorded["output.0"].shape == (2, 4)
    assert not recorded["gradient:input[0]"].any()


def test_an_output_too_many_is_left_for_the_judge():
    recorded = run(network("Nested"), sample(normal(2, 4)), {"0": (2, 3)})
    assert [name for name in recorded if "output" in name] == ["output.0", "output.1", "output.2"]


@EXECUTIONS
def test_half_precision_computes_in_float16_and_keeps_weights_in_float32(execution):
    recorded = run(batch_norm(execution), sample(MAPS, dtype="float16"), {"0": (2, 3, 4, 5)})
    assert {name: str(values.dtype) for name, values in recorded.items()} == {
        "output.0": "float16",
        "gradient:input[0]": "float16",
        "gradient:weight": "float32",
        "gradient:bias": "float32",
        "buffer:running_mean": "float32",
        "buffer:running_var": "float32",
    }


def test_every_weight_is_the_samples():
    drawn, norm = sample(MAPS), batch_norm()
    run(norm, drawn, {"0": (2, 3, 4, 5)}, "eval")
    assert all(
        np.array_equal(parameter.asnumpy(), drawn.weight(weights.reference_name(name, {}), (3,)))
        for name, parameter in norm.parameters.items()
    )


def test_a_weight_that_does_not_arrive_is_named(monkeypatch):
    load = ms.Parameter.set_data

    def lose_beta(parameter, data, **options):
        return parameter if parameter.name == "beta" else load(parameter, data, **options)

    monkeypatch.setattr(ms.Parameter, "set_data", lose_beta)
    with pytest.raises(WeightError, match=r"beta does not hold what was loaded into it$"):
        run(batch_norm(), sample(MAPS), {"0": (2, 3, 4, 5)})


def test_a_weight_of_a_port_that_is_built_in_half_precision_is_told_so():
    norm = batch_norm()
    norm.parameters["beta"].set_dtype(ms.float16)
    with pytest.raises(WeightError, match=r"float16; build it in float32, or compare in float16$"):
        run(norm, sample(MAPS), {"0": (2, 3, 4, 5)})


def test_training_leaves_the_sample_as_drawn():
    drawn = sample(MAPS)
    before = {name: drawn.weight(name, (3,)).copy() for name in ("running_mean", "running_var")}
    run(batch_norm(), drawn, {"0": (2, 3, 4, 5)})
    assert all(np.array_equal(drawn.weight(name, (3,)), before[name]) for name in before)


def test_a_trace_shares_no_storage_with_the_cell():
    norm = batch_norm()
    recorded = run(norm, sample(MAPS), {"0": (2, 3, 4, 5)})
    storage = norm.parameters["moving_mean"].asnumpy()
    storage[:] = 7.0
    assert (norm.parameters["moving_mean"].asnumpy() == 7.0).all()
    assert (recorded["buffer:running_mean"] != 7.0).all()


def test_dropout_is_named_and_pinned_while_training():
    dropping = network("Dropping")
    assert dropping.dropouts() == ["dropout"]
    dropping.draws.pinned = ()
    recorded = run(dropping, sample(normal(50, 4)), {"0": (50, 3)})
    assert recorded["output.0"].all()
    assert dropping.cell.training
    assert not dropping.cell.dropout.training


@pytest.mark.parametrize("kind", [ms.nn.Dropout, ms.mint.nn.Dropout])
def test_each_draw_is_noted(kind):
    dropping = network("Dropping", kind=kind)
    drawn = sample(normal(50, 4))
    names = Partners({name: name for name in dropping.slots()})
    assert dropping.dropouts() == ["dropout"]
    noted = dropping.random_layers(Feed(drawn, names, "train", {"0": (50, 3)}))
    assert noted == [dropout("dropout", 0.5, 150)]


def test_dropout_of_nothing_is_not_named():
    assert network("Dropping", p=0.0).dropouts() == []


@EXECUTIONS
def test_a_second_run_with_another_sample_is_that_of_a_fresh_network(execution):
    shape = {"0": (2, 3, 4, 5)}
    first, second = sample(MAPS, seed=0), sample(MAPS, seed=1)
    reused = batch_norm(execution)
    before = run(reused, first, shape)
    again = run(reused, second, shape)
    anew = run(batch_norm(execution), second, shape)
    assert list(again) == list(anew)
    assert {name for name in anew if name.startswith("buffer:")} == {
        "buffer:running_mean",
        "buffer:running_var",
    }
    assert all(again[name].tobytes() == anew[name].tobytes() for name in anew)
    assert not any(np.array_equal(again[name], before[name]) for name in anew)


def test_a_failure_under_gradient_leaves_no_trace_in_the_next_run():
    drawn, shape = sample(normal(5, 4)), {"0": (5, 3), "1": (5, 3), "2": (5,)}
    before = run(network("Nested"), drawn, shape)
    for _ in range(2):
        with pytest.raises(ValueError, match="no shape pleases me"):
            run(network("Refusing"), drawn, {"0": (5, 3)})
    # The second time is what breaks indexing where the executor is left half way in a graph.
    assert ms.Tensor(np.arange(6.0))[4].asnumpy() == 4.0
    after = run(network("Nested"), drawn, shape)
    assert all(np.array_equal(after[name], before[name]) for name in before)


def test_an_absent_device_is_refused_and_the_cpu_stays_usable():
    if devices.present("ascend"):
        pytest.skip("there is an Ascend")
    with pytest.raises((RuntimeError, ValueError)):
        MindSporeNetwork(MS + "doubling", {}, "pynative", devices.place("ascend"))
    assert list(run(network("doubling"), sample(normal(2, 4)), {"0": (2, 4)}))


@EXECUTIONS
def test_a_network_that_is_gone_leaves_neither_weights_nor_graphs(execution):
    # MindSpore itself keeps every cell that it compiled.
    built = network("mindspore.nn:Dense", execution, in_channels=4, out_channels=3)
    run(built, sample(normal(5, 4)), {"0": (5, 3)})
    step, parameters = built._step, list(built.parameters.values())
    assert [p.shape for p in parameters] == [(3, 4), (3,)]
    assert bool(step.compile_cache) is (execution == "graph")
    del built
    assert [p.shape for p in parameters] == [(), ()]
    assert not step.compile_cache


def test_a_part_keeps_the_weights_of_the_whole():
    part = network("Nested").part("dense", "pynative")
    assert {name: p.shape for name, p in part.parameters.items()} == {
        "weight": (3, 4),
        "bias": (3,),
    }

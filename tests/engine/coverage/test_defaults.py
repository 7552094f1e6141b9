"""Default arguments are read off both frameworks' signatures; a difference is found."""

import mindspore
import pytest
import torch

from equivalence.comparison.check import check
from equivalence.coverage import defaults
from equivalence.coverage.defaults import REQUIRED, differences, of_mindspore, of_torch
from equivalence.declare.draws import normal
from equivalence.declare.operator import to
from equivalence.declare.twin import Twin, cases
from equivalence.errors import SignatureError, WeightError
from tests.twins.apis import LAYERS
from tests.twins.operators import operators


def test_a_python_function_tells_its_defaults():
    (signature,) = of_torch("torch.nn.functional.leaky_relu")
    assert signature == {"input": REQUIRED, "negative_slope": 0.01, "inplace": False}


def test_a_class_tells_those_of_its_constructor():
    (signature,) = of_torch("torch.nn.BatchNorm2d")
    assert (signature["num_features"], signature["momentum"]) == (REQUIRED, 0.1)


def test_a_builtin_is_read_off_its_schemas():
    signatures = of_torch("torch.sum")
    assert all("dtype" in signature for signature in signatures)
    assert any(signature.get("keepdim") is False for signature in signatures)


def test_schemas_of_numbers_and_of_given_outputs_are_none_of_a_tensors():
    for signature in of_torch("torch.add"):
        assert signature.keys() == {"self", "other", "alpha"}


@pytest.mark.parametrize(
    ("name", "argument"),
    [("torch.linalg.vector_norm", "ord"), ("torch.Tensor.new_zeros", "dtype")],
)
def test_schemas_are_found_under_the_names_that_they_have(name, argument):
    assert any(argument in signature for signature in of_torch(name))


def test_what_makes_a_tensor_of_numbers_is_read_off_its_schemas():
    assert any(signature.get("step") == 1 for signature in of_torch("torch.arange"))


def test_what_takes_anything_is_read_off_the_signatures_for_tests_of_overriding():
    (signature,) = of_torch("torch.nn.functional.max_pool2d")
    assert (signature["kernel_size"], signature["ceil_mode"]) == (REQUIRED, False)


def test_an_overloaded_function_of_mindspore_is_read_off_its_documentation():
    assert of_mindspore("mint.max")[1] == {"input": REQUIRED, "dim": REQUIRED, "keepdim": False}
    assert of_mindspore("mint.add") == [{"input": REQUIRED, "other": REQUIRED, "alpha": 1}]


def test_a_method_is_read_off_its_documentation():
    assert of_mindspore("Tensor.masked_fill") == [{"mask": REQUIRED, "value": REQUIRED}]


@pytest.mark.parametrize(
    ("api", "argument", "default"), [("mint.flatten", "end_dim", -1), ("nn.Adam", "beta1", 0.9)]
)
def test_what_mindspore_wraps_is_read_below_the_wrapper(api, argument, default):
    assert any(signature.get(argument) == default for signature in of_mindspore(api))


def test_what_takes_nothing_has_no_arguments():
    assert of_mindspore("nn.ReLU") == [{}]


@pytest.mark.parametrize(
    ("read", "name", "words"),
    [
        (of_torch, "torch.nn.LSTM", "torch.nn.LSTM tells no signature"),
        (of_torch, "torch.sofmax", "there is no torch.sofmax"),
        (of_torch, "torch.nm.ReLU", "there is no torch.nm"),
        (of_mindspore, "mint.kthvalue", "nor does its documentation"),
        (of_mindspore, "ops.sofmax", "there is no mindspore.ops.sofmax"),
    ],
)
def test_what_cannot_be_read_is_said(read, name, words):
    with pytest.raises(SignatureError, match=words):
        read(name)


def test_a_documented_call_is_one_at_the_start_of_a_line_with_a_result():
    text = (
        "f(x, *, a=1, b='c', c=ms.int32) -> Tensor\n\nLike f(x, a=3).\n\n"
        "    >>> y = f(x, a=2)\n.. function:: f(x, y) -> Tensor\n"
    )
    assert list(defaults._of_documentation(text, "f")) == [
        {"x": REQUIRED, "a": 1, "b": "c", "c": "ms.int32"},
        {"x": REQUIRED, "y": REQUIRED},
    ]


def test_a_documented_call_that_is_no_python_is_an_error():
    with pytest.raises(SignatureError, match="documented as"):
        list(defaults._of_documentation("f(x, [y]) -> Tensor", "f"))


def test_a_difference_is_found_under_the_other_name():
    renamed = to("ops.leaky_relu", negative_slope="alpha")
    assert differences("torch.nn.functional.leaky_relu", renamed) == {"negative_slope": (0.01, 0.2)}
    assert differences("torch.nn.functional.leaky_relu", to("ops.leaky_relu")) == {}


def test_what_stands_for_something_is_compared_by_what_it_stands_for():
    counterpart = to("ops.var", dim="axis", correction="ddof", keepdim="keepdims")
    assert differences("torch.var", counterpart) == {"correction": (1, 0)}


@pytest.fixture
def signatures(monkeypatch):
    """Gives both sides the signatures that it is called with; returns what differs."""

    def told(ours, theirs):
        monkeypatch.setattr(defaults, "of_torch", lambda _: ours)
        monkeypatch.setattr(defaults, "of_mindspore", lambda _: theirs)
        return differences("torch.f", to("ops.f"))

    return told


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), (1e-5, 0.00001), ([1, 1], 1), ([], None), ((), None), ("mean", "mean"), (0, [0, 0])],
)
def test_defaults_that_say_the_same_are_equal(signatures, one, other):
    assert signatures([{"a": one}], [{"a": other}]) == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [(1e-5, 1e-7), (True, 1), (False, None), ((0, 1), 0), ("mean", "none"), (None, 0), (-1, 1)],
)
def test_defaults_that_do_not_are_different(signatures, one, other):
    assert signatures([{"a": one}], [{"a": other}]) == {"a": (one, other)}


def test_one_overload_with_the_same_default_is_enough(signatures):
    assert signatures([{"a": 1}, {"a": 2}], [{"a": 2}]) == {}
    assert signatures([{"a": 1}, {"a": 2}], [{"a": 3}]) == {"a": (1, 3)}


def test_an_argument_that_one_side_requires_has_no_default_to_differ(signatures):
    assert signatures([{"a": REQUIRED, "b": 1}], [{"a": 1, "b": REQUIRED}]) == {}


def test_what_a_default_stands_for_is_asked():
    """Otherwise it is to be taken out."""
    asked = set()
    pairs = [(each.torch, each.counterparts) for each in operators()]
    pairs += [(each.torch, [each.counterpart]) for each in LAYERS]
    for torch_name, counterparts in pairs:
        asked.add(torch_name)
        asked |= {each.api for each in counterparts}
    assert {name for name, _ in defaults.MEANINGS} <= asked


def outcome(reference, candidate, config, inputs):
    twin = Twin("bare", reference, candidate, inputs=inputs, configs=[config], phases=("train",))
    return check(next(cases(twin, "cpu")), 0)


def test_batch_norms_that_are_told_no_momentum_are_equal():
    inputs = [normal(4, 8, 7, 5, shift=0.5)]
    sides = ("torch.nn:BatchNorm2d", "mindspore.nn:BatchNorm2d")
    assert outcome(*sides, {"num_features": 8}, inputs).passed
    differing = outcome(*sides, {"num_features": 8, "momentum": 0.1}, inputs).judgement.differing
    assert {each.name for each in differing} == {"buffer:running_mean", "buffer:running_var"}


def test_layer_norms_that_are_told_no_epsilon_differ():
    config, inputs = {"normalized_shape": (16,)}, [normal(5, 16, scale=1e-3)]
    assert not outcome("torch.nn:LayerNorm", "mindspore.nn:LayerNorm", config, inputs).passed
    assert outcome(
        "torch.nn:LayerNorm", "ms_models.norm:layer_norm", {"normalized_shape": 16}, inputs
    ).passed


def test_convolutions_that_are_told_no_bias_differ():
    config = {"in_channels": 2, "out_channels": 3, "kernel_size": 1}
    with pytest.raises(WeightError, match="bias"):
        outcome("torch.nn:Conv2d", "mindspore.nn:Conv2d", config, [normal(2, 2, 4, 5)])


def test_optimisers_that_are_told_no_rate_differ():
    parameter = mindspore.Parameter(mindspore.ops.ones(2), name="w")
    theirs = mindspore.nn.SGD([parameter]).learning_rate.asnumpy()
    ours = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))]).param_groups[0]["lr"]
    assert (ours, pytest.approx(float(theirs))) == (1e-3, 0.1)

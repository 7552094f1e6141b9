"""Which arguments count as compared: those that the examples of an operator have."""

import pytest

from equivalence.coverage.compared import ComparedArguments, bindings, by_inputs, fits, gathered
from equivalence.coverage.reader import CallSite, ToldArgument
from equivalence.declare.draws import gaps, normal
from equivalence.declare.operator import LIMITS, Example
from tests.twins.operators import operators

X = ToldArgument.TENSOR


def of(torch, name=None):
    """The examples of an operator."""
    return ComparedArguments(
        next(o for o in operators() if o.torch == torch and name in (None, o.name))
    )


@pytest.mark.parametrize(
    ("value", "drawn"),
    [
        ("mean", "mean"),
        (True, True),
        (None, None),
        (7, 2),
        (-1, 3),
        (0, 0),
        (0.3, -1.5),
        (2.0, 3),
        (3, (2, 2)),
        ((1, 2), (2, 1)),
        ("torch.float32", "float32"),
        (ToldArgument.UNKNOWN, "mean"),
    ],
)
def test_a_value_is_such_as_one_that_is_drawn(value, drawn):
    assert fits(value, drawn)


@pytest.mark.parametrize(
    ("value", "drawn"),
    [
        ("sum", "mean"),
        (True, False),
        (1, True),
        (None, 1),
        (0, 2),
        (2, 0),
        (0.5, 2),
        ((1, 2), (1, 2, 3)),
        ((0, 2), (1, 2)),
        (float("inf"), 1.5),
    ],
)
def test_another_value_is_not(value, drawn):
    assert not fits(value, drawn)


def test_arguments_are_told_by_their_names():
    (bound, _) = next(bindings(CallSite("torch.softmax", "1", {0: X, 1: -1})))
    assert (bound["dim"], len(bound)) == (-1, 2)


def test_sizes_that_are_given_one_by_one_are_one_argument():
    call = CallSite("torch.Tensor.permute", "1", {0: X, 1: 2, 2: 0, 3: 1})
    assert gathered(call) == 1
    assert gathered(CallSite("torch.Tensor.permute", "1", {0: X, 1: (2, 0, 1)})) is None
    assert gathered(CallSite("torch.full", "1", {0: (2, 3), 1: 1.0})) is None
    assert of("torch.permute").fitting(call)


@pytest.mark.parametrize(
    ("api", "given", "first"),
    [
        ("torch.Tensor.reshape", {1: -1}, 1),
        ("torch.Tensor.reshape", {1: (-1,)}, None),
        ("torch.Tensor.reshape", {1: ToldArgument.UNKNOWN}, None),  # a shape, or its one number
        ("torch.Tensor.reshape", {1: 2, "*": ToldArgument.UNKNOWN}, 1),
        ("torch.Tensor.permute", {"*": ToldArgument.UNKNOWN}, 1),
        ("torch.Tensor.repeat_interleave", {1: 2}, None),
        ("torch.tensordot", {1: X, 2: 2}, None),
        ("torch.sum", {"*": ToldArgument.UNKNOWN}, None),
    ],
)
def test_one_number_of_several_is_a_tuple_and_so_is_what_is_unpacked(api, given, first):
    assert gathered(CallSite(api, "1", {0: X, **given})) == first


@pytest.mark.parametrize("api", ["torch.stack", "torch.cat"])
def test_an_axis_behind_a_list_of_tensors_is_none_of_them(api):
    call = CallSite(api, "1", {0: X, 1: -1})
    assert [bound["dim"] for bound, _ in bindings(call)] == [-1]
    assert gathered(call) is None


def test_an_axis_behind_a_number_of_repeats_is_none_of_them():
    call = CallSite("torch.Tensor.repeat_interleave", "1", {0: X, 1: 2, 2: 1})
    assert {"self": X, "repeats": 2, "dim": 1} in [bound for bound, _ in bindings(call)]


def test_a_tensor_in_the_place_of_a_dtype_is_another_overload():
    compared = of("torch.Tensor.to")
    assert compared.fitting(CallSite("torch.Tensor.to", "1", {0: X, 1: "torch.float16"}))
    assert not compared.fitting(CallSite("torch.Tensor.to", "1", {0: X, 1: X}))


def test_a_call_without_a_tensor_that_all_examples_have_is_not_compared():
    compared = of("torch.where")
    assert compared.fitting(CallSite("torch.where", "1", {0: X, 1: X, 2: X}))
    assert not compared.fitting(CallSite("torch.where", "1", {0: X}))


def test_where_a_result_lies_changes_no_number():
    call = CallSite(
        "torch.zeros", "1", {0: (2, 3), "device": ToldArgument.UNKNOWN, "requires_grad": True}
    )
    assert of("torch.zeros").fitting(call)


def test_an_argument_that_no_example_has_is_named():
    compared = of("torch.sum")
    call = CallSite("torch.sum", "1", {0: X, "dtype": "torch.float64"})
    assert compared.fitting(call) == []
    assert compared.strange(call) == ["dtype='torch.float64'"]


def test_names_that_are_not_written_out_are_those_that_are_compared():
    call = CallSite(
        "torch.nn.functional.mse_loss", "1", {0: X, 1: X, "reduction": ToldArgument.UNKNOWN}
    )
    assert of("torch.nn.functional.mse_loss").named(call) == {"reduction": {"mean", "none", "sum"}}


def test_a_limit_of_values_holds_for_all_arguments_and_one_of_arguments_does_not():
    outside = [Example((gaps(3),), {"dim": 0})]
    whole = [Example((normal(3),), {"keepdim": False})]
    assert by_inputs(LIMITS["nan"], outside, whole)
    assert not by_inputs(lambda example: example.arguments["dim"] == 0, outside, whole)
    assert not by_inputs(lambda example: "dim" in example.arguments, outside, whole)
    # An example of a tensor less is another call.
    assert not by_inputs(LIMITS["nan"], outside, [Example((normal(3), normal(3)))])

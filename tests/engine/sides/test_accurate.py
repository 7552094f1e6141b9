"""Accurate kernels: what float64 gives, rounded once, forward and backward; and nothing else."""

import contextlib

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import nn, ops
from scipy import special

from equivalence.host.devices import INACCURATE_ON_CPU
from equivalence.host.isolation import isolated
from equivalence.sides.accurate import EXACT, AccurateKernels, _own_error
from equivalence.stream.mindspore_stream import Call
from equivalence.stream.observer import deliver, hooks

U = 2.0**-24


@pytest.fixture(autouse=True)
def isolation():
    with isolated():
        ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=True)
        yield


def values(*shape, scale=4.0, seed=0, low=None):
    drawn = scale * np.random.default_rng(seed).standard_normal(shape)
    return (drawn if low is None else np.abs(drawn) + low).astype(np.float32)


LOWEST = {"Log": 0.1, "Log1p": 0.0, "Rsqrt": 0.1}

CALLS = {
    "Cos": ops.cos,
    "Erf": ops.erf,
    "Exp": ops.exp,
    "Expm1": ops.expm1,
    "GeLU": lambda x: ops.gelu(x, approximate="tanh"),
    "Log": ops.log,
    "Log1p": ops.log1p,
    "LogSoftmax": ops.log_softmax,
    "Mish": ops.mish,
    "Rsqrt": ops.rsqrt,
    "SiLU": ops.silu,
    "Sigmoid": ops.sigmoid,
    "Sin": ops.sin,
    "Softmax": ops.softmax,
    "Softplus": ops.Softplus(),
    "Tanh": ops.tanh,
}
"""Primitive -> a call that uses it."""

GRADIENTS = {
    "GeLU": "GeLUGrad",
    "LogSoftmax": "LogSoftmaxGrad",
    "SiLU": "SiLUGrad",
    "Sigmoid": "SigmoidGrad",
    "Tanh": "TanhGrad",
}


def run(call, x, kernels):
    """The result of a call and its gradient, with some kernels replaced."""
    weights = ms.Tensor(values(*call(ms.Tensor(x)).shape, seed=1))
    with kernels:
        gradient = ms.value_and_grad(lambda x: (call(x) * weights).sum())(ms.Tensor(x))[1]
        return call(ms.Tensor(x)).asnumpy(), gradient.asnumpy()


@pytest.mark.parametrize("name", CALLS)
def test_a_kernel_gives_what_float64_gives(name):
    x = values(5, 40, low=LOWEST.get(name))
    before, after = AccurateKernels(()), AccurateKernels()
    plain = run(CALLS[name], x, before)
    exact = run(CALLS[name], x, after)
    assert name in before.errors
    # The formulas are those of the kernels: these differ by rounding only.
    assert before.errors[name] < 2000
    for one, two in zip(plain, exact, strict=True):
        assert np.abs(one - two).max() <= 1e-3 * np.abs(two).max()
    again = AccurateKernels(())
    with after, again:  # the inner one measures what the outer one has overwritten
        CALLS[name](ms.Tensor(x))
    assert again.errors[name] <= 0.0


@pytest.mark.parametrize("name", GRADIENTS)
def test_the_kernel_of_a_gradient_is_replaced_too(name):
    gradient = GRADIENTS[name]
    kernels = AccurateKernels([gradient])
    before = AccurateKernels(())
    x = values(5, 40)
    run(CALLS[name], x, before)
    run(CALLS[name], x, kernels)
    assert set(before.errors) >= {name, gradient}
    assert before.errors[gradient] < 100


def gradients(x, cotangent, kernels=None, trains=True):
    """Those of the input, the scale and the bias of a BatchNorm."""
    cell = nn.BatchNorm2d(3).set_train(trains)
    cell.gamma.set_data(ms.Tensor([1.5, -0.5, 2.0]))
    cell.moving_mean.set_data(ms.Tensor([0.25, 0.0, -1.0]))
    gradient = ms.grad(lambda x: (cell(x) * ms.Tensor(cotangent)).sum(), 0, [cell.gamma, cell.beta])
    with kernels if kernels else contextlib.nullcontext():
        of_input, (of_scale, of_bias) = gradient(ms.Tensor(x))
    statistics = cell.moving_mean.asnumpy(), cell.moving_variance.asnumpy()
    return [each.asnumpy() for each in (of_input, of_scale, of_bias)], statistics


@pytest.mark.parametrize(("size", "least"), [(32, 50.0), (224, 2000.0)])
def test_the_gradient_of_a_batch_norm_loses_digits_with_each_term_but_no_more_than_declared(
    size, least
):
    kernels = AccurateKernels(())
    cotangent = np.broadcast_to(values(4, 3, 1, 1, seed=1), (4, 3, size, size)).copy()
    gradients(values(4, 3, size, size), cotangent, kernels)
    assert least < kernels.errors["BatchNormGrad"] < INACCURATE_ON_CPU["BatchNormGrad"].error


@pytest.mark.parametrize("trains", [True, False])
def test_the_gradient_of_a_batch_norm_is_replaced_and_else_as_it_was(trains):
    x = values(4, 3, 32, 32)
    cotangent = np.where(x > 0, values(4, 3, 1, 1, seed=1), 0).astype(np.float32)
    plain, statistics = gradients(x, cotangent, None, trains)
    before, after = AccurateKernels(()), AccurateKernels()
    measured, kept = gradients(x, cotangent, before, trains)
    exact, _ = gradients(x, cotangent, after, trains)
    assert all(map(np.array_equal, plain, measured))
    assert all(map(np.array_equal, statistics, kept))
    assert 16.0 < before.errors["BatchNormGrad"] == after.errors["BatchNormGrad"] < 2000.0
    layer = torch.nn.BatchNorm2d(3, dtype=torch.float64).train(trains)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([1.5, -0.5, 2.0]))
        layer.running_mean.copy_(torch.tensor([0.25, 0.0, -1.0]))
    given = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    (layer(given) * torch.tensor(cotangent)).sum().backward()
    for got, right in zip(exact, (given, layer.weight, layer.bias), strict=True):
        truth = right.grad.numpy()
        assert np.abs(got - truth).max() <= 2.0 * U * np.abs(truth).max()


ROWS, MAPS, VOLUMES = values(4, 900, 6), values(4, 6, 30, 30), values(4, 6, 9, 10, 10)
NORMED_TWICE = values(4, 225, 4, 6)

SUMS = {
    "GroupNorm": ("GroupNormGrad", lambda: nn.GroupNorm(3, 6), MAPS),
    "GroupNorm of one group": ("GroupNormGrad", lambda: nn.GroupNorm(1, 6), MAPS),
    "LayerNorm": ("LayerNormGrad", lambda: nn.LayerNorm((6,), epsilon=0.5), ROWS),
    "LayerNorm of two": (
        "LayerNormGrad",
        lambda: nn.LayerNorm((4, 6), 2, 2, epsilon=0.5),
        NORMED_TWICE,
    ),
    "Dense": ("BiasAddGrad", lambda: nn.Dense(6, 5), ROWS),
    "Conv2d": ("BiasAddGrad", lambda: nn.Conv2d(6, 5, 1, has_bias=True), MAPS),
    "Conv3d": ("BiasAddGrad", lambda: nn.Conv3d(6, 5, 1, has_bias=True), VOLUMES),
    "Embedding": ("UnsortedSegmentSum", lambda: nn.Embedding(3, 6), np.arange(3600) % 3),
}
"""Case -> the kernel of a gradient that adds one after the other, a layer with it, its input."""


def in_float64(layer):
    """A layer of MindSpore in PyTorch, in float64."""
    kind, of = type(layer).__name__, torch.float64
    if kind == "GroupNorm":
        made = torch.nn.GroupNorm(layer.num_groups, layer.num_channels, layer.eps, dtype=of)
    elif kind == "LayerNorm":
        made = torch.nn.LayerNorm(layer.normalized_shape, layer.epsilon, dtype=of)
    elif kind == "Embedding":
        made = torch.nn.Embedding(3, 6, dtype=of)
    elif kind == "Dense":
        made = torch.nn.Linear(6, 5, dtype=of)
    else:
        made = getattr(torch.nn, kind)(6, 5, 1, dtype=of)
    with torch.no_grad():
        for own, other in zip(made.parameters(), layer.trainable_params(), strict=True):
            own.copy_(torch.tensor(other.asnumpy()))
    return made


@pytest.mark.parametrize("name", SUMS)
def test_a_gradient_that_adds_one_after_the_other_is_replaced_and_else_as_it_was(name):
    kernel, build, x = SUMS[name]
    layer = build()
    for number, weight in enumerate(layer.trainable_params()):
        weight.set_data(ms.Tensor(values(*weight.shape, seed=2 + number)))
    shape = layer(ms.Tensor(x)).shape
    last = len(shape) in (2, 3) or kernel == "LayerNormGrad"
    of_each = (1,) * (len(shape) - 1) + shape[-1:] if last else (1, shape[1], *[1] * len(shape[2:]))
    cotangent = np.broadcast_to(values(*of_each, seed=1), shape).copy()
    floating = x.dtype == np.float32
    gradient = ms.grad(
        lambda x: (layer(x) * ms.Tensor(cotangent)).sum(),
        0 if floating else None,
        layer.trainable_params(),
    )

    def run_with(kernels):
        with kernels:
            found = gradient(ms.Tensor(x))
        of_input, others = found if floating else ((), found)
        each = [of_input] if floating else []
        return [value.asnumpy() for value in (*each, *others)]

    before, after = AccurateKernels(()), AccurateKernels([kernel])
    plain = run_with(contextlib.nullcontext())
    assert all(map(np.array_equal, plain, run_with(before)))
    exact = run_with(after)
    assert 16.0 < before.errors[kernel] == after.errors[kernel]
    assert before.errors[kernel] < INACCURATE_ON_CPU[kernel].error
    right = in_float64(layer)
    given = torch.tensor(x, dtype=torch.float64 if floating else torch.int64)
    (right(given.requires_grad_(floating)) * torch.tensor(cotangent)).sum().backward()
    truths = [given.grad] if floating else []
    truths += [weight.grad for weight in right.parameters()]
    for got, truth in zip(exact, truths, strict=True):
        truth = truth.numpy()
        most = 64.0 if truth.ndim > 3 else 4.0  # a convolution is not replaced
        assert np.linalg.norm(got - truth) <= most * U * max(np.linalg.norm(truth), 1.0)


def test_a_gradient_is_replaced_in_the_gradient_of_a_gradient_as_well():
    layer = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 4), nn.Tanh())
    x = ms.Tensor(values(5, 3))

    def penalty(x):
        return (ms.grad(lambda x: layer(x).sum())(x) ** 2).sum()

    plain = ms.grad(penalty)(x).asnumpy()
    with AccurateKernels(()):
        assert np.array_equal(ms.grad(penalty)(x).asnumpy(), plain)
    with AccurateKernels():
        assert np.allclose(ms.grad(penalty)(x).asnumpy(), plain, rtol=1e-3, atol=1e-4)


def test_rows_of_a_batch_are_looked_up_without_a_gradient_of_ours():
    table, places = ms.Tensor(values(2, 5, 3)), ms.Tensor(np.zeros((2, 900), np.int32))
    kernels = AccurateKernels()
    with kernels:
        ms.grad(lambda table: ops.gather(table, places, 1, batch_dims=1).sum())(table)
        ms.grad(lambda table: ops.gather(table, places[0], 1).sum())(table)
    assert kernels.errors == {}


@pytest.mark.parametrize("shape", [(900, 3), (4, 3, 30, 31)])
def test_a_batch_norm_is_replaced_with_its_statistics(shape):
    x = values(*shape) + np.float32(20.0)
    kind = "BatchNorm1d" if len(shape) == 2 else "BatchNorm2d"
    layer = getattr(torch.nn, kind)(3, dtype=torch.float64)
    truth = layer(torch.tensor(x, dtype=torch.float64)).detach().numpy()
    before, after, both = AccurateKernels(()), AccurateKernels(["BatchNorm"]), []
    for kernels in (before, after):
        cell = getattr(nn, kind)(3).set_train()
        with kernels:
            result = cell(ms.Tensor(x)).asnumpy()
        both.append([result, cell.moving_mean.asnumpy(), cell.moving_variance.asnumpy()])
    assert 4.0 < before.errors["BatchNorm"] == after.errors["BatchNorm"] < 500.0
    plain, exact = both
    assert not np.array_equal(plain[0], exact[0])
    right = (truth, layer.running_mean.numpy(), layer.running_var.numpy())
    for one, two, three in zip(plain, exact, right, strict=True):
        assert np.abs(one - three).max() <= 1e-4 * np.abs(three).max()
        assert np.abs(two - three).max() <= U * np.abs(three).max()


def test_a_batch_norm_in_evaluation_has_no_statistics_to_replace():
    x = values(4, 3, 30, 31)
    cell, kernels = nn.BatchNorm2d(3).set_train(False), AccurateKernels(["BatchNorm"])
    plain = cell(ms.Tensor(x)).asnumpy()
    with kernels:
        replaced = cell(ms.Tensor(x)).asnumpy()
    assert kernels.errors == {}
    assert np.array_equal(plain, replaced)


def test_an_operator_without_arguments_is_left_alone():
    class Seed:
        name = "Seed"

        def __call__(self):
            return 7

    assert deliver(Call(Seed(), ()), hooks(AccurateKernels())) == 7


def test_every_formula_is_one_of_these_or_is_tested_below():
    others = {"Pow", "SoftmaxCrossEntropyWithLogits", "GroupNormGrad", "UnsortedSegmentSum"}
    assert {*CALLS, *GRADIENTS.values(), *others} == set(EXACT)


def test_the_gradient_reads_the_accurate_result():
    x = np.full((1, 4), -4.9986, np.float32)
    gradient = run(ops.tanh, x, AccurateKernels(["Tanh"]))[1]
    weights = values(1, 4, seed=1)
    exact = np.tanh(x.astype(np.float64)).astype(np.float32).astype(np.float64)
    assert np.allclose(gradient, weights * (1 - exact**2), rtol=1e-6, atol=0)
    assert not np.allclose(gradient, run(ops.tanh, x, AccurateKernels(()))[1], rtol=1e-3, atol=0)


def test_the_two_results_of_a_loss():
    logits, labels = values(6, 9), np.eye(9, dtype=np.float32)[:6]
    loss = nn.SoftmaxCrossEntropyWithLogits()
    with AccurateKernels():
        value, gradient = ms.value_and_grad(lambda x: loss(x, ms.Tensor(labels)).sum())(
            ms.Tensor(logits)
        )
    logs = special.log_softmax(logits.astype(np.float64), -1)
    assert value.asnumpy() == pytest.approx(-(labels * logs).sum(), rel=1e-6)
    assert np.allclose(gradient.asnumpy(), np.exp(logs) - labels, rtol=0, atol=U)


def test_powers():
    kernels = AccurateKernels()
    x = values(5, 40, low=0.1)
    with kernels:
        power = ops.pow(ms.Tensor(x), ms.Tensor(np.full_like(x, 1.7))).asnumpy()
    assert set(kernels.errors) == {"Pow"}
    exact = np.power(x.astype(np.float64), np.float64(np.float32(1.7)))
    assert np.array_equal(power, exact.astype(np.float32))


def test_integers_are_left_alone():
    kernels = AccurateKernels()
    with kernels:
        total = ms.Tensor(np.arange(5, dtype=np.int32)).sum()
    assert total.asnumpy() == 10
    assert kernels.errors == {}


def test_half_precision_counts_roundings_of_its_own():
    kernels = AccurateKernels()
    with kernels:
        result = ops.tanh(ms.Tensor(values(40).astype(np.float16)))
    assert result.asnumpy().dtype == np.float16
    assert kernels.errors["Tanh"] < 8


def test_a_result_that_is_not_finite_is_infinitely_wrong(monkeypatch):
    monkeypatch.setitem(EXACT, "Exp", lambda x: np.full_like(x, np.nan))
    kernels = AccurateKernels(())
    with kernels:
        ops.exp(ms.Tensor(values(4)))
    assert kernels.errors["Exp"] == np.inf


def test_a_result_that_overflows_warns_of_nothing():
    assert _own_error(np.float32([np.inf, 1.0]), np.float64([1e300, 1.0])) == 0.0


def test_a_kernel_beyond_the_table_is_never_touched():
    with AccurateKernels():
        relu = ops.relu(ms.Tensor(values(4)))
    assert np.array_equal(relu.asnumpy(), np.maximum(values(4), 0))


def test_elsewhere_kernels_are_as_they_are():
    x = ms.Tensor(np.float32([-4.9986]))
    before = ops.tanh(x).asnumpy()
    with AccurateKernels():
        within = ops.tanh(x).asnumpy()
    assert within != before
    assert ops.tanh(x).asnumpy() == before


def test_rows_behind_a_wholly_masked_one_are_right_and_that_one_is_zero():
    x = np.float32([[-np.inf] * 3, [1.0, 2.0, 3.0]])
    with AccurateKernels():
        got = ops.softmax(ms.Tensor(x), -1).asnumpy()
    exact = np.exp(x[1]) / np.exp(x[1]).sum()
    assert np.allclose(got, [[0.0, 0.0, 0.0], exact])

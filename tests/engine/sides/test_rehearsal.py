"""A rehearsal rounds the factors of every product, forward and backward, and nothing else."""

from dataclasses import replace
from functools import partial

import mindspore as ms
import numpy as np
import pytest
from mindspore import ops
from mindspore.graph import _parse

from equivalence.comparison.check import check, compare
from equivalence.comparison.sides import build_candidate
from equivalence.declare.difference import Difference
from equivalence.declare.draws import normal
from equivalence.errors import DeclarationError, EquivalenceError
from equivalence.host import devices
from equivalence.host.isolation import isolated
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.sides.rehearsal import OPAQUE, PRODUCTS, SIGNIFICANT, Rehearsal
from equivalence.structure.weights import Partners
from tests.engine.parts.small import case, sample

HERE = "tests.engine.parts.products_ms:"
MODES = ("tf32", "hf32", "float16")

both = pytest.mark.parametrize("execution", ["pynative", "graph"])


def nearest(values, bits):
    """Float32 rounded to so many significant bits, ties to even, by its bits."""
    dropped = 24 - bits
    bits32 = values.astype(np.float32).view(np.uint32)
    half = np.uint32((1 << dropped - 1) - 1) + ((bits32 >> np.uint32(dropped)) & np.uint32(1))
    kept = (bits32 + half) & ~np.uint32((1 << dropped) - 1)
    return kept.view(np.float32)


def rounded(values, mode):
    """What a factor becomes in a mode."""
    if mode == "float16":
        return values.astype(np.float16).astype(np.float32)
    return nearest(values, SIGNIFICANT[mode])


def traced(name, execution, mode, *shapes, output, **arguments):
    """The trace of a candidate of products_ms, and how many products were rounded."""
    place = devices.CPU if mode is None else devices.Place("ascend", mode, rehearsed=True)
    target = name if ":" in name else HERE + name
    network = MindSporeNetwork(target, arguments, execution, place)
    drawn = sample(*(normal(*shape) for shape in shapes))
    partners = Partners({name: name for name in network.slots()})
    return network.run(Feed(drawn, partners, "train", {"0": output})), network.products, drawn


@both
@pytest.mark.parametrize("mode", MODES)
def test_the_factors_and_the_cotangent_of_a_product_are_rounded(mode, execution):
    got, products, drawn = traced("at", execution, mode, (5, 7), (7, 3), output=(5, 3))
    x, w = (rounded(values, mode).astype(np.float64) for values in drawn.inputs())
    c = rounded(drawn.cotangent(0, (5, 3)), mode).astype(np.float64)
    wanted = {
        "output.0": x @ w,
        "gradient:input[0]": c @ w.T,
        "gradient:input[1]": x.T @ c,
    }
    assert products > 0
    for name, exact in wanted.items():
        # Summed in float32; of float16 the result is rounded, too.
        last = 2.0**-11 if mode == "float16" else 2.0**-22
        assert np.allclose(got[name], exact, rtol=last, atol=last * np.abs(exact).max())
        if mode == "float16":
            assert np.array_equal(got[name], rounded(got[name], mode))


@pytest.mark.parametrize("mode", SIGNIFICANT)
def test_rounding_is_to_nearest_with_ties_to_even(mode):
    gap = 2.0 ** (1 - SIGNIFICANT[mode])  # above 1
    steps = np.arange(-8, 9) * (gap / 4)
    values = np.concatenate([1.0 + steps, -3.0 - steps, [0.0, 1e-30, 65504.0, 1e20]])
    values = np.concatenate([values, np.random.default_rng(0).normal(size=999)]).astype(np.float32)
    got = Rehearsal(mode)._enter(ms.Tensor(values)).asnumpy()
    assert np.array_equal(got, nearest(values, SIGNIFICANT[mode]))
    assert not np.array_equal(got, values)


A, B = (4, 6), (6, 4)
FUNCTIONS = {
    "at": (A, B, (4, 4)),
    "method": (A, B, (4, 4)),
    "matmul": (A, B, (4, 4)),
    "mint_matmul": (A, B, (4, 4)),
    "linear": (A, A, (4, 4)),
    "dense": (A, A, (4, 4)),
    "bmm": ((2, 4, 6), (2, 6, 4), (2, 4, 4)),
    "mint_bmm": ((2, 4, 6), (2, 6, 4), (2, 4, 4)),
    "addmm": ((4, 4), (4, 4), (4, 4)),
    "baddbmm": ((2, 4, 4), (2, 4, 4), (2, 4, 4)),
    "dot": (A, B, (4, 4)),
    "tensor_dot": (A, B, (4, 4)),
    "conv1d": ((2, 3, 9), (4, 3, 3), (2, 4, 7)),
    "conv2d": ((2, 3, 9, 8), (4, 3, 3, 3), (2, 4, 7, 6)),
    "conv3d": ((2, 3, 5, 5, 5), (4, 3, 3, 3, 3), (2, 4, 3, 3, 3)),
    "made_inside": (A, B, (4, 4)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_rehearsed_alike_in_both_executions(name):
    *shapes, output = FUNCTIONS[name]
    plain, none, _ = traced(name, "pynative", None, *shapes, output=output)
    traces = {}
    for execution in ("pynative", "graph"):
        traces[execution], products, _ = traced(name, execution, "hf32", *shapes, output=output)
        assert products > 0
    assert none is None
    for tensor, values in plain.items():
        rehearsed = traces["pynative"][tensor]
        assert not np.array_equal(rehearsed, values), tensor
        assert np.allclose(rehearsed, values, rtol=0, atol=2.0**-8 * np.abs(values).max())
        assert np.array_equal(rehearsed, traces["graph"][tensor]), tensor


CELLS = {
    "mindspore.nn:Dense": ({"in_channels": 6, "out_channels": 5}, (4, 6), (4, 5)),
    "mindspore.nn:Conv1d": (
        {"in_channels": 3, "out_channels": 4, "kernel_size": 3, "pad_mode": "valid"},
        (2, 3, 9),
        (2, 4, 7),
    ),
    "mindspore.nn:Conv2d": (
        {"in_channels": 3, "out_channels": 4, "kernel_size": 3, "pad_mode": "valid"},
        (2, 3, 9, 8),
        (2, 4, 7, 6),
    ),
    "mindspore.nn:Conv3d": (
        {"in_channels": 3, "out_channels": 4, "kernel_size": 3, "pad_mode": "valid"},
        (1, 3, 5, 5, 5),
        (1, 4, 3, 3, 3),
    ),
    "mindspore.nn:Conv2dTranspose": (
        {"in_channels": 3, "out_channels": 4, "kernel_size": 3, "pad_mode": "valid"},
        (2, 3, 5, 4),
        (2, 4, 7, 6),
    ),
}


@pytest.mark.parametrize("cell", CELLS)
def test_cells_are_rehearsed_alike_in_both_executions(cell):
    arguments, shape, output = CELLS[cell]
    run = partial(traced, cell, output=output, **arguments)
    plain, _, _ = run("pynative", None, shape)
    once, products, _ = run("pynative", "float16", shape)
    again, found, _ = run("graph", "float16", shape)
    assert products > 0
    assert found > 0
    for tensor, values in plain.items():
        if tensor != "gradient:bias":  # a sum of cotangents
            assert not np.array_equal(once[tensor], values), tensor
        assert np.array_equal(once[tensor], again[tensor]), tensor


@both
def test_what_multiplies_nothing_stays_as_it_is_and_says_so(execution):
    run = partial(traced, "mindspore.nn:Sigmoid", execution, output=(4, 6))
    plain, _, _ = run(None, (4, 6))
    same, products, _ = run("hf32", (4, 6))
    assert products == 0
    assert all(np.array_equal(same[name], values) for name, values in plain.items())


@both
@pytest.mark.parametrize("raising", [False, True])
def test_afterwards_the_cpu_computes_as_before(execution, raising):
    run = partial(traced, "at", execution, output=(5, 3))
    before, _, _ = run(None, (5, 7), (7, 3))
    resolve = _parse.resolve_symbol
    if raising:
        with pytest.raises(RuntimeError, match="stop"), Rehearsal("hf32"):
            raise RuntimeError("stop")
    else:
        run("hf32", (5, 7), (7, 3))
    assert _parse.resolve_symbol is resolve
    after, _, _ = run(None, (5, 7), (7, 3))
    assert all(np.array_equal(after[name], values) for name, values in before.items())


@both
def test_products_that_no_rounding_reaches_are_refused_by_name(execution):
    with pytest.raises(EquivalenceError, match="cannot round the products inside LSTM"):
        traced("Recurrent", execution, "hf32", (3, 2, 4), output=(3, 2, 5))


@both
def test_a_layer_that_casts_by_itself_must_be_declared(execution):
    with pytest.raises(DeclarationError, match="layer is a Dense with to_float"):
        traced("Casting", execution, "hf32", (4, 6), output=(4, 5))


ELSEWHERE = {
    # On Ascend alone, most of them in attention, experts and quantised layers.
    "AllGatherMatmul",
    "CusBatchMatMul",
    "CusMatMulCube",
    "CusMatMulCubeDenseLeft",
    "CusMatMulCubeDenseRight",
    "CusMatMulCubeFraczLeftCast",
    "CusMatMulCubeFraczRightMul",
    "GroupedMatmulV2",
    "GroupedMatmulV4",
    "IncreFlashAttention",
    "InplaceAddmm",
    "InplaceGroupedMatmulAdd",
    "InplaceMatmulAdd",
    "MatmulAllReduceAddRmsNorm",
    "MatmulReduceScatter",
    "QuantBatchMatmul",
    "QuantMatmul",
    "SparseFlashAttention",
    "TransposeBatchMatmulTranspose",
    "WeightQuantBatchMatmul",
    # Of sparse and banded matrices, which no unit for dense products multiplies.
    "DSDMatmul",
    "MatmulDDS",
    "SparseMatrixMatMul",
    "SparseMatrixSparseMatMul",
    "SparseTensorDenseMatmul",
    "TridiagonalMatMul",
    # No layer or function of MindSpore uses them.
    "ConvTbc",
    "DepthwiseConv2dNative",
}
WORDS = ("conv", "matmul", "bmm", "addmm", "lstm", "gru", "rnn", "einsum", "flashattention")
OTHERS = ("Grad", "Backprop", "Convert", "Padding", "RNNTLoss")
"""In names of primitives that multiply nothing, or what a rounded product has left them."""


def test_no_primitive_that_multiplies_is_forgotten():
    from mindspore.ops import auto_generate, operations

    found = {
        name
        for module in (auto_generate, operations, operations.nn_ops, operations._inner_ops)
        for name, made in vars(module).items()
        if isinstance(made, type) and issubclass(made, ops.Primitive)
    }
    likely = {name for name in found if any(word in name.lower() for word in WORDS)}
    likely = {name for name in likely if not any(other in name for other in OTHERS)}
    assert likely - {*PRODUCTS, *OPAQUE} <= ELSEWHERE
    assert {"MatMul", "MatMulExt", "BatchMatMul", "Conv2D", "Dense"} <= found
    assert OPAQUE.isdisjoint(PRODUCTS)


REHEARSED = "ascend.hf32.rehearsed"


def convolution(device, candidate="convolution"):
    """A convolution as a case of a device."""
    return case(
        "torch.nn:Conv2d",
        HERE + candidate,
        normal(2, 3, 9, 8),
        device=device,
        config={"in_channels": 3, "out_channels": 4, "kernel_size": 3},
    )


@both
def test_a_rehearsed_case_differs_from_the_plain_one_and_passes_by_its_own_unit(execution):
    with isolated():
        plain = compare(replace(convolution("cpu"), execution=execution), 0)
        rehearsed = compare(replace(convolution(REHEARSED), execution=execution), 0)
    assert plain.judgement.equal
    assert rehearsed.judgement.equal
    assert 0.01 < rehearsed.judgement.needed < 4.0
    for name, values in plain.trace.items():
        if name != "gradient:bias":
            assert not np.array_equal(rehearsed.trace[name], values)
    with isolated():
        outcome = check(convolution(REHEARSED), 0)
    assert outcome.products > 0
    assert outcome.case.name.endswith("-pynative-ascend.hf32.rehearsed")


def test_judged_by_the_unit_of_float32_a_rehearsed_case_would_fail(monkeypatch):

    monkeypatch.setattr("equivalence.comparison.comparison.of_products", lambda *_: 2.0**-24)
    with isolated():
        assert compare(convolution(REHEARSED), 0, flips=False).judgement.differing


def test_a_defect_is_seen_in_a_rehearsal():
    with isolated():
        wrong = convolution(REHEARSED, "Flipped")
        assert check(wrong, 0).judgement.differing


def test_half_precision_is_the_cpus_own():
    half = replace(convolution(REHEARSED), dtype="float16")
    with isolated():
        assert build_candidate(half).place == devices.CPU
        assert build_candidate(half).products is None
        assert build_candidate(convolution(REHEARSED)).place == devices.place(REHEARSED)


def test_a_known_difference_below_what_a_mode_shows_is_none_of_it():
    scaled = convolution("cpu", "Scaled")
    scaled = replace(
        scaled, twin=replace(scaled.twin, differs=Difference("2e-3 too large", {"*": 3e-3}))
    )
    with isolated():
        assert check(scaled, 0).judgement.differing
        assert check(scaled, 0).passed
        coarse = check(replace(scaled, device=REHEARSED), 0)
    assert not coarse.judgement.differing
    assert coarse.passed

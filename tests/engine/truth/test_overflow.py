"""Where a reference overflows in half precision, a port in more bits is judged by float64."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from equivalence import compare, uniform
from equivalence.comparison import excuses
from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.draws import normal
from equivalence.host.isolation import isolated
from equivalence.judge import excuses as table
from equivalence.randomness.torch_draws import TorchDraws
from equivalence.sides.torch_constants import Constants
from equivalence.sides.torch_network import Function, TorchNetwork
from equivalence.sides.torch_sums import PRODUCT_OPERATORS
from equivalence.sides.torch_training import TorchTraining
from equivalence.truth import compute
from equivalence.truth.overflow import InRangeOfFloat32, beyond_half, multiplies
from tests.engine.parts import small
from tests.engine.parts.small import sample

PT, MS = "tests.engine.parts.overflow_pt:", "tests.engine.parts.overflow_ms:"
LARGE = uniform(4, 6, low=-400.0, high=400.0)
ROWS = uniform(5, 8, low=-180.0, high=180.0)


def compared(reference, candidate, *given):
    return compare(PT + reference, MS + candidate, *given, phase="train", execution="pynative")


@pytest.mark.parametrize(
    ("name", "given", "where"),
    [("Energy", [LARGE], "of output.0"), ("Attended", [ROWS, ROWS], "of gradient:input[1]")],
)
def test_a_port_in_more_bits_is_right_and_it_is_told(name, given, where):
    result = compared(name, name, *given)
    assert result
    assert result.outcomes[0].excuses == ("overflow",)
    assert "the reference overflows in half precision, and float64 tells what is" in str(result)
    assert where in str(result)


@pytest.mark.parametrize(
    ("reference", "candidate", "given"),
    [
        ("Energy", "Capped", [LARGE]),
        ("Energy", "Scaled", [LARGE]),
        ("Energy", "Holed", [LARGE]),
        ("Attended", "OtherScale", [ROWS, ROWS]),
        # What overflows in float32 is a number of the reference's own.
        ("Narrow", "Narrow", [uniform(4, 6, low=80.0, high=95.0)]),
    ],
)
def test_a_port_that_is_finite_and_wrong_differs(reference, candidate, given):
    result = compared(reference, candidate, *given)
    assert not result
    assert result.outcomes[0].judgement.differing


def test_without_the_excuse_it_is_red(monkeypatch):
    acts = tuple(act for act in excuses.ACTS if act[0] is not table.OVERFLOW)
    monkeypatch.setattr(excuses, "ACTS", acts)
    assert not compared("Energy", "Energy", LARGE)


def test_only_where_the_candidate_is_finite_float64_stands():
    case = small.case(PT + "Energy", MS + "Energy", LARGE)
    with isolated():
        drawn = CaseAtSeed(case, 0)
        measurement = drawn.measurement(drawn.sample())
        expected = compute.begin(measurement)
        own = measurement.run_own()
        infinite = np.argwhere(np.isinf(own["output.0"]))
        candidate = {name: values.copy() for name, values in own.items()}
        first, second = map(tuple, infinite[:2])
        candidate["output.0"][first] = 1.0
        truth = beyond_half(measurement, expected, candidate)["output.0"]
    x = measurement.sample.inputs()[0]
    assert truth.truth[first] == x[first].astype(float) ** 2 / 1024
    assert np.isinf(truth.truth[second])
    assert truth.spread > 0.0
    assert beyond_half(measurement, expected, own) is None


def test_the_range_of_float32_is_that_of_its_kernels():
    masked = torch.finfo(torch.float64).max
    x = torch.tensor([3e38, 4e38, -4e38, 1e-40, 1e-46, masked], dtype=torch.float64)
    with InRangeOfFloat32():
        found = x * 1.0
    assert found.tolist() == [3e38, np.inf, -np.inf, 1e-40, 0.0, masked]


# Whether a reference multiplies: every layer and function that does is seen, and no other.


def network(module):
    made = object.__new__(TorchNetwork)
    made.module = module if isinstance(module, nn.Module) else Function(module)
    made.draws = TorchDraws()
    made.constants = Constants(lambda: made.module, made.module)
    made.modes = made._modes()
    return made


def seen(module, *shapes, phase="train"):
    return multiplies(network(module), sample(*(normal(*shape) for shape in shapes)), phase)


def attention(**how):
    made = nn.MultiheadAttention(4, 2, batch_first=True, **how)
    made.forward = lambda x, forward=made.forward: forward(x, x, x)
    return made


X, PICTURES, BATCHES, HEADS = (4, 6), (2, 3, 7, 6), (2, 5, 4), (2, 2, 5, 4)
MULTIPLY = {
    "Conv1d": (lambda: nn.Conv1d(3, 4, 3), (2, 3, 9)),
    "Conv2d": (lambda: nn.Conv2d(3, 4, 3), PICTURES),
    "Conv2d depthwise": (lambda: nn.Conv2d(3, 6, 3, groups=3), PICTURES),
    "Conv2d dilated": (lambda: nn.Conv2d(3, 4, 3, dilation=2), PICTURES),
    "Conv2d without batch": (lambda: nn.Conv2d(3, 4, 3), (3, 7, 6)),
    "Conv3d": (lambda: nn.Conv3d(3, 4, 3), (2, 3, 5, 4, 3)),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(3, 4, 3), (2, 3, 9)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(3, 4, 3), PICTURES),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(3, 4, 3), (2, 3, 5, 4, 3)),
    "conv_tbc": (lambda: torch.conv_tbc, (5, 2, 3), (3, 3, 4), (4,)),
    "Linear": (lambda: nn.Linear(6, 3), X),
    "Linear without bias": (lambda: nn.Linear(6, 3, bias=False), X),
    "Linear of a vector": (lambda: nn.Linear(6, 3), (6,)),
    "Bilinear": (lambda: nn.Bilinear(6, 5, 3), X, (4, 5)),
    "MultiheadAttention": (attention, BATCHES),
    "TransformerEncoderLayer": (
        lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True),
        BATCHES,
    ),
    "attention": (lambda: F.scaled_dot_product_attention, BATCHES, BATCHES, BATCHES),
    "attention of heads": (lambda: F.scaled_dot_product_attention, HEADS, HEADS, HEADS),
    "LSTM": (lambda: nn.LSTM(4, 5), BATCHES),
    "GRU": (lambda: nn.GRU(4, 5), BATCHES),
    "RNN": (lambda: nn.RNN(4, 5), BATCHES),
    "LSTMCell": (lambda: nn.LSTMCell(6, 5), X),
    "GRUCell": (lambda: nn.GRUCell(6, 5), X),
    "RNNCell": (lambda: nn.RNNCell(6, 5), X),
    "@": (lambda: lambda x, y: x @ y, X, (6, 3)),
    "@ of a vector": (lambda: lambda x, y: x @ y, X, (6,)),
    "@ of vectors": (lambda: lambda x, y: x @ y, (6,), (6,)),
    "matmul": (lambda: torch.matmul, (2, 4, 6), (2, 6, 3)),
    "mm": (lambda: torch.mm, X, (6, 3)),
    "bmm": (lambda: torch.bmm, (2, 4, 6), (2, 6, 3)),
    "mv": (lambda: torch.mv, X, (6,)),
    "dot": (lambda: torch.dot, (6,), (6,)),
    "vdot": (lambda: torch.vdot, (6,), (6,)),
    "inner": (lambda: torch.inner, X, X),
    "tensordot": (lambda: lambda x, y: torch.tensordot(x, y, 1), X, (6, 3)),
    "einsum": (lambda: lambda x, y: torch.einsum("ij,kj->ik", x, y), X, X),
    "einsum along one": (lambda: lambda x, y: torch.einsum("ij,kj->ik", x, y), (4, 1), (6, 1)),
    "ger": (lambda: torch.ger, (4,), (6,)),
    "matrix_power to one": (lambda: lambda x: torch.linalg.matrix_power(x, 1), (4, 4)),
    "addmm": (lambda: torch.addmm, (4, 3), X, (6, 3)),
    "addmm_": (lambda: lambda x, y, z: x.mul(1.0).addmm_(y, z), (4, 3), X, (6, 3)),
    "addmv": (lambda: torch.addmv, (4,), X, (6,)),
    "addbmm": (lambda: torch.addbmm, (4, 3), (2, 4, 6), (2, 6, 3)),
    "baddbmm": (lambda: torch.baddbmm, (2, 4, 3), (2, 4, 6), (2, 6, 3)),
    "multi_dot": (lambda: lambda *each: torch.linalg.multi_dot(each), X, (6, 3), (3, 2)),
    "matrix_power": (lambda: lambda x: torch.linalg.matrix_power(x, 3), (4, 4)),
    "matrix_exp": (lambda: torch.linalg.matrix_exp, (4, 4)),
    "cov": (lambda: torch.cov, X),
    "sparse": (lambda: lambda x, y: torch.sparse.mm(x.to_sparse(), y), X, (6, 3)),
    "cdist of many": (lambda: torch.cdist, (30, 4), (31, 4)),
}


@pytest.mark.parametrize("phase", ["train", "eval"])
@pytest.mark.parametrize("name", MULTIPLY)
def test_what_multiplies_is_seen(name, phase):
    make, *shapes = MULTIPLY[name]
    assert seen(make(), *shapes, phase=phase)


@pytest.mark.parametrize("name", ["MultiheadAttention", "TransformerEncoderLayer"])
def test_so_are_the_fast_paths_of_inference(name):
    make, *shapes = MULTIPLY[name]

    class Inferring(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = make()

        def forward(self, *inputs):
            with torch.no_grad():
                return self.inner(*inputs)

    assert seen(Inferring(), *shapes, phase="eval")


NOTHING = {
    "BatchNorm2d": (lambda: nn.BatchNorm2d(3), PICTURES),
    "LayerNorm": (lambda: nn.LayerNorm(6), X),
    "GELU": (nn.GELU, X),
    "softmax": (lambda: lambda x: x.softmax(1), X),
    "logsumexp": (lambda: lambda x: x.logsumexp(1), X),
    "AvgPool2d": (lambda: nn.AvgPool2d(2), PICTURES),
    "MaxPool2d": (lambda: nn.MaxPool2d(2), PICTURES),
    "Unfold": (lambda: nn.Unfold(2), PICTURES),
    "interpolate": (lambda: lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), PICTURES),
    "mse_loss": (lambda: F.mse_loss, X, X),
    "outer": (lambda: torch.outer, (4,), (6,)),
    "kron": (lambda: torch.kron, X, X),
    "a sum of products": (lambda: lambda x, y: (x * y).sum(), X, X),
    "cdist of few": (lambda: torch.cdist, (3, 4), (5, 4)),
    "a sum of sparse ones": (lambda: lambda x: (x.to_sparse() + x.to_sparse()).to_dense(), X),
    "conversions": (lambda: lambda x: x.double().float(), X),
}


@pytest.mark.parametrize("name", NOTHING)
def test_what_multiplies_nothing_is_not(name):
    make, *shapes = NOTHING[name]
    assert not seen(make(), *shapes)


class Square(torch.autograd.Function):
    """x, with a gradient that is a matrix product."""

    @staticmethod
    def forward(_, x):
        return x.clone()

    @staticmethod
    def backward(_, cotangent):
        return cotangent @ cotangent.T @ cotangent


def test_a_product_in_the_backward_pass_alone_is_seen():
    assert seen(Square.apply, X)


def test_one_in_the_update_of_a_training_alone_is_seen():
    drawn = sample(normal(2, 5))
    for target in ("Elementwise", "Muon"):
        network = TorchTraining(f"tests.engine.parts.products_pt:{target}", {}, 1)
        assert multiplies(network, drawn, "train") is (target == "Muon")


def test_half_precision_is_seen_alike():
    drawn = sample(normal(*X), dtype="float16")
    assert multiplies(network(nn.Linear(6, 3)), drawn, "train")
    assert not multiplies(network(nn.GELU()), drawn, "train")


def test_a_network_that_catches_all_errors_is_seen():
    def product_or_not(x):
        try:
            return x @ x.T
        except Exception:
            return x

    assert seen(product_or_not, X)


def test_what_a_network_raises_by_itself_is_raised():
    def raising(_):
        raise RuntimeError("by itself")

    with pytest.raises(RuntimeError, match="by itself"):
        seen(raising, X)


OTHERS = {
    # In integers and fewer bits.
    "_dyn_quant_matmul_4bit",
    "_int_mm",
    "_scaled_mm",
    "_scaled_mm_v2",
    "_weight_int4pack_mm_for_cpu",
    "_weight_int8pack_mm",
    "quantized_gru",
    "quantized_lstm",
    # Of other devices.
    "_scaled_dot_product_fused_attention_overrideable",
    "_thnn_fused_gru_cell",
    "_thnn_fused_lstm_cell",
    "_triton_multi_head_attention",
    "_triton_scaled_dot_attention",
    # Of each pair of rows by itself, summed as it comes.
    "_cdist_forward",
    "_pdist_forward",
    "dist",
}
WORDS = ("conv", "mm", "matmul", "dot", "mv", "lstm", "gru", "rnn", "attention", "linear", "dist")
FALSE = ("backward", "cudnn", "miopen", "mps", "gamma", "cumm", "hamming", "upsample", "convert")
FALSE += ("linear_combination", "reorder", "flatten_weight")
KERNELS = (
    "CPU",
    "MkldnnCPU",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
)


def test_no_operator_that_multiplies_is_forgotten():
    """Of those that have a kernel of their own, forward: others arrive as what they are made of."""
    names, found = set(), set()
    for schema in torch._C._jit_get_all_schemas():
        space, _, name = schema.name.partition("::")
        full = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        if space == "aten" and torch._C._dispatch_has_kernel(full):
            names.add(name)
            made_of_others = has(full, "CompositeImplicitAutograd")
            if not made_of_others and any(has(full, key) for key in KERNELS):
                found.add(name.removesuffix("_"))
    assert names >= PRODUCT_OPERATORS
    likely = {name for name in found if any(word in name for word in WORDS)}
    likely = {name for name in likely if not any(other in name for other in FALSE)}
    assert likely - PRODUCT_OPERATORS <= OTHERS
    assert {"mm", "bmm", "addmm", "convolution", "mkldnn_rnn_layer"} <= found
    assert OTHERS.isdisjoint(PRODUCT_OPERATORS)

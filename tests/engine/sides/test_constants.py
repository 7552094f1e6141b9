"""Constant buffers: they keep what the constructor made, and rounding moves them as it is made."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.host.isolation import isolated
from equivalence.sample import Perturbed
from equivalence.sides.feed import Feed
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.sides.torch_modes import SkipInitialisation, Widened
from equivalence.sides.torch_network import TorchNetwork
from equivalence.sides.torch_noise import Noise
from equivalence.structure.weights import CONSTANT, UNSAVED, Slot, pair
from tests.engine.parts.small import case, sample

PT, MS = "tests.engine.parts.constants_pt:", "tests.engine.parts.constants_ms:"
U = 2.0**-24
X = normal(3, 4)


@pytest.fixture(autouse=True)
def isolation():
    with isolated():
        yield


def run(name, drawn=None, dtype="float32"):
    return TorchNetwork(PT + name, {}).run(drawn or sample(X), "train", dtype)


def outcome(candidate, reference="Tables", **twin):
    return check(case(PT + reference, MS + candidate, X, **twin), 0)


# --- PyTorch -------------------------------------------------------------------------------------


def test_slots_tell_constants_from_what_is_drawn():
    kinds = {n: slot.kind for n, slot in TorchNetwork(PT + "Tables", {}).slots().items()}
    assert kinds == {
        "linear.weight": "parameter",
        "linear.bias": "parameter",
        "norm.weight": "parameter",
        "norm.bias": "parameter",
        "frozen": "buffer",
        "norm.running_mean": "buffer",
        "norm.running_var": "buffer",
        "norm.num_batches_tracked": "buffer",
        "noise": "buffer",
        "mask": CONSTANT,
        "scale": CONSTANT,
        "order": UNSAVED,
    }


def test_what_a_constructor_computes_of_drawn_parameters_is_drawn():
    slots = TorchNetwork(PT + "Copying", {}).slots()
    assert slots["drawn"].kind == "buffer"
    assert slots["ones"].kind == CONSTANT
    slots = TorchNetwork(PT + "Spectral", {}).slots()
    assert {slot.kind for name, slot in slots.items() if "._" in name} == {"buffer"}


def test_a_draw_by_a_seed_of_its_own_is_a_draw():
    assert TorchNetwork(PT + "Seeded", {}).slots()["codes"].kind == "buffer"
    assert check(case(PT + "Seeded", MS + "Seeded", X), 0).passed
    wrong = check(case(PT + "Seeded", MS + "seeded_by_columns", X), 0).judgement
    assert "buffer:codes" in {verdict.name for verdict in wrong.differing}


NORMED = {
    "weight": "linear.parametrizations.weight.original",
    "bias": "linear.bias",
    "u": "linear.parametrizations.weight.0._u",
    "v": "linear.parametrizations.weight.0._v",
}


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_what_a_forward_pass_writes_starts_equal_and_is_compared_after(phase):
    def judged(candidate):
        return check(case(PT + "Spectral", MS + candidate, X, phase=phase, rename=NORMED), 0)

    assert judged("Spectral").passed
    wrong = judged("spectral_of_two_calls").judgement
    assert wrong.equal == (phase == "eval")
    if phase == "train":
        assert "buffer:linear.parametrizations.weight.0._u" in {v.name for v in wrong.differing}


def test_all_buffers_of_a_frozen_normalisation_are_drawn():
    frozen = "torchvision.ops.misc:FrozenBatchNorm2d"
    slots = TorchNetwork(frozen, {"num_features": 3}).slots()
    assert {slot.kind for slot in slots.values()} == {"buffer"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_constants_keep_their_values_between_runs_in_any_precision(dtype):
    network = TorchNetwork(PT + "Tables", {})
    first = network.run(sample(X), "train", dtype)
    network.run(sample(X, dtype="float16"), "train", "float16")
    network.run(Perturbed(sample(X), 0, U), "train", "float64")
    again = network.run(sample(X), "train", dtype)
    assert all(np.array_equal(first[name], again[name]) for name in first)
    assert np.array_equal(first["buffer:scale"], np.asarray(0.1, dtype))


def test_a_constant_that_a_run_changes_is_what_it_was_in_the_next():
    network = TorchNetwork(PT + "Counting", {})
    counts = [network.run(sample(X), "train", "float32")["buffer:count"] for _ in range(2)]
    assert counts == [1, 1]


def test_floating_constants_are_perturbed_and_exact_ones_are_not():
    truth = run("Tables", dtype="float64")
    moved = run("Tables", Perturbed(sample(X), 0, U), "float64")
    assert 0 < abs(moved["buffer:scale"] / truth["buffer:scale"] - 1.0) < 4 * U
    assert np.array_equal(moved["buffer:mask"], truth["buffer:mask"])
    assert np.array_equal(moved["buffer:order"], truth["buffer:order"])


def test_a_part_has_the_constants_of_the_whole():
    network = TorchNetwork(PT + "Nest", {})
    part = network.part("inner")
    assert part.slots()["mask"].kind == CONSTANT
    recorded = part.run(Perturbed(sample(X), 0, U), "train", "float64")
    assert 0 < abs(recorded["buffer:scale"] / 0.1 - 1.0) < 4 * U


def test_a_table_that_is_a_plain_attribute_is_as_exact_as_a_buffer():
    network = TorchNetwork(PT + "Attribute", {})
    network.run(sample(X), "train", "float64")
    assert torch.equal(network.module.table, torch.arange(4, dtype=torch.float64) / 10)
    network.run(sample(X), "train", "float32")
    assert torch.equal(network.module.table, torch.arange(4) / 10)


def test_buffers_are_filled_where_parameters_are_not():
    with SkipInitialisation():
        assert torch.empty(50).fill_(7.0).normal_().std() > 0.5
        weight = nn.init.normal_(nn.Parameter(torch.zeros(50)))
    assert not weight.any()


def test_sparse_tensors_have_no_storage_and_count_as_inputs():
    at, values = torch.tensor([[0, 2]]), torch.tensor([0.5, 2.0])
    with Noise(U, 0):
        made = torch.sparse_coo_tensor(at, values, (3,), check_invariants=True)
        doubled = (made * 2.0).coalesce()
    assert doubled.to_dense().tolist() == [1.0, 0.0, 4.0]


# --- MindSpore -----------------------------------------------------------------------------------


def test_a_constant_is_filled_where_initialisation_is_skipped():
    network = MindSporeNetwork(MS + "Initialised", {}, "pynative")
    reference = {"mask": Slot((4,), CONSTANT)}
    partners = pair(reference, network.slots(), {})
    recorded = network.run(Feed(sample(X), partners, "train", {"0": (3, 4)}))
    assert np.array_equal(recorded["buffer:mask"], np.ones(4, np.float32))


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_a_run_does_not_reach_the_constants_of_the_next(execution):
    network = MindSporeNetwork(MS + "Counting", {}, execution)
    partners = pair({"count": Slot((), CONSTANT)}, network.slots(), {})
    counts = [network.run(Feed(sample(X), partners, "train"))["buffer:count"] for _ in range(2)]
    assert counts == [1, 1]
    assert counts[0].dtype == np.int64


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_right_constants_pass(execution):
    assert outcome("Tables", execution=execution).judgement.equal


@pytest.mark.parametrize(
    ("candidate", "worst"),
    [
        ("OtherMask", "buffer:mask"),
        ("OtherOrder", "buffer:order"),
        ("OtherScale", "buffer:scale"),
    ],
)
def test_other_constants_are_refused(candidate, worst):
    differing = outcome(candidate).judgement.differing
    assert worst in {verdict.name for verdict in differing}


def test_a_constant_is_right_by_what_it_does_where_the_candidate_does_not_keep_it():
    kept_elsewhere = ("mask", "scale")
    assert outcome("Tensors", constants=kept_elsewhere).judgement.equal
    wrong = outcome("OtherTensors", constants=kept_elsewhere).judgement
    assert "output.0" in {verdict.name for verdict in wrong.differing}


def test_a_run_that_changes_a_constant_is_compared_after_it():
    assert outcome("Counting", "Counting").judgement.equal
    assert outcome("CountingTwice", "Counting").judgement.differing[0].name == "buffer:count"


# --- Precision -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.float(),
        lambda x: x.to(torch.float32),
        lambda x: x.type(torch.float32),
        lambda x: x.type("torch.FloatTensor"),
        lambda x: x.sum(dtype=torch.float32),
        lambda x: x.softmax(0, dtype=torch.float32),
        lambda x: torch.nn.functional.softmax(x, 0, dtype=torch.float32),
        lambda _: torch.arange(3, dtype=torch.float32),
        lambda _: torch.linspace(0, 1, 3),
        lambda _: torch.tensor([0.1]),
        lambda x: torch.polar(x.float(), x.float()).to(torch.complex64).real,
    ],
)
def test_float32_means_float64_in_a_float64_run(call):
    with Widened():
        assert call(torch.ones(3, dtype=torch.float64)).dtype == torch.float64
    assert torch.get_default_dtype() == torch.float32


def test_shorter_casts_round_nothing_in_the_truth_and_are_told():
    with Widened() as mode:
        assert torch.ones(3).to(torch.float32).dtype == torch.float64
        assert not mode.mixed
        assert torch.ones(3).half().dtype == torch.float64
        assert mode.mixed
    with Widened() as mode:
        assert torch.ones(3).to(torch.bfloat16).dtype == torch.float64
        assert mode.mixed


def test_the_truth_has_no_rounding_of_float32():
    truth, own = (run("Island", dtype=dtype)["output.0"] for dtype in ("float64", "float32"))
    assert truth.dtype == np.float64
    assert not np.array_equal(truth, own)


def rounded(call, *constants):
    with Noise(U, 0, constants=constants):
        return call()


def moves(call, *constants):
    """How far the mode moves the result, in roundings of each element."""
    with Widened():
        right, moved = call(), rounded(call, *constants)
    return ((moved - right) / right).abs().max().item() / U


EMPTY = [
    lambda: torch.empty(3, 4),
    lambda: torch.empty_like(torch.ones(3, 4)),
    lambda: torch.empty_permuted((3, 4), (1, 0)),
    lambda: torch.empty_strided((3, 4), (4, 1)),
    lambda: torch.ones(2).new_empty(3, 4),
    lambda: torch.ones(2).new_empty_strided((3, 4), (4, 1)),
]


@pytest.mark.parametrize("make", EMPTY)
def test_empty_memory_is_not_rounded(make, monkeypatch):
    monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", True)
    torch.use_deterministic_algorithms(True)  # which fills it with NaN
    try:
        made = rounded(make)
    finally:
        torch.use_deterministic_algorithms(False)
    assert made.isnan().all()


def test_what_depends_on_nothing_is_rounded():
    assert moves(lambda: torch.arange(1, 9) / 7) == pytest.approx(1.0, rel=0.01)
    assert moves(lambda: torch.tensor([0.1, 0.3])) == pytest.approx(1.0, rel=0.01)
    assert moves(lambda: torch.full((9,), 0.1).mul_(3)) > 0.5
    assert moves(lambda: (torch.arange(1.0, 9.0) / 7).view(2, 4).t().exp()) > 0.5


def test_moving_values_about_rounds_nothing():
    def stacked():
        angles = torch.arange(1, 9) / 7
        return torch.cat((angles, angles)).reshape(2, 8).clone()[1]

    assert moves(stacked) == pytest.approx(1.0, rel=0.01)


def test_whole_numbers_and_halves_are_exact():
    assert moves(lambda: torch.arange(1, 2**16, 8) / 2) == 0.0
    assert moves(lambda: torch.ones(3, 3).tril() - 10000.0) == 0.0


def test_the_largest_number_stays_finite():
    """A mask of the lowest number times zeros and ones, as in transformers."""

    def mask():
        lowest = torch.full((8, 8), torch.finfo(torch.float64).min)
        return lowest * torch.ones(8, 8, dtype=torch.bool).triu(1)

    with Widened():
        right, got = mask(), rounded(mask)
    assert torch.equal(right, got)


def bucket(distance):
    """The bucket of a distance in T5; whole numbers of a logarithm are next to another one."""
    return torch.log(distance / 8.0) / math.log(16.0) * 8.0


DECIDING = {
    "long": lambda: bucket(torch.tensor([16.0, 32.0, 64.0])).long(),
    "compared": lambda: bucket(torch.tensor([16.0, 32.0, 64.0])) >= torch.tensor([2.0, 4.0, 6.0]),
    "written": lambda: torch.zeros(3, dtype=torch.long).copy_(bucket(torch.tensor([16.0, 32, 64]))),
    "floor": lambda: torch.floor(bucket(torch.tensor([16.0, 32.0, 64.0]))),
    "floor_": lambda: bucket(torch.tensor([16.0, 32.0, 64.0])).floor_(),
    "divided": lambda: torch.div(bucket(torch.tensor([16.0, 32.0])), 2.0, rounding_mode="floor"),
    "argmax": lambda: (bucket(torch.tensor([[16.0, 32.0]])) * torch.tensor([2.0, 1.0])).argmax(1),
    "of a view": lambda: bucket(torch.tensor([[16.0, 32.0], [64.0, 16.0]])).t()[1].long(),
    "in place": lambda: (
        torch.empty(3).copy_(bucket(torch.tensor([16.0, 32.0, 64.0]))).mul_(1).long()
    ),
    "out": lambda: torch.mul(bucket(torch.tensor([16.0, 32])), 3.0, out=torch.empty(2)).long(),
}


@pytest.mark.parametrize("decide", DECIDING.values(), ids=DECIDING)
def test_what_constants_decide_is_not_rounded(decide):
    with Widened():
        right = decide()
        for seed in range(8):
            with Noise(U, seed):
                assert torch.equal(decide(), right)


def test_what_is_decided_before_a_value_is_rounded_stays_decided():
    def shifted():
        steps = bucket(torch.tensor([16.0, 32.0, 64.0]))
        return steps.long() + 0.3 * steps

    assert 0.0 < moves(shifted) < 4.0


def test_a_draw_is_made_once():
    def drawn():
        torch.manual_seed(0)
        torch.bernoulli(torch.full((64,), 0.3))
        return torch.get_rng_state()

    with Widened():
        right, got = drawn(), rounded(drawn)
    assert torch.equal(got, right)


def test_memory_of_tables_that_are_gone_is_freed():
    with Widened(), Noise(U, 0) as mode:
        for _ in range(9):
            torch.arange(1.0, 9.0).log().exp()
    assert len(mode._twins) <= 3


def test_a_constant_buffer_is_no_input():
    table = torch.rand(5, dtype=torch.float64)
    assert moves(lambda: table * 3.7, table) == pytest.approx(1.0, rel=0.01)

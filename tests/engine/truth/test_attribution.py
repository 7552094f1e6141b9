"""Cases with activations near a kink: right candidates pass whatever branch, wrong ones never."""

import itertools

import numpy as np
import pytest
import torch.nn.functional as F
from torch import nn

from equivalence.comparison import excuses, kept
from equivalence.comparison.check import check
from equivalence.comparison.kept import reference
from equivalence.declare.draws import normal
from equivalence.host.isolation import isolated
from equivalence.judge import verdict
from equivalence.judge.excuses import BRANCH_FLIPS
from equivalence.judge.precision import BUDGET
from equivalence.kinks import watch as watching
from equivalence.kinks.watch import MANY, KinkWatch
from equivalence.sides.torch_network import TorchNetwork
from equivalence.truth import compute as truth
from equivalence.truth import explained, flips
from equivalence.truth.flips import ChosenBranches
from tests.engine.parts import networks_ms
from tests.engine.parts.small import MS, case

HERE = f"{__name__}:"


class Unbiased(nn.Module):
    """Convolutions without bias, each with its ReLU: no shift moves a sample off the kinks."""

    def __init__(self, layers, planes):
        super().__init__()
        widths = [2] + [planes] * layers
        self.convs = nn.ModuleList(
            [nn.Conv2d(i, o, 3, bias=False) for i, o in itertools.pairwise(widths)]
        )

    def forward(self, x):
        for conv in self.convs:
            x = F.relu(conv(x))
        return x


class UnbiasedPooled(Unbiased):
    """A max pooling behind a convolution."""

    def forward(self, x):
        return F.max_pool2d(self.convs[0](x), 2)


class Rounded(Unbiased):
    """The square of a convolution in steps of an eighth, whose gradient is that without steps."""

    def forward(self, x):
        x = self.convs[0](x)
        return (x + ((8 * x).round() / 8 - x).detach()).square()


@pytest.fixture(autouse=True)
def isolation(monkeypatch):
    monkeypatch.setattr(kept, "_references", [])
    with isolated():
        yield


# Flips that happen: in half precision some activations are always near.

HALF = case(
    HERE + "Unbiased",
    MS + "Unbiased",
    normal(2, 2, 20, 22),
    config={"layers": 2, "planes": 2},
    dtype="float16",
)


@pytest.mark.parametrize("seed", range(4))
def test_a_network_that_no_draw_moves_off_its_kinks_is_judged_all_the_same(seed):
    outcome = check(HALF, seed)
    near = reference(HALF, seed).expected.near
    assert 0 < len(near) <= MANY
    assert outcome.passed
    assert set(outcome.flips) <= set(near)


def test_flips_of_the_reference_itself_are_explained(monkeypatch):
    """Where they seem to lose a tensor."""
    monkeypatch.setattr(verdict, "HALF", 0.01)
    known = [reference(HALF, seed).expected["gradient:input[0]"] for seed in range(4)]
    assert all(max(each.own_error, each.own_worst) < BUDGET for each in known)
    monkeypatch.setattr(truth, "explain", lambda *_: None)
    monkeypatch.setattr(kept, "_references", [])
    left = [reference(HALF, seed).expected["gradient:input[0]"] for seed in range(4)]
    assert any(known.own_needed > BUDGET for known in left)


FLIPS_ITSELF = 1
"""A seed for which the reference's own run of `HALF` takes another branch, and so the candidate."""


def test_the_flips_of_the_reference_itself_are_not_looked_for_where_the_candidate_is_right(
    monkeypatch,
):
    last = list(kept.looks(HALF, FLIPS_ITSELF))[-1].expected["gradient:input[0]"]
    assert last.own_needed > BUDGET
    monkeypatch.setattr(truth, "explain", None)
    outcome = check(HALF, FLIPS_ITSELF)
    assert outcome.passed
    assert outcome.flips


@pytest.mark.parametrize(("crowded", "redraw"), [(truth.CROWDED, 0), (MANY, 3)])
def test_a_sample_with_many_activations_near_a_kink_is_not_drawn_again(
    monkeypatch, crowded, redraw
):
    monkeypatch.setattr(truth, "CROWDED", crowded)
    for seed in range(4):
        assert reference(HALF, seed).sample.redraw == redraw, seed


def test_flips_of_probes_are_no_sensitivity(monkeypatch):
    """With the near activations left free, the jumps of the probes would excuse any defect."""
    name = "gradient:input[0]"
    held = [reference(HALF, seed).expected[name].spread_peak for seed in range(4)]
    monkeypatch.setattr(kept, "_references", [])
    monkeypatch.setattr(flips, "ChosenBranches", lambda _: ChosenBranches(()))
    free = [reference(HALF, seed).expected[name].spread_peak for seed in range(4)]
    assert max(free) > 20 * max(held)


def test_near_activations_are_held_wherever_rounding_is_measured(monkeypatch):
    calls, held = [], flips.hold_branches

    def recorded(*arguments):
        calls.append(arguments)
        return held(*arguments)

    monkeypatch.setattr(flips, "hold_branches", recorded)
    near = next(near for seed in range(9) if (near := reference(HALF, seed).expected.near))
    assert {arguments[0] for arguments in calls if arguments[0]} == {near}
    assert sum(arguments == (near,) for arguments in calls) == truth.MORE_RUNS


# Flips on purpose: in single precision, the candidate moved across the kink by few roundings.


@pytest.fixture
def unsettled(monkeypatch):
    """The first draw is kept as it is, and near reaches so far that some activations are."""
    monkeypatch.setattr(TorchNetwork, "settle", lambda *_: None)
    monkeypatch.setattr(truth, "MAX_DRAWS", 1)
    monkeypatch.setattr(watching, "SAFE", 50.0)
    monkeypatch.setattr(watching, "FAR", 50.0)


def flipping(monkeypatch, candidate, compared, seed, count=1):
    """Makes the candidate flip the farthest of the near activations of every operator, `count`
    in all, and keep the branch of the others; the flips."""
    known = reference(compared, seed)
    near = known.expected.near
    assert near
    farthest = {flip.place: flip for flip in sorted(near, key=lambda flip: abs(flip.value))}
    chosen = tuple(farthest.values())[:count]
    assert len(chosen) == count
    (batch, _, height, width), nudges = known.sample.inputs()[0].shape, {}
    for flip in near:
        lost = 2 + 2 * flip.place
        shape = (batch, compared.config["planes"], height - lost, width - lost)
        nudge = nudges.setdefault(flip.place, np.zeros(shape, np.float32))
        if flip.operator in ("relu", "round"):
            value = flip.value if flip.operator == "relu" else flip.value / 8
            nudge[flip.index] = (
                -value - np.copysign(1e-6, value) if flip in chosen else np.copysign(1e-6, value)
            )
        else:
            winner = flip.other if flip in chosen else flip.taken
            nudge.reshape(-1)[winner] = 2.0 * flip.value if flip in chosen else 1e-6
    monkeypatch.setattr(getattr(networks_ms, candidate), "nudges", nudges)
    return chosen


def unbiased(name="Unbiased", layers=1, planes=64, size=100):
    config = {"layers": layers, "planes": planes}
    return case(HERE + name, MS + name, normal(1, 2, size, size - 1), config=config)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("unsettled")
def test_a_flip_is_explained_by_that_flip_alone(monkeypatch, seed):
    chosen = flipping(monkeypatch, "Unbiased", unbiased(), seed)
    outcome = check(unbiased(), seed)
    assert outcome.flips == chosen
    assert outcome.passed
    assert "branch_flips" in outcome.excuses
    assert outcome.judgement.needed <= BUDGET


@pytest.mark.usefixtures("unsettled")
def test_a_flip_of_an_activation_that_did_not_seem_near_is_explained_too(monkeypatch):
    # Perturbed runs may move an activation by less than rounding does.
    chosen = flipping(monkeypatch, "Unbiased", unbiased(), 0)
    monkeypatch.setattr(kept, "_references", [])
    nearest = KinkWatch.nearest

    def far_alone(watch, spreads, most=MANY, wider=None):
        return nearest(watch, spreads, most, wider) if wider else []

    monkeypatch.setattr(KinkWatch, "nearest", far_alone)
    assert reference(unbiased(), 0).expected.near == ()
    outcome = check(unbiased(), 0)
    assert outcome.flips == chosen
    assert outcome.passed
    assert "branch_flips" in outcome.excuses

    monkeypatch.setattr(kept, "_references", [])
    monkeypatch.setattr(KinkWatch, "nearest", lambda *_: [])
    assert not check(unbiased(), 0).passed


@pytest.mark.usefixtures("unsettled")
def test_the_same_candidate_is_red_without_attribution(monkeypatch):
    flipping(monkeypatch, "Unbiased", unbiased(), 0)
    acts = tuple(act for act in excuses.ACTS if act[0] is not BRANCH_FLIPS)
    monkeypatch.setattr(excuses, "ACTS", acts)
    outcome = check(unbiased(), 0)
    assert {v.name for v in outcome.judgement.differing} == {
        "gradient:input[0]",
        "gradient:convs.0.weight",
    }
    assert outcome.judgement.ill_posed is None
    assert outcome.flips == ()


def one_wrong_element(values):
    values.reshape(-1)[values.size // 2] += 0.1


DEFECTS = {
    "scaled": ("gradient:convs.0.weight", lambda values: np.multiply(values, 1.001, out=values)),
    "lost": ("gradient:convs.0.weight", lambda values: values.fill(0.0)),
    "one wrong element": ("gradient:input[0]", one_wrong_element),
    "one wrong output": ("output.0", one_wrong_element),
}


@pytest.mark.parametrize("defect", DEFECTS)
@pytest.mark.parametrize("flipped", [True, False])
@pytest.mark.usefixtures("unsettled")
def test_no_flip_excuses_a_defect(monkeypatch, defect, flipped):
    from equivalence.sides.mindspore_network import MindSporeNetwork

    name, spoil = DEFECTS[defect]
    run = MindSporeNetwork.run

    def spoiled(*arguments):
        recorded = run(*arguments)
        spoil(recorded[name])
        return recorded

    monkeypatch.setattr(MindSporeNetwork, "run", spoiled)
    if flipped:
        flipping(monkeypatch, "Unbiased", unbiased(), 0)
    outcome = check(unbiased(), 0)
    assert reference(unbiased(), 0).expected.near
    assert not outcome.passed
    assert outcome.flips == ()


@pytest.mark.usefixtures("unsettled")
def test_a_tie_in_a_max_pooling_is_explained_by_its_window(monkeypatch):
    tied = unbiased("UnbiasedPooled")
    chosen = flipping(monkeypatch, "UnbiasedPooled", tied, 0)
    outcome = check(tied, 0)
    assert outcome.flips == chosen
    assert outcome.passed
    assert "branch_flips" in outcome.excuses
    assert str(outcome.flips[0]).startswith("max_pool2d at (0, ")


@pytest.mark.usefixtures("unsettled")
def test_two_flips_at_once_are_both_named_the_one_before_first(monkeypatch):
    deep = unbiased(layers=2, planes=48, size=90)
    chosen = flipping(monkeypatch, "Unbiased", deep, 1, count=2)
    outcome = check(deep, 1)
    assert outcome.flips == tuple(sorted(chosen, key=lambda flip: flip.place))
    assert [flip.place for flip in outcome.flips] == [0, 1]
    assert [str(flip).split(" at ")[0] for flip in outcome.flips] == [
        "relu (1st call)",
        "relu (2nd call)",
    ]
    assert outcome.passed


@pytest.mark.usefixtures("unsettled")
def test_a_case_that_passes_runs_nothing_more(monkeypatch):
    monkeypatch.setattr(truth, "explain", None)
    monkeypatch.setattr(explained, "explain", None)
    known = reference(unbiased(), 0)
    assert known.expected.near
    assert check(unbiased(), 0).passed


def rounded(candidate="Rounded", **given):
    config = {"layers": 1, "planes": 4}
    return case(HERE + "Rounded", MS + candidate, normal(1, 2, 100, 99), config=config, **given)


@pytest.mark.usefixtures("unsettled")
def test_another_step_of_a_rounding_is_explained_with_all_that_follows_it(monkeypatch):
    assert check(rounded(), 0).flips == ()
    chosen = flipping(monkeypatch, "Rounded", rounded(), 0)
    assert chosen[0].operator == "round"
    outcome = check(rounded(), 0)
    assert outcome.flips == chosen
    assert outcome.passed
    assert "branch_flips" in outcome.excuses

    monkeypatch.setattr(excuses, "ACTS", [a for a in excuses.ACTS if a[0] is not BRANCH_FLIPS])
    differing = {v.name for v in check(rounded(), 0).judgement.differing}
    assert differing == {"output.0", "gradient:input[0]", "gradient:convs.0.weight"}


@pytest.mark.usefixtures("unsettled")
def test_no_step_excuses_another_rounding_or_steps_that_are_far(monkeypatch):
    assert not check(rounded("Floored"), 0).passed
    near = reference(rounded(), 0).expected.near
    nudges = np.zeros((1, 4, 98, 97), np.float32)
    nudges[0, 1, 2, 3] = 0.125  # a whole step, of a value that rounding does not move
    assert near
    assert all(flip.index != (0, 1, 2, 3) for flip in near)
    monkeypatch.setattr(networks_ms.Rounded, "nudges", {0: nudges})
    outcome = check(rounded(), 0)
    assert not outcome.passed
    assert outcome.flips == ()


def test_perturbed_runs_take_the_steps_of_the_truth_unless_there_are_many(monkeypatch):
    half = rounded(dtype="float16")
    many = next(kept.looks(half, 0)).expected["output.0"]
    assert many.spread_peak > 0.1  # a step, of values of a few units
    monkeypatch.setattr(kept, "_references", [])
    monkeypatch.setattr(KinkWatch, "rounds_many", lambda *_: False)
    held = next(kept.looks(half, 0)).expected["output.0"]
    assert held.spread_peak < 0.05  # what is rounded beside the step

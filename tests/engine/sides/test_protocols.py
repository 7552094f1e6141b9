"""Each side has all verbs and data of its Protocol; mypy holds their types."""

import re
from pathlib import Path

import pytest

from equivalence.comparison import sides
from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin, cases
from equivalence.record.candidates import KeptCandidate, ReplayedCandidate
from equivalence.sides.protocols import CandidateSide, ReferenceSide

NETWORK = Twin("relu", "torch.nn:ReLU", "mindspore.nn:ReLU", [normal(4, 8)])
TRAINING = Twin(
    "scaled",
    reference="pt_reference.precision:scaled_step",
    candidate="ms_models.precision:scaled_step",
    configs=[{"learning_rate": 30.0, "loss_weight": 1e-7, "loss_scale": 2.0**20}],
    inputs=[normal(4, 12), integers(4, high=5)],
    phases=("train",),
    steps=1,
)
UNIT = 2.0**-24


def verbs(protocol):
    """The names of what a Protocol asks for."""
    return {n for n in (*vars(protocol), *protocol.__annotations__) if not n.startswith("_")}


def case(twin):
    return next(cases(twin, "cpu"))


def lacks(side, protocol):
    return sorted(name for name in verbs(protocol) if not hasattr(side, name))


def kept(tmp_path):
    one = case(NETWORK)
    return KeptCandidate(tmp_path, one, 0, UNIT, lambda: sides.build_candidate(one))


def replayed(tmp_path):
    rest = {"slots": {}, "random_layers": [], "versions": {"numpy": "1.26.4"}}
    return ReplayedCandidate(case(NETWORK), tmp_path, {}, rest)


@pytest.mark.parametrize("twin", [NETWORK, TRAINING], ids=lambda twin: twin.name)
def test_networks_and_trainings_have_all_that_a_side_has(twin):
    one = case(twin)
    assert lacks(sides.build_reference(one), ReferenceSide) == []
    candidate = sides.build_candidate(one)
    assert lacks(candidate, CandidateSide) == []
    assert candidate.built is candidate


@pytest.mark.parametrize("made", [kept, replayed])
def test_recorded_candidates_have_all_that_a_side_has(tmp_path, made):
    assert lacks(made(tmp_path), CandidateSide) == []


def test_what_a_side_lacks_it_says_by_a_value(tmp_path):
    network, step = (sides.build_reference(case(twin)) for twin in (NETWORK, TRAINING))
    assert (network.step, network.steps, network.moved) == (None, None, None)
    assert network.root is network.module
    assert step.root is step.step
    assert step.root is not step.module
    assert sides.build_candidate(case(NETWORK)).step is None
    assert replayed(tmp_path).built is None


def test_a_verb_that_is_missing_is_seen():
    assert "run" in lacks(object(), CandidateSide)
    assert "steps" in lacks(object(), ReferenceSide)


def test_no_type_is_ignored_without_its_code_and_a_reason():
    room = Path(__file__).parents[3] / "equivalence"
    lines = [line for file in room.rglob("*.py") for line in file.read_text("utf-8").splitlines()]
    ignored = [line.strip() for line in lines if "type: ignore" in line]
    assert ignored
    odd = [line for line in ignored if not re.search(r"# type: ignore\[[a-z-]+\]  # \w", line)]
    assert odd == []

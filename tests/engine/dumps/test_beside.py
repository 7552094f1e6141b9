"""What a pair is, with and without the original, and the verdict on all pairs."""

from pathlib import Path

import pytest

from equivalence.dumps.beside import NOT_JUDGED, RIGHT, WRONG, ArrayPair, Beside
from equivalence.dumps.judged import JudgedRun
from equivalence.dumps.read import Dump
from equivalence.dumps.relation import BITS, OTHER, STORAGE, WITHIN, Relation

NAME = "step0/fc/forward.0.output.0"


def beside(kind, errors=None, missing=(), mode="pynative", name=NAME):
    """One pair of a kind. errors: of both sides in roundings; None where one is not judged."""
    dumps = Dump(Path("a"), {}), Dump(Path("b"), {}, made={"mode": mode})
    judged = errors and tuple(JudgedRun({} if e is None else {name: e}) for e in errors)
    return Beside(*dumps, (ArrayPair(name, name, Relation(kind)),), tuple(missing), (), judged)


@pytest.mark.parametrize(
    ("kind", "errors", "told", "verdict"),
    [
        (BITS, None, BITS, "EQUAL AS STORED"),
        (STORAGE, None, STORAGE, "EQUAL AS STORED"),
        (WITHIN, None, WITHIN, "UNDECIDED"),
        (OTHER, None, OTHER, "DIFFERENT"),
        (OTHER, (1.0, 7.9), RIGHT, "EQUAL"),
        (OTHER, (1.0, 8.1), WRONG, "DIFFERENT"),
        (OTHER, (9.0, 1.0), WRONG, "DIFFERENT"),
        (BITS, (9.0, 9.0), WRONG, "DIFFERENT"),
        (WITHIN, (1.0, None), WITHIN, "UNDECIDED"),
        (OTHER, (1.0, None), NOT_JUDGED, "DIFFERENT"),
        (OTHER, (None, None), NOT_JUDGED, "DIFFERENT"),
    ],
)
def test_a_pair_and_the_verdict(kind, errors, told, verdict):
    found = beside(kind, errors)
    assert found.kind(found.pairs[0]) == told
    assert found.verdict == verdict
    assert found.equal == verdict.startswith("EQUAL")


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("step0/loss.0", "EQUAL"),
        ("step0/backward.0.output.0", "EQUAL"),
        ("step0/weights/fc.weight", "UNDECIDED"),
        ("step0/fc/forward.0.input.0", "UNDECIDED"),
    ],
)
def test_a_loss_within_rounding_of_storage_is_right_and_moved_weights_are_not(name, verdict):
    found = beside(WITHIN, (None, None), name=name)
    assert found.verdict == verdict
    assert beside(OTHER, (None, None), name=name).verdict == "DIFFERENT"


def test_what_a_compiled_run_could_not_record_makes_no_difference():
    layers = [
        "step0/conv/forward.0.output.0",
        "step0/conv/backward.0.output.0",
        "step0/gradients/w",
    ]
    found = beside(BITS, missing=layers, mode="graph")
    assert found.equal
    assert found.alone[0][1:] == ([], layers)
    assert not beside(BITS, missing=layers).equal


@pytest.mark.parametrize("name", ["step0/forward.0.output.0", "start/weights/w", "step0/loss.0"])
def test_what_a_compiled_run_records_too_does(name):
    found = beside(BITS, missing=[name], mode="graph")
    assert found.verdict == "DIFFERENT"
    assert beside(WITHIN, missing=[name]).verdict == "DIFFERENT"

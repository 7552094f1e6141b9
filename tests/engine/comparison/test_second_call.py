"""A candidate that keeps state between its calls is red, and is said to keep it."""

import json

import pytest

from equivalence.comparison import kept, second_call
from equivalence.comparison.check import check
from equivalence.comparison.sides import draw
from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin, TwinCase
from equivalence.diagnosis import causes
from equivalence.diagnosis.diagnose import diagnose
from equivalence.errors import SideError
from equivalence.host.isolation import isolated
from equivalence.record.codec import decode, encode
from equivalence.report import text
from equivalence.report.answer import AnsweredCase, answer
from equivalence.report.text import summary
from tests.engine.parts.small import case

REFERENCE = "pt_reference.random_layers:Residual"
WRONG = "tests.defects.random_candidates:"
HERE = "tests.engine.comparison.test_second_call:"


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


def residual(candidate: str, **options):
    return case(
        REFERENCE, candidate, normal(4, 3, 8), phase="eval", random_layers=("DropPath",), **options
    )


@pytest.mark.parametrize("name", ["CachedWeight", "Counting", "GrowingCache", "FirstScale"])
def test_state_between_calls_is_seen_and_said(name, monkeypatch):
    outcome = check(residual(WRONG + name), 0)
    assert not outcome.passed
    assert outcome.note == second_call.KEEPS.format("the candidate", "")
    monkeypatch.setattr(second_call, "prepare", lambda *_: None)
    assert check(residual(WRONG + name), 0).passed


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_state_beside_an_inaccurate_kernel_is_said_too(phase):
    squashed = "tests.engine.parts.kernels_pt:Squashed", normal(4, 6, scale=3.0)
    late = case(squashed[0], "tests.engine.parts.kernels_ms:Late", squashed[1], phase=phase)
    outcome = check(late, 0)
    assert not outcome.passed
    assert outcome.note == second_call.KEEPS.format("the candidate", "")
    (culprit,) = diagnose(late, 0).culprits
    assert culprit.statement.endswith("  y = y / self.calls")
    assert culprit.causes[0] == causes.KEPT
    wrong = case(squashed[0], "tests.engine.parts.kernels_ms:Mixed", squashed[1], phase=phase)
    assert check(wrong, 0).note != outcome.note


def test_a_graph_that_keeps_state_is_said_to():
    padded = HERE + "reference_padded", HERE + "padded", normal(2, 4)
    assert check(case(*padded), 0).passed
    outcome = check(case(*padded, execution="graph"), 0)
    assert not outcome.passed
    graph = "the candidate, or the graph that MindSpore compiles of it,"
    assert outcome.note == second_call.KEEPS.format(graph, "")


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_a_candidate_without_state_passes(execution):
    outcome = check(residual("ms_models.random_layers:Residual", execution=execution), 0)
    assert outcome.passed
    assert outcome.note is None


def test_values_that_neither_side_takes_are_no_mistake_of_the_candidate(monkeypatch):
    # The second draw alone has a label 5 for five classes.
    inputs, config = (normal(5, 5), integers(5, high=6)), {"reduction": "sum"}
    sides = "torch.nn:NLLLoss", "mindspore.mint.nn:NLLLoss"
    twin = Twin("mint_nllloss", *sides, inputs, configs=(config,))
    loss = TwinCase(twin, config, "train", "float32", "pynative", "cpu")
    assert max(draw(loss, 0).inputs()[1]) < 5
    with pytest.raises(SideError) as error:
        check(loss, 0)
    assert error.value.side == "reference"
    assert str(error.value).endswith(
        "Target 5 is out of bounds.; another draw of the inputs gave values that neither side takes"
    )
    monkeypatch.setattr(second_call, "_demand_taken", lambda *_: None)
    with pytest.raises(SideError, match="the candidate raised ValueError"):
        check(loss, 0)


def test_what_is_wrong_in_every_call_keeps_no_state():
    outcome = check(residual("ms_models.random_layers:Residual", config={"p": 0.2}), 0)
    assert outcome.passed
    outcome = check(residual(HERE + "doubled"), 0)
    assert not outcome.passed
    assert outcome.note is None


KEPT = "tests.engine.parts.kept_pt:", "tests.engine.parts.kept_ms:"
OWN = "the port writes {} when it runs, state that the original does not have: "


def counted(reference: str, candidate: str, constants: tuple[str, ...] = ("calls",), **options):
    pair = KEPT[0] + reference, KEPT[1] + candidate, normal(2, 4)
    return case(*pair, constants=constants, **options)


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_what_is_kept_in_a_parameter_of_its_own_shows_in_a_later_call(execution, monkeypatch):
    outcome = check(counted("scaled", "Counting", execution=execution), 0)
    assert not outcome.passed
    keeper = second_call.KEEPERS[execution]
    assert outcome.note == second_call.KEEPS.format(keeper, ", in calls")
    assert outcome.states[0].startswith(OWN.format("calls"))
    monkeypatch.setattr(second_call, "prepare", lambda *_: None)
    assert check(counted("scaled", "Counting", execution=execution), 0).passed


def test_what_is_kept_in_a_buffer_of_its_own_shows_too():
    outcome = check(counted("scaled", "Buffered", ()), 0)
    assert not outcome.passed
    assert outcome.note == second_call.KEEPS.format("the candidate", ", in calls")


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_a_count_to_no_end_is_told(execution):
    outcome = check(counted("Plain", "Silent", execution=execution), 0)
    assert outcome.passed
    (told,) = outcome.states
    assert told.startswith(OWN.format("calls"))
    (first, *after) = answer([AnsweredCase(outcome)]).lines()
    assert first.startswith("EQUAL")
    assert any(line.startswith("The port writes calls when it runs") for line in after)
    (line, *_) = map(json.loads, text.lines(outcome))
    assert line["states"] == [told]
    assert "states    1 case, in which one side alone keeps some" in summary([line])


def test_a_count_of_the_original_alone_is_told():
    outcome = check(counted("Buffer", "Plain", ("seen",)), 0)
    assert outcome.passed
    (told,) = outcome.states
    assert told.startswith("the original writes seen when it runs, state that the port does not")


def test_what_is_written_before_it_is_read_changes_nothing():
    outcome = check(counted("Plain", "Workspace", ("space",)), 0)
    assert outcome.passed
    assert outcome.states[0].startswith(OWN.format("space"))


def test_a_candidate_begins_as_a_reference_does_that_counts_in_an_attribute():
    outcome = check(counted("Attribute", "Counting"), 0)
    assert outcome.passed
    reference = kept.reference(counted("Attribute", "Counting"), 0)
    assert reference.written == ("calls",)
    sample = kept.CaseAtSeed(outcome.case, 0).sample()
    again = decode(*encode(reference), sample)
    assert again.written == ("calls",)
    assert again.sample.forgets
    assert not check(counted("scaled", "Counting"), 0).passed


def test_nothing_is_told_of_sides_that_keep_nothing():
    assert check(counted("Plain", "Plain", ()), 0).states == ()


def doubled():
    """Wrong whatever was called before."""
    from tests.engine.parts.doubled import Doubled

    return Doubled()


def reference_padded():
    """N,C -> N,C+2."""
    from torch.nn import functional

    return lambda x: functional.pad(2 * x, (0, 2))


def padded():
    """The same; its gradient in a graph is right in the first call only."""
    from tests.engine.parts.doubled import Padded

    return Padded()

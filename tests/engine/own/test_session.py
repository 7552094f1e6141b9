"""The steps of a comparison leave the process as it was, and say what takes long."""

import logging
import math
import os
from dataclasses import replace

import mindspore as ms
import pytest

from equivalence import Twin, normal
from equivalence.comparison import kept
from equivalence.errors import DeclarationError, SideError, WeightError
from equivalence.own.session import Session

LINEAR = Twin(
    "linear",
    "torch.nn:Linear",
    "mindspore.mint.nn:Linear",
    [normal(4, 6)],
    configs=[{"in_features": 6, "out_features": 3}],
    phases=("eval",),
)


@pytest.fixture
def restored_level():
    """Puts the level of MindSpore's logger back."""
    logger = ms.log._get_logger()
    level = logger.level
    yield
    logger.setLevel(level)


def test_every_case_is_checked_and_announced():
    told = []
    session = Session(LINEAR, tell=told.append)
    session.structure()
    verdicts = list(session.verdicts())
    assert all(verdict.outcome.passed for verdict in verdicts)
    assert [line.partition(", about")[0] for line in told] == [  # a slow machine tells the rest
        "building both networks",
        "1 of 2: linear-in_features6-out_features3-eval-float32-pynative-cpu",
        "2 of 2: linear-in_features6-out_features3-eval-float32-graph-cpu",
    ]


def test_after_a_green_further_samples_are_tried_for_a_while_or_all(monkeypatch):
    asked = []

    def noted(_, verdicts, seconds):
        asked.append((len(verdicts), seconds))
        return None, None

    monkeypatch.setattr(Session, "further", noted)
    session = Session(LINEAR)
    session.structure()
    session.all_verdicts()
    session.all_verdicts(thorough=True)
    (given, seconds), (_, every) = asked
    assert given == 2
    assert 5.0 <= seconds < every == math.inf


def test_where_the_time_ran_out_it_is_told():
    session = Session(replace(LINEAR, executions=("pynative",)))
    session.structure()
    found, shown = Session.further.__wrapped__(session, [*session.verdicts()], 0.0)
    assert shown is None
    assert found.ended


@pytest.fixture
def outcomes_of(own, monkeypatch):
    """Compares a port with its original; the outcome of each case, by the end of its name."""
    monkeypatch.syspath_prepend(own)

    def compare(candidate):
        twin = Twin("net", "nets:Net", f"ports:{candidate}", [normal(2, 4)])
        session = Session(twin)
        session.structure()
        return {v.outcome.case.name.partition("-")[2]: v.outcome for v in session.verdicts()}

    yield compare
    kept.forget()


def test_a_network_that_the_compiler_refuses_is_red_in_graph_mode_alone(outcomes_of):
    outcomes = outcomes_of("Uncompiled")
    assert [name for name, each in outcomes.items() if not each.passed] == [
        "train-float32-graph-cpu",
        "eval-float32-graph-cpu",
    ]
    assert outcomes["train-float32-pynative-cpu"].error is None
    error = outcomes["eval-float32-graph-cpu"].error
    assert "the candidate raised RuntimeError: Unsupported statement 'ClassDef'." in error
    assert "ports.py:" in error
    assert "C++" not in error
    assert "https" not in error


def test_a_network_that_cannot_train_is_red_in_training_alone(outcomes_of):
    outcomes = outcomes_of("Untrained")
    assert {name for name, each in outcomes.items() if each.error} == {
        "train-float32-pynative-cpu",
        "train-float32-graph-cpu",
    }
    assert outcomes["eval-float32-pynative-cpu"].passed
    assert outcomes["eval-float32-graph-cpu"].passed


def test_a_network_that_runs_in_no_case_is_an_error(outcomes_of):
    with pytest.raises(SideError, match=r"train-float32-pynative-cpu: .* not ported yet"):
        outcomes_of("Failing")


def test_the_process_is_as_before_between_the_steps(restored_level):  # noqa: ARG001
    logger = ms.log._get_logger()
    logger.setLevel(logging.WARNING)
    before = os.getcwd(), ms.get_context("mode"), logger.level
    session = Session(LINEAR)
    session.structure()
    assert (os.getcwd(), ms.get_context("mode"), logger.level) == before
    for _ in session.verdicts():
        assert (os.getcwd(), ms.get_context("mode"), logger.level) == before
    kept.forget()


def test_mindspore_warns_of_nothing_that_the_suite_itself_does(restored_level):  # noqa: ARG001
    logger, told = ms.log._get_logger(), []
    logger.setLevel(logging.WARNING)
    logger.addFilter(told.append)
    try:
        session = Session(LINEAR)
        session.structure()
        assert [*session.verdicts()]
    finally:
        logger.removeFilter(told.append)
    kept.forget()
    assert [each.getMessage() for each in told] == []


def test_dropout_is_pinned_only_where_it_is_and_nothing_else_is_declared():
    def structure(**fields):
        twin = Twin("drop", "torch.nn:Dropout", "mindspore.nn:Dropout", [normal(9)], **fields)
        session = Session(twin)
        return session.structure().draws, session.twin.random_layers

    assert structure() == (("",), "eval")
    assert structure(phases=("eval",)) == ((), None)
    assert structure(random_layers=["Dropout"]) == (("",), ("Dropout",))


def test_weights_without_partners_leave_the_settings_to_be_seen():
    twin = Twin(
        "norm", "torch.nn:LayerNorm", "mindspore.nn:BatchNorm1d", [normal(4, 6)], configs=[{}]
    )
    with pytest.raises(DeclarationError, match="does not take"):
        Session(twin).structure()
    both = {"reference": "torch.nn:BatchNorm1d", "candidate": "mindspore.nn:BatchNorm1d"}
    twin = Twin("norm", **both, inputs=[normal(4, 6)], configs=[{"num_features": 6}])
    twin = Twin("norm", **both, inputs=twin.inputs, configs=twin.configs, rename={"gamma": "g"})
    structure = Session(twin).structure()
    assert isinstance(structure.problem, WeightError)
    assert structure.pairs["beta"] == "bias"
    assert structure.settings.compared > 0


class TestDeclaredRenames:
    """`weight` beside `w`, where a rename of the one takes the other layer's weight, too."""

    def structure(self, rename):
        parts = "tests.engine.parts.renamed_"
        twin = Twin("renamed", f"{parts}pt:Renamed", f"{parts}ms:Renamed", [normal(4, 6)])
        return Session(replace(twin, rename=rename), "cpu", 0).structure()

    def test_the_fields_that_are_proposed_hold_those_that_are_declared(self):
        for declared in ({"weight": "w"}, {"head.weight": "head.weight"}):
            told = str(self.structure(declared).problem)
            assert "'weight': 'w'," in told
            assert "'head.weight': 'head.weight'," in told
            assert told.partition("\n")[0].endswith('write these, or pair="order"')

    def test_with_all_of_them_the_weights_pair_up(self):
        both = {"weight": "w", "head.weight": "head.weight"}
        assert self.structure(both).problem is None


LATENT = Twin(
    "latent",
    "tests.engine.parts.drawing_pt:Latent",
    "tests.engine.parts.drawing_ms:Latent",
    [normal(4, 5, 6)],
)


def test_a_network_that_draws_by_itself_gets_the_same_draws_on_both_sides():
    told = []
    session = Session(LATENT, tell=told.append)
    session.structure()
    verdicts = [*session.verdicts()]
    further, _ = Session.further.__wrapped__(session, verdicts, 5.0)
    assert [each.outcome.case.execution for each in verdicts] == ["pynative", "pynative"]
    assert all(each.outcome.passed for each in verdicts)
    assert "the network itself draws random numbers: both sides get the same" in told
    assert further.tried
    assert not further.dropped
    hidden = session.hidden(verdicts[1].outcome.case)
    assert hidden.lines


def test_what_is_named_is_pinned_or_told():
    session = Session(replace(LATENT, random_layers=("Dropout",)))
    session.structure()
    with pytest.raises(DeclarationError, match="random numbers are drawn that nothing pins"):
        list(session.verdicts())


def test_a_graph_alone_shows_no_draws():
    session = Session(replace(LATENT, executions=("graph",)))
    session.structure()
    with pytest.raises(DeclarationError, match="shows none of them: add executions='pynative'"):
        list(session.verdicts())

"""The decisions of a case: of both networks and its sample; in results and records; on demand."""

import json
from dataclasses import replace

import numpy as np
import pytest

from equivalence.comparison import check, compare, kept
from equivalence.declare.draws import normal, uniform
from equivalence.declare.twin import Twin, cases
from equivalence.errors import DeclarationError
from equivalence.host.isolation import isolated
from equivalence.judge.outcome import Outcome
from equivalence.reach.decision import CANDIDATE, REFERENCE, SAMPLE, Reach
from equivalence.record import codec, truths
from equivalence.report import reach as report
from equivalence.report import text
from equivalence.truth.measurement import Measurement
from tests.engine.parts import recording
from tests.engine.parts.small import case

PT, MS = "tests.engine.parts.reached_pt:", "tests.engine.parts.reached_ms:"
NET = (f"{PT}Net", f"{MS}Net", uniform(6, 8, low=0.0, high=1.0))
CLAMPED = (f"{PT}Clamped", f"{MS}Clamped", normal(4, 8))


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


def outcome(of, seed=0) -> Outcome:
    return check.check(of, seed)


def missed(found: Outcome, side: str) -> list[str]:
    return [each.key.kind for each in found.reach.missed if each.key.side == side]


def test_the_decisions_of_both_networks_and_of_the_sample_are_told():
    found = outcome(case(*NET, phase="eval"))
    assert found.passed
    assert missed(found, REFERENCE) == ["clamp high", "if", "minimum", "clamp high"]
    assert missed(found, CANDIDATE) == ["if"]
    assert missed(found, SAMPLE) == ["batch of 1", "other size"]
    assert found.reach.unknown == {}


def test_in_graph_mode_no_line_of_the_candidate_runs_and_that_is_said():
    found = outcome(case(*NET, phase="eval", execution="graph"))
    assert missed(found, CANDIDATE) == []
    assert found.reach.unknown == {CANDIDATE: compare.COMPILED}


@pytest.mark.parametrize(("most", "reaches", "equal"), [(0.5, True, False), (9.0, False, True)])
def test_a_bound_that_never_bites_hides_a_port_without_it_and_is_told(most, reaches, equal):
    """The wrong port stays red where the bound bites, and is told as not reached where not."""
    wrong = case(CLAMPED[0], f"{MS}Unclamped", normal(4, 8), config={"most": most}, phase="eval")
    found = outcome(wrong)
    assert found.passed is equal
    assert ("clamp high" not in missed(found, REFERENCE)) is reaches


def test_no_verdict_and_no_figure_depends_on_what_is_watched(monkeypatch):
    twin = case(*NET, phase="train")
    watched = outcome(twin).judgement
    kept.forget()
    monkeypatch.setattr(
        Measurement, "watch_own", lambda measurement: (measurement.run_own(), Reach(), {})
    )
    monkeypatch.setattr(compare.Branches, "__enter__", lambda seen: seen)
    monkeypatch.setattr(compare.Branches, "__exit__", lambda *_: None)
    plain = outcome(twin).judgement
    assert [vars(each) for each in plain.verdicts] == [vars(each) for each in watched.verdicts]


def test_sizes_reach_more_together():
    several = {"config": {"most": 9.0}, "sizes": ({"N": 4}, {"N": 1})}
    found = outcome(case(*CLAMPED[:2], normal("N", 8), phase="eval", **several))
    assert "batch of 1" not in missed(found, SAMPLE)
    assert missed(found, REFERENCE) == ["clamp high"]


def test_what_has_no_reach_tells_none():
    found = replace(outcome(case(*CLAMPED, config={"most": 9.0}, phase="eval")), reach=None)
    lines = [json.loads(line) for line in text.lines(found)]
    assert "reach" not in lines[0]
    assert "reach" not in text.summary(lines)


def test_the_first_line_of_results_has_the_decisions_and_the_summary_counts_them():
    found = outcome(case(*NET, phase="eval"))
    lines = [json.loads(line) for line in text.lines(found)]
    assert [("reach" in line) for line in lines] == [True, *[False] * (len(lines) - 1)]
    assert report.of_twins(lines)[found.case.twin.name] == found.reach
    told = text.summary(lines, "--reach lists the others")
    assert "  reach     3 of 10 decisions of 1 twin (--reach lists the others)" in told


def test_a_case_of_less_reach_than_its_twin_demands_is_red_with_the_list():
    of = case(*NET, phase="eval")
    found = outcome(replace(of, twin=replace(of.twin, reach=0.5)))
    assert (found.judgement.equal, found.passed) == (True, False)
    told = text.failure(found, "again").splitlines()
    assert told[0].endswith("but it reached 3 of 10 decisions (0.3), and 0.5 is demanded.")
    at = told.index("details:")
    assert told[at + 1].endswith("but it reached 3 of 10 decisions (0.3), and 0.5 is demanded")
    assert len(told[at + 2 :]) == 7
    assert outcome(replace(of, twin=replace(of.twin, reach=0.3))).passed


def test_a_wrong_candidate_is_red_for_its_tensors_whatever_is_demanded():
    wrong = case(CLAMPED[0], f"{MS}Unclamped", normal(4, 8), config={"most": 0.5}, phase="eval")
    found = outcome(replace(wrong, twin=replace(wrong.twin, reach=0.99)))
    assert "tensors differ by more than rounding" in text.failure(found, "again")


@pytest.mark.parametrize("share", [0.0, 1.1, True, "0.9", -1])
def test_what_is_no_share_is_refused(share):
    with pytest.raises(DeclarationError, match="write a share above 0, at most 1"):
        Twin("net", *NET[:2], [NET[2]], reach=share)


def test_a_recorded_reference_tells_what_it_reached(tmp_path):
    of = recording.affine()
    ran = recording.judged(of, tmp_path / "truth", truths.IGNORE)
    recording.recorded(tmp_path / "truth", of)
    read = recording.judged(of, tmp_path / "truth", truths.REQUIRE)
    assert read.record == truths.USED
    assert read.reach == ran.reach
    assert "epsilon" not in missed(read, REFERENCE)


def test_of_a_record_without_a_count_the_reach_is_unknown_and_that_is_said(tmp_path, monkeypatch):
    of = recording.affine()
    with monkeypatch.context() as old:
        old.setattr(codec, "_optional", lambda _: {})
        recording.recorded(tmp_path / "truth", of)
    found = recording.judged(of, tmp_path / "truth", truths.REQUIRE)
    assert found.passed
    assert found.reach.unknown[REFERENCE] == "its record is older"
    lines = [json.loads(line) for line in text.lines(found)]
    assert "  reach    unknown of 1 twin, whose records are older" in text.summary(lines)
    demanded = replace(found, demanded=0.1)
    assert not demanded.passed
    assert "is unknown: its record is older" in text.failure(demanded, "again")


def test_all_configurations_and_phases_of_a_twin_count_together():
    of = case(*CLAMPED, config={"most": 9.0}, phase="eval")
    bites = replace(of.twin, configs=({"most": 9.0}, {"most": 0.5}), phases=("eval",))
    lines = []
    for each in cases(bites, "cpu"):
        lines += [json.loads(line) for line in text.lines(outcome(each))]
    (reach,) = report.of_twins(lines).values()
    assert [each.key.side for each in reach.missed] == [SAMPLE, SAMPLE]
    assert np.isclose(reach.share, 0.5)

"""The study of false alarms: it measures what the gate does, sees every alarm, and resumes."""

import inspect
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from benchmarks import catalogue, entries, false_alarms, workers
from benchmarks.distribution import Tally
from benchmarks.false_alarms import blank, kind, measure, outcomes, plan, study, why
from equivalence.comparison import comparison, kept, sides
from equivalence.comparison.check import check
from equivalence.declare.difference import Difference, Raised
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, cases
from equivalence.host.isolation import isolated
from equivalence.judge import tensors
from tests.engine.parts.networks_ms import Affine
from tests.engine.parts.small import MS, PT
from tests.twins import declared

TRANSPOSED = Difference("transposed", {"*": 9.0})
REFUSED = Raised("ValueError", "no shape pleases me")

EXECUTIONS = ("pynative", "graph")


class Remembering(Affine):
    """Right at its first run, and less so with each that follows."""

    runs = 0

    def construct(self, x):
        self.runs += 1
        return super().construct(x) * self.runs


def of(candidate="Affine", name="small", reference="torch.nn:Linear", **options):
    """The cases of a small twin on the CPU."""
    config = {"in_features": 6, "out_features": 6} if reference == "torch.nn:Linear" else {}
    options = {"phases": ("train",), "executions": ("pynative",)} | options
    inputs = [normal(5, 6 if config else 4)]
    target = candidate if ":" in candidate else MS + candidate
    return list(cases(Twin(name, reference, target, inputs, configs=(config,), **options), "cpu"))


def batch_norm():
    inputs, sides = [normal(2, 3, 4, 5)], ("torch.nn:BatchNorm2d", "mindspore.nn:BatchNorm2d")
    twin = Twin("norm", *sides, inputs, configs=({"num_features": 3},), phases=("train",))
    return list(cases(twin, "cpu"))


def fresh(case, seed):
    """What the gate finds when nothing is reused."""
    kept.forget()
    return check(case, seed)


# What is measured is what the gate does.


@pytest.mark.parametrize("of_sample", [of(executions=EXECUTIONS), batch_norm()], ids=len)
def test_reuse_changes_no_bit_of_any_verdict(of_sample, monkeypatch):
    built = []
    build = sides.build_candidate
    monkeypatch.setattr(
        sides, "build_candidate", lambda case: built.append(case.name) or build(case)
    )
    with isolated():
        measured = [(case, out.judgement) for _, case, out in outcomes(of_sample, [3, 4])]
        assert built == [case.name for case in of_sample]
        seeds = [seed for seed in (3, 4) for _ in of_sample]
        assert [case for case, _ in measured] == of_sample * 2
        for (case, judgement), seed in zip(measured, seeds, strict=True):
            assert repr(judgement) == repr(fresh(case, seed).judgement)
    # Two seeds are two comparisons, not one told twice.
    assert repr(measured[0][1]) != repr(measured[len(of_sample)][1])


def test_what_a_candidate_carries_over_would_show():
    (case,) = of("tests.engine.benchmarks.test_false_alarms:Remembering")
    with isolated():
        first, second = (outcome for _, _, outcome in outcomes([case], [3, 4]))
        assert repr(first.judgement) == repr(fresh(case, 3).judgement)
        assert repr(second.judgement) != repr(fresh(case, 4).judgement)


def test_a_candidate_that_raised_is_built_anew(monkeypatch):
    refused = []

    def refuse_once(*arguments, **options):
        if not refused:
            refused.append(arguments)
            raise ValueError("not now")
        return judge(*arguments, **options)

    judge = comparison.judge
    monkeypatch.setattr(comparison, "judge", refuse_once)
    record = measure(of(), [0, 1])
    assert record["alarms"] == [
        [
            "small-in_features6-out_features6-train-float32-pynative-cpu --seed 0",
            "ValueError: not now",
        ]
    ]
    assert record["comparisons"] == 1


# Alarms.


@pytest.mark.parametrize(
    ("of_sample", "cause"),
    [
        (of("TransposedWeight"), r"^[\w:.\[\]]+: .*e\+\d+ roundings$"),
        (of("OneNaN"), r"output\.0: 1 of 30 elements are not finite"),
        (
            of(differs=TRANSPOSED),
            "the known difference is not seen: at most",
        ),
        (of("RenamedWeight"), "WeightError: weights do not pair up"),
        (of("doubling", reference=PT + "logarithm"), "elements are not finite where the truth is"),
        (
            of(
                "Nested",
                reference=PT + "Refusing",
                raises=REFUSED,
            ),
            "did not raise ValueError",
        ),
    ],
    ids=["wrong", "nan", "difference gone", "unpaired", "ill-posed", "silent"],
)
def test_an_alarm_is_told_in_a_line(of_sample, cause):
    record = measure(of_sample, [0])
    ((where, told),) = record["alarms"]
    assert where == f"{of_sample[0].name} --seed 0"
    assert re.search(cause, told)
    assert "\n" not in told


def test_an_ill_posed_case_is_an_alarm_even_where_a_difference_is_declared():
    for options in ({}, {"differs": TRANSPOSED}):
        with isolated():
            outcome = fresh(of("TransposedWeight", **options)[0], 0)
        outcome.judgement = type(outcome.judgement)(outcome.judgement.verdicts, "cannot tell")
        assert why(outcome) == "cannot tell"


def test_a_record_counts_what_was_compared():
    right = measure(of(), [0, 1])
    assert right["alarms"] == []
    assert (right["sample"], right["seeds"]) == (of()[0].sample_name, [0, 1])
    assert {name: Tally.from_json(t).total for name, t in right["tallies"].items()} == {
        "output, float32": 2,
        "gradient of an input, float32": 2,
        "gradient of a parameter, float32": 4,
    }
    norm = measure(batch_norm(), [0])["tallies"]
    assert Tally.from_json(norm["buffer, float32"]).total == 4
    known = measure(of("TransposedWeight", differs=TRANSPOSED), [0, 1])
    assert (known["comparisons"], known["differences"], known["tallies"]) == (2, 2, {})
    error, where = known["faintest"]
    assert error > 16
    assert "small" in where
    raised = measure(
        of(
            "Refusing",
            reference=PT + "Refusing",
            raises=REFUSED,
        ),
        [0],
    )
    assert (raised["comparisons"], raised["raised"], raised["alarms"]) == (1, 1, [])


def test_the_errors_tallied_are_those_of_the_verdicts():
    record = measure(of(), [5])
    with isolated():
        verdicts = fresh(of()[0], 5).judgement.verdicts
    error, where = record["tallies"]["output, float32"]["worst"]
    assert error == verdicts[0].needed
    assert where == f"output.0 of {of()[0].name} --seed 5"


# The tables at the end.


def record(entry, sample, **fields):
    """The record of two seeds of a sample."""
    empty = blank(of(name=entry), [0, 1])
    return empty | {"sample": sample, "comparisons": 2, "seconds": 3.0} | fields


def test_every_twin_has_a_line_with_what_became_of_its_cases():
    tally = Tally()
    tally.add(4.2, "there")
    records = [
        record("one", "a", excuses={"inaccurate_kernel": 2, "underflow": 1}),
        record("one", "b", alarms=[["x", "y"], ["x", "y"]], ill_posed=1, excuses={"underflow": 1}),
        record("other", "c", tallies={"output, float32": tally.to_json()}),
    ]
    heading, one, other = (line.split() for line in entries.table(records))
    assert heading == ["twin", "seeds", "cases", "red", "ill-posed", "kernel", "worst", "seconds"]
    assert one == ["one", "2", "4", "1", "1", "2", "0.0", "3.0"]
    assert other == ["other", "2", "2", "0", "0", "0", "4.2", "1.5"]
    assert entries.excuses(records) == {"inaccurate_kernel": 2, "underflow": 2}


@pytest.mark.parametrize(
    ("error", "alarms", "told"),
    [
        (4.0, [], "worst 4.00 of 8 roundings, margin 2.0"),
        (2790.0, [], "worst 2790.00 of 8 roundings, which an excuse explains"),
        (2790.0, [["x", "y"]], "worst 2790.00 of 8 roundings"),
        (0.0, [], "worst 0.00 of 8 roundings"),
    ],
)
def test_the_last_line_tells_the_margin_of_what_no_excuse_explains(
    error, alarms, told, tmp_path, capsys
):
    tally = Tally()
    tally.add(error, "there")
    of_one = record("one", "a", alarms=alarms, tallies={"output, float32": tally.to_json()})
    assert false_alarms.report([of_one], tmp_path / "drawn.svg") == (not alarms)
    last = capsys.readouterr().out.splitlines()[-2]
    assert last.endswith(f"; {told}")


def test_a_record_names_its_twin_and_counts_excuses_and_the_ill_posed():
    known = measure(
        of("TransposedWeight", name="known", differs=Difference("transposed", {"*": 9.0})), [0]
    )
    assert (known["entry"], known["excuses"]) == ("known", {"declared_difference": 1})
    assert measure(of("doubling", reference=PT + "logarithm"), [0])["ill_posed"] == 0
    assert len(measure(of("TransposedWeight"), [0])["alarms"]) == 1


def test_an_ill_posed_case_is_counted_apart_from_the_red_ones(monkeypatch):
    def judged(*arguments, **options):
        return replace(judge(*arguments, **options), ill_posed="cannot tell")

    judge = comparison.judge
    monkeypatch.setattr(comparison, "judge", judged)
    found = measure(of(), [0])
    assert (found["ill_posed"], [cause for _, cause in found["alarms"]]) == (1, ["cannot tell"])


@pytest.mark.parametrize(("slow", "seeds"), [(1e9, 5), (0.0, 2)])
def test_a_slow_sample_is_measured_with_few_seeds(slow, seeds, tmp_path, monkeypatch, capsys):
    def at_once(task, units, jobs):  # noqa: ARG001
        for unit in units:
            yield unit, task(*unit)

    monkeypatch.setattr(workers, "run", at_once)
    monkeypatch.setattr(false_alarms, "SLOW", slow)
    assert study(of(), 5, 1, tmp_path, of_slow=2) == 0
    assert f"1 samples, {seeds} seeds each" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "what"),
    [
        (tensors.output("0"), "output"),
        (tensors.input_gradient("0"), "gradient of an input"),
        (tensors.parameter_gradient("fc.weight"), "gradient of a parameter"),
        (tensors.buffer("bn.running_mean"), "buffer"),
        (tensors.loss(1), "loss"),
        (tensors.update(3, "fc.weight"), "update"),
        (tensors.state("ema.fc.weight"), "state of a training step"),
        (tensors.handed(1, "fc.weight"), "gradient as an optimiser gets it"),
        (tensors.attribute("aux"), "attribute that a run writes"),
        (tensors.random_layer("dropout"), None),
        (tensors.DRAWS, None),
    ],
)
def test_every_tensor_is_of_a_kind(name, what):
    assert kind(name) == what


def test_no_name_of_a_tensor_is_without_a_kind():
    beginnings = re.findall(r'return f"([a-z ]+[.:[])', inspect.getsource(tensors))
    assert len(beginnings) == 10
    assert [each for each in beginnings if not kind(each) and not tensors.of_draws(each)] == []
    with pytest.raises(StopIteration):
        kind("something new:weight")


def test_the_law_of_a_random_layer_is_no_tensor_of_the_tally():
    sides = {"reference": "torch.nn:Dropout", "candidate": "mindspore.mint.nn:Dropout"}
    twin = Twin("law", **sides, inputs=[normal(5, 6)], phases=("train",), random_layers="eval")
    found = measure(list(cases(twin, "cpu"))[:1], [0])
    assert found["alarms"] == []
    # The output and its gradient, with dropout pinned and with the same draws on both sides.
    assert sum(Tally.from_json(each).total for each in found["tallies"].values()) == 4


# The catalogue.


def test_the_catalogue_has_twins_of_its_own_for_the_study():
    every = catalogue.declared()
    assert len(every) >= 60
    assert {each.name for each in every}.isdisjoint(each.name for each in declared())


# Units of work.


def test_all_samples_see_a_block_before_any_sees_the_next():
    both = of(name="one", executions=EXECUTIONS) + of(name="two")
    units = [([case.twin.name for case in unit], seeds) for unit, seeds in plan(both, 30, [])]
    first, rest = list(range(25)), list(range(25, 30))
    assert units == [
        (["one", "one"], first),
        (["two"], first),
        (["one", "one"], rest),
        (["two"], rest),
    ]


def test_seeds_that_were_measured_are_not_planned_again():
    (one,) = of(name="one")
    done = [{"sample": one.sample_name, "seeds": list(range(10))}]
    assert [seeds for _, seeds in plan([one], 12, done)] == [[10, 11]]
    assert plan([one], 10, done) == []


# The study as a whole.


@pytest.mark.nightly
def test_a_study_survives_a_crash_and_goes_on_where_it_ended(tmp_path, capsys):
    of_gate = of(name="right") + of("Aborting", name="aborting") + of(name="last")
    assert study(of_gate, 2, 1, tmp_path) == 1
    told = capsys.readouterr().out
    alarm = f"ALARM {of_gate[1].name} --seed 0: the process died (exit code -6)"
    assert alarm in told
    assert "1 alarms in 4 comparisons" in told
    assert study(of_gate, 2, 1, tmp_path) == 1
    again = capsys.readouterr().out
    assert again.startswith("3 units of work in")
    assert "0 to do" in again
    assert again.splitlines()[1:] == told[told.index("output, float32") :].splitlines()
    assert len((tmp_path / "false_alarms.jsonl").read_text().splitlines()) == 4
    ElementTree.parse(tmp_path / "false_alarms.svg")


@pytest.mark.nightly
def test_an_interrupted_study_keeps_and_reports_what_was_finished(tmp_path, capsys, monkeypatch):
    def interrupted(task, units, jobs):  # noqa: ARG001
        yield units[0], task(*units[0])
        raise KeyboardInterrupt

    monkeypatch.setattr(workers, "run", interrupted)
    monkeypatch.setattr(false_alarms, "EVERY", 0.0)
    assert study(of(name="one") + of(name="two"), 2, 1, tmp_path) == 130
    told = capsys.readouterr().out
    assert "1 of 2 units, 2 of 4 seeds of samples, 0 alarms, largest" in told
    assert "min left" in told
    assert "no alarm in 2 comparisons" in told
    monkeypatch.undo()
    assert study(of(name="one") + of(name="two"), 2, 1, tmp_path) == 0
    assert "no alarm in 4 comparisons" in capsys.readouterr().out


@pytest.mark.nightly
def test_a_study_that_compares_nothing_is_red(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(workers, "run", lambda *_: iter(()))
    assert study(of(), 1, 1, tmp_path) == 1
    assert "nothing was compared" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--only", "nosuchtwin"], "no gate twin has 'nosuchtwin' in its name"),
        (["--seeds", "0"], "invalid positive value: '0'"),
        (["--catalogue", "--only", "none"], "no twin of the catalogue has 'none' in its name"),
        (["--jobs", "many"], "invalid positive value: 'many'"),
    ],
)
def test_a_wrong_command_line_is_refused_in_a_sentence(arguments, complaint, capsys):
    with pytest.raises(SystemExit) as caught:
        false_alarms.main(arguments)
    assert caught.value.code == 2
    assert complaint in capsys.readouterr().err

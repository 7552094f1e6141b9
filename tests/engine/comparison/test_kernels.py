"""Inaccurate kernels: named, bounded, declared for a device; a wrong network stays red."""

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from equivalence import kinds
from equivalence.comparison import compare, excuses, kept, kernels
from equivalence.comparison.check import check
from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.draws import integers, normal
from equivalence.declare.operator import Operator, operator_case, to
from equivalence.declare.spaces import unary
from equivalence.findings import scripts
from equivalence.host import devices
from equivalence.host.isolation import isolated
from equivalence.judge import excuses as table
from equivalence.judge.expected import Expected
from equivalence.judge.outcome import Kernel
from equivalence.judge.truth import Truth
from equivalence.own.result import verdict_lines
from equivalence.own.session import CaseVerdict
from equivalence.record import candidates
from equivalence.report import text as report
from equivalence.words import number
from tests.engine.parts.small import case

MS = "tests.engine.parts.recurrent_ms:"
SIZES = {"input_size": 6, "hidden_size": 5}
WEIGHTS = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
RENAME = {f"layer.{name}": name for name in WEIGHTS}


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


def rnn(candidate="mindspore.nn:RNN", kind="RNN", **options):
    inputs = normal(3, 2, 6, scale=3.0)
    return case(f"torch.nn:{kind}", candidate, inputs, config=SIZES, **options)


def declare(monkeypatch, **inaccurate):
    cpu = replace(devices.DEVICES["cpu"], inaccurate=inaccurate)
    monkeypatch.setitem(devices.DEVICES, "cpu", cpu)


def failure(outcome):
    return report.failure(outcome, "pytest")


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_a_right_network_is_equal_but_for_the_kernel_of_tanh(execution, monkeypatch):
    outcome = check(rnn(execution=execution), 0)
    assert outcome.passed
    assert outcome.excuses == ("inaccurate_kernel",)
    (tanh,) = outcome.kernels
    assert (tanh.name, tanh.device, tanh.finding) == ("Tanh", "cpu", "tanh_accuracy")
    assert 16 < tanh.error <= tanh.known
    assert outcome.judgement.needed < 2

    acts = tuple(act for act in excuses.ACTS if act[0] is not table.INACCURATE_KERNEL)
    monkeypatch.setattr(excuses, "ACTS", acts)
    assert not check(rnn(execution=execution), 0).passed


def test_a_gru_needs_the_fewest_kernels_only():
    outcome = check(rnn("mindspore.nn:GRU", "GRU"), 0)
    assert outcome.passed
    assert [kernel.name for kernel in outcome.kernels] == ["Tanh"]


def buckets(candidate):
    parts = "tests.engine.parts.kernels_"
    return case(f"{parts}pt:Buckets", f"{parts}ms:{candidate}", normal(60, 6))


def test_a_kernel_that_decides_a_bucket_is_to_blame_however_large_the_error():
    outcome = check(buckets("Buckets"), 0)
    assert outcome.passed
    (log,) = outcome.kernels
    assert (log.name, log.finding) == ("Log", "log_accuracy")
    assert log.error > 2
    assert outcome.judgement.needed < 2


def test_other_buckets_are_no_fault_of_the_kernel():
    outcome = check(buckets("OtherBuckets"), 0)
    assert not outcome.passed
    assert outcome.judgement.needed > 1e5


POOLED = "tests.engine.parts.pooled_"


def pooled(candidate="Pooled", reference="Pooled", samples=4, **told):
    inputs = normal(samples, 3, 64, 64)
    return case(f"{POOLED}pt:{reference}", f"{POOLED}ms:{candidate}", inputs, **told)


@pytest.mark.parametrize("phase", ["train", "eval"])
@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_a_network_is_equal_but_for_the_gradient_of_its_batch_norm(phase, execution, monkeypatch):
    told = {"phase": phase, "execution": execution}
    outcome = check(pooled(**told), 0)
    assert outcome.passed
    (gradient,) = outcome.kernels
    assert (gradient.name, gradient.finding) == ("BatchNormGrad", "batch_norm_gradient_accuracy")
    assert 100 < gradient.error <= gradient.known

    acts = tuple(act for act in excuses.ACTS if act[0] is not table.INACCURATE_KERNEL)
    monkeypatch.setattr(excuses, "ACTS", acts)
    assert not check(pooled(**told), 0).passed


def test_what_cancels_in_a_batch_norm_is_no_error_of_its_kernel_without_end():
    outcome = check(pooled("Flat", "Flat", 1), 0)
    assert outcome.passed
    assert [each.name for each in outcome.kernels] == ["BatchNormGrad"]
    assert outcome.kernels[0].error < 1000


def sums(kind, wrong="", **told):
    inputs = normal(4, 3, 64, 64) if kind == "Grouped" else integers(4, 1024, high=4)
    return case(f"{POOLED}pt:{kind}", f"{POOLED}ms:{kind}{wrong}", inputs, **told)


@pytest.mark.parametrize("execution", ["pynative", "graph"])
@pytest.mark.parametrize(
    ("kind", "known"),
    [
        ("Grouped", {"GroupNormGrad"}),
        ("Tokens", {"LayerNormGrad", "BiasAddGrad", "UnsortedSegmentSum"}),
    ],
)
def test_a_network_is_equal_but_for_gradients_that_add_one_after_the_other(kind, known, execution):
    outcome = check(sums(kind, execution=execution), 0)
    assert outcome.passed
    assert outcome.excuses == ("inaccurate_kernel",)
    assert {each.name for each in outcome.kernels} <= known
    assert {each.finding for each in outcome.kernels} == {"gradient_sums_accuracy"}
    assert outcome.judgement.needed < 4


@pytest.mark.parametrize("kind", ["Grouped", "Tokens"])
def test_a_wrong_network_stays_wrong_beside_them(kind):
    outcome = check(sums(kind, "Scaled"), 0)
    assert not outcome.passed
    assert outcome.kernels == ()


CLOUD = "tests.engine.parts.cloud_"


def cloud(candidate="Cloud"):
    points = normal(16, 3, 1024)
    return case(CLOUD + "pt:Cloud", f"{CLOUD}ms:{candidate}", points, pair="order")


def test_a_batch_norm_over_many_rows_is_as_accurate_as_its_sums_may_be():
    outcome = check(cloud(), 0)
    assert outcome.passed
    assert outcome.excuses == ()


@pytest.mark.parametrize(
    "wrong",
    [
        pooled("Scaled"),
        pooled("Scaled", phase="eval"),
        cloud("Damped"),
        pooled("FlatScaled", "Flat", 1),
    ],
)
def test_a_wrong_network_with_a_batch_norm_stays_red(wrong):
    outcome = check(wrong, 0)
    assert not outcome.passed
    assert "inaccurate_kernel" not in outcome.excuses


@pytest.mark.parametrize(
    ("apart", "execution", "off", "same"),
    [
        (7.0, "graph", 400.0, True),
        (20.0, "graph", 400.0, False),
        (20.0, "pynative", 400.0, True),
        (110.0, "pynative", 400.0, False),
        (7.0, "pynative", math.inf, True),
        (20.0, "pynative", math.inf, False),  # or a candidate that keeps state would be excused
    ],
)
def test_two_runs_in_pynative_mode_may_differ_by_a_part_of_the_error(apart, execution, off, same):
    """One rounding of 1 is 2^-24. The judged run is so many roundings off."""
    expected = Truth({"output.0": Expected.whole(np.float64([1.0]))})
    made = SimpleNamespace(
        reference=SimpleNamespace(expected=expected),
        judgement=SimpleNamespace(needed=off),
        trace={"output.0": np.float64([1.0 + apart * 2.0**-24])},
    )
    drawn = SimpleNamespace(case=SimpleNamespace(execution=execution), unit_roundoff=2.0**-24)
    assert kernels.alike(made, drawn, {"output.0": np.float64([1.0])}) is same


def test_kernels_that_do_not_matter_are_not_named():
    softened = case(
        "tests.engine.parts.recurrent_pt:Softened", MS + "Softened", normal(200, scale=5.0)
    )
    outcome = check(softened, 0)
    assert outcome.passed
    assert [kernel.name for kernel in outcome.kernels] == ["Tanh"]


def test_a_wrong_network_with_the_same_kernel_stays_red():
    outcome = check(rnn(MS + "Stretched", rename=RENAME), 0)
    assert not outcome.passed
    assert outcome.kernels == ()
    assert outcome.excuses == ()


@pytest.mark.parametrize(
    ("candidate", "problem"),
    [
        ("Stateless", "the candidate does not have it"),
        ("Shortened", "shape (2, 2, 5), expected (3, 2, 5)"),
    ],
)
def test_another_structure_is_no_fault_of_a_kernel(candidate, problem):
    outcome = check(rnn(MS + candidate, rename=RENAME), 0)
    assert not outcome.passed
    assert outcome.kernels == ()
    assert outcome.note is None
    assert problem in failure(outcome)


def test_what_accurate_kernels_change_is_told_where_they_are_not_enough():
    outcome = check(rnn(MS + "Stretched", rename=RENAME), 0)
    assert outcome.note.startswith(
        "with accurate kernels in place of ops.Tanh on cpu (its own error "
    )
    assert outcome.note in failure(outcome)


def test_of_an_error_that_stays_infinite_nothing_is_told(monkeypatch):
    made, drawn, explained = found(rnn(MS + "Stretched", rename=RENAME))
    monkeypatch.setattr(excuses, "ACTS", ())
    notes = []
    for left in (1.0, math.inf):
        rest = SimpleNamespace(judgement=SimpleNamespace(needed=left, equal=False))
        told = replace(explained, comparison=rest, before=math.inf)
        monkeypatch.setattr(kernels, "explain", lambda *_, told=told: told)
        notes.append(excuses._inaccurate_kernel(made, drawn))
    assert notes[0].note.endswith("the error is 1 in place of inf roundings")
    assert notes[1] is None


def test_a_kernel_that_nobody_declared_fails_with_the_verdict(monkeypatch):
    declare(monkeypatch)
    outcome = check(rnn(), 0)
    assert not outcome.passed
    assert outcome.excuses == ()
    assert "equal but for ops.Tanh on cpu (its own error " in failure(outcome)
    assert "; no finding is declared)" in failure(outcome)
    assert failure(outcome).startswith("DIFFERENT. small (")


def test_a_kernel_that_errs_more_than_is_declared_fails(monkeypatch):
    declare(monkeypatch, Tanh=devices.Inaccuracy("tanh_accuracy", 10))
    outcome = check(rnn(), 0)
    assert not outcome.passed
    assert "; finding tanh_accuracy declares 10 roundings at most)" in failure(outcome)


def test_an_accurate_kernel_is_never_to_blame(monkeypatch):
    monkeypatch.setattr(kernels, "ACCURATE", 1e4)
    outcome = check(rnn(), 0)
    assert not outcome.passed
    assert outcome.note is None


@pytest.mark.parametrize("explained_by_flips", [True, False])
def test_branch_flips_may_explain_what_accurate_kernels_leave(explained_by_flips, monkeypatch):
    made, drawn, explained = found(pooled())
    nothing = replace(explained, comparison=made)
    assert not nothing.helps
    flipped = replace(made, judgement=explained.comparison.judgement)

    def flips(*_):
        return flipped if explained_by_flips else None

    monkeypatch.setattr(kernels, "explain", lambda *_: nothing)
    monkeypatch.setattr(excuses, "ACTS", ((table.BRANCH_FLIPS, flips),))
    rest = excuses._inaccurate_kernel(made, drawn)
    if explained_by_flips:
        assert rest.judgement.equal
        before = explained.before
        assert rest.kernels == tuple(replace(each, moved=before) for each in explained.kernels)
        assert rest.excused[-1] == "branch_flips"
    else:
        assert rest is None


@pytest.mark.parametrize(
    ("enough", "blamed"),
    [
        ([{"Tanh"}], ["Tanh"]),
        ([{"Tanh", "Cos"}, {"Tanh", "Softmax"}], ["Tanh", "Softmax"]),
        ([{"Tanh", "Cos"}, {"Tanh", "Softmax", "Exp"}], ["Tanh", "Softmax", "Exp"]),
        ([{"Tanh", "Cos"}], ["Tanh", "Cos"]),
        ([{"Cos"}], ["Cos"]),
    ],
)
def test_a_kernel_without_a_finding_is_blamed_only_where_others_are_not_enough(enough, blamed):
    def compared(names):
        equal = any(each <= set(names) for each in enough)
        alone = {"Tanh": 40.0, "Cos": 50.0, "Softmax": 60.0, "Exp": 70.0}
        needed = 1.0 if equal else min(alone[name] for name in names)
        return SimpleNamespace(judgement=SimpleNamespace(equal=equal, needed=needed))

    runs = object.__new__(kernels._KernelRuns)
    runs.inaccurate = ["Exp", "Softmax", "Cos", "Tanh"]
    runs.drawn, runs.compared = SimpleNamespace(case=SimpleNamespace(device="cpu")), compared
    needed, best = runs.smallest()
    assert needed == blamed
    assert best.judgement.equal


def found(of, seed=0):
    """The comparison of a case without excuses, and what its kernels explain."""
    made, drawn = compare.compare_size(of, seed, flips=False), CaseAtSeed(of, seed)
    assert not made.judgement.equal
    return made, drawn, kernels.explain(made, drawn)


def test_a_diagnosis_sees_the_difference_as_it_is():
    assert found(rnn())[2].comparison.judgement.equal


def test_a_recorded_candidate_is_not_excused():
    reader = object.__new__(candidates.CandidateReader)
    made, drawn, explained = found(rnn())
    assert explained is not None
    with candidates.using(reader):
        assert kernels.explain(made, drawn) is None


def test_a_graph_that_computes_something_else_is_not_excused():
    of = rnn(MS + "StretchedInGraph", execution="graph", rename=RENAME)
    assert found(of)[2] is None
    assert found(replace(of, execution="pynative"))[2].comparison.judgement.equal


def test_a_graph_whose_cell_cannot_run_in_pynative_mode_is_not_excused():
    assert found(rnn(MS + "GraphOnly", execution="graph", rename=RENAME))[2] is None


def test_an_operator_is_judged_by_its_own_kernel():
    counterpart = to("ops.tanh")
    operator = Operator("torch.tanh", unary(), counterpart)
    example = operator.example("tanh(normal(400, scale=5.0))")
    outcome = kinds.check(operator_case(operator, counterpart, example, "pynative", "cpu"), 0)
    assert not outcome.passed
    assert outcome.excuses == ()


def test_another_device_has_no_such_verdict(monkeypatch):
    made, drawn, explained = found(rnn())
    assert explained is not None
    monkeypatch.setattr(drawn, "case", replace(drawn.case, device="ascend"))
    assert kernels.explain(made, drawn) is None


def test_every_kernel_that_is_declared_has_its_finding():
    known = {each.name for each in scripts.read_all(scripts.FOLDER) if each.kind == "kernel"}
    for device in devices.DEVICES.values():
        for inaccuracy in device.inaccurate.values():
            assert inaccuracy.finding in known
            assert inaccuracy.error > 16


def test_results_and_summary_name_the_kernels():
    outcome = check(rnn(), 0)
    lines = [json.loads(line) for line in report.lines(outcome)]
    assert all(list(line["kernels"]) == ["Tanh"] for line in lines)
    assert all(line["excuses"] == ["inaccurate_kernel"] for line in lines)
    text = report.summary(lines)
    off = lines[0]["moved"]
    assert 16 < off < 1e4
    assert (
        f"  1 case equal but for ops.Tanh 1 (with these up to {number(off)} roundings off)" in text
    )
    lines[0]["moved"] = None  # JSON cannot tell infinity
    assert "(with these up to inf roundings off)" in report.summary(lines)
    assert text.endswith("\n  excused cases  inaccurate_kernel 1")


def test_a_comparison_of_ones_own_says_how_far_off_the_network_is_with_its_kernels():
    outcome = check(buckets("Buckets"), 0)
    (log,) = outcome.kernels
    assert log.moved > 1e5
    (text,) = verdict_lines(CaseVerdict(outcome))
    assert f"equal but for {log}, with which it is {number(log.moved)} roundings off; all 3" in text


def test_how_a_kernel_is_told():
    kernel = Kernel("Exp", "cpu", 1234.5, "exp_accuracy", 2000.0)
    assert kernel.declared
    told = "ops.Exp on cpu (its own error 1,230 roundings; finding exp_accuracy)"
    assert str(kernel) == told
    assert not replace(kernel, error=float("inf")).declared
    assert not replace(kernel, finding=None).declared

"""A record is used for exactly the sample that it was made of, and judges as the reference does."""

import json
import math
import sys
from dataclasses import replace

import numpy as np
import pytest

from equivalence.comparison import kept, sides
from equivalence.declare.difference import Raised
from equivalence.declare.draws import normal
from equivalence.errors import EquivalenceError, RecordError, TorchMissingError
from equivalence.host import environment
from equivalence.judge.expected import Expected
from equivalence.judge.truth import Flip, Truth, Undecided
from equivalence.randomness.layers import dropout
from equivalence.record import codec, fingerprint, store, truths
from equivalence.report import text as report
from equivalence.sample import Sample, resolve_inputs
from equivalence.structure.weights import Slot
from equivalence.truth.known import Reference
from tests.engine.parts import small
from tests.engine.parts.recording import affine, judged, recorded, sized

MS = "tests.engine.parts.networks_ms:"

DROP = dropout("drop", 0.1, 12)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "truth"


# The verdict.


def test_whole_tensors_are_judged_as_by_the_reference(folder, monkeypatch):
    case = affine(rows=3, config={"in_features": 40, "out_features": 4})
    monkeypatch.setattr(kept, "looks", lambda *of: [kept.reference(*of)])  # it has all runs
    plain = judged(case, folder, truths.IGNORE)
    assert recorded(folder, case) == 1
    monkeypatch.setattr(sides, "build_reference", None)
    by_record = judged(case, folder, truths.REQUIRE)
    assert (plain.record, by_record.record) == (None, "used")
    assert plain.judgement == by_record.judgement
    assert not any(verdict.sketched for verdict in by_record.judgement.verdicts)


@pytest.mark.parametrize(
    ("candidate", "wrong"),
    [
        ("networks_ms:Affine", set()),
        ("networks_ms:StaleWeight", {"output.0", "gradient:input[0]", "gradient:weight"}),
        ("networks_ms:SlightlyScaled", {"output.0", "gradient:input[0]", "gradient:weight"}),
        ("networks_ms:DetachedBias", {"gradient:bias"}),
        ("networks_ms:OneNaN", {"output.0"}),
        ("networks_ms:DoubleOutput", {"output.0"}),
        ("records_ms:OneElement", {"output.0"}),
        ("records_ms:LastRow", {"output.0"}),
    ],
)
def test_sketched_tensors_get_the_verdict_of_whole_ones(folder, candidate, wrong):
    case = affine(f"tests.engine.parts.{candidate}")
    recorded(folder, affine())
    plain, by_record = (judged(case, folder, mode) for mode in (truths.IGNORE, truths.REQUIRE))
    for outcome in (plain, by_record):
        assert {verdict.name for verdict in outcome.judgement.differing} == wrong
    sketched = {v.name for v in by_record.judgement.verdicts if v.sketched or v.problem}
    assert sketched == {"output.0", "gradient:input[0]", "gradient:weight"}
    for one, two in zip(plain.judgement.verdicts, by_record.judgement.verdicts, strict=True):
        assert (one.problem is None) is (two.problem is None)
        if math.isfinite(one.error) and one.error > 0.0:
            assert two.error == pytest.approx(one.error, rel=0.3)


def test_what_is_wrong_far_below_the_peak_differs_by_a_record_too(folder):
    def case(cell):
        parts = "tests.engine.parts.records_"
        return small.case(f"{parts}pt:Beside", f"{parts}ms:{cell}", normal(3, 4))

    recorded(folder, case("Beside"))
    assert judged(case("Beside"), folder, truths.REQUIRE).passed
    (verdict,) = judged(case("BesideWrong"), folder, truths.REQUIRE).judgement.differing
    assert (verdict.name, verdict.faint) == ("output.0", True)


def test_large_integers_are_equal_or_not(folder):
    def case(off):
        return small.case(
            "tests.engine.parts.records_pt:LargestAt",
            "tests.engine.parts.records_ms:LargestAt",
            normal(600, 3),
            config={"off": off},
        )

    recorded(folder, case(0), case(1))
    assert judged(case(0), folder, truths.REQUIRE).passed
    (verdict,) = judged(case(1), folder, truths.REQUIRE).judgement.differing
    assert verdict.name == "output.1"
    assert "some of its 600 integers differ" in verdict.problem


def test_twins_that_must_raise_are_recorded_too(folder, monkeypatch):
    case = small.case(
        "tests.engine.parts.networks_pt:Refusing",
        MS + "Refusing",
        normal(3, 4),
        raises=Raised("ValueError", "no shape pleases me"),
    )
    recorded(folder, case)
    monkeypatch.setattr(sides, "build_reference", None)
    assert judged(case, folder, truths.REQUIRE).record == "used"
    silent = replace(case, twin=replace(case.twin, candidate="mindspore.nn:Identity"))
    with pytest.raises(EquivalenceError, match="the candidate did not raise ValueError"):
        judged(silent, folder, truths.REQUIRE)


def test_every_size_of_a_twin_has_a_record(folder, monkeypatch):
    assert recorded(folder, sized()) == 2
    both = judged(sized(), folder, truths.REQUIRE)
    assert both.passed
    assert both.record == "used"
    assert {v.name for v in both.judgement.verdicts if v.sketched} == {
        "gradient:weight at ROWS=3",
        "output.0 at ROWS=30",
        "gradient:input[0] at ROWS=30",
        "gradient:weight at ROWS=30",
    }
    unchanged = fingerprint.fingerprint

    def changed(one, *rest):
        return "another" if one.size == {"ROWS": 3} else unchanged(one, *rest)

    monkeypatch.setattr(fingerprint, "fingerprint", changed)
    assert judged(sized(), folder, truths.USE).record == "stale"


def test_a_run_that_records_is_judged_by_what_it_records(folder):
    outcome = judged(affine(MS + "StaleWeight"), folder, truths.WRITE)
    assert not outcome.passed
    assert any(verdict.sketched for verdict in outcome.judgement.verdicts)


# Told to people.


def test_a_failure_by_a_sketch_says_so_and_the_summary_counts_records(folder):
    recorded(folder, affine())
    outcome = judged(affine(MS + "StaleWeight"), folder, truths.USE)
    text = report.failure(outcome, "pytest this")
    assert [line.strip() for line in text.splitlines()].count("(sketch)") == 3
    lines = [json.loads(line) for line in report.lines(outcome)]
    assert {line["record"] for line in lines} == {"used"}
    assert {line["tensor"] for line in lines if line.get("sketched")} == {
        "output.0",
        "gradient:input[0]",
        "gradient:weight",
    }
    told = [line.split() for line in report.summary(lines).splitlines()]
    assert ["records", *["1", "case", "against", "recorded", "truth"]] in told


@pytest.mark.parametrize(("near", "told"), [(0, None), (1, "r at (1,);"), (5, "and 2 more;")])
def test_gradients_that_may_have_flipped_are_told_where_torch_is_missing(
    folder, monkeypatch, near, told
):
    recorded(folder, affine())
    monkeypatch.setattr(environment, "installed", lambda _: False)
    read = truths.Library.reference

    def with_near(*arguments):
        known = read(*arguments)
        known.expected.near = (Flip("r", 0, "relu", (1,), 1e-9, 0, 1, 0),) * near
        return known

    monkeypatch.setattr(truths.Library, "reference", with_near)
    outcome = judged(affine(MS + "DetachedBias"), folder, truths.USE)
    assert not outcome.passed
    if told is None:
        assert outcome.note is None
    else:
        assert outcome.note.startswith("perhaps a branch flip, at r at (1,)")
        assert told in outcome.note
        assert outcome.note in report.failure(outcome, "pytest this").splitlines()


# What it holds.


def test_everything_that_a_reference_knows_is_read_back():
    drawn = Sample("s", 3, resolve_inputs([normal(2, 5)], {}), "float32")
    drawn.draw_again()
    drawn.weight("conv.weight", (6, 4))
    drawn.draw_rows_again("conv.weight", [1, 4])
    drawn.draw_again()
    drawn.weight("conv.weight", (6, 4))
    drawn.draw_rows_again("conv.weight", [np.int64(2)])
    drawn.draw_rows_again("conv.weight", [2, 5])
    drawn.shifts["conv.bias"] = np.linspace(0.0, 0.5, 6)
    expected = Truth({"output.0": Expected(np.array(2.5), "float32", 1.0, 0.5, math.inf, 0.1)})
    expected.near = (
        Flip("a.relu", 2, "relu", (0, 3), 1e-8, 4, 1, 0),
        Flip("pool", 0, "max_pool2d", (0, 1, 2, 3), 1e-8, 5, 7, 8, ((0, 1, 2, 4),)),
    )
    taken = np.array([3.0])
    expected.undecided = {"output.0": Undecided(np.array([0]), -taken, taken, taken, ())}
    slots = {"conv.weight": Slot((6, 4), "parameter"), "conv.bias": Slot((6,), "parameter")}
    known = Reference(drawn, slots, [DROP], expected)
    arrays, rest = codec.encode(known)
    content = store.encode_file("s", {"k": (arrays, rest | {"declared": []})})
    arrays, rest = store.decode_file(None, content, "s")["k"]
    fresh = Sample("s", 3, resolve_inputs([normal(2, 5)], {}), "float32")
    read = codec.decode(arrays, rest, fresh)
    assert fingerprint.digest_of(read, 1) == fingerprint.digest_of(known, 1)
    for name, slot in slots.items():
        assert np.array_equal(fresh.weight(name, slot.shape), drawn.weight(name, slot.shape))
    assert np.array_equal(fresh.inputs()[0], drawn.inputs()[0])
    assert (read.slots, read.random_layers) == (slots, [DROP])
    assert list(read.slots) == list(slots)
    assert read.expected.near == expected.near
    (here,) = read.expected.undecided.values()
    assert (here.at, here.low, here.high, here.truth, here.shape) == (0, -3.0, 3.0, 3.0, ())
    (one,) = read.expected.values()
    assert one.truth.shape == ()
    assert replace(one, truth=None) == replace(expected["output.0"], truth=None)


def test_the_same_records_give_the_same_bytes(folder, tmp_path):
    other = tmp_path / "other" / "truth"
    recorded(folder, affine())
    recorded(other, affine())
    names = [sorted(path.name for path in each.iterdir()) for each in (folder, other)]
    assert names[0] == names[1]
    for name in names[0]:
        assert (folder / name).read_bytes() == (other / name).read_bytes()


# Exactly this sample.


def test_without_a_record_the_reference_is_run_or_the_case_refused(folder):
    assert judged(affine(), folder, truths.USE).record is None
    with pytest.raises(RecordError) as refused:
        judged(affine(), folder, truths.REQUIRE)
    assert str(refused.value) == (
        f"{affine().name}: there is no record of it with seed 0; run pytest with "
        "--record=write where torch is installed, or leave out --record=require"
    )


def test_another_seed_or_unit_roundoff_has_no_record(folder, monkeypatch):
    recorded(folder, affine())
    assert judged(affine(), folder, truths.USE, seed=1).record is None
    with pytest.raises(RecordError, match="there is no record of it with seed 1"):
        judged(affine(), folder, truths.REQUIRE, seed=1)
    monkeypatch.setattr("equivalence.comparison.comparison.of_products", lambda *_: 2.0**-11)
    assert judged(affine(), folder, truths.USE).record is None


CHANGES = {
    "reference": {"reference": "tests.engine.parts.networks_pt:Frozen"},
    "inputs": {"inputs": [normal(30, 40, scale=2.0)]},
    "random layers": {"random_layers": "eval"},
    "computes": {"computes": "float32"},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_a_changed_declaration_makes_it_stale(folder, changes):
    recorded(folder, affine())
    case = affine()
    case = replace(case, twin=replace(case.twin, **changes))
    why = "its record is stale: its declaration or the source of its reference has changed since"
    with pytest.raises(RecordError, match=why):
        judged(case, folder, truths.REQUIRE)


def test_a_stale_record_is_not_used_but_counted(folder):
    recorded(folder, affine())
    case = affine()
    case = replace(case, twin=replace(case.twin, inputs=[normal(30, 40, scale=2.0)]))
    outcome = judged(case, folder, truths.USE)
    assert outcome.passed
    assert outcome.record == "stale"
    assert not any(verdict.sketched for verdict in outcome.judgement.verdicts)
    lines = [json.loads(line) for line in report.lines(outcome)]
    told = "1 case with a stale record, so that the reference was run (`make record` renews it)"
    assert f"  {told}" in report.summary(lines)


@pytest.mark.parametrize("what", ["inputs", "weight", "cotangent"])
def test_other_numbers_for_the_candidate_make_it_stale(folder, monkeypatch, what):
    """Whatever draws them otherwise: the engine, or another NumPy."""
    recorded(folder, affine())
    drawn = getattr(Sample, what)

    def other(*arguments):
        values = drawn(*arguments)
        return [2 * each for each in values] if what == "inputs" else 2 * values

    monkeypatch.setattr(Sample, what, other)
    with pytest.raises(RecordError, match="other inputs or weights are drawn here than with"):
        judged(affine(), folder, truths.REQUIRE)
    outcome = judged(affine(), folder, truths.USE)
    assert outcome.passed
    assert outcome.record == "stale"


def test_another_meaning_makes_records_stale_and_another_way_to_write_them_does_not(monkeypatch):
    first = fingerprint.fingerprint(affine(), 0, 2.0**-24)
    monkeypatch.setattr(store, "FORMAT", store.FORMAT + 1)
    assert fingerprint.fingerprint(affine(), 0, 2.0**-24) == first
    monkeypatch.setattr(fingerprint, "MEANING", fingerprint.MEANING + 1)
    assert fingerprint.fingerprint(affine(), 0, 2.0**-24) != first


def test_a_changed_source_of_the_reference_changes_the_fingerprint(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "some_reference"
    (package / "deep").mkdir(parents=True)
    texts = {
        "__init__.py": "",
        "net.py": "import torch\nfrom some_reference import parts\nfrom .deep.far import f\n",
        "parts.py": "from some_reference.more import g\n",
        "more.py": "raise RuntimeError('never imported')\n",
        "other.py": "",
        "deep/__init__.py": "",
        "deep/far.py": "f = 1\n",
    }
    for name, text in texts.items():
        (package / name).write_text(text)

    def found():
        fingerprint.sources.cache_clear()
        return fingerprint.sources("some_reference.net:Net")

    first = found()
    for name in texts:
        (package / name).write_text(texts[name] + "# changed\n")
        assert (found() == first) is (name == "other.py"), name
        (package / name).write_text(texts[name])
    assert found() == first


def test_a_torchvision_network_is_stale_under_another_torchvision_but_not_without(monkeypatch):
    case = affine(reference="torchvision.ops:MLP")
    made = {"torch": "2.0", "torchvision": "0.1", "numpy": "1.26.4"}
    for here, why in (
        ("0.1", None),
        (None, None),
        ("0.2", "recorded with torchvision 0.1, and 0.2 is installed"),
    ):
        monkeypatch.setattr(fingerprint, "version", lambda _, here=here: here)
        assert fingerprint.other_version(case, made) == why
        assert fingerprint.other_version(affine(), made) is None


def test_without_torch_and_record_a_case_says_so(folder, monkeypatch):
    monkeypatch.setattr(environment, "installed", lambda _: False)
    for mode in (truths.USE, truths.IGNORE):
        with pytest.raises(TorchMissingError, match="its reference needs torch, which is not"):
            judged(affine(), folder, mode)


def test_a_package_that_is_kept_from_being_imported_is_not_installed(monkeypatch):
    assert environment.installed("json")
    monkeypatch.setitem(sys.modules, "json", None)
    assert not environment.installed("json")
    assert not environment.installed("no_such_package")

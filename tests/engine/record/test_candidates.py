"""A recorded run is judged as the run itself, and for exactly the case that it was made of."""

import hashlib
import json
from dataclasses import replace

import mindspore as ms
import numpy as np
import pytest

from equivalence.comparison import sides
from equivalence.declare.difference import Raised
from equivalence.declare.draws import normal
from equivalence.declare.twin import TwinCase
from equivalence.errors import EquivalenceError, RecordError, SideError, WeightError
from equivalence.record import candidates, fingerprint, store, truths
from equivalence.record.store import CANDIDATE
from equivalence.report import text as report
from equivalence.sample import Sample
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.structure import weights
from tests.engine.parts import small
from tests.engine.parts.recording import affine, kept, recorded, replayed, run_by, sized

MS = "tests.engine.parts.networks_ms:"
PT = "tests.engine.parts.networks_pt:"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "candidate"


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """The files of a folder with one run, by name."""
    folder = tmp_path_factory.mktemp("kept") / "candidate"
    kept(folder, affine())
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def one(folder, content):
    """A folder with one run, of `affine()`."""
    folder.mkdir()
    for name, each in content.items():
        (folder / name).write_bytes(each)
    return folder


@pytest.fixture
def no_candidate(monkeypatch):
    """No candidate can be built."""

    def built(*_):
        raise AssertionError("a candidate is built")

    def forbid():
        monkeypatch.setattr(sides, "build_candidate", built)

    return forbid


def told(outcome):
    """What the results say of an outcome, but for where its candidate ran.

    A recorded run has no settings, and of what the candidate decided nothing is known.
    """
    lines = [json.loads(line) for line in report.lines(outcome)]
    left_out = ("made_with", "settings", "reach")
    return [{k: v for k, v in line.items() if k not in left_out} for line in lines]


def refusing(candidate=MS + "Refusing"):
    return small.case(
        PT + "Refusing", candidate, normal(3, 4), raises=Raised("ValueError", "no shape pleases me")
    )


# The verdict.


@pytest.mark.parametrize(
    "case",
    [
        *(
            affine(MS + name)
            for name in ("Affine", "StaleWeight", "DetachedBias", "OneNaN", "DoubleOutput")
        ),
        affine(MS + "Affine", execution="graph"),
        small.case(PT + "Nested", MS + "DroppedOutput", normal(5, 4)),
        small.case("torch.nn:BatchNorm2d", "mindspore.nn:BatchNorm2d", normal(3, 12, 7, 5),
                   config={"num_features": 12}),
        small.case("pt_reference.bfloat16:Rotary", "ms_models.bfloat16:Rotary", normal(2, 6, 16),
                   normal(6, 16), normal(6, 16), dtype="bfloat16"),
        sized(),
        refusing(),
    ],
    ids=lambda case: f"{case.twin.candidate.rpartition(':')[2]}-{case.execution}",
)  # fmt: skip
def test_a_recorded_run_is_judged_as_the_run_itself(folder, no_candidate, case):
    plain = run_by(None, case)
    assert kept(folder, case) == len(case.sizes)
    no_candidate()
    outcome = replayed(case, folder)
    assert told(outcome) == told(plain)
    assert outcome.passed is plain.passed
    assert plain.made_with is None
    assert outcome.made_with == f"MindSpore {ms.__version__}"


def test_a_run_that_keeps_is_judged_as_ever(folder):
    for candidate in ("Affine", "StaleWeight"):
        case = affine(MS + candidate)
        outcome = run_by(candidates.CandidateWriter(folder / "parts"), case)
        plain = run_by(None, case)
        assert told(outcome) == told(plain)
        assert outcome.settings == plain.settings
        assert outcome.made_with is None


def test_what_a_candidate_raises_is_kept(folder):
    cases = [
        affine("tests.engine.parts.networks_ms:NoSuchNetwork"),
        affine("mindspore.ops:matmul"),
        refusing("mindspore.nn:Identity"),
    ]
    said = []
    for case in cases:
        with pytest.raises(EquivalenceError) as plain:
            run_by(None, case)
        said.append((type(plain.value), str(plain.value)))
    for case, (kind, words) in zip(cases, said, strict=True):
        assert kept(folder, case) == 1
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sides, "build_candidate", None)
            with pytest.raises(kind) as again:
                replayed(case, folder)
        assert str(again.value) == words


def test_weights_that_do_not_pair_up_are_told_where_the_run_is_judged(folder, no_candidate):
    case = affine(MS + "RenamedWeight")
    with pytest.raises(WeightError) as plain:
        run_by(None, case)
    kept(folder, case)
    no_candidate()
    with pytest.raises(WeightError) as again:
        replayed(case, folder)
    assert str(again.value) == str(plain.value)


def test_a_reference_that_fits_by_now_does_not_make_up_for_the_run(folder, monkeypatch):
    case = affine(MS + "RenamedWeight")
    kept(folder, case)
    partners = weights.Partners({"kernel": "weight", "bias": "bias"})
    monkeypatch.setattr(weights, "pair", lambda *_: partners)
    with pytest.raises(RecordError, match="has no trace of it, since it crashed or"):
        replayed(case, folder)


def test_what_is_no_number_has_its_verdict_too(folder, monkeypatch):
    run = MindSporeNetwork.run

    def odd(*arguments):
        return run(*arguments) | {"output.0": np.array(None), "output.7": np.ones(2, complex)}

    monkeypatch.setattr(MindSporeNetwork, "run", odd)
    plain = run_by(None, affine())
    assert plain.judgement.verdicts[0].problem.startswith("shape ()")
    kept(folder, affine())
    assert told(replayed(affine(), folder)) == told(plain)


def test_truth_and_run_may_both_be_on_record(tmp_path, one, no_candidate, monkeypatch):
    recorded(tmp_path / "truth", affine())
    no_candidate()
    monkeypatch.setattr(sides, "build_reference", None)
    library = truths.Library(tmp_path / "truth", truths.REQUIRE)
    with truths.using(library):
        outcome = replayed(affine(), one)
    assert outcome.passed
    assert (outcome.record, outcome.made_with) == ("used", f"MindSpore {ms.__version__}")


def test_a_failure_says_what_it_can_without_the_candidate(folder):
    case = small.case(
        "torch.nn:BatchNorm2d",
        MS + "batch_norm_of_reversed_momentum",
        normal(3, 12, 7, 5),
        config={"num_features": 12},
    )
    kept(folder, case)
    outcome = replayed(case, folder)
    assert not outcome.passed
    version = f"MindSpore {ms.__version__}"
    assert report.undiagnosed(outcome) == (
        f"no diagnosis: the candidate ran elsewhere, with {version}; the first buffer that "
        "differs, in the order of the network, is running_mean; repeat it where MindSpore, torch "
        "and the device are"
    )
    lines = [json.loads(line) for line in report.lines(outcome)]
    assert {line["made_with"] for line in lines} == {version}
    assert report.summary(lines).endswith(f"run elsewhere  1 case, with {version}")


# Exactly this case.


def changed(**twin) -> TwinCase:
    return replace(affine(), twin=replace(affine().twin, **twin))


CHANGES = {
    "candidate": {"candidate": MS + "StaleWeight"},
    "inputs": {"inputs": [normal(30, 40, scale=2.0)]},
    "rename": {"rename": {"weight": "bias"}},
    "random layers": {"random_layers": "eval"},
    "computes": {"computes": "float32"},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_a_changed_declaration_makes_it_stale(one, changes):
    (file,) = one.glob("*.safetensors")
    with pytest.raises(RecordError) as refused:
        replayed(changed(**changes), one)
    assert str(refused.value) == (
        f"{affine().name}: its run in {file} is stale, its declaration or the source of its "
        f"candidate has changed since: {candidates.CURE}"
    )


def test_a_changed_source_of_the_candidate_makes_it_stale(one, monkeypatch):
    """How changes of sources are found, `test_record.py` shows."""
    monkeypatch.setattr(fingerprint, "sources", lambda target: f"changed {target}")
    with pytest.raises(RecordError, match="the source of its candidate has changed since"):
        replayed(affine(), one)


def test_another_reference_alone_does_not(one):
    assert replayed(changed(reference="torch.nn.modules.linear:Linear"), one).passed


@pytest.mark.parametrize("what", ["inputs", "weight", "cotangent"])
def test_other_numbers_are_refused(one, monkeypatch, what):
    drawn = getattr(Sample, what)

    def other(*arguments):
        values = drawn(*arguments)
        return [2 * each for each in values] if what == "inputs" else 2 * values

    monkeypatch.setattr(Sample, what, other)
    with pytest.raises(RecordError) as refused:
        replayed(affine(), one)
    (file,) = one.glob("*.safetensors")
    assert str(refused.value) == (
        f"{affine().name}: its run in {file} was given other inputs or weights than are drawn "
        f"here (there with NumPy {np.__version__}): {candidates.CURE}"
    )


@pytest.mark.parametrize("case", [affine(), affine(execution="graph"), affine(device="ascend")])
def test_what_was_not_run_is_refused(one, case):
    seed = 1 if case == affine() else 0
    with pytest.raises(RecordError) as refused:
        replayed(case, one, seed)
    assert str(refused.value) == (
        f"{case.name}: {one} has no run of it with seed {seed}: {candidates.CURE} and `SEED={seed}`"
    )


def test_the_name_of_an_engine_error_is_all_that_a_record_can_choose():
    assert type(candidates._exception("SideError", "x")) is SideError
    assert type(candidates._exception("os", "x")).__mro__[1] is Exception
    assert str(candidates._exception("ValueError", "what")) == "what"


# Damage.


def flip(file) -> None:
    damaged = bytearray(file.read_bytes())
    damaged[-100] ^= 1
    file.write_bytes(damaged)


def replaced(file, new: bytes) -> None:
    """Put another content into the file, and its checksum into the manifest."""
    file.write_bytes(new)
    path = file.with_name("manifest.json")
    text = json.loads(path.read_text())
    (entry,) = text["runs"].values()
    entry |= {"sha256": hashlib.sha256(new).hexdigest(), "bytes": len(new)}
    path.write_text(json.dumps(text))


def repacked(file, change, case=None) -> None:
    records = store.decode_file(file, file.read_bytes(), affine().name, CANDIDATE)
    ((arrays, rest),) = records.values()
    change(arrays, rest)
    replaced(file, store.encode_file((case or affine()).name, records, CANDIDATE))


def manifest(file, text: str) -> None:
    file.with_name("manifest.json").write_text(text)


DAMAGE = {
    "byte": (flip, "{file} is damaged, its SHA-256 is not the manifest's"),
    "cut off": (lambda f: f.write_bytes(f.read_bytes()[:999]), "{file} is cut off, 999 of"),
    "missing": (lambda f: f.unlink(), "{file} cannot be read (No such file or directory)"),
    "header": (lambda f: replaced(f, b"\0" * 500), "{file} is no file of records"),
    "another run's": (
        lambda f: repacked(f, lambda *_: None, affine(execution="graph")),
        "{file} holds records of 'small-in_features40-out_features24-train-float32-graph-cpu', not",
    ),
    "truth": (
        lambda f: replaced(f, store.encode_file("small", {})),
        f"{{file}} has format {store.FORMAT}, and this version reads 'candidate 2'",
    ),
    "array": (lambda f: repacked(f, lambda a, _: a.pop("output.0")), "{file} lacks what 'small-"),
    "slots": (lambda f: repacked(f, lambda _, r: r.pop("slots")), "{file} lacks what 'small-"),
    "digest": (lambda f: repacked(f, lambda _, r: r.pop("digest")), "{file} lacks what 'small-"),
    "no manifest": (
        lambda f: f.with_name("manifest.json").unlink(),
        "{folder}/manifest.json is not there: name the folder that `make record-candidate` has",
    ),
    "manifest": (lambda f: manifest(f, '{"format": "ca'), "{folder}/manifest.json is damaged"),
    "manifest of truth": (
        lambda f: manifest(f, '{"format": 1, "twins": {}}'),
        "{folder}/manifest.json has format 1, and this version reads 'candidate 2'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "sentence"), DAMAGE.values(), ids=DAMAGE)
def test_damage_is_one_sentence_that_names_the_file_and_the_cure(one, damage, sentence):
    (file,) = one.glob("*.safetensors")
    damage(file)
    with pytest.raises(RecordError) as refused:
        replayed(affine(), one)
    (line,) = str(refused.value).splitlines()
    assert line.startswith(sentence.format(file=file, folder=one))
    assert "`make record-candidate`" in line


def test_runs_are_kept_side_by_side_and_the_same_give_the_same_bytes(one, content, no_candidate):
    assert kept(one, affine()) == 1
    assert {path.name: path.read_bytes() for path in one.iterdir()} == content
    graph = affine(execution="graph")
    assert kept(one, graph) == 1
    kept(one, affine(), seed=5)
    no_candidate()
    for case, seed in ((affine(), 0), (graph, 0), (affine(), 5)):
        assert replayed(case, one, seed).passed

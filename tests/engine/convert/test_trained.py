"""The weights of a checkpoint in a comparison: both sides get them, as they are in the file."""

import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from equivalence import Twin, cases, normal
from equivalence.checkpoints import files
from equivalence.comparison import kept, sides
from equivalence.comparison.check import check
from equivalence.convert.convert import convert
from equivalence.errors import (
    CheckpointError,
    DeclarationError,
    EquivalenceError,
    TorchMissingError,
    WeightError,
)
from equivalence.host import environment
from equivalence.record import fingerprint
from equivalence.sample import Perturbed
from equivalence.structure.weights import REFERENCE_ONLY
from tests.engine.parts.trained_pt import trained

PT, MS = "tests.engine.parts.trained_pt", "tests.engine.parts.trained_ms"


@pytest.fixture(scope="module")
def state():
    return trained()


@pytest.fixture
def file(state, tmp_path):
    torch.save(state, tmp_path / "trained.pth")
    return tmp_path / "trained.pth"


def twin(file, candidate="Net", **fields):
    fields = {"executions": ("pynative",)} | fields
    return Twin(
        "trained", f"{PT}:Net", f"{MS}:{candidate}", [normal(8, 3, 16, 16)], weights=file, **fields
    )


def case_of(file, candidate="Net", **fields):
    return next(iter(cases(twin(file, candidate, **fields), "cpu")))


def same(given, state):
    expected = {
        n: t.numpy() for n, t in state.items() if n.rpartition(".")[2] not in REFERENCE_ONLY
    }
    return given.keys() == expected.keys() and all(
        np.array_equal(given[n], expected[n]) for n in expected
    )


# --- The verdict ---------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["train", "eval"])
@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_a_right_port_is_green_and_the_weights_are_the_file_s(file, state, phase, execution):
    case = case_of(file, phases=(phase,), executions=(execution,))
    outcome = check(case, 0)
    assert outcome.passed, outcome.judgement.differing or outcome.judgement.ill_posed
    sample = kept.reference(case, 0).sample
    assert same(sample.given, state)
    assert all(np.array_equal(sample.weight(n, v.shape), v) for n, v in sample.given.items())
    assert not sample.shifts
    assert not sample.rows_redrawn


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_a_wrong_epsilon_is_red(file, phase):
    outcome = check(case_of(file, "another_epsilon", phases=(phase,)), 0)
    assert {v.name for v in outcome.judgement.differing} >= {"output.0", "gradient:head.weight"}


def test_weights_that_a_candidate_keeps_of_its_first_call_are_red(file):
    outcome = check(case_of(file, "Cached", phases=("eval",)), 0)
    assert not outcome.passed


def test_a_perturbation_moves_given_weights(file):
    sample = sides.draw(case_of(file), 0)
    weight = sample.weight("head.weight", (4, 32))
    moved = Perturbed(sample, 0, 2.0**-24).weight("head.weight", (4, 32))
    assert np.all(np.abs(moved / weight.astype(float) - 1) > 2.0**-25)


def test_only_what_is_drawn_is_drawn_again(file, state):
    sample = sides.draw(case_of(file), 0)
    before = sample.inputs()[0]
    assert sample.draw_again()
    assert not np.array_equal(sample.inputs()[0], before)
    assert same(sample.given, state)
    sample.inputs = lambda _step=1: [before]
    assert not sample.draw_again()
    assert sample.redraw == 1


# --- Files ---------------------------------------------------------------------------------------


def of_pytorch(state, folder, name):
    torch.save(state, folder / name)
    return folder / name


def wrapped(state, folder):
    return of_pytorch({f"module.{n}": t for n, t in state.items()}, folder, "n.pt")


def in_a_training(state, folder):
    optimizer = {"state": {}, "param_groups": [{"params": [0]}]}
    whole = {"model": state, "optimizer": optimizer, "epoch": 3}
    return of_pytorch(whole, folder, "n.bin")


def safe(state, folder):
    save_file(state, folder / "n.safetensors")
    return folder / "n.safetensors"


def converted(state, folder, name="n.ckpt", **options):
    source = of_pytorch(state, folder, "n.pth")
    convert(source, folder / name, to="mindspore", network=f"{MS}:Net", **options)
    return folder / name


def converted_safely(state, folder):
    return converted(state, folder, "n.safetensors")


def sharded(state, folder):
    (folder / "shards").mkdir()
    weights = files.read(of_pytorch(state, folder, "n.pth"), "pytorch").weights
    files.write(folder / "shards" / "n.safetensors", "pytorch", weights, {}, shard=9000)
    assert len(list((folder / "shards").iterdir())) > 2
    return folder / "shards"


@pytest.mark.parametrize(
    "make", [wrapped, in_a_training, safe, converted, converted_safely, sharded]
)
def test_every_kind_of_file_gives_the_same_weights(state, tmp_path, make):
    assert same(sides.draw(case_of(make(state, tmp_path)), 0).given, state)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_values_that_float32_has_are_taken_from_every_dtype(state, tmp_path, dtype):
    exact = {n: t.bfloat16().half().float() for n, t in state.items()}
    exact |= {n: t.bfloat16().float() for n, t in exact.items()}
    if dtype == torch.float16:
        exact = {n: t.half().float() for n, t in state.items()}
    narrow = {n: t if n.endswith("tracked") else exact[n].to(dtype) for n, t in state.items()}
    assert same(sides.draw(case_of(of_pytorch(narrow, tmp_path, "n.pth")), 0).given, exact)


def test_a_case_of_float16_rounds_all_weights(file, state):
    given = sides.draw(case_of(file, dtypes=("float16",)), 0).given
    assert same(given, {n: t.half() for n, t in state.items()})


def test_a_case_of_bfloat16_rounds_all_weights(file, state):
    given = sides.draw(case_of(file, dtypes=("bfloat16",)), 0).given
    assert same(given, {n: t.bfloat16().float() for n, t in state.items()})


def test_shared_names_and_tables_are_those_of_the_reference(state, tmp_path):
    def given(**more):
        both = {f"again.{n}": state[f"head.{n}"] for n in ("weight", "bias")}
        whole = state | both | {"table": torch.arange(3)} | more
        path = of_pytorch(whole, tmp_path, "n.pth")
        fields = {"configs": [{"tied": True}], "candidate": f"{MS}:Net"}
        declared = Twin("t", f"{PT}:Net", inputs=[normal(1, 3, 16, 16)], weights=path, **fields)
        return sides.draw(next(iter(cases(declared, "cpu"))), 0).given

    assert same(given(), state)
    with pytest.raises(WeightError, match=r"again.bias and head.bias are one weight .* differ"):
        given(**{"again.bias": state["head.bias"] + 1})
    with pytest.raises(WeightError, match=r"table has other values than the reference's const"):
        given(table=torch.arange(3) + 1)


# --- Mistakes ------------------------------------------------------------------------------------


def without(state, *names):
    return {n: t for n, t in state.items() if n not in names}


def changed(state, **more):
    return state | {n.replace("__", "."): t for n, t in more.items()}


BIAS = "head.bias"
ROWS = {
    "a weight is missing": (
        lambda s: without(s, BIAS),
        r"lacks head.bias \(4,\) of the reference; nearest: head.weight$",
    ),
    "several are missing": (
        lambda s: without(s, BIAS, "head.weight"),
        r"lacks head.weight \(4, 32\) of the reference.* \(1 more alike\)$",
    ),
    "one is more": (
        lambda s: changed(s, head__scale=torch.ones(4)),
        r"holds head.scale \(4,\), which the reference does not have; nearest: head",
    ),
    "another name": (
        lambda s: without(changed(s, head__bais=s[BIAS]), BIAS),
        r"lacks head.bias \(4,\) of the reference; nearest: head.bais$",
    ),
    "all names begin otherwise": (
        lambda s: {f"backbone.{n}": t for n, t in s.items()},
        r"nearest: backbone.* convert takes a part of a file, with --key and --strip",
    ),
    "another shape": (
        lambda s: changed(s, head__bias=torch.ones(5)),
        r"head.bias is \(5,\), and the reference has \(4,\)$",
    ),
    "integers": (
        lambda s: changed(s, head__bias=torch.ones(4).long()),
        r"head.bias is int64, and the reference's is a float$",
    ),
    "wider values": (
        lambda s: changed(s, head__bias=torch.full((4,), 0.1, dtype=torch.float64)),
        r"head.bias is float64 with values that float32 does not have; save it as float32",
    ),
    "nothing": (lambda _: {}, r"holds no weights$"),
    "a list": (lambda s: list(s.values()), r"holds a list, no state dict"),
}


@pytest.mark.parametrize("row", ROWS)
def test_a_file_that_does_not_fit_is_one_sentence(state, tmp_path, row):
    make, words = ROWS[row]
    path = of_pytorch(make(dict(state)), tmp_path, "n.pth")
    with pytest.raises(EquivalenceError, match=words) as caught:
        check(case_of(path), 0)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_value_beyond_float16_is_refused_in_its_cases(state, tmp_path):
    path = of_pytorch(changed(state, head__bias=torch.full((4,), 1e6)), tmp_path, "n.pth")
    with pytest.raises(WeightError, match=r"values that float16 does not have"):
        check(case_of(path, dtypes=("float16",)), 0)


def test_a_name_that_the_candidate_lacks_is_told(state, tmp_path):
    path = converted(state, tmp_path)
    weights = files.read(path, "mindspore").weights
    weights["head.scale"] = weights["head.bias"]
    files.write(path, "mindspore", weights, {})
    with pytest.raises(WeightError, match=r"holds head.scale, which the candidate does not have"):
        check(case_of(path), 0)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(CheckpointError, match=r"no.pth: there is no such file"):
        check(case_of(tmp_path / "no.pth"), 0)
    with pytest.raises(CheckpointError, match=r"is a folder without an index"):
        check(case_of(tmp_path), 0)
    (tmp_path / "n.npz").write_bytes(b"x")
    with pytest.raises(CheckpointError, match=r"does not end in .pth"):
        check(case_of(tmp_path / "n.npz"), 0)


@pytest.mark.parametrize("wrong", [3, "", [], {"a": 1}, b"n.pth"])
def test_a_declaration_of_something_else_is_refused(wrong):
    with pytest.raises(DeclarationError, match=r"write the path of a checkpoint"):
        twin(wrong)


def test_a_relative_path_starts_where_the_declaration_is_read(file, tmp_path, monkeypatch):
    monkeypatch.chdir(file.parent)
    declared = twin(file.name)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert declared.weights == str(file)


def test_without_torch_only_names_of_the_reference_can_be_read(state, tmp_path, monkeypatch):
    safely = sides.draw(case_of(safe(state, tmp_path)), 0)
    other = case_of(of_pytorch(state, tmp_path, "n.pth"))
    monkeypatch.setattr(environment, "installed", lambda _: False)
    again = sides.draw(
        case_of(shutil.copy(tmp_path / "n.safetensors", tmp_path / "m.safetensors")), 0
    )
    assert same(again.given, state)
    assert same(safely.given, state)
    with pytest.raises(TorchMissingError, match=r"save the weights as a .safetensors"):
        sides.draw(case_of(of_pytorch(changed(state, x=torch.ones(1)), tmp_path, "o.pth")), 0)
    assert other


# --- Records -------------------------------------------------------------------------------------


def test_fingerprints_depend_on_the_content_of_the_file(file, state):
    def prints(path):
        case = case_of(path)
        return [
            make(case, 0, 2.0**-24)
            for make in (fingerprint.fingerprint, fingerprint.candidate_fingerprint)
        ]

    first = prints(file)
    copied = file.with_name("copy.pth")
    shutil.copy(file, copied)
    assert prints(copied) == first
    torch.save(changed(state, head__bias=state["head.bias"] + 1), file)
    assert not set(prints(file)) & set(first)
    assert not set(prints(None)) & set(first)


def test_a_kept_reference_is_not_that_of_another_file(file, state):
    first = kept.reference(case_of(file), 0)
    assert kept.reference(case_of(file), 0) is first
    torch.save(changed(state, head__bias=state["head.bias"] + 1), file)
    assert kept.reference(case_of(file), 0) is not first

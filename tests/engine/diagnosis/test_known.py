"""A right port that meets a fault of MindSpore is told what to write; a wrong one is not."""

import pytest
from mindspore import ops

from equivalence.comparison import kept
from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.diagnosis import diagnose as module
from equivalence.diagnosis import known
from equivalence.diagnosis.diagnose import diagnose
from equivalence.host.isolation import isolated
from equivalence.stand_ins import faulty as faults
from tests.engine.parts.small import case

STEPS = {"steps": 3, "phases": ("train",)}
PAD, SELU = "pad_gradient_in_graph_called_again", "selu_gradient"


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


def faulty(reference, candidate, execution="graph", **options):
    sides = [f"tests.engine.parts.faulty_{side}" for side in ("pt", "ms")]
    names = f"{sides[0]}:{reference}", f"{sides[1]}:{candidate}"
    return case(*names, normal(2, 4, 6), execution=execution, **options)


def told(of):
    """The causes that a diagnosis tells, with their statements."""
    return [(each.statement, cause) for each in diagnose(of, 0).culprits for cause in each.causes]


@pytest.mark.parametrize(
    ("name", "execution", "finding", "line"),
    [
        ("Shifted", "graph", PAD, "wide = ops.pad(scores, (1, 0), value=self.filled)"),
        ("Squashed", "graph", PAD, "wide = ops.pad(scores, (1, 0), value=self.filled)"),
        ("Scaled", "graph", SELU, "y = ops.selu(self.one(x))"),
        ("Scaled", "pynative", SELU, "y = ops.selu(self.one(x))"),
        ("Mished", "graph", "mish_overflow", "return ops.mish(self.factor * self.far(x))"),
        ("Distilled", "pynative", "kl_div_target_gradient", "target, self.reduction)"),
        ("Single", "pynative", "bce_of_one_element", "(share / (1.0 + share), target)"),
        ("Upscaled", "pynative", "interpolate_bicubic", "align_corners=False)"),
        pytest.param(
            *("Upscaled", "graph", "interpolate_bicubic", "align_corners=False)"),
            marks=pytest.mark.nightly,
        ),
        ("Cornered", "pynative", "interpolate_bicubic", "align_corners=True)"),
        pytest.param(
            *("Cornered", "graph", "interpolate_bicubic", "align_corners=True)"),
            marks=pytest.mark.nightly,
        ),
        (
            "Padded",
            "pynative",
            "embedding_padding_gradient",
            "self.rows(ids) * ops.expand_dims(x, -1)",
        ),
        (
            "Padded",
            "graph",
            "embedding_padding_gradient",
            "self.rows(ids) * ops.expand_dims(x, -1)",
        ),
        ("Decoded", "graph", "conv_transpose_output_padding", "x.reshape(2, 4, 2, 3))"),
        ("Flipped", "pynative", "mint_split_gradient_of_transposed", "[2, 3], -1)"),
        ("Blended", "pynative", "lerp_gradient_below_an_axis_of_one", ":1], self.weight)"),
    ],
)
def test_a_right_port_that_meets_a_fault_is_told_what_to_write(name, execution, finding, line):
    of = faulty(name, name, execution)
    assert not check(of, 0).passed
    ((statement, cause),) = told(of)
    assert statement.endswith(line)
    assert cause.startswith(known.RIGHT)
    assert f"(finding {finding}); write " in cause


def test_faults_that_explain_a_case_together_are_both_told():
    of = faulty("Both", "Both")
    padded, scaled = [cause for _, cause in told(of)]
    assert f"finding {PAD}" in padded
    assert f"finding {SELU}" in scaled


def test_a_step_whose_later_calls_meet_a_fault_is_told():
    of = faulty("Step", "Step", **STEPS)
    assert not check(of, 0).passed
    ((_, cause),) = told(of)
    assert f"finding {PAD}" in cause


@pytest.mark.parametrize(
    ("name", "candidate", "options"),
    [
        ("Shifted", "shifted_filled_otherwise", {}),
        ("Shifted", "shifted_twice_as_large", {}),
        ("Squashed", "squashed_less", {}),
        ("Scaled", "scaled_without_gradient", {"execution": "pynative"}),
        ("Padded", "padded_without_padding", {"execution": "pynative"}),
        ("Padded", "padded_twice_as_large", {"execution": "pynative"}),
        ("Step", "step_twice_as_long", STEPS),
        ("Mished", "mished_more", {"execution": "pynative"}),
        ("Distilled", "distilled_by_sum", {"execution": "pynative"}),
        ("Averaged", "averaged_for_each_sample", {"execution": "pynative"}),
        ("Single", "single_of_another_target", {"execution": "pynative"}),
        ("Upscaled", "upscaled_twice", {"execution": "pynative"}),
        pytest.param("Upscaled", "upscaled_twice", {}, marks=pytest.mark.nightly),
        pytest.param("Upscaled", "Cornered", {}, marks=pytest.mark.nightly),
        ("Cornered", "Upscaled", {"execution": "pynative"}),
        ("Decoded", "decoded_twice", {"execution": "pynative"}),
        ("Flipped", "flipped_twice", {"execution": "pynative"}),
        ("Blended", "blended_more", {"execution": "pynative"}),
    ],
)
def test_a_wrong_port_that_meets_a_fault_is_not_acquitted(name, candidate, options):
    of = faulty(name, candidate, **options)
    assert not check(of, 0).passed
    found = told(of)
    assert found
    assert not any(cause.startswith(known.RIGHT) for _, cause in found)


@pytest.mark.parametrize(
    ("name", "candidate", "finding", "line"),
    [
        ("Beside", "doubled_beside", "conv_transpose_output_padding", "self.factor * x"),
        ("Enlarged", "enlarged_twice", "interpolate_bicubic", "* self.slope"),
        ("Looked", "looked_twice", "embedding_padding_gradient", "self.factor * ops.sigmoid"),
        ("Normed", "normed_otherwise", "interpolate_bicubic", ""),
    ],
)
def test_a_fault_beside_a_mistake_is_mindspores_and_the_mistake_the_ports(
    name, candidate, finding, line
):
    found = diagnose(faulty(name, candidate, "pynative"), 0).culprits
    *own, fault = found
    assert fault.causes[0].startswith(f"{known.BESIDE}MindSpore's ")
    assert f"(finding {finding})" in fault.causes[0]
    assert [line in each.statement for each in own] == [True]


def test_a_fault_at_a_place_that_is_wrong_without_it_too_is_not_told():
    wrong = faulty("Enlarged", "EnlargedOtherwise", "pynative")
    assert not any(cause.startswith(known.BESIDE) for _, cause in told(wrong))


def test_a_trial_of_a_place_that_fails_is_told(monkeypatch):
    def cannot(*_):
        raise KeyError("no")

    monkeypatch.setattr(module, "_without", cannot)
    found = diagnose(faulty("Enlarged", "enlarged_twice", "pynative"), 0)
    assert f"{known.UNTRIED}with another ResizeBicubic it raised KeyError: 'no'" in found.notes
    assert len(found.culprits) == 2


def test_a_fault_that_moves_nothing_that_is_wrong_is_not_told():
    """The gradient of a SELU behind a cut is not taken."""
    wrong = faulty("Scaled", "scaled_without_gradient", "pynative")
    assert not any(cause.startswith(known.BESIDE) for _, cause in told(wrong))


def test_a_gradient_explains_no_result_but_of_a_network_that_asks_for_one():
    backward = {fault.finding for fault in known.FAULTS if fault.backward}
    assert backward == {each for each in backward if "gradient" in each}
    assert "mish_overflow" not in backward


def test_what_stands_for_a_loss_reduces_it_as_the_primitive_is_told():
    loss = ops.ones((2, 3))
    for name in ("sum", "mean", "none"):
        held = ops.BinaryCrossEntropy(reduction=name).reduction
        assert faults.reduced(loss, held).shape == (2, 3)[: 2 * (name == "none")]
        assert float(faults.reduced(loss, held).sum()) == (1.0 if name == "mean" else 6.0)
    assert float(faults.reduced(loss, ops.KLDivLoss(reduction="batchmean").reduction)) == 3.0
    with pytest.raises(ValueError, match="'mode' is not known"):
        faults.reduced(loss, "mode")


def test_a_trial_that_fails_is_told(monkeypatch):
    def cannot(*_):
        raise KeyError("no")

    wrong = faulty("Scaled", "scaled_without_gradient", "pynative")
    monkeypatch.setattr(known, "_mended", cannot)
    assert f"{known.UNTRIED}with another SeLU it raised KeyError: 'no'" in diagnose(wrong, 0).notes
    monkeypatch.setattr(known, "_met", cannot)
    assert f"{known.UNTRIED}KeyError: 'no'" in diagnose(wrong, 0).notes


def test_nothing_runs_where_no_code_names_an_operator_that_is_known_to_be_wrong(monkeypatch):
    monkeypatch.setattr(known, "FAULTS", [f for f in known.FAULTS if f.primitive == "SeLU"])
    monkeypatch.setattr(known, "_met", lambda *_: pytest.fail("it ran"))
    sides = [f"tests.engine.parts.cuts_{side}:Attended" for side in ("pt", "ms")]
    of = case(*sides, normal(3, 6), execution="pynative")
    assert diagnose(of, 0).culprits


def test_a_right_port_without_a_fault_passes():
    assert check(faulty("Shifted", "Shifted", "pynative"), 0).passed

"""A defect in a candidate turns exactly the tensors red that it touches, and no others."""

import functools

import mindspore as ms
import pytest
from mindspore import nn

from equivalence.comparison.check import check
from equivalence.declare.draws import binary, logits, normal
from equivalence.declare.twin import cases
from equivalence.errors import DeclarationError, WeightError
from equivalence.host.isolation import isolated
from tests.engine.parts.small import MS, PT, case
from tests.twins import declared

LINEAR = ("torch.nn:Linear", [normal(5, 6)], {"in_features": 6, "out_features": 6})
NESTED = (PT + "Nested", [normal(5, 4)], {})
DROPPING = (PT + "Dropping", [normal(5, 4)], {})
NORM = ("torch.nn:BatchNorm2d", [normal(3, 12, 7, 5)], {"num_features": 12})
CONV = (
    "torchvision.models.resnet:conv3x3",
    [normal(2, 4, "H", "W")],
    {"in_planes": 4, "out_planes": 6, "stride": 2},
)
POOL = (
    "torch.nn:MaxPool2d",
    [normal(2, 5, "H", "W", shift=-2.0)],
    {"kernel_size": 3, "stride": 2, "padding": 1},
)
FOCAL = (
    "pt_reference.losses:SigmoidFocalLoss",
    [logits(6, 5), binary(6, 5)],
    {"alpha": 0.25, "reduction": "sum"},
)
BOTTLENECK = (
    "pt_reference.resnet:bottleneck",
    [normal(2, 64, 9, 8)],
    {"inplanes": 64, "planes": 32, "stride": 2},
)
EVEN, ODD = {"H": 12, "W": 10}, {"H": 11, "W": 9}


@pytest.fixture(autouse=True)
def isolation():
    with isolated():
        yield


def compare(twin, candidate, *, phase="train", sizes=None, **options):
    """The outcome of a candidate beside the reference, inputs and arguments of `twin`."""
    reference, inputs, config = twin
    declared_case = case(
        reference, candidate, *inputs, phase=phase, config={**config, **(sizes or {})}, **options
    )
    return check(declared_case, seed=0)


def red(outcome):
    """Names of the tensors that differ."""
    return {verdict.name for verdict in outcome.judgement.differing}


def problems(outcome):
    """What is wrong in words, by tensor."""
    return {v.name: v.problem for v in outcome.judgement.verdicts if v.problem}


@pytest.mark.parametrize(
    ("twin", "candidate", "sizes"),
    [
        pytest.param(LINEAR, MS + "Affine", {}, id="linear"),
        pytest.param(NESTED, MS + "Nested", {}, id="two outputs"),
        pytest.param(NORM, "mindspore.nn:BatchNorm2d", {}, id="batch norm"),
        pytest.param(CONV, "ms_models.conv:conv3x3", EVEN, id="convolution"),
        pytest.param(POOL, MS + "max_pool2d", EVEN, id="max pooling"),
        pytest.param(FOCAL, "ms_models.losses:SigmoidFocalLoss", {}, id="focal loss"),
        pytest.param(BOTTLENECK, "ms_models.resnet:Bottleneck", {}, id="bottleneck"),
    ],
)
@pytest.mark.parametrize("phase", ["train", "eval"])
def test_without_a_defect_nothing_is_red(twin, candidate, sizes, phase):
    outcome = compare(twin, candidate, sizes=sizes, phase=phase)
    assert outcome.passed
    assert red(outcome) == set()


@pytest.mark.parametrize(
    ("twin", "candidate", "sizes", "expected"),
    [
        pytest.param(
            LINEAR,
            MS + "TransposedWeight",
            {},
            {"output.0", "gradient:input[0]", "gradient:weight"},
            id="a square weight is transposed",
        ),
        pytest.param(
            LINEAR,
            MS + "StaleWeight",
            {},
            {"output.0", "gradient:input[0]", "gradient:weight"},
            id="the loaded weight is not the one that is used",
        ),
        pytest.param(
            LINEAR,
            MS + "DetachedBias",
            {},
            {"gradient:bias"},
            id="the gradient of one parameter is zero",
        ),
        pytest.param(LINEAR, MS + "OneNaN", {}, {"output.0"}, id="an output element is NaN"),
        pytest.param(LINEAR, MS + "DoubleOutput", {}, {"output.0"}, id="an output is float64"),
        pytest.param(
            NESTED,
            MS + "DroppedOutput",
            {},
            {"output.2"},
            id="the last output is missing",
        ),
        pytest.param(
            NORM,
            MS + "batch_norm_of_another_epsilon",
            {},
            {"output.0", "gradient:input[0]", "gradient:weight"},
            id="the epsilon of a batch norm is 1e-4",
        ),
        pytest.param(
            NORM,
            MS + "batch_norm_of_reversed_momentum",
            {},
            {"buffer:running_mean", "buffer:running_var"},
            id="the momentum of a batch norm is reversed",
        ),
        pytest.param(
            CONV,
            MS + "conv3x3_padded_by_rule",
            EVEN,
            {"output.0", "gradient:input[0]", "gradient:weight"},
            id="a convolution pads by rule, even size",
        ),
        pytest.param(
            CONV, MS + "conv3x3_padded_by_rule", ODD, set(), id="a convolution pads by rule, odd"
        ),
        pytest.param(
            POOL,
            MS + "max_pool2d_padded_by_rule",
            EVEN,
            {"output.0", "gradient:input[0]"},
            id="max pooling pads by rule, even size",
        ),
        pytest.param(
            POOL, MS + "max_pool2d_padded_by_rule", ODD, set(), id="max pooling pads by rule, odd"
        ),
        pytest.param(
            FOCAL,
            MS + "focal_loss_of_swapped_alpha",
            {},
            {"output.0", "gradient:input[0]"},
            id="alpha and 1 - alpha are swapped",
        ),
        pytest.param(
            FOCAL,
            MS + "focal_loss_averaged",
            {},
            {"output.0", "gradient:input[0]"},
            id="the mean is taken for the sum",
        ),
        pytest.param(
            BOTTLENECK,
            MS + "DetachedShortcut",
            {},
            {
                "gradient:input[0]",
                "gradient:downsample.0.weight",
                "gradient:downsample.1.weight",
                "gradient:downsample.1.bias",
            },
            id="the shortcut is detached",
        ),
    ],
)
def test_a_defect_turns_exactly_these_tensors_red(twin, candidate, sizes, expected):
    outcome = compare(twin, candidate, sizes=sizes)
    assert red(outcome) == expected
    assert outcome.judgement.equal == (not expected)
    assert outcome.passed == (not expected and not outcome.settings.differing)


def test_reversed_momentum_is_out_of_sight_in_evaluation():
    outcome = compare(NORM, MS + "batch_norm_of_reversed_momentum", phase="eval")
    assert outcome.judgement.equal
    assert [each.name for each in outcome.settings.differing] == ["momentum"]


def test_another_epsilon_shows_in_evaluation_too():
    outcome = compare(NORM, MS + "batch_norm_of_another_epsilon", phase="eval")
    assert red(outcome) == {"output.0", "gradient:input[0]", "gradient:weight"}


def test_swapped_gamma_and_beta_spare_only_the_statistics():
    swapped = {"gamma": "bias", "beta": "weight"}
    outcome = compare(NORM, "mindspore.nn:BatchNorm2d", rename=swapped)
    assert red(outcome) == {"output.0", "gradient:input[0]", "gradient:weight", "gradient:bias"}


def test_a_nan_is_named_with_its_place():
    (problem,) = problems(compare(LINEAR, MS + "OneNaN")).values()
    assert problem.startswith("1 of 30 elements are not finite")
    assert "first at (4, 5): nan" in problem


def test_another_dtype_is_named():
    outcome = compare(LINEAR, MS + "DoubleOutput")
    assert problems(outcome) == {"output.0": "dtype float64, expected float32"}


def test_a_missing_output_is_named():
    outcome = compare(NESTED, MS + "DroppedOutput")
    lost = "the candidate does not have it; no gradient is compared"
    assert problems(outcome) == {"output.2": lost}


def test_a_mean_for_a_sum_is_a_factor_of_the_number_of_elements():
    (verdict, _) = compare(FOCAL, MS + "focal_loss_averaged").judgement.verdicts
    assert round(verdict.want / verdict.got) == 30


def test_a_defect_shows_in_graph_mode_as_in_pynative():
    pynative = compare(LINEAR, MS + "DetachedBias")
    graph = compare(LINEAR, MS + "DetachedBias", execution="graph")
    assert red(graph) == red(pynative) == {"gradient:bias"}


def test_a_defect_shows_in_half_precision():
    half = compare(LINEAR, MS + "TransposedWeight", dtype="float16")
    assert red(half) == {"output.0", "gradient:input[0]", "gradient:weight"}
    assert compare(LINEAR, MS + "Affine", dtype="float16").passed


def test_a_weight_that_is_not_loaded_is_named(monkeypatch):
    load = ms.Parameter.set_data

    def lose_bias(parameter, data, **options):
        return parameter if parameter.name == "bias" else load(parameter, data, **options)

    monkeypatch.setattr(ms.Parameter, "set_data", lose_bias)
    with pytest.raises(WeightError, match="candidate bias does not hold what was loaded"):
        compare(LINEAR, MS + "Affine")


def test_a_renamed_weight_is_an_error_that_names_both_sides():
    with pytest.raises(WeightError) as caught:
        compare(LINEAR, MS + "RenamedWeight")
    complaint = str(caught.value)
    assert "candidate kernel (parameter (6, 6)) maps to kernel" in complaint
    assert "reference weight (parameter (6, 6)) has no partner" in complaint


def test_a_frozen_weight_is_an_error():
    with pytest.raises(WeightError, match=r"candidate bias is a buffer \(6,\), its partner bias"):
        compare(LINEAR, MS + "FrozenBias")


def test_dropout_that_is_not_pinned_is_an_error_that_names_the_layer():
    with pytest.raises(DeclarationError, match=r"reference: dropout \(dropout\); candidate: dr"):
        compare(DROPPING, MS + "Dropping")


def test_pinned_dropout_differs_nowhere():
    assert compare(DROPPING, MS + "Dropping", random_layers="eval").passed


def test_dropout_that_no_phase_reaches_differs_in_evaluation():
    unpinned = MS + "UnpinnedDropout"
    assert compare(DROPPING, unpinned, random_layers="eval").passed
    outcome = compare(DROPPING, unpinned, random_layers="eval", phase="eval")
    assert red(outcome) == {"random layer:"}


def declared_case(name, **config):
    """The first pynative float32 case of a declared twin with these arguments."""
    (twin,) = (twin for twin in declared() if twin.name == name)
    return next(
        found
        for found in cases(twin, "cpu")
        if config.items() <= {**found.config, "phase": found.phase}.items()
        and (found.execution, found.dtype) == ("pynative", "float32")
    )


def norm_layers_with(monkeypatch, **arguments):
    """Builds every BatchNorm of the candidates with these arguments."""
    monkeypatch.setattr(nn, "BatchNorm2d", functools.partial(nn.BatchNorm2d, **arguments))


def test_an_epsilon_in_a_declared_block_spares_the_statistics_before_it(monkeypatch):
    norm_layers_with(monkeypatch, eps=1e-4)
    outcome = check(declared_case("bottleneck", phase="train", stride=2), seed=0)
    first = {"buffer:bn1.running_mean", "buffer:bn1.running_var"}
    second = {"buffer:bn2.running_mean", "buffer:bn2.running_var"}
    assert {name for name in red(outcome) if name.startswith("buffer:")} & first == set()
    assert red(outcome) >= {"output.0", *second}


def test_reversed_momentum_in_a_declared_block_touches_all_statistics_and_nothing_else(monkeypatch):
    norm_layers_with(monkeypatch, momentum=0.1)
    outcome = check(declared_case("bottleneck", phase="train", stride=2), seed=0)
    names = [verdict.name for verdict in outcome.judgement.verdicts]
    assert red(outcome) == {name for name in names if name.startswith("buffer:")}


@pytest.mark.parametrize(
    ("depth", "last"),
    [(18, "layer4.1.bn2"), pytest.param(50, "layer4.2.bn3", marks=pytest.mark.nightly)],
)
def test_a_hair_of_epsilon_in_a_resnet_shows_wherever_it_reaches(monkeypatch, depth, last):
    network = declared_case("resnet", phase="eval", depth=depth)
    right = check(network, seed=0)
    assert right.passed
    norm_layers_with(monkeypatch, eps=1.2e-5)
    wrong = check(network, seed=0)
    names = {verdict.name for verdict in wrong.judgement.verdicts}
    assert names == {verdict.name for verdict in right.judgement.verdicts}
    # The gradient of the last bias is the cotangent, and evaluation leaves statistics alone.
    unreached = {"gradient:fc.bias"} | {name for name in names if name.startswith("buffer:")}
    # This one knows of the activations only which of them are positive.
    by_signs = {f"gradient:{last}.bias"}
    assert red(wrong) - by_signs == names - unreached - by_signs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equivalence import kinds
from equivalence.comparison import kept
from equivalence.comparison.check import check
from equivalence.comparison.kept import reference
from equivalence.declare import draws
from equivalence.declare.draws import booleans, integers, normal, ties
from equivalence.declare.operator import LIMITS, Example, Operator, operator_case, to
from equivalence.declare.spaces import along, examples, unary
from equivalence.errors import DeclarationError

SOFTMAX = Operator("torch.softmax", along(), to("ops.softmax", dim="axis"), to("mint.softmax"))
RELU = Operator("torch.relu", unary(), to("ops.relu"))


def case(operator=SOFTMAX, text="softmax(normal(2, 3), dim=1)", execution="pynative", which=0):
    counterpart = operator.counterparts[which]
    return operator_case(operator, counterpart, operator.example(text), execution, "cpu")


def test_an_operator_is_called_by_the_last_part_of_its_name():
    assert SOFTMAX.name == "softmax"
    assert Operator("torch.nn.ReLU", unary(), to("ops.relu")).name == "relu"
    assert Operator("torch.special.erf", unary(), to("ops.erf"), name="special_erf").name == (
        "special_erf"
    )


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": "not one"}, "is no identifier"),
        ({"counterparts": ()}, "has no counterpart"),
        ({"counterparts": (to("ops.x"), to("ops.x"))}, "names a counterpart twice"),
        ({"counterparts": (to("ops.x", without={"night": "it is dark"}),)}, "limits ['night']"),
        ({"counterparts": (to("ops.x", integers="int8"),)}, "integers can only be 'int32'"),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(changes, complaint):
    counterparts = changes.get("counterparts", (to("ops.x"),))
    with pytest.raises(DeclarationError) as refused:
        Operator("torch.x", unary(), *counterparts, name=changes.get("name"))
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    "text", ["softmax(given(3, values=(nan, -inf, 1.0)), dim=0)", "softmax(normal(2), least=-inf)"]
)
def test_an_example_may_hold_nan_and_infinities(text):
    example = SOFTMAX.example(text)
    assert example.spelled("softmax") == text
    assert SOFTMAX.example(text) == example


def test_an_example_holds_no_other_name():
    with pytest.raises(DeclarationError, match="no example of softmax"):
        SOFTMAX.example("softmax(normal(2), dim=infinity)")


@settings(max_examples=100, derandomize=True, database=None, deadline=None)
@given(examples(SOFTMAX, frozenset()))
def test_what_is_spelled_is_read_back(example):
    assert SOFTMAX.example(example.spelled("softmax")) == example


@pytest.mark.parametrize(
    "draw",
    [
        normal(2, 3),
        normal(scale=2.0, shift=-1.0),
        integers(4, high=3),
        integers(4, low=-1, high=3),
        ties(2, largest=5).constant(),
        normal(2).constant(),
        booleans(0, 3),
    ],
)
def test_every_draw_is_spelled_and_read_back(draw):
    example = Example((draw,), {"dim": (0, -1), "mode": "mean", "p": None}, "float16")
    assert SOFTMAX.example(example.spelled("softmax")) == example


def test_a_draw_is_spelled_as_it_is_written():
    assert str(normal(2, 3)) == "normal(2, 3)"
    assert str(normal(2, scale=3.0)) == "normal(2, scale=3.0)"
    assert str(integers(2, high=5)) == "integers(2, high=5)"
    assert str(normal(2).constant()) == "normal(2).constant()"


@pytest.mark.parametrize("kind", draws.KINDS)
def test_every_kind_of_draw_can_be_read(kind):
    options = {"given": "values=(1, 0)", "integers": "high=5"}.get(kind, "")
    first = {"file": "'x.npy'"}.get(kind, "2")
    (read,) = RELU.example(f"relu({kind}({first}{', ' + options if options else ''}))").inputs
    assert read.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "relu(normal(2))",
        "softmax(normal(2)",
        "softmax(2)",
        "softmax(open('x'))",
        "softmax(normal(2), dim=other)",
        "softmax(normal('a', b=3))",
        "softmax",
        "",
    ],
)
def test_what_is_no_example_is_refused_in_one_sentence(text):
    with pytest.raises(DeclarationError) as refused:
        SOFTMAX.example(text)
    assert str(refused.value).startswith(f"{text!r} is no example of softmax, such as")
    assert "\n" not in str(refused.value)


def test_an_unknown_dtype_is_refused():
    with pytest.raises(DeclarationError, match="'float12' is not among float32, float16"):
        SOFTMAX.example("softmax[float12](normal(2), dim=0)")


@pytest.mark.parametrize("execution", ["pynative", "graph"])
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("dtype", ["", "[float16]"])
def test_a_right_counterpart_passes(execution, which, dtype):
    text = f"softmax{dtype}(normal(4, 3), dim=1)"
    outcome = check(case(text=text, execution=execution, which=which), 0)
    assert outcome.passed
    assert [v.name for v in outcome.judgement.verdicts] == ["output.0", "gradient:input[0]"]


def test_a_wrong_counterpart_does_not_pass():
    wrong = Operator("torch.softmax", along(), to("ops.log_softmax", dim="axis"))
    assert not check(case(wrong), 0).passed


def test_a_call_through_a_function_gets_the_arguments_of_torch():
    through = to("ops.cumsum", through="tests.engine.parts.operators_ms:wrong_when_long")
    wrong = Operator("torch.cumsum", along(), through)
    assert check(case(wrong, "cumsum(normal(2, 2), dim=1)"), 0).passed
    assert not check(case(wrong, "cumsum(normal(2, 3), dim=1)"), 0).passed


def test_a_class_is_built_and_then_called():
    built = Operator("torch.nn.LeakyReLU", unary(), to("nn.LeakyReLU", negative_slope="alpha"))
    assert check(case(built, "leakyrelu(normal(4), negative_slope=0.3)"), 0).passed


def test_inputs_are_packed_into_one_list():
    cat = Operator("torch.cat", unary(), to("ops.cat", dim="axis"), packed=True)
    outcome = check(case(cat, "cat(normal(2, 3), normal(1, 3), dim=0)"), 0)
    assert outcome.passed
    assert len(outcome.judgement.verdicts) == 3


def test_indices_of_another_width_are_declared():
    values = {"torch": "torch.argmax", "text": "argmax(normal(4, 3), dim=1)"}
    for integers_, passes in ((None, False), ("int32", True)):
        counterpart = to("ops.argmax", integers=integers_)
        operator = Operator(values["torch"], along(), counterpart)
        outcome = check(case(operator, values["text"]), 0)
        # MindSpore's indices are int64 here: only the declaration that fits passes.
        assert outcome.passed == (not passes)


def test_the_gradient_at_a_tie_must_be_the_reference_s():
    through = to("ops.relu", through="tests.engine.parts.operators_ms:wrong_at_zero")
    wrong = Operator("torch.relu", unary(), through)
    assert check(case(RELU, "relu(ties(64))"), 0).passed
    assert not check(case(wrong, "relu(ties(64))"), 0).passed
    assert check(case(wrong, "relu(normal(64))"), 0).passed


def test_counterparts_share_the_reference_of_an_example(monkeypatch):

    monkeypatch.setattr(kept, "_references", [])
    assert reference(case(which=0), 0) is reference(case(which=1), 0)
    assert reference(case(which=0), 1) is not reference(case(which=0), 0)
    assert reference(case(text="softmax(normal(2, 3), dim=0)"), 0) is not reference(case(), 0)


def test_few_references_are_kept(monkeypatch):

    monkeypatch.setattr(kept, "_references", [])
    monkeypatch.setattr(kept, "MAX_SMALL", 2)
    first = reference(case(), 0)
    for seed in range(1, 4):
        reference(case(), seed)
    assert len(kept._references) <= 2
    assert reference(case(), 0) is not first


def test_a_diagnosis_tells_the_shape_of_the_error_and_holds_the_values():
    wrong = Operator("torch.abs", unary(), to("ops.neg"))
    brief, full, *_ = kinds.diagnose(case(wrong, "abs(normal(40, 3))"), 0, every=False)
    assert any(line.startswith("output.0: ") for line in brief)
    assert "output.0, truth" in full
    assert "output.0, candidate" in full


@pytest.mark.parametrize(
    ("limit", "beyond", "within"),
    [
        ("empty", "relu(normal(2, 0))", "relu(normal(2, 1))"),
        ("scalar", "relu(normal())", "relu(normal(1))"),
        ("vector", "relu(normal(3))", "relu(normal(3, 1))"),
        ("float16", "relu[float16](normal(2))", "relu(normal(2))"),
        ("ties", "relu(ties(2))", "relu(normal(2))"),
        ("large", "relu(logits(2))", "relu(normal(2))"),
        ("whole", "relu(whole(2))", "relu(normal(2))"),
        ("booleans", "relu(booleans(2))", "relu(normal(2))"),
    ],
)
def test_limits_tell_examples_apart(limit, beyond, within):
    assert LIMITS[limit](RELU.example(beyond))
    assert not LIMITS[limit](RELU.example(within))


@settings(max_examples=50, derandomize=True, database=None, deadline=None)
@given(st.data())
def test_no_example_is_beyond_a_limit(data):
    limits = frozenset({"empty", "scalar", "vector", "float16", "ties", "large"})
    example = data.draw(examples(RELU, limits))
    assert not any(LIMITS[limit](example) for limit in limits)


def test_a_limit_that_is_taken_cannot_be_declared_again():
    with pytest.raises(DeclarationError, match="limit 'empty' is declared twice"):
        LIMITS["empty"] = bool


def judged(*asked):
    """The judgement of two functions of four numbers."""
    return outcome(*asked).judgement


def outcome(reference, candidate, low, high):
    """The outcome of two functions of four numbers."""
    counterpart = to("ops.relu", through=f"tests.engine.parts.operators_ms:{candidate}")
    operator = Operator(f"tests.engine.parts.operators_pt.{reference}", unary(), counterpart)
    example = operator.example(f"{reference}(uniform(4, low={low}, high={high}))")
    return kinds.check(operator_case(operator, counterpart, example, "pynative", "cpu"), 0)


def beyond_three(candidate, low, high):
    """The judgement of a function with a kink at three."""
    return judged("steeper_beyond_three", candidate, low, high)


NEAR = 3 + 2**-21, 3 + 2**-20


def test_of_a_gradient_that_jumps_within_rounding_the_jump_is_a_part_of_the_noise():
    judgement = beyond_three("steeper_beyond_nearly_three", *NEAR)
    assert judgement.equal
    assert judgement.undecidable == ("gradient:input[0]",)


def test_a_gradient_that_differs_away_from_the_kink_is_wrong():
    assert beyond_three("steeper_beyond_nearly_three", 2.0, 2.9).equal
    judgement = beyond_three("wrong_beyond_three", 2.0, 2.9)
    assert [verdict.name for verdict in judgement.differing] == ["gradient:input[0]"]
    assert judgement.ill_posed is None


@pytest.mark.parametrize(
    ("reference", "candidate"),
    [("cube", "off_by_a_thirtieth"), ("cube_beside_a_million", "off_by_one")],
    ids=["accurate", "less"],
)
def test_what_the_reference_does_not_lose_nearby_is_wrong(reference, candidate):
    judgement = judged(reference, candidate, 3.0, 3.0)
    assert [verdict.name for verdict in judgement.differing] == ["output.0"]
    assert judgement.ill_posed is None

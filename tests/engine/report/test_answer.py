"""The answer, which each verdict begins with: by how much, where, and what to write instead."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, TwinCase
from equivalence.judge.mistake import Mistake, Mistakes
from equivalence.judge.outcome import DrawsCompared, Outcome
from equivalence.judge.settings import SettingDifference, Settings
from equivalence.judge.verdict import Judgement, TensorVerdict
from equivalence.report.answer import AnsweredCase, answer, answer_of_settings
from tests.engine.parts.plain import house_words

RIGHT = TensorVerdict("output.0", 8.0, error=1.5, worst=2.1)
LINE = Mistake(
    words=(
        "what goes in is the same",
        "the original gives -inf in 15 elements where the port gives 0",
    ),
    port="llama_ms.py:141  mask = ops.triu(mask, diagonal=start + 2)",
    original="llama_torch.py:47  mask = torch.triu(mask, diagonal=start + 1)",
    paths=("",),
)


def wrong(name, relative, absolute=0.5, **figures):
    return TensorVerdict(name, 8.0, 99.0, relative=relative, absolute=absolute, **figures)


def outcome(*verdicts, phase="train", execution="pynative", settings=None, **more):
    twin = Twin("Net", "torch.nn:Linear", "mindspore.nn:Dense", [normal(2, 3)])
    case = TwinCase(twin, {}, phase, "float32", execution, "cpu")
    judgement = Judgement(verdicts, more.pop("ill_posed", None)) if verdicts else None
    return Outcome(case, 0, judgement, settings=settings, **more)


def told(*outcomes, mistakes=Mistakes()):  # noqa: B008
    return answer([AnsweredCase(each, mistakes) for each in outcomes])


def differing(*settings):
    return Settings(3, 20, tuple(settings))


EPS = SettingDifference(
    "eps", "1e-05", "1e-07", layer="norm", kind="LayerNorm", write="epsilon=1e-05"
)


def test_a_statement_is_told_on_both_sides_with_what_it_gives():
    gradients = [wrong(f"gradient:{i}", 0.5 + i) for i in range(2)]
    every = [outcome(wrong("output.0", 0.42, 0.31), *gradients, phase=p) for p in ("train", "eval")]
    assert told(*every, mistakes=Mistakes([LINE], "all outputs are right")).lines("again") == [
        "DIFFERENT. Net (train and eval, PyNative, CPU): the output is off by 42 % (an element by "
        "0.31); both gradients are off by up to 150 % (an element by 0.5).",
        "the statement to mend:",
        "  port      llama_ms.py:141    mask = ops.triu(mask, diagonal=start + 2)",
        "  original  llama_torch.py:47  mask = torch.triu(mask, diagonal=start + 1)",
        "  what goes in is the same; the original gives -inf in 15 elements where the port gives 0",
        "With the original's value there, all outputs are right.",
        "repeat: again",
    ]


def test_a_setting_is_told_with_what_to_write_and_layers_of_one_mistake_are_one_place():
    others = [replace(EPS, layer=f"blocks.{i}.norm") for i in range(6)]
    found = told(outcome(wrong("output.0", 3e-5), settings=differing(EPS, *others)))
    assert found.heading == "the place to mend:"
    assert found.places == (
        (
            "norm, blocks.0.norm, blocks.1.norm, blocks.2.norm and 3 more (LayerNorm): eps is "
            "1e-07 in the port and 1e-05 in the original; write epsilon=1e-05",
        ),
    )


def test_a_layer_that_a_setting_explains_is_one_place_with_it_and_another_one_is_a_second():
    settings = differing(EPS)
    layer = Mistake("norm (LayerNorm)", ("eps",), paths=("norm",))
    one = told(outcome(wrong("output.0", 0.1), settings=settings), mistakes=Mistakes([layer]))
    assert len(one.places) == 1
    other = Mistake("fc (Linear)", ("its weights are transposed",), paths=("fc",))
    both = Mistakes([layer, other])
    two = told(outcome(wrong("output.0", 0.1), settings=settings), mistakes=both)
    assert two.heading == "The port is wrong in 2 places:"
    assert two.places[1] == ("fc (Linear): its weights are transposed",)


def test_a_case_of_another_kind_has_its_name():
    case = SimpleNamespace(name="images-cpu", twin=SimpleNamespace(differs=None), execution="graph")
    found = Outcome(case, 0, Judgement((wrong("image.0", 0.1),)))
    assert told(found).first == (
        "DIFFERENT. images-cpu: the image is off by 10 % (an element by 0.5)."
    )


def test_settings_alone_are_told_as_such():
    found = told(outcome(RIGHT, settings=differing(EPS)))
    assert found.first == (
        "DIFFERENT. Net (train, PyNative, CPU): all tensors are equal with this input, but 1 "
        "setting differs."
    )
    assert answer_of_settings(differing(EPS)).lines()[0] == (
        "DIFFERENT. 1 setting of 20 differs; nothing was run."
    )


def test_more_than_the_places_explain_is_said_to_be_wrong():
    first, second = (Mistake(words=("a factor of 2",), port=f"net.py:{n}  y = x") for n in (1, 2))
    one = told(outcome(wrong("output.0", 0.1)), mistakes=Mistakes([first], more=True))
    assert one.after == (
        "This place does not explain all that is off: mend it, then compare again.",
    )
    both = told(outcome(wrong("output.0", 0.1)), mistakes=Mistakes([first, second], more=True))
    assert both.after == (
        "These places do not explain all that is off: mend them, then compare again.",
    )
    assert told(outcome(wrong("output.0", 0.1)), mistakes=Mistakes(more=True)).after == ()


def test_a_search_that_ran_out_of_time_is_told():
    found = told(outcome(wrong("output.0", 0.1)), mistakes=Mistakes(ended=True))
    assert found.after == (
        "The time to look for statements ran out; what was found until then is told.",
    )


def test_a_fault_of_mindspore_is_none_of_the_ports():
    fault = Mistake(words=("MindSpore's gradient of ops.pad is wrong",), of_mindspore=True)
    right = outcome(RIGHT)
    odd = outcome(RIGHT, wrong("gradient:a", 0.93), execution="graph", later=True)
    found = answer(
        [AnsweredCase(right), AnsweredCase(odd, Mistakes([fault], "all gradients are right"))]
    )
    assert found.first == (
        "DIFFERENT, in graph mode only. Net (train, graph, CPU): the output is right; the gradient "
        "is off by 93 % (an element by 0.5), from the second call on."
    )
    assert found.heading == "Your port is right; MindSpore is not:"
    assert found.after == ()  # what is mended there is MindSpore


def test_a_fault_of_mindspore_beside_a_mistake_is_told_apart():
    fault = Mistake(words=("MindSpore's ops.pad is wrong",), port="n.py:2  y", of_mindspore=True)
    own = Mistake(words=("a factor of 2",), port="n.py:1  y = x")
    odd = outcome(wrong("output.0", 0.1))
    found = answer([AnsweredCase(odd, Mistakes([fault, own], "all outputs are right"))])
    assert found.heading == "The port is wrong in 1 place, and MindSpore in 1:"
    assert [place[-1] for place in found.places] == [*own.words, *fault.words]
    assert found.after == (
        "With the original's value there, and without the fault of MindSpore, all outputs are "
        "right.",
    )


def test_one_case_of_a_graph_says_what_pynative_mode_gives():
    odd = outcome(wrong("output.0", 0.1), execution="graph")
    assert told(odd).first.startswith("DIFFERENT. ")
    eager = told(odd, mistakes=Mistakes(eager=True))
    assert eager.first.startswith("DIFFERENT, in graph mode only.")


@pytest.mark.parametrize("axis", ["phase", "execution"])
def test_what_differs_in_one_mode_alone_is_said_to(axis):
    names = {"phase": ("train", "eval"), "execution": ("graph", "pynative")}[axis]
    right, odd = (
        outcome(RIGHT, **{axis: names[1]}),
        outcome(wrong("output.0", 0.1), **{axis: names[0]}),
    )
    only = {"phase": "in training", "execution": "in graph mode"}[axis]
    assert told(right, odd).first.startswith(f"DIFFERENT, {only} only. Net (")
    assert told(odd, odd).first.startswith("DIFFERENT. ")


def test_what_no_number_tells_is_told_in_words():
    problem = "shape (4,), expected (4, 6); no gradient is compared"
    found = told(outcome(TensorVerdict("output.0", 8.0, problem=problem)))
    assert found.first.endswith(f"CPU): output.0: {problem}.")
    lost = TensorVerdict("buffer:mean", 8.0, problem="the candidate does not have it")
    first = told(outcome(RIGHT, lost)).first
    assert first.endswith("the output is right; buffer:mean: the port does not have it.")


def test_a_case_that_could_not_be_compared_is_told_with_the_others_or_alone():
    text = "the candidate raised TypeError: no (ms.py:3: self.reference())"
    lost = outcome(execution="graph", error=f"Net-train-float32-graph-cpu: {text}")
    alone = told(outcome(RIGHT), lost).first
    said = "Net (train, graph, CPU): the port raises TypeError: no (ms.py:3: self.reference())"
    assert alone == f"NOT COMPARED. {said}"
    both = told(outcome(wrong("output.0", 0.1)), lost).first
    assert both.startswith("DIFFERENT. ")
    assert both.endswith(said)


def test_a_case_that_cannot_tell_right_from_wrong_says_so():
    assert told(outcome(RIGHT, ill_posed="zeros")).first.startswith("UNDECIDED. Net (train, ")


def test_a_green_answer_counts_and_says_what_it_has_not_looked_at():
    found = told(outcome(RIGHT), outcome(RIGHT, phase="eval"))
    assert found.lines() == [
        "EQUAL. 2 tensors of 2 cases; the largest error is 2.1 roundings of the 8 that rounding "
        "may cause."
    ]
    forward = outcome(RIGHT)
    forward.judgement = replace(forward.judgement, forward_only=True, hollow=True)
    assert told(forward).after == (
        "No gradient is compared: the original runs without, by torch.no_grad or as asked.",
        "Shapes alone are compared: every output is of zeros, or has no element.",
    )


def test_the_headline_is_one_line_with_the_first_of_each_place():
    found = told(outcome(wrong("output.0", 0.5)), mistakes=Mistakes([LINE]))
    assert found.headline().endswith(
        "(an element by 0.5); port llama_ms.py:141 mask = ops.triu(mask, diagonal=start + 2)"
    )
    assert "\n" not in found.headline()


def test_more_places_than_are_shown_are_counted():
    many = Mistakes([Mistake(f"layer{i}", ("odd",)) for i in range(7)])
    found = told(outcome(wrong("output.0", 0.5)), mistakes=many)
    assert found.heading == "The port is wrong in 7 places:"
    assert (len(found.places), found.after) == (4, ("... and 3 more places",))


def test_one_place_more_than_are_shown_is_no_line_of_its_own():
    many = Mistakes([Mistake(f"layer{i}", ("odd",)) for i in range(5)])
    found = told(outcome(wrong("output.0", 0.5)), mistakes=many)
    assert (len(found.places), found.after) == (5, ())


def test_words_of_the_house_are_seen_above_the_details_alone_and_not_in_code():
    text = "DIFFERENT.\n  port      a.py:1  candidate = 1\nthe truth\ndetails:\nroundings"
    assert house_words(text) == ["truth"]
    assert house_words("the candidate is over the budget by itself") == [
        "candidate",
        "budget",
        "by itself",
    ]


def test_a_graph_whose_draws_are_pinned_does_not_make_a_difference_that_of_pynative_mode():
    wrong = outcome(TensorVerdict("output.0 with the same draws", 8.0, error=99.0, worst=99.0))
    right = TensorVerdict("output.0", 8.0, error=0.5, worst=0.5)
    graph = outcome(right, execution="graph")
    assert told(wrong, graph).first.startswith("DIFFERENT, in PyNative mode only.")
    pinned = outcome(right, execution="graph", draws=DrawsCompared(pinned="a graph"))
    assert told(wrong, pinned).first.startswith("DIFFERENT. Net")

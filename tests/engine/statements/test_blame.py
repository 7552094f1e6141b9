"""The statement to blame, on networks of functional code with one mistake each."""

import functools
import itertools
import re
import time

import pytest

from equivalence import kinds
from equivalence.declare.draws import given, integers, normal
from equivalence.diagnosis import diagnose
from equivalence.judge.mistake import ENDED
from equivalence.statements.blame import Statements
from equivalence.statements.calls import Effort
from tests.defects import sequences, vision, yolox
from tests.defects.functional import DEFECTS
from tests.engine.parts.small import case
from tests.engine.statements import telling

told = functools.partial(telling.told, DEFECTS)


@pytest.mark.parametrize(
    ("name", "piece", "difference"),
    [
        ("scaled_by_width", "scores / math.sqrt(c)", "a constant factor of 0.5"),
        ("mask_hides_itself", "ops.triu(ops.ones((t, t), ms.float32), 0)", "shifted by 1"),
        ("tiled_keys", "ops.tile(k", "only indices 1 and 2 of axis 1 differ"),
        ("cache_behind", "ops.cat((k, past[0])", "rolled by -3 along axis 2"),
    ],
)
def test_the_statement_is_named_with_what_the_difference_looks_like(name, piece, difference):
    lines = told(name)
    assert lines[0].startswith(f"culprit: functional_candidates@{name}.py:")
    assert piece in lines[0]
    assert lines[1].startswith("  in the network itself (")
    assert lines[2] == "  what goes in is the same"
    assert lines[3].startswith("  against functional_reference.py:")
    assert difference in lines[3]


def test_a_value_that_is_right_in_the_wrong_place_is_told():
    lines = told("first_residual_lost")
    assert "h = self.norm2(x)" in lines[0]
    assert "and the original another value" in lines[2]


def test_a_right_network_is_given_no_statement():
    lines = told("scaled_by_width", "tests.defects.functional_candidates:Attention")
    assert lines[0].startswith("culprit: none")


def test_a_value_of_another_shape_is_told_too():
    assert told("patches_exchanged")[0].startswith("culprit: functional_candidates@patches_ex")


def test_a_look_at_another_run_leaves_all_as_it_was(monkeypatch):
    """Its values may have other numbers, by which nothing of the run before is found."""
    statements = object.__new__(Statements)
    statements.candidate, statements.found = "the run", [[1], [2]]

    def look(self, replaced):
        self.candidate, self.found = f"a run with {replaced}", [[7]]

    monkeypatch.setattr(Statements, "look", look)
    with statements.looking({}):
        assert (statements.candidate, statements.found) == ("a run with {}", [[7]])
    assert (statements.candidate, statements.found) == ("the run", [[1], [2]])


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_a_line_that_runs_twice_is_named_with_its_own_result(phase):
    """What else it takes is looked for in another run, which gives its values other numbers."""
    sides = [f"tests.engine.parts.networks_{side}:Decoder" for side in ("pt", "ms")]
    lines = diagnose.tell(case(*sides, normal(2, 3, 11, 10), phase=phase), 0, False)[0]
    told = "\n".join(lines)
    assert lines[0].startswith("culprit: networks_ms.py:")
    assert 'x = ops.interpolate(x, size=size, mode="bilinear")' in lines[0]
    assert lines[2] == "  what goes in is the same"
    assert "shape" not in told
    assert "could not be watched" not in told


def test_who_runs_a_layer_of_the_framework_is_no_statement():
    square = {"in_features": 4, "out_features": 4}
    wrong = "tests.engine.parts.networks_ms:TransposedWeight"
    lines = diagnose.tell(case("torch.nn:Linear", wrong, normal(3, 4), config=square), 0, False)[0]
    assert lines[0].startswith("culprit: networks_ms.py:")
    assert not any("test_blame.py" in line for line in lines)


@pytest.mark.nightly
def test_parts_that_are_joined_in_another_order_are_told():
    lines = telling.told(vision.DEFECTS, "merged_right_before_down")
    assert "x = x.transpose(0, 1, 3, 2, 4, 5)" in lines[0]


def test_where_the_reference_goes_on_the_networks_own_statement_is_told():
    lines = telling.told(yolox.DEFECTS, "residual_of_a_bottleneck_lost")
    assert "y = self.conv2(self.conv1(x))" in lines[0]  # not that within the convolution
    assert re.fullmatch(
        r"  its result is that of yolox\.py:\d+, and the original goes on from there", lines[2]
    )


@pytest.mark.parametrize("small", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_a_statement_that_runs_again_on_what_it_gave_wrongly_is_told_alone(small):
    of_matrix = functools.partial(telling.told, sequences.DEFECTS, "lstm_memory_shown_as_it_is")
    lines = telling.told_of("Gated", "ShownAsItIs") if small else of_matrix()
    assert f"{'hidden' if small else 'shown'} = ops.sigmoid(leave) * memory" in lines[0]
    assert not any("culprit" in line or "or what it takes" in line for line in lines[1:])


@pytest.mark.nightly
def test_a_value_that_the_candidate_has_too_may_be_the_right_one():
    lines = telling.told(sequences.DEFECTS, "state_of_the_first_word")
    assert "hidden = read[:, 0]) gives, and the original another value" in lines[2]


def test_what_is_missing_in_every_turn_of_a_loop_is_told():
    lines = telling.told(sequences.DEFECTS, "attended_without_tanh")
    assert "(attended = self.mixed(both)) gives, and the original another value" in lines[2]
    assert not any(line.startswith("culprit") for line in lines[1:])


def test_what_is_missing_in_each_call_of_a_function_is_told():
    lines = telling.told(vision.DEFECTS, "regions_not_aligned")
    piece = "(start, end = start * self.scale, end * self.scale) gives, and the original another"
    assert piece in lines[2]


def test_an_operator_that_is_one_too_many_in_each_call_of_a_function_is_told():
    lines = telling.told(vision.DEFECTS, "regions_a_place_longer")
    assert "length = ops.clamp(end - start + 1" in lines[0]
    assert not any(line.startswith("culprit") for line in lines[1:])


@pytest.mark.nightly
def test_a_factor_is_missed_where_the_reference_goes_on_with_some_rows_alone():
    lines = telling.told(yolox.DEFECTS, "classes_without_overlap")
    assert "(classes = classes.astype(found.dtype)) gives, and the original another" in lines[2]


def test_a_busy_machine_finds_what_an_idle_one_does(monkeypatch):
    clock = itertools.count(0, 3600)
    expected = told("mask_hides_itself")
    monkeypatch.setattr("equivalence.diagnosis.search.PATIENCE", 1e9)  # of layers
    monkeypatch.setattr(time, "process_time", lambda: float(next(clock)))
    assert told("mask_hides_itself") == expected


def test_what_is_not_found_with_little_effort_is_not_told(monkeypatch):
    monkeypatch.setattr("equivalence.statements.watched.Effort", lambda: Effort(1.0))
    lines = told("scaled_by_width")
    assert "scores / math.sqrt(c)" not in "".join(lines)
    assert ENDED in lines


def test_a_mistake_behind_much_that_is_computed_in_another_way_is_come_to_from_behind(monkeypatch):
    tried, begun = Statements._tried, []

    def only_from_behind(self, values, limit):
        forward = not begun
        begun.append(values)
        return iter(()) if forward else tried(self, values, limit)

    monkeypatch.setattr(Statements, "_tried", only_from_behind)
    assert "scores / math.sqrt(c)" in told("scaled_by_width")[0]
    assert begun[1] == begun[0][::-1]


PLACED, LENGTHS = "tests.engine.parts.placed_", integers(3, low=5, high=21)
INPUTS = {
    "Chosen": [normal(4, 6)],
    "Lengths": [normal(3, 4, 20), LENGTHS],
    "Center": [normal(6, 6)],
    "Queue": [normal(3, 6)],
    "InPlace": [normal(5, 6)],
    "Scan": [normal(3, 3, 4)],
    "Pooled": [normal(3, 5, 6)],
    "Capped": [normal(8, 6)],
    "Teacher": [normal(5, 6)],
    "Packed": [normal(2, 4, 3)],
    "Branch": [normal(4, 6)],
    "Behind": [normal(4, 6)],
    "Knots": [given(4, 6, values=[-1, 0.5, 1, -0.5, 0.1, 1] * 4)],
}


def placed(reference, candidate):
    target = f"{PLACED}pt:{reference}", f"{PLACED}ms:{candidate}"
    return case(*target, *INPUTS[reference], phase="eval")


@pytest.mark.parametrize(
    ("reference", "candidate", "line", "words", "mended"),
    [
        ("Chosen", "LeastChosen", "scores.argmin(-1)", "what goes in is the same", "outputs"),
        ("Lengths", "LongerLengths", "(lengths - self.less) // 2", "what goes in is", "outputs"),
        ("Center", "SlowCenter", "self.keeps + mean *", "what goes in is the same", "buffers"),
        ("Queue", "EarlyQueue", "ops.matmul(key, used)", "and the original another", "outputs"),
        ("InPlace", "NotInPlace", "before.sum(-1", "and the original another value", "outputs"),
        ("Pooled", "PooledInPlace", "keep_dims=self.keeps", "what goes in is the same", "outputs"),
        ("Capped", "HighlyCapped", "max=self.most", "what goes in is the same", "outputs"),
        ("Knots", "ClosedKnots", "return x <= knots", "what goes in is the same", "outputs"),
        ("Teacher", "LateTeacher", "self.teacher(x)", "changed it in place: add_", "outputs"),
        ("Packed", "WholeRows", "y = self.rnn(x)[0]", "what goes in is", "outputs"),
        ("Branch", "SilentBranch", "* self.scale", "what goes in is the same", "outputs"),
        ("Behind", "BehindRelu", "ops.relu(", "(return self.head(self.branch(x)))", "outputs"),
        ("Scan", "LateScan", "self.new(x[:, t - self.late])", "what goes in is", "outputs"),
    ],
)
def test_whole_numbers_buffers_shapes_and_what_never_bites_have_their_statement(
    reference, candidate, line, words, mended
):
    told = kinds.diagnose(placed(reference, candidate), 0)
    culprits = [each for each in told.brief if each.startswith("culprit")]
    assert len(culprits) == 1
    assert line in culprits[0]
    assert words in "".join(told.brief)
    assert told.mistakes.mended == f"all {mended} are right"


def test_of_a_layer_with_many_operators_its_results_alone_are_tried(monkeypatch):
    monkeypatch.setattr("equivalence.statements.watched.Effort", lambda: Effort(2000.0))
    told = kinds.diagnose(placed("Packed", "WholeRows"), 0)
    assert told.mistakes.mended == "all outputs are right"


@pytest.mark.parametrize("name", INPUTS)
def test_their_right_ports_are_equal(name):
    assert kinds.check(placed(name, name), 0).passed

"""Mistakes in one line of recurrent networks: gates, states, lengths and what is looked back at."""

from equivalence import given, integers, normal
from equivalence.declare.twin import Twin
from ms_models import recurrent as right
from tests.defects.lines import Lines, Mistake

INPUTS = {
    "ProjectedLSTM": [normal(3, 2, 6)],
    "Tagger": [integers(3, 4, high=20), given(3, values=[2, 4, 1])],
    "Translator": [integers(3, 4, high=20), integers(3, 3, high=20)],
}
"""Network -> its inputs."""

# ruff: noqa: E501  a mistake is one line
# fmt: off
MISTAKES = tuple(Mistake(*each) for each in (
    ("lstm_gates_of_tensorflow", "ProjectedLSTM", "enter, keep, new, leave = ops.chunk", "enter, new, keep, leave = ops.chunk"),
    ("lstm_gates_of_onnx", "ProjectedLSTM", "enter, keep, new, leave = ops.chunk", "enter, leave, keep, new = ops.chunk"),
    ("lstm_forget_bias", "ProjectedLSTM", "ops.sigmoid(keep)", "ops.sigmoid(keep + 1.0)"),
    ("lstm_one_bias", "ProjectedLSTM", "self.weight_hh_l0.T) + self.bias_hh_l0", "self.weight_hh_l0.T)"),
    ("lstm_memory_shown_as_it_is", "ProjectedLSTM", "ops.sigmoid(leave) * ops.tanh(memory)", "ops.sigmoid(leave) * memory"),
    ("lstm_gate_of_the_wrong_state", "ProjectedLSTM", "ops.sigmoid(enter) * ops.tanh(new)", "ops.sigmoid(leave) * ops.tanh(new)"),
    ("lengths_forgotten", "Tagger", "self.lstm(embedded, None, lengths)", "self.lstm(embedded)"),
    ("lengths_one_short", "Tagger", "self.lstm(embedded, None, lengths)", "self.lstm(embedded, None, ops.maximum(lengths - 1, 1))"),
    ("state_of_the_first_word", "Translator", "hidden = state[0]", "hidden = read[:, 0]"),
    ("looks_back_across_the_batch", "Translator", "ops.softmax(scores, -1)", "ops.softmax(scores, 0)"),
    ("looks_back_unnormalised", "Translator", "ops.softmax(scores, -1)", "ops.sigmoid(scores)"),
    ("context_before_state", "Translator", "ops.cat((hidden, context), -1)", "ops.cat((context, hidden), -1)"),
    ("attended_before_word", "Translator", "ops.cat((before[:, step], attended), -1)", "ops.cat((attended[:, :6], before[:, step], attended[:, 6:]), -1)"),
    ("attended_not_fed", "Translator", "ops.cat((before[:, step], attended), -1)", "ops.cat((before[:, step], context * 0.0 if step else attended), -1)"),
    ("words_one_step_late", "Translator", "ops.cat((before[:, step], attended), -1)", "ops.cat((before[:, step - 1], attended), -1)"),
    ("attended_without_tanh", "Translator", "ops.tanh(self.mixed(both))", "self.mixed(both)"),
    ("scores_of_the_state", "Translator", "self.scores(attended)", "self.scores(hidden)"),
))
# fmt: on

_LINES = Lines(__name__, right, "pt_reference.recurrent", MISTAKES)
DEFECTS = _LINES.defects


def twins() -> tuple[Twin, ...]:
    """The twins of all networks, with right candidates."""
    return _LINES.twins(INPUTS)


def __getattr__(name: str) -> type:
    """The network that has the mistake of this name."""
    return _LINES.network(name)

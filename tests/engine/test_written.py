"""What a run writes into attributes, of layers that are plain objects."""

import numpy as np
import pytest

from equivalence.written import PER_CALL, WIDTH, Attributes


class Layer:
    def __init__(self, **attributes):
        vars(self).update(attributes)


def attributes(layers, own=()):
    found = Attributes(
        layers.items, own, lambda value: isinstance(value, Kept), lambda value: value.copy
    )
    found.begin()
    return found


class Kept:
    """A tensor: only what it is, and its values."""

    def __init__(self, *values):
        self.values = np.array(values)

    shape = property(lambda self: self.values.shape)
    copy = property(lambda self: self.values.copy())


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        (0.0, 1.5, ["aux"]),
        (2.0, 2.0, []),
        (Kept(1.0), Kept(1.0), ["aux"]),
        ({}, {"peak": 3.0, "moved": [Kept(1.0), "text"]}, ["aux.peak", "aux.moved.0"]),
        ("eager", "compiled", []),
        (None, True, ["aux"]),
        (None, list(range(WIDTH + 1)), []),
    ],
)
def test_what_is_written_is_told_by_its_path(before, after, names):
    layer = Layer(aux=before)
    seen = attributes({"moe": layer})
    layer.aux = after
    assert list(seen.end()) == [f"moe.{name}" for name in names]


def test_a_tensor_that_is_written_in_place_is_written():
    layer = Layer(load=Kept(0.0, 0.0))
    seen = attributes({"": layer})
    layer.load.values += 1.0
    assert seen.end()["load"].tolist() == [1.0, 1.0]


def test_what_a_run_adds_to_a_whole_number_is_told_beside_it():
    layer = Layer(calls=3)
    seen = attributes({"": layer})
    layer.calls = 5
    assert seen.end() == {"calls": 5, "calls" + PER_CALL: 2}
    assert all(isinstance(each, np.ndarray) for each in seen.end().values())  # as a record needs


def test_what_an_earlier_run_has_written_stays_known():
    layer = Layer(steps=0)
    seen = attributes({"": layer})
    layer.steps = 7
    seen.end()
    seen.begin()
    assert seen.end() == {"steps": 7, "steps" + PER_CALL: 0}


def test_a_number_that_was_written_before_anybody_looked_counts():
    layer = Layer(steps=0)
    seen = attributes({"": layer})
    layer.steps = 7
    seen.begin()
    assert "steps" in seen.end()


def test_names_of_the_framework_and_layers_of_it_count_for_nothing():
    layer, other = Layer(training=False), np.random.default_rng(0)
    seen = attributes({"": layer, "rng": other}, own=("training",))
    layer.training = True
    assert seen.end() == {}


def test_a_circle_ends_and_an_object_of_ones_own_is_read_once():
    state = Layer(aux=0.0)
    state.itself = state
    seen = attributes({"": Layer(first=state, again=state)})
    state.aux = 1.0
    assert list(seen.end()) == ["first.aux"]

"""What optimisers get is noted for the first update of each weight, and for its last one."""

import numpy as np

from equivalence.handed import SMALL, HandedGradients


def noted(size, *updates):
    handed = HandedGradients(size)
    for number, names in enumerate(updates):
        handed.note({name: np.full(2, number) for name in names})
    return handed


def test_each_weight_has_its_own_count_of_updates():
    trace = noted(4, ["a", "b"], ["a"], ["a"]).trace()
    assert list(trace) == ["handed[1]:a", "handed[1]:b", "handed[3]:a"]
    assert trace["handed[3]:a"].tolist() == [2, 2]


def test_of_a_large_network_the_first_update_is_kept_alone():
    assert list(noted(SMALL + 1, ["a"], ["a"]).trace()) == ["handed[1]:a"]


def test_names_and_shapes_are_those_of_the_reference():
    trace = noted(2, ["gamma"]).trace(lambda own: {"weight": own["gamma"].reshape(1, 2)})
    assert {name: each.shape for name, each in trace.items()} == {"handed[1]:weight": (1, 2)}

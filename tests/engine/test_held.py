"""What is found in a training step, and what of it is like the weights of a network."""

import numpy as np

from equivalence import held

WEIGHTS = {"body.fc.weight": (2, 3), "body.fc.bias": (2,), "head.weight": (4, 2)}


class Kept:
    def __init__(self, **attributes):
        vars(self).update(attributes)


def arrays(weights, fill=np.zeros):
    return {name: fill(shape) for name, shape in weights.items()}


def look(value):
    if value is None or isinstance(value, np.ndarray):
        return value
    return held.attributes(value)


def found(trained=None, known=(), **attributes):
    return list(held.tensors(Kept(**attributes), look, known, trained or {}))


def test_tensors_are_called_by_their_path():
    one, other = np.ones(1), np.ones(2)
    assert found(scaler=Kept(scale=one), shadow={"fc.bias": other}, number=3, text="a") == [
        "scaler.scale",
        "shadow.fc.bias",
    ]


def test_a_tensor_counts_once_and_a_circle_ends():
    one, circle = np.ones(1), Kept()
    circle.itself = circle
    assert found(first=one, again=[one], circle=circle) == ["first"]


def test_what_is_known_is_left_out():
    weight = np.ones(3)
    network = Kept(weight=weight)
    assert found(known=[network, weight], network=network, weights=[weight], scale=np.ones(1)) == [
        "scale"
    ]


def test_a_list_like_the_trained_weights_has_their_names():
    trained = {"fc.weight": (2, 3), "fc.bias": (2,)}
    assert found(trained, sums=[np.zeros((2, 3)), np.zeros(2)], pair=(np.zeros(2), 5)) == [
        "sums.fc.weight",
        "sums.fc.bias",
        "pair.0",
    ]


def test_nothing_among_tensors_is_passed_over():
    assert found(first=[None, np.ones(1)]) == ["first.1"]


def test_objects_of_the_standard_library_are_not_looked_into():
    import logging

    assert held.attributes(logging.getLogger("any")) is None
    assert held.attributes(len) is None


def test_a_copy_of_a_part_of_the_network_is_a_group():
    names = {"ema.module.fc.weight": (2, 3), "ema.module.fc.bias": (2,), "ema.number": ()}
    (group,) = held.groups(arrays(names), WEIGHTS)
    assert (group.path, group.part) == ("ema.module", "body.")
    assert group.weights["ema.module.fc.bias"] == "body.fc.bias"


def test_another_shape_or_name_makes_no_group():
    assert held.groups(arrays({"ema.fc.weight": (3, 2)}), WEIGHTS) == []
    assert held.groups(arrays({"ema.fc.kernel": (2, 3)}), WEIGHTS) == []


def test_zeros_are_no_copy_of_weights_although_a_bias_is_zero():
    held_here = arrays({f"sums.{name}": shape for name, shape in WEIGHTS.items()})
    weights = arrays(WEIGHTS)
    (group,) = held.groups(held_here, WEIGHTS)
    assert not group.copied(held_here, weights)  # both are constant: it cannot be told
    weights["head.weight"] = np.arange(8.0).reshape(4, 2)
    assert not group.copied(held_here, weights)
    held_here["sums.head.weight"] = weights["head.weight"].copy()
    assert group.copied(held_here, weights)

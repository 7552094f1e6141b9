"""Weights keep their elements when they are joined, transposed or reshaped, there and back."""

import numpy as np
import pytest

from equivalence.declare.renames import terms
from equivalence.structure.rearranged import joined, rearrangement


def arrays(shapes):
    return {name: np.random.default_rng(0).normal(size=shape) for name, shape in shapes.items()}


CASES = {
    "joined": ({"q": (2, 3), "k": (4, 3)}, "q + k", {"qk": (6, 3)}),
    "cut": ({"qkv": (6, 4)}, "qkv", {"q": (2, 4), "k": (2, 4), "v": (2, 4)}),
    "transposed": ({"w": (2, 3)}, "w.T", {"w": (3, 2)}),
    "permuted": ({"w": (2, 3, 4, 5)}, "w.transpose(2, 3, 1, 0)", {"w": (4, 5, 3, 2)}),
    "reshaped": ({"w": (2, 3, 4)}, "w.reshape()", {"w": (2, 3, 1, 4)}),
    "viewed": ({"w": (2, 36)}, "w.reshape(2, 3, 4, 3).transpose(0, 3, 1, 2)", {"w": (2, 3, 3, 4)}),
    "transposed and joined": ({"a": (3, 2), "b": (3, 4)}, "a.T + b.T", {"ab": (6, 3)}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_element_comes_back_to_its_place(case):
    reference, text, candidate = CASES[case]
    found = rearrangement(reference, terms(text), candidate)
    weights = arrays(reference)
    made = found.to_candidate(weights)
    assert {name: values.shape for name, values in made.items()} == candidate
    back = found.to_reference(made)
    assert back.keys() == weights.keys()
    assert all(np.array_equal(back[name], weights[name]) for name in weights)


def test_the_elements_are_those_that_numpy_gives():
    weights = arrays({"q": (2, 3), "k": (4, 3), "w": (2, 3, 4, 5)})
    fused = rearrangement({"q": (2, 3), "k": (4, 3)}, terms("q + k"), {"qk": (6, 3)})
    whole = np.concatenate([weights["q"], weights["k"]])
    assert np.array_equal(fused.to_candidate(weights)["qk"], whole)
    last = rearrangement(
        {"w": (2, 12)}, terms("w.reshape(2, 4, 3).transpose(0, 2, 1)"), {"v": (2, 3, 4)}
    )
    dense = arrays({"w": (2, 12)})["w"]
    assert np.array_equal(
        last.to_candidate({"w": dense})["v"], dense.reshape(2, 4, 3).transpose(0, 2, 1)
    )
    hwio = rearrangement({"w": (2, 3, 4, 5)}, terms("w.transpose(2, 3, 1, 0)"), {"w": (4, 5, 3, 2)})
    assert np.array_equal(hwio.to_candidate(weights)["w"], weights["w"].transpose(2, 3, 1, 0))


@pytest.mark.parametrize(
    ("reference", "text", "candidate"),
    [
        ({"q": (2, 3), "k": (2, 4)}, "q + k", {"qk": (4, 3)}),
        ({"w": (2, 3)}, "w", {"w": (3, 2)}),
        ({"w": (2, 3)}, "w.T", {"w": (2, 3)}),
        ({"w": (2, 3)}, "w.transpose(0, 2)", {"w": (2, 3)}),
        ({"w": (2, 3)}, "w.reshape()", {"w": (2, 4)}),
        ({"w": (2, 6)}, "w.reshape(2, 3, 3).transpose(0, 2, 1)", {"w": (2, 3, 3)}),
    ],
)
def test_shapes_that_do_not_fit_make_no_rearrangement(reference, text, candidate):
    assert rearrangement(reference, terms(text), candidate) is None


def test_other_names_leave_the_elements_alone():
    found = rearrangement({"w": (2, 3)}, terms("w.T"), {"v": (3, 2)})
    values = arrays({"w": (2, 3)})["w"]
    there = found.called({"w": "a.w"}, {"v": "b.v"}).to_candidate({"a.w": values})
    assert np.array_equal(there["b.v"], values.T)
    assert str(found) == "v = w, rearranged"


def test_arrays_of_other_trailing_axes_cannot_be_joined():
    assert joined([(2, 3), (4, 3)]) == (6, 3)
    assert joined([(2, 3), (4, 5)]) is None
    assert joined([(), ()]) is None

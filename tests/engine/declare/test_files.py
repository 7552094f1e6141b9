"""Inputs from files have exactly their values, and a file that changes is another input."""

import io

import numpy as np
import pytest

from equivalence import Twin, cases, file, given, normal
from equivalence.comparison import sides
from equivalence.errors import DeclarationError
from equivalence.record import fingerprint
from equivalence.sample import Perturbed

SIDES = {"reference": "torch.nn:ReLU", "candidate": "mindspore.nn:ReLU", "phases": ("train",)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def one_case(inputs, **more):
    return next(iter(cases(Twin("it", **SIDES, inputs=inputs, **more), "cpu")))


def sample(inputs, **more):
    return sides.draw(one_case(inputs, **more), 0)


VALUES = {
    "float32": np.array([[0.1, np.nan, -np.inf], [-0.0, 3e38, 1e-45]], np.float32),
    "float16": np.array([0.1, np.nan, np.inf], np.float16),
    "int64": np.array([2**62, -1]),
    "int32": np.array([2**31 - 1, -1], np.int32),
    "int16": np.array([1, -(2**15)], np.int16),
    "int8": np.array([1, -128], np.int8),
    "uint8": np.array([0, 255], np.uint8),
    "bool": np.array([True, False]),
}


@pytest.mark.parametrize("dtype", VALUES)
def test_a_file_gives_exactly_its_values(dtype):
    np.save("x.npy", VALUES[dtype])
    drawn = sample([file("x.npy"), normal(2)])
    values = drawn.inputs()[0]
    assert str(values.dtype) == dtype
    assert values.tobytes() == VALUES[dtype].tobytes()
    assert drawn.differentiable == ([0, 1] if dtype.startswith("float") else [1])
    drawn.draw_again()
    assert drawn.inputs()[0].tobytes() == values.tobytes()
    assert np.array_equal(drawn.inputs(3)[0], values, equal_nan=dtype.startswith("float"))


def test_floats_of_a_file_are_perturbed_and_whole_numbers_are_not():
    np.savez("x.npz", floats=np.linspace(1, 2, 50, dtype=np.float32), labels=np.arange(9))
    drawn = sample([file("x.npz", "floats"), file("x.npz", "labels")])
    floats, labels = Perturbed(drawn, 0, 2.0**-24).inputs()
    assert np.all(floats != drawn.inputs()[0])
    assert np.array_equal(labels, np.arange(9))


@pytest.mark.parametrize("stored", ["big-endian", "Fortran order", "scalar"])
def test_the_layout_of_a_file_does_not_matter(stored):
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    changed = {"big-endian": values.astype(">f4"), "Fortran order": np.asfortranarray(values)}
    values = np.array(1.5, np.float32) if stored == "scalar" else values
    np.save("x.npy", changed.get(stored, values))
    read = sample([file("x.npy")]).inputs()[0]
    assert (read.dtype, read.shape) == (np.dtype("float32"), values.shape)
    assert np.array_equal(read, values)


def test_an_archive_of_one_array_needs_no_name():
    np.savez("x.npz", pixels=np.ones((2, 3), np.uint8))
    assert sample([file("x.npz")]).inputs()[0].shape == (2, 3)


def test_a_relative_path_starts_in_the_folder_of_the_declaration(folder, monkeypatch):
    np.save("x.npy", np.ones(3, np.float32))
    case = one_case([file("x.npy")])
    (folder / "other").mkdir()
    monkeypatch.chdir(folder / "other")
    assert sides.draw(case, 0).inputs()[0].shape == (3,)


def test_half_precision_rounds_a_file_and_refuses_what_it_cannot_hold():
    np.save("x.npy", np.array([0.1, np.inf], np.float32))
    assert str(sample([file("x.npy")], dtypes=("float16",)).inputs()[0].dtype) == "float16"
    np.save("x.npy", np.array([70000.0], np.float32))
    with pytest.raises(DeclarationError, match=r"x.npy'\) has values beyond float16; scale it"):
        sample([file("x.npy")], dtypes=("float16",)).inputs()


def test_a_changed_file_is_another_case_and_a_moved_one_is_not():
    np.save("x.npy", np.ones(3, np.float32))
    np.save("y.npy", np.ones(3, np.float32))
    before, moved = one_case([file("x.npy")]), one_case([file("y.npy")])
    prints = [fingerprint.fingerprint(each, 0, 2.0**-24) for each in (before, moved)]
    assert prints[0] == prints[1]
    shared = before.shared
    np.save("x.npy", np.full(3, 2, np.float32))
    assert fingerprint.fingerprint(before, 0, 2.0**-24) != prints[0]
    assert before.shared != shared
    constant = one_case([file("y.npy").constant()])
    assert fingerprint.fingerprint(constant, 0, 2.0**-24) != prints[1]


def test_given_floats_are_floats_and_given_integers_are_integers():
    scales, order = sample(
        [given(2, values=[0.5, 1]), given(2, values=[1, 0]), normal(2)]
    ).inputs()[:2]
    assert (scales.tolist(), str(scales.dtype)) == ([0.5, 1.0], "float32")
    assert (order.tolist(), str(order.dtype)) == ([1, 0], "int32")


def write(name, values):
    np.save(name, values, allow_pickle=True)


def cut(name):
    stream = io.BytesIO()
    np.save(stream, np.ones(100, np.float32))
    with open(name, "wb") as target:
        target.write(stream.getvalue()[:200])


def text(name):
    with open(name, "w") as target:
        target.write("1 2 3")


ONES = np.ones((2, 3), np.float32)

# What is in the folder, how the input is declared, words of the complaint.
WRONG_FILES = {
    "missing": (lambda: None, lambda: file("x.npy"), "which does not exist; the current folder is"),
    "folder": (lambda: None, lambda: file("."), "which is a folder; name a .npy"),
    "text": (lambda: text("x.npy"), lambda: file("x.npy"), "which is no whole file of NumPy"),
    "empty file": (lambda: open("x.npy", "w").close(), lambda: file("x.npy"), "no whole file"),
    "cut": (lambda: cut("x.npy"), lambda: file("x.npy"), "no whole file of NumPy"),
    "objects": (
        lambda: write("x.npy", np.array([{}, None])),
        lambda: file("x.npy"),
        "which holds pickled objects; save plain numbers",
    ),
    "float64": (
        lambda: write("x.npy", np.ones(3)),
        lambda: file("x.npy"),
        "of float64, and cases compute in float32 or float16; save it again with .astype",
    ),
    "complex": (lambda: write("x.npy", np.ones(3, "c16")), lambda: file("x.npy"), "complex128"),
    "unsigned": (lambda: write("x.npy", np.ones(3, "u4")), lambda: file("x.npy"), "dtype uint32"),
    "words": (lambda: write("x.npy", np.array(["a"])), lambda: file("x.npy"), "of dtype str"),
    "dates": (lambda: write("x.npy", np.zeros(2, "M8[s]")), lambda: file("x.npy"), "datetime64"),
    "fields": (lambda: write("x.npy", np.zeros(2, "f4,i4")), lambda: file("x.npy"), "dtype void"),
    "no element": (
        lambda: write("x.npy", np.ones((2, 0), np.float32)),
        lambda: file("x.npy"),
        "of the shape (2, 0), which has no element",
    ),
    "named npy": (lambda: write("x.npy", ONES), lambda: file("x.npy", "a"), "leave it out"),
    "several": (
        lambda: np.savez("x.npz", a=ONES, b=ONES),
        lambda: file("x.npz"),
        "which has several arrays or none; name one of 'a', 'b'",
    ),
    "unknown name": (
        lambda: np.savez("x.npz", a=ONES),
        lambda: file("x.npz", "b"),
        "'b'), which has no such array; name one of 'a'",
    ),
    "objects in npz": (
        lambda: np.savez("x.npz", a=np.array([None])),
        lambda: file("x.npz", "a"),
        "pickled objects",
    ),
    "float64 in npz": (
        lambda: np.savez("x.npz", a=np.ones(2)),
        lambda: file("x.npz", "a"),
        "of float64",
    ),
    "path": (lambda: None, lambda: file(3), "path is 3; write the path"),
    "no path": (lambda: None, lambda: file(""), "path is ''; write the path"),
    "none": (lambda: None, lambda: file(None), "path is None; write the path"),
    "name": (lambda: write("x.npy", ONES), lambda: file("x.npy", 1), "name is 1; write the name"),
    "empty name": (lambda: write("x.npy", ONES), lambda: file("x.npy", ""), "name is ''"),
}


@pytest.mark.parametrize(("make", "declare", "complaint"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_a_wrong_file_is_refused_in_one_sentence(make, declare, complaint):
    make()
    with pytest.raises(DeclarationError) as refused:
        Twin("it", **SIDES, inputs={"x": [(declare(),)]})
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


# Inputs that no twin takes, and words of the complaint.
WRONG_INPUTS = {
    "no draw": ([None, True], "inputs has no draw"),
    "empty": ({}, "has no inputs"),
    "empty nesting": ([()], "inputs has no draw"),
    "array": ([ONES], "inputs has an array, a ndarray; save it by numpy.save"),
    "array in a cache": ([normal(2), [(ONES,)]], "inputs has an array"),
    "set": ([normal(2), {1, 2}], "is no draw; write normal(2, 3); None, True, numbers and texts"),
    "class": ([normal(2), int], "is no draw"),
    "nan": ([normal(2), float("nan")], "inputs has nan, which is no draw"),
    "bytes": ([normal(2), b"a"], "is no draw"),
    "keyword": ({"lambda": normal(2)}, "inputs has the keyword 'lambda', a word of Python's own"),
    "number as keyword": ({3: normal(2)}, "inputs has the key 3; write a name"),
    "spaced keyword": ({"a b": normal(2)}, "inputs has the key 'a b'; write a name"),
    "number as key": ([{3: normal(2)}], "inputs has a dict with the key 3; write a text"),
    "one draw": (normal(2), "inputs is one draw; write a list"),
    "text": ("normal(2)", "inputs is a string"),
    "name": ([normal("H"), None], "an input shape names ['H']"),
    "nested name": ({"cache": [(normal("H"),)]}, "an input shape names ['H']"),
    "nested size": ({"cache": [(normal(0),)]}, "no size may be zero"),
}


@pytest.mark.parametrize(("inputs", "complaint"), WRONG_INPUTS.values(), ids=WRONG_INPUTS)
def test_wrong_inputs_are_refused_in_one_sentence(inputs, complaint):
    with pytest.raises(DeclarationError) as refused:
        Twin("it", **SIDES, inputs=inputs)
    assert str(refused.value).startswith("twin 'it': ")
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_input_that_a_configuration_leaves_out_is_left_out_of_what_holds_it():
    inputs = {"x": normal(2), "cache": [(normal("C"), normal(3))], "mask": normal("M")}
    drawn = sample(inputs, configs=[{"C": None, "M": None}])
    assert drawn.arguments.filled("ab") == ((), {"x": "a", "cache": [("b",)]})
    assert drawn.arguments.names == ["x", "cache.0.0"]


def test_nested_inputs_are_drawn_by_their_names():
    one = sample({"x": normal(2), "cache": [(normal(4), normal(4))]}).inputs()
    other = sample({"cache": [(normal(4), normal(4))], "x": normal(2)}).inputs()
    assert all(np.array_equal(*pair) for pair in zip(one, [other[2], *other[:2]], strict=True))
    assert not np.array_equal(one[1], one[2])

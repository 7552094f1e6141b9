"""Every leaf of nested inputs and outputs has a name, and calls are written as they are made."""

from collections import OrderedDict, UserDict, namedtuple
from dataclasses import dataclass

import pytest

from equivalence import nesting
from equivalence.nesting import Arguments, Position


@dataclass
class Output:
    logits: object
    hidden: object = None


Pair = namedtuple("Pair", "first second")


@pytest.mark.parametrize(
    ("outputs", "names"),
    [
        (1, ["0"]),
        ((1,), ["0"]),
        ((1, (2, [3, 4])), ["0", "1", "2", "3"]),
        (Pair(1, Pair(2, 3)), ["0", "1", "2"]),
        ((1, None), ["0", "1"]),
        ({"logits": 1}, ["logits"]),
        (
            {"logits": 1, "hidden": ((2, 3), (4,))},
            ["logits", "hidden.0.0", "hidden.0.1", "hidden.1.0"],
        ),
        ((1, {"a": 2}), ["0", "1.a"]),
        (OrderedDict(b=1, a=2), ["b", "a"]),
        (UserDict(a=1), ["a"]),
        (Output(1, (2, None)), ["logits", "hidden.0", "hidden.1"]),
        ({"0": 1, 1: 2, "a b": 3}, ["[0]", "[1]", "[a b]"]),
        ((), []),
    ],
)
def test_outputs_are_numbered_and_named_where_a_mapping_has_them(outputs, names):
    assert list(nesting.named(outputs)) == names


def test_a_class_is_a_leaf():
    assert nesting.named(Output) == {"0": Output}


@pytest.mark.parametrize(
    ("outputs", "odd"),
    [
        ((1, [2, {"a": 3}]), None),
        (Pair(1, 2), "Pair"),
        ({"a": OrderedDict(b=1)}, "OrderedDict"),
        ([Output(1)], "Output"),
        (Output, None),
        (1, None),
    ],
)
def test_containers_that_a_graph_cannot_differentiate_are_told(outputs, odd):
    assert nesting.unusual(outputs) == odd


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], "nothing"),
        (["0"], "one tensor"),
        (["0", "1"], "a tuple of 2 tensors"),
        (["0", "1.a", "1.b"], "a tuple of 2 tensors"),
        (["logits", "hidden.0", "hidden.1"], "a dict (logits, hidden)"),
    ],
)
def test_what_is_returned_is_told_in_words(names, words):
    assert nesting.words(names) == words


def call(values):
    """How a network is called with five values."""
    a, b, c, d, e = values
    return ((a, None), {"cache": [(b, c)], "batch": {"x y": (d,), "none": ()}, "flag": "t", "e": e})


def test_a_call_is_filled_and_written_alike():
    arguments = Arguments(*call(list(map(Position, range(5)))))
    assert arguments.filled("abcde") == call("abcde")
    written = eval(f"(lambda *a, **k: (a, k))({arguments.expression})", {"values": "abcde"})
    assert written == call("abcde")
    assert arguments.names == ["0", "cache.0.0", "cache.0.1", "batch.[x y].0", "e"]
    assert not arguments.is_plain


def test_a_plain_call_has_arrays_alone():
    assert Arguments.plain(2).is_plain
    assert Arguments.plain(2).names == ["0", "1"]
    assert not Arguments((Position(0), None)).is_plain


def test_what_is_left_out_is_missing_from_what_holds_it():
    tree = {"a": (1, 2), "b": 2, "c": [2, {"d": 2}]}
    changed = nesting.transform(tree, lambda leaf: nesting.LEFT_OUT if leaf == 2 else leaf)
    assert changed == {"a": (1,), "c": [{}]}

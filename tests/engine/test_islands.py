"""What a port computes in fewer bits than the original is told by its kind."""

import pytest

from equivalence import islands

SINGLE = {"_softmax": ["float32"], "mean": ["float32"]}


@pytest.mark.parametrize(
    ("theirs", "ours", "count"),
    [
        (SINGLE, {"Softmax": ["float16"]}, 1),
        (SINGLE, {"SoftmaxExt": ["float32", "bfloat16"], "ReduceMean": ["float16"]}, 2),
        (SINGLE, {"Softmax": ["float32"], "MatMul": ["float16"]}, 0),
        ({"_softmax": ["float16", "float32"]}, {"Softmax": ["float16"]}, 0),
        ({"_softmax": ["float16"]}, {"Softmax": ["float32"]}, 0),
        ({"mm": ["float32"]}, {"Softmax": ["float16"]}, 0),
        ({"add": ["float16", "float32"]}, {"Add": ["float16", "float16"]}, 1),
        ({"add": ["float16", "float32"]}, {"Add": ["float16", "float32"]}, 0),
        ({"add": ["float32"]}, {"Add": ["float16", "float32"]}, 0),  # a bias of one's own
    ],
)
def test_fewer_bits_are_told_and_more_are_right(theirs, ours, count):
    assert len(islands.told(theirs, ours)) == count


def test_the_lines_of_the_port_are_told():
    ours = {"Softmax": ["float32", "float16"]}
    (line,) = islands.told({"_softmax": ["float32"] * 2}, ours, {"Softmax": ["a.py:1", "a.py:2"]})
    assert line.endswith("softmax in float16 (1 of 2 calls), and the original in float32: a.py:2")

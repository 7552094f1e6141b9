"""What the answer says of two sides of one framework."""

from equivalence import Twin, normal
from equivalence.alike.told import NO_TRUTH, UNREACHED, of_sides
from equivalence.declare.twin import MindSporeCase, TorchCase

TWIN = Twin("net", "one:Net", "two:Net", [normal(2, 4)])


def test_each_side_is_told_for_what_it_stands():
    (told,) = of_sides(TWIN, TorchCase)
    assert told.startswith("Both are PyTorch's: the first, one:Net, stands for the original")
    assert of_sides(TWIN, MindSporeCase)[1:] == (NO_TRUTH, UNREACHED)
    assert of_sides(TWIN, None) == ()

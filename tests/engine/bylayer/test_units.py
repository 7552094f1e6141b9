"""Which layers are units, and when both sides call one alike."""

import numpy as np

from equivalence.bylayer.units import Unit, UnitCall, mismatch, units
from equivalence.nesting import Arguments
from equivalence.structure.layers import Layer


def layers(*paths):
    """Layers of these paths and classes, "path Class"; each leaf has a weight."""
    named = [each.split() for each in paths]
    leaves = [p for p, _ in named if not any(q.startswith(f"{p}.") for q, _ in named)]
    return [
        Layer(path, kind, frozenset(p for p in leaves if p == path or p.startswith(f"{path}.")))
        for path, kind in named
    ]


STACK = (
    *("embed Embedding", "stack ModuleList"),
    *("stack.0 Block", "stack.0.fc Linear", "stack.1 Block", "stack.1.fc Linear"),
)


def test_units_are_the_blocks_of_a_list_that_repeat():
    found = layers(*STACK)
    pairs = {layer.path: layer.path.replace("stack", "blocks") for layer in found}
    assert units(found, pairs) == [Unit("stack.0", "blocks.0"), Unit("stack.1", "blocks.1")]


def test_a_block_alone_a_leaf_and_one_without_a_partner_are_no_units():
    found = layers(
        *("0 Linear", "1 Linear", "tail ModuleList", "tail.0 Block", "tail.0.fc Linear"),
        *("named Block", "named.fc Linear", "other Block", "other.fc Linear"),
    )
    assert units(found, {layer.path: layer.path for layer in found}) == []
    assert units(layers(*STACK), {"stack.0": "stack.0"}) == []


def test_of_blocks_within_blocks_the_outer_ones_are_units():
    inner = (
        "stack.{0}.0 Part",
        "stack.{0}.0.fc Linear",
        "stack.{0}.1 Part",
        "stack.{0}.1.fc Linear",
    )
    found = layers(*(each.format(n) for n in (0, 1) for each in ("stack.{0} Stage", *inner)))
    found = units(found, {layer.path: layer.path for layer in found})
    assert [unit.path for unit in found] == ["stack.0", "stack.1"]


def call(given, returned):
    return UnitCall(
        Arguments(()), [np.zeros(s) for s in given], None, [(s, "float32") for s in returned]
    )


def test_calls_are_alike_where_number_and_shapes_are():
    one, other = call([(2, 3)], [(2, 3)]), call([(2, 4)], [(2, 3)])
    assert mismatch([one, one], [one, one]) is None
    assert mismatch([], []) is None
    told = "the reference calls it 2 times, the candidate once"
    assert mismatch([one, one], [one]) == told
    told = "it gets (2, 3) in the reference, (2, 4) in the candidate"
    assert mismatch([one], [other]) == told
    assert mismatch([one], [call([(2, 3)], [])]) == (
        "it gives (2, 3) in the reference, no tensor in the candidate"
    )

"""Tables that both sides keep as data are compared where both write them the same way."""

import numpy as np
import pytest

from equivalence.judge.expected import Expected
from equivalence.structure import tables
from equivalence.structure.layers import Layer

U = 2.0**-24
ROWS = np.sin(np.arange(24.0)).reshape(6, 4)
HIDDEN = np.triu(np.full((8, 8), -np.inf), 1)
ORDER = np.arange(24).reshape(4, 6) % 7


def of(**values):
    """The tables of an original. A double underscore stands for a dot."""
    named = {name.replace("__", "."): each for name, each in values.items()}
    return tables.Tables(named, lambda name: Expected.whole(named[name]))


def compared(theirs, ours, layers=("",), own=("",), rename=None):
    sides = [[Layer(path, "Net") for path in paths] for paths in (layers, own)]
    found = tables.compare(theirs, tables.Tables(ours), tuple(sides), rename or {}, U)
    return found.count, [*found.differing]


def changed(table, *at, by=1):
    table = table.copy()
    table[at] += by
    return table


def test_equal_tables_are_counted():
    assert compared(of(table=ROWS), {"table": ROWS}) == (1, [])


@pytest.mark.parametrize(
    ("theirs", "ours", "told"),
    [
        (ROWS, changed(ROWS, 4, 1), "table is 0.0386025081 in the port and -0.961397492"),
        (ORDER, changed(ORDER, 3, 5), "table is 3 in the port and 2 in the original, at (3, 5)"),
        (ROWS[0], changed(ROWS[0], 3), "at (3,)"),
        (ROWS, changed(ROWS, slice(4, None)), "at (4, 0) and 7 more elements"),
        (ROWS, changed(ROWS, 2, 2)[None], "at (2, 2)"),
    ],
)
def test_the_first_wrong_element_is_told(theirs, ours, told):
    count, (difference,) = compared(of(table=theirs), {"table": ours})
    assert count == 1
    assert told in difference.told


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (ROWS, 1.0 - ROWS),  # another table of this name
        (HIDDEN, np.where(HIDDEN < 0, -1e9, 0.0)),
        (HIDDEN[:2, :2], np.where(HIDDEN[:2, :2] < 0, -1e9, 0.0)),
        (np.where(HIDDEN < 0, -100.0, 0.0), np.where(HIDDEN < 0, -5.0, 0.0)),
        (HIDDEN == 0, HIDDEN != 0),
        (ORDER, ORDER.astype(float)),
        (ROWS, ROWS[:5]),
        (ROWS, ROWS * (1 + 1e-4)),  # the sample tells of what may be rounding
    ],
)
def test_what_is_written_another_way_is_left_to_the_sample(theirs, ours):
    assert compared(of(table=theirs), {"table": ours})[1] == []


def test_rounding_of_the_constructor_is_no_difference():
    expected = Expected.whole(ROWS)
    expected.widen(ROWS + 0.5)
    known = tables.Tables({"table": ROWS}, lambda _: expected)
    assert compared(known, {"table": changed(ROWS, 1, 1, by=0.1)}) == (1, [])


def test_a_table_is_found_in_the_partner_of_its_layer_and_by_renames():
    wrong = changed(ROWS, 5, 3)
    layers, own = ("", "stage", "stage.attn"), ("", "stage", "stage.attn")
    (found,) = compared(of(stage__attn__table=ROWS), {"stage.attn.table": wrong}, layers, own)[1]
    assert (found.layer, found.name, found.kind) == ("stage.attn", "table", "Net")
    (found,) = compared(of(rows=ROWS), {"table": wrong}, rename={"table": "rows"})[1]
    assert found.path == "rows"


def test_a_table_of_another_name_is_found_by_its_values():
    wrong = changed(ROWS, 5, 3)
    other = np.cos(ROWS)
    (found,) = compared(of(table=ROWS), {"colours": wrong, "others": other})[1]
    assert found.name == "table"
    assert compared(of(table=ROWS), {"others": other}) == (0, [])
    masks = of(mask=HIDDEN == 0)
    assert compared(masks, {"hidden": changed(HIDDEN == 0, 1, 1)}) == (0, [])  # alike by chance


def test_tables_that_weights_are_paired_with_are_none():
    assert of(table=ROWS, mask=HIDDEN).without(["table"]).values.keys() == {"mask"}
    assert compared(of(), {"table": ROWS}) == (0, [])

"""How rows of tokens and text differ, in words."""

import numpy as np
import pytest

from equivalence.pipelines.rows import explain, same_text

WANT = np.array([[5, 6, 7, 0, 0], [3, 4, 5, 6, 7]])


@pytest.mark.parametrize(
    ("got", "told"),
    [
        ([[0, 0, 5, 6, 7], [3, 4, 5, 6, 7]], "row 0 is padded on the left: 0 0 5 6 7 for 5 6 7"),
        ([[5, 6, 7, 1, 1], [3, 4, 5, 6, 7]], "rows are padded with 1 for 0"),
        ([[5, 6, 7, 0, 0, 0], [3, 4, 5, 6, 7, 0]], "rows are padded to 6 tokens for 5"),
        ([[5, 6, 7, 0], [3, 4, 5, 6]], "rows have their first 4 tokens alone, of up to 5"),
        ([[2, 5, 6, 7, 0, 0], [2, 3, 4, 5, 6, 7]], "row 0 begins with a token more, 2"),
        ([[5, 6, 7, 9, 0, 0], [3, 4, 5, 6, 7, 9]], "row 0 ends with a token more, 9"),
        ([[1, 5, 6, 7, 9, 0, 0], [1, 3, 4, 5, 6, 7, 9]], "a token more at both ends, 1 and 9"),
        ([[6, 7, 8, 0, 0], [4, 5, 6, 7, 8]], "row 0 has tokens of other numbers, each 1 more"),
        ([[5, 6, 9, 0, 0], [3, 4, 5, 6, 7]], "row 0 has the token 9 for 7 as its 3rd"),
        ([[7, 6, 5, 0, 0], [7, 6, 5, 4, 3]], "row 0 has its tokens in reverse"),
        ([[5, 7, 0, 0, 0], [3, 4, 5, 6, 7]], "row 0 has 2 tokens for 3"),
        ([[5, 6, 7, 0, 0]], "shape (1, 5) for (2, 5)"),
    ],
)
def test_rows_of_tokens(got, told):
    assert told in explain(np.array(got), WANT)


@pytest.mark.parametrize(
    ("got", "want", "told"),
    [
        (["A", "B"], ["a", "b"], "row 0 is 'A' for 'a', in capitals"),
        (["a", "c"], ["a", "b"], "row 1 is 'c' for 'b'"),
        ([b"x"], ["y"], "row 0 is 'x' for 'y'"),
        (["a"], [1], "text for numbers"),
        ([4, 5], [3, 4], "1 more in each row"),
        ([4, 4], [3, 4], "row 0 is 4 for 3"),
        ([True, False], [False, True], "it is inverted"),
        ([[True, True]], [[False, True]], None),
        ([0.5], [1.5], None),
    ],
)
def test_columns_of_text_numbers_and_masks(got, want, told):
    found = explain(np.array(got), np.array(want))
    assert found is None if told is None else found.startswith(told)


def test_text_is_the_same_however_wide_its_arrays_are():
    assert same_text(np.array(["ab"], "U9"), np.array([b"ab"]))
    assert not same_text(np.array(["ab"]), np.array(["abc"]))
    assert not same_text(np.array(["ab"]), np.array(["ab", "c"]))

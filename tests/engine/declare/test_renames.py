"""What a rename says is read, or refused."""

import pytest

from equivalence import Twin, normal
from equivalence.declare.renames import Term, has_run, is_plain, terms
from equivalence.errors import DeclarationError

SIDES = ("torch.nn:Linear", "mindspore.nn:Dense", [normal(2, 8)])


def test_names_are_read_with_what_is_done_to_them():
    assert terms("a.b-0") == (Term("a.b-0"),)
    assert terms("a + b.T") == (Term("a"), Term("b", ()))
    assert terms("w.transpose(2, 0, 1)") == (Term("w", (2, 0, 1)),)
    assert terms("w.T.reshape()") == (Term("w", (), True),)


@pytest.mark.parametrize("text", ["a+b", "a + ", "a.reshape(2)", "a.transpose()", "", "a b", ".T"])
def test_anything_else_is_no_rename(text):
    assert terms(text) is None
    with pytest.raises(DeclarationError, match=r"rename has|write texts"):
        Twin("twin", *SIDES, rename={"weight": text})


def test_a_plain_rename_rearranges_nothing():
    assert is_plain("a.b", "c")
    assert not any(is_plain(*pair) for pair in [("a + b", "c"), ("a", "b + c"), ("a", "b.T")])


def test_a_run_is_made_of_whole_parts():
    assert has_run("a.b.c", "b.c")
    assert not has_run("a.bb.c", "b")


def test_weights_pair_by_name_or_by_order():
    assert Twin("twin", *SIDES).pair == "name"
    assert Twin("twin", *SIDES, pair="order").pair == "order"
    with pytest.raises(DeclarationError, match="pair 'shape' not among"):
        Twin("twin", *SIDES, pair="shape")

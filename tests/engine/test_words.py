import pytest

from equivalence.words import all_of, counted, left, listed, nearest, several


def test_all_are_named_where_there_is_room():
    assert listed(["a", "b", "c"]) == "a, b, c"
    assert listed([]) == ""


def test_of_more_the_first_are_named_and_the_others_counted():
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert listed([4, 5], 1) == "4 and 1 more"


def test_the_most_similar_name_ends_a_sentence():
    assert nearest("conv1.wieght", iter(["bias", "conv1.weight"])) == "; nearest: conv1.weight"
    assert nearest("conv1.weight", ["x"]) == ""


def test_the_time_that_is_left_is_told_once_something_is_done():
    assert left(10.0, 0, 5) == ""
    assert left(10.0, 1, 5) == ", about 40 s left"
    assert left(60.0, 1, 5) == ", about 4 min left"
    assert left(10.0, 5, 5) == ""


@pytest.mark.parametrize(
    ("thing", "plural"),
    [
        ("loss", "losses"),
        ("order of samples", "orders of samples"),
        ("weight of all ranks", "weights of all ranks"),
        ("entry", "entries"),
        ("array", "arrays"),
        ("batch", "batches"),
        ("epoch", "epochs"),
    ],
)
def test_many_of_a_thing_have_its_plural(thing, plural):
    assert several(thing) == plural
    assert counted(2, thing) == f"2 {plural}"
    assert all_of(3, thing) == f"all 3 {plural} are"
    assert counted(1, thing) == f"1 {thing}"

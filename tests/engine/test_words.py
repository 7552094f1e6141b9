from equivalence.words import listed, nearest


def test_all_are_named_where_there_is_room():
    assert listed(["a", "b", "c"]) == "a, b, c"
    assert listed([]) == ""


def test_of_more_the_first_are_named_and_the_others_counted():
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert listed([4, 5], 1) == "4 and 1 more"


def test_the_most_similar_name_ends_a_sentence():
    assert nearest("conv1.wieght", iter(["bias", "conv1.weight"])) == "; nearest: conv1.weight"
    assert nearest("conv1.weight", ["x"]) == ""

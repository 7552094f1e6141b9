"""Lines of a script and the names that it has."""

from equivalence.scripts import places


class Thing:
    pass


def test_the_line_that_runs_now_is_told_with_its_code():
    line = places.here()
    assert line.split(":")[0].endswith("test_places.py")
    assert line.endswith(": line = places.here()")


def test_the_line_that_makes_an_object_is_kept_while_it_lives():
    thing = Thing()
    places.note(thing)
    assert places.made(thing).endswith(": places.note(thing)")
    assert places.made(Thing()) == ""


def test_names_are_those_of_the_innermost_frame_first():
    thing, number = Thing(), 3  # noqa: F841

    def inner():
        thing = Thing()
        return places.namespace(), thing

    names, inside = inner()
    assert names["thing"] is inside
    assert "number" not in names
    assert "pytest" not in names

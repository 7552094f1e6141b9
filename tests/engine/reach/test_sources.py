"""The branches of a source file, by its syntax."""

from equivalence.reach import sources


def texts(path):
    return [each.text for each in sources.branches(str(path))]


def test_a_file_that_is_edited_is_read_again_and_one_that_is_no_python_has_none(tmp_path):
    path = tmp_path / "edited.py"
    path.write_text("if a:\n    b = 1\n")
    assert texts(path) == ["if a"]
    path.write_text("if longer_name:\n    b = 1\n")
    assert texts(path) == ["if longer_name"]
    path.write_text("not Python (")
    assert texts(path) == []
    assert texts(tmp_path / "missing.py") == []


def test_long_conditions_are_cut(tmp_path):
    path = tmp_path / "long.py"
    path.write_text(f"if {' + '.join(['name'] * 40)}:\n    b = 1\n")
    (text,) = texts(path)
    assert len(text) == sources.LONGEST + len("if ")
    assert text.endswith("...")


def test_calls_are_found_where_they_stand(tmp_path):
    path = tmp_path / "calls.py"
    path.write_text("x = min(a,  b) + c.min(3)\n")
    assert sources.calls(str(path)) == {((1, 4), (1, 14)): "min(a, b)"}

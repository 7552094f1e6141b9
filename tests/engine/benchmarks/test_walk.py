"""The measure of how far a comparison walks."""

from benchmarks import walk


def test_calls_of_the_folder_alone_are_counted(tmp_path):
    file = tmp_path / "engine" / "file.py"
    file.parent.mkdir()
    file.write_text("def f(n):\n    return f(n - 1) if n else 0\n")
    made: dict = {}
    exec(compile(file.read_text(), str(file), "exec"), made)
    with walk.Walk(file.parent) as seen:
        made["f"](2)
        walk.lines(file)
    assert seen.calls == {(file, "f"): 3}
    assert str(seen) == "1 files in 1 rooms, 1 functions, 3 calls"


def test_lines_of_code_are_those_without_blanks_comments_and_docstrings(tmp_path):
    file = tmp_path / "file.py"
    file.write_text('"""What it is.\n\nMore.\n"""\n\n# why\nx = """\na"""\n')
    assert walk.lines(file) == (8, 2)


def test_the_rooms_are_all_of_the_engine():
    *rows, whole = walk.rooms()
    assert any(row.startswith("equivalence/judge ") for row in rows)
    files = sum(1 for each in walk.ENGINE.rglob("*.py") if "__pycache__" not in each.parts)
    assert whole.split()[1] == str(files)

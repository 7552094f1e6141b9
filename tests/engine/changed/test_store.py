"""The file of green tests: what is read is what was written; what holds no more is left out."""

import time

import pytest

from equivalence.changed import store
from equivalence.changed.store import Collected, Green, KnownTests

SELECTION = "gate"


@pytest.fixture
def root(tmp_path):
    """Two modules and a file of tests that imports both."""
    for name, text in {"a": "A = 1\n", "b": "B = 1\n", "test_it": "import a, b\n"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def later():
    return time.time() + 60


def run(*tests, reached=()):
    """What a run found: tests by name, of the module of that name."""
    return KnownTests(
        ["."],
        dict(reached),
        {name: Green("declared", (name,), "") for name in tests},
        {"test_it.py": Collected(("test_it.py",), "", {SELECTION: tests})},
    )


def known(root, *tests, **more):
    return KnownTests().joined(run(*tests, **more), root, later(), set())[0]


def valid(each, root):
    return each.valid(each.sources(root))


def test_what_is_read_is_what_was_written(root, tmp_path):
    every = {"one": known(root, "a", "b"), "two": known(root, "a", reached={"a.py": ["module b"]})}
    path = tmp_path / "green.json"
    store.write(path, every)
    assert store.read(path) == every
    assert [*store.read(path)] == ["one", "two"]


def test_only_the_latest_conditions_are_kept(tmp_path):
    path = tmp_path / "green.json"
    store.write(path, {str(number): KnownTests() for number in range(store.KEPT + 3)})
    assert [*store.read(path)] == [str(number) for number in range(3, store.KEPT + 3)]


def test_without_a_file_nothing_is_known(tmp_path):
    assert store.read(tmp_path / "green.json") == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"format": 0, "known": {}}',
        '{"format": 1}',
        '{"format": 1, "known": {"x": {}}}',
        '{"format": 1, "known": {"x": {"folders": [], "reached": {}, "roots": [], "files": {}, '
        '"tests": {"a": ["x", 7, "y"]}}}}',
    ],
)
def test_a_damaged_or_older_file_is_a_sentence(tmp_path, text):
    path = tmp_path / "green.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"green\.json cannot be read \(.*\); everything is run"):
        store.read(path)


def test_what_was_edited_holds_no_more(root):
    each = known(root, "a", "b")
    assert {*valid(each, root).tests} == {"a", "b"}
    assert valid(each, root).green("test_it.py", SELECTION) == ("a", "b")
    (root / "b.py").write_text("B = 2\n")
    assert {*valid(each, root).tests} == {"a"}
    assert valid(each, root).files == {}


def test_a_file_is_green_only_if_all_that_is_selected_is(root):
    each = known(root, "a", "b")
    assert each.green("test_it.py", "other") is None
    assert each.green("other.py", SELECTION) is None
    del each.tests["b"]
    assert each.green("test_it.py", SELECTION) is None


def test_a_later_run_adds_to_what_holds_and_takes_out_what_was_red(root):
    each = known(root, "a")
    both, doubts = each.joined(run("b"), root, later(), set())
    assert ({*both.tests}, doubts) == ({"a", "b"}, {})
    red, _ = both.joined(run("b"), root, later(), {"b"})
    assert {*red.tests} == {"a"}
    (root / "a.py").write_text("A = 2\n")
    assert {*both.joined(run("b"), root, later(), set())[0].tests} == {"b"}


def test_what_is_reached_later_does_not_undo_what_holds(root):
    each = known(root, "a")
    more, _ = each.joined(run("b", reached={"a.py": ["module b"]}), root, later(), set())
    assert {*valid(more, root).tests} == {"a", "b"}
    (root / "b.py").write_text("B = 2\n")
    assert {*valid(more, root).tests} == set()


def test_a_run_of_which_nothing_is_kept_adds_nothing_that_is_reached(root):
    before = known(root, "a", reached={"a.py": ["module b"]})
    (root / "odd.py").write_text("exec('x = 1')\n")
    found = run("odd", reached={"a.py": ["module odd"]})
    found.files.clear()
    after, doubts = before.joined(found, root, later(), set())
    assert (after.tests, after.reached) == (before.tests, before.reached)
    assert "odd" in doubts
    kept, _ = before.joined(run("b", reached={"b.py": ["module a"]}), root, later(), set())
    assert kept.reached == {"a.py": ["module b"], "b.py": ["module a"]}


def test_what_was_edited_during_the_run_is_not_kept(root):
    written = (root / "b.py").stat().st_ctime
    (root / "a.py").touch()
    while (root / "a.py").stat().st_ctime <= written:
        (root / "a.py").touch()
    begun = (root / "a.py").stat().st_ctime
    each, doubts = KnownTests().joined(run("a", "b"), root, begun, set())
    assert ({*each.tests}, each.files, doubts) == ({"b"}, {}, {})


def test_what_cannot_be_known_is_not_kept_and_told(root):
    (root / "a.py").write_text("exec('A = 1')\n")
    each, doubts = KnownTests().joined(run("a", "b"), root, later(), set())
    assert ({*each.tests}, each.files, doubts) == ({"b"}, {}, {"a": "a.py calls exec"})


def test_selections_are_kept_side_by_side_up_to_a_number(root):
    each = known(root, "a")
    for number in range(store.KEPT):
        found = run("a", "b")
        found.files["test_it.py"].selected[str(number)] = ("a",)
        del found.files["test_it.py"].selected[SELECTION]
        each, _ = each.joined(found, root, later(), set())
    assert [*each.files["test_it.py"].selected] == [*map(str, range(store.KEPT))]

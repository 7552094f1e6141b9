"""`--changed`: a verdict is used again only where it must be the same.

The projects here are compared by a check that builds both sides and runs nothing.
"""

import re
from pathlib import Path

import pytest

from equivalence import kinds
from equivalence.changed import store
from equivalence.errors import SideError
from equivalence.host import conditions, isolation
from equivalence.judge.outcome import Outcome
from equivalence.plugin.green import FILE
from equivalence.record.store import FORMAT
from equivalence.targets import resolve

pytest_plugins = ["pytester"]

CONFTEST = 'pytest_plugins = ["equivalence.plugin"]\n'

TWINS = """
from equivalence import Twin, normal
from equivalence.declare.difference import Raised

def twin(name, *inputs, **options):
    return Twin(
        name, f"{name}_pt:Net", f"{name}_ms:Net", inputs,
        phases=("train",), executions=("pynative",), **options,
    )

TWINS = (
    twin("a", normal(2, 3), configs=[{"act": "relu"}, {"act": "gelu"}]),
    twin("b", normal(2, 3)),
)
"""

FILES = {
    "conftest.py": CONFTEST,
    "twins_all.py": TWINS,
    "a_pt.py": "from constants import EPS\ndef Net(): pass\n",
    "a_ms.py": "from layers_ms import conv\ndef Net(): return conv()\n",
    "layers_ms.py": "def conv(): pass\n",
    "constants.py": "EPS = 1e-5\n",
    "b_pt.py": "def Net(): pass\n",
    "b_ms.py": "import dynamic\ndef Net(): return dynamic.load('table')\n",
    "dynamic.py": "import importlib\ndef load(name): return importlib.import_module(name).X\n",
    "table.py": "from pathlib import Path\nX = Path('table.json').read_text()\n",
    "table.json": "[1]",
}

A, B = 2, 1
"""How many cases the twins have on the CPU."""


def check(case, seed):
    """Builds both sides, and judges nothing. A side that returns "wrong" is red."""
    for target in (case.twin.reference, case.twin.candidate):
        if resolve(target)() == "wrong":
            raise SideError(f"{target} is wrong")
    return Outcome(case, seed, None)


@pytest.fixture(scope="module", autouse=True)
def _frameworks():
    """Loads here what a case needs: a run forgets the modules that were imported in it."""
    with isolation.isolated():
        pass


@pytest.fixture(autouse=True)
def _cheap(monkeypatch):
    for variable in isolation.DROPPINGS:  # which a run sets, and the next run here would find
        monkeypatch.setenv(variable, "dropped")
    monkeypatch.setattr(kinds, "resolve", lambda _: check)
    monkeypatch.setattr("equivalence.plugin.options.present", lambda device: device == "cpu")
    monkeypatch.setattr(conditions, "packages", lambda _: ("packages", 0.0))
    monkeypatch.setattr(Outcome, "passed", True)


@pytest.fixture
def project(pytester):
    """A project of twins; it gives the runs in it."""

    def write(**files):
        for name, text in files.items():
            Path(pytester.path, name).write_text(text)

    write(**FILES)
    pytester.syspathinsert()
    pytester.write = write
    pytester.run_it = lambda *options: pytester.runpytest_inprocess("-m", "cpu", *options)
    return pytester


def counts(result):
    """How many tests passed, and how many were not run again."""
    told = re.search(r"(\d+) tests? (was|were) green before", result.stdout.str())
    return result.parseoutcomes().get("passed", 0), int(told[1]) if told else 0


def changed(project, *options):
    result = project.run_it("--changed", *options)
    assert result.ret == pytest.ExitCode.OK, result.stdout.str()
    return counts(result)


# What is run again.


def test_what_was_green_is_not_run_again_and_counted(project):
    assert counts(project.run_it()) == (A + B, 0)
    result = project.run_it("--changed")
    assert counts(result) == (0, A + B)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(
        ["*= changed =*", "3 tests were green before with the same sources, and are not run again"]
    )


def test_without_the_option_everything_is_run_again(project):
    for _ in range(2):
        result = project.run_it()
        assert counts(result) == (A + B, 0)
        assert "changed" not in result.stdout.str()


def test_the_first_run_runs_everything_and_says_so(project):
    result = project.run_it("--changed")
    assert counts(result) == (A + B, 0)
    result.stdout.fnmatch_lines(["no test was green yet: everything is run"])


EDITS = [
    ({"a_ms.py": FILES["a_ms.py"] + "# edited"}, A),
    ({"a_pt.py": FILES["a_pt.py"] + "# edited"}, A),
    ({"layers_ms.py": "def conv(): return 1\n"}, A),
    ({"constants.py": "EPS = 1e-4\n"}, A),
    ({"b_ms.py": FILES["b_ms.py"] + "# edited"}, B),
    ({"table.py": FILES["table.py"] + "# edited"}, B),
    ({"table.json": "[2]"}, B),
    ({"dynamic.py": FILES["dynamic.py"] + "# edited"}, B),
    ({"conftest.py": CONFTEST + "# edited"}, A + B),
    ({"constants/__init__.py": "EPS = 1e-5\n"}, A),
    ({"twins_all.py": TWINS + "# edited"}, 0),
    ({"twins_all.py": (other := TWINS.replace('"b", normal(2, 3)', '"b", normal(2, 4)'))}, B),
    ({"twins_all.py": (other := other.replace('"gelu"', '"silu"'))}, 1),
    ({"twins_all.py": (other := other.replace("{name}_pt", "b_pt"))}, A),
    ({"twins_all.py": (other := other.replace("**options,\n", "steps=2, **options,\n"))}, A + B),
    ({"twins_all.py": other.replace('"act": "relu"', '"act": lambda x: x')}, 1),
]
"""What is edited, one after the other in one project -> how many cases are run again."""


def test_what_depends_on_an_edit_is_run_again_and_nothing_else(project):
    project.run_it()
    for edits, run in EDITS:
        for name in edits:
            Path(project.path, name).parent.mkdir(exist_ok=True)
        project.write(**edits)
        assert changed(project)[0] == run, edits
    assert changed(project)[0] == 0


def test_a_case_whose_sources_cannot_be_known_is_run_every_time(project):
    project.write(**{"layers_ms.py": "exec('def conv(): pass')\n"})
    for _ in range(2):
        result = project.run_it("--changed")
        assert result.parseoutcomes()["passed"] >= A
        result.stdout.fnmatch_lines(["2 tests are run every time: layers_ms.py calls exec"])
    assert counts(result) == (A, B)


def test_a_value_that_no_text_tells_depends_on_the_file_that_makes_it(project):
    project.write(**{"twins_all.py": TWINS.replace('"relu"', "lambda x: x")})
    project.run_it()
    assert changed(project) == (0, A + B)
    project.write(**{"twins_all.py": TWINS.replace('"relu"', "lambda x: -x")})
    assert changed(project) == (1, A + B - 1)


def test_a_new_twin_is_run(project):
    project.run_it()
    more = TWINS.replace("TWINS = (", 'TWINS = (twin("c", normal(4)),')
    project.write(
        **{"twins_all.py": more, "c_pt.py": FILES["b_pt.py"], "c_ms.py": FILES["b_pt.py"]}
    )
    assert changed(project) == (1, A + B)


def test_the_record_of_a_twin_that_was_renewed_counts(project):
    project.run_it()
    folder = Path(project.path, "fixtures", "truth")
    folder.mkdir(parents=True)
    entry = '{"file": "b", "sha256": "c", "bytes": 1, "samples": {}}'
    (folder / "manifest.json").write_text(f'{{"format": {FORMAT}, "twins": {{"b": {entry}}}}}')
    assert changed(project) == (B, A)


# Under which conditions.


def engine(monkeypatch, tmp_path):
    (tmp_path / "more.py").write_text("X = 1")
    monkeypatch.setattr(conditions, "ENGINE", tmp_path)


def package(monkeypatch, _):
    monkeypatch.setattr(conditions, "packages", lambda _: ("others", 0.0))


def variable(monkeypatch, _):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")


def processor(monkeypatch, _):
    monkeypatch.setattr(conditions, "_processor", lambda: ["flags : none"])


@pytest.mark.parametrize("edit", [engine, package, variable, processor])
def test_other_conditions_run_everything_and_these_ones_are_still_known(
    project, monkeypatch, tmp_path, edit
):
    project.run_it()
    with monkeypatch.context() as context:
        edit(context, tmp_path)
        result = project.run_it("--changed")
        assert counts(result) == (A + B, 0)
        cause = "no test was green with this engine, these packages and options: everything is run"
        result.stdout.fnmatch_lines([cause])
        assert changed(project) == (0, A + B)
    assert changed(project) == (0, A + B)


@pytest.mark.parametrize(
    "options", [["--seed", "1"], ["--rehearse", "ascend"], ["--record", "ignore"], ["-W", "error"]]
)
def test_another_option_runs_everything(project, options):
    project.run_it()
    assert changed(project, *options) == (A + B, 0)
    assert changed(project, *options) == (0, A + B)
    assert changed(project) == (0, A + B)


def test_an_ini_file_that_is_new_runs_everything(project):
    project.run_it()
    project.makeini("[pytest]\n")
    assert changed(project) == (A + B, 0)


@pytest.mark.parametrize("options", [["-v"], ["--tb=long"], ["--results", "reports/x.jsonl"]])
def test_how_results_are_shown_does_not_matter(project, options):
    project.run_it()
    assert changed(project, *options) == (0, A + B)


def test_a_package_that_is_edited_while_the_run_lasts_keeps_nothing(project, monkeypatch):
    monkeypatch.setattr(conditions, "packages", lambda _: ("packages", 1e12))
    project.run_it()
    assert changed(project) == (A + B, 0)


# What is kept.


def test_a_part_of_a_run_is_kept(project):
    assert counts(project.run_it("-k", "gelu")) == (1, 0)
    assert changed(project) == (A + B - 1, 1)
    assert changed(project, "-k", "gelu") == (0, 1)


def test_a_red_case_is_run_again_and_is_red_again(project):
    project.run_it()
    project.write(**{"layers_ms.py": "def conv(): return 'wrong'\n"})
    for _ in range(2):
        result = project.run_it("--changed")
        result.assert_outcomes(failed=A)
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert counts(result) == (0, B)
    project.write(**{"layers_ms.py": FILES["layers_ms.py"]})
    assert changed(project) == (A, B)


def test_a_case_that_was_green_and_is_red_without_an_edit_is_forgotten(project, monkeypatch):
    project.run_it()
    with monkeypatch.context() as context:
        context.setattr(kinds, "resolve", lambda _: lambda *_: 1 / 0)
        project.run_it("-k", "gelu").assert_outcomes(failed=1, deselected=8)
    assert changed(project) == (1, A + B - 1)


OWN = """
import warnings
import pytest
pytestmark = [pytest.mark.gate, pytest.mark.cpu]

def test_green(): pass
def test_skipped(): pytest.skip("no")
@pytest.mark.xfail(strict=True)
def test_expected(): assert False
def test_warned(): warnings.warn("look")
def test_interrupted(): {last}
"""


def test_what_was_skipped_warned_or_interrupted_is_not_kept(project):
    run = ("test_own.py", "-m", "cpu", "-W", "default")
    project.write(**{"test_own.py": OWN.format(last="pytest.exit('enough')")})
    project.runpytest_inprocess(*run).assert_outcomes(passed=2, skipped=1, xfailed=1, warnings=1)
    project.write(**{"test_own.py": OWN.format(last="pass")})
    last = {"skipped": 1, "xfailed": 1, "warnings": 1}
    project.runpytest_inprocess(*run).assert_outcomes(passed=3, **last)
    project.runpytest_inprocess(*run, "--changed").assert_outcomes(passed=1, deselected=2, **last)


def test_an_error_that_grew_is_run_again(project, monkeypatch):
    monkeypatch.setattr("equivalence.plugin.green.accepted.grown", lambda *_: {"x"})
    line = '{"case": "x"}'
    monkeypatch.setattr("equivalence.plugin.fixtures.report.lines", lambda _: [line])
    monkeypatch.setattr("equivalence.plugin.results.report.comparisons", lambda _: [1])
    monkeypatch.setattr("equivalence.plugin.results.report.summary", lambda *_: "EQUAL.")
    monkeypatch.setattr("equivalence.plugin.results.accepted.news", lambda *_: [])
    monkeypatch.setattr("equivalence.plugin.results.page", lambda *_: "")
    project.run_it()
    assert changed(project) == (A + B, 0)


def test_tests_of_a_project_that_compare_nothing_are_none_of_this(project):
    project.write(**{"test_other.py": "def test_other(): pass\n"})
    for _ in range(2):
        result = project.runpytest_inprocess("test_other.py", "--changed")
        result.assert_outcomes(passed=1)


def test_a_test_with_code_of_its_own_depends_on_its_file_and_its_fixtures(project):
    test = "import pytest\nfrom helper import x\n@pytest.mark.gate\ndef test_own(own): assert x\n"
    fixture = "import pytest\nfrom second import y\n@pytest.fixture\ndef own(): return y\n"
    files = {"test_own.py": test, "helper.py": "x = 1\n", "second.py": "y = 1\n"}
    project.write(**files, **{"conftest.py": CONFTEST + fixture})
    for name, text in files.items():
        assert counts(project.runpytest_inprocess("test_own.py", "--changed")) == (1, 0), name
        assert counts(project.runpytest_inprocess("test_own.py", "--changed")) == (0, 1), name
        project.write(**{name: text + "# edited\n"})
    assert counts(project.runpytest_inprocess("test_own.py", "--changed")) == (1, 0)


def test_a_plain_test_is_one_that_only_hands_its_case_on(project):
    own = """
        import pytest
        from equivalence.declare.twin import cases
        from equivalence.plugin.collector import parameters
        from twins_all import TWINS
        import helper

        CASES = parameters(case for twin in TWINS for case in cases(twin, "cpu"))

        @pytest.mark.parametrize("case", CASES)
        def test_plain(case, compare):
            compare(case)

        @pytest.mark.parametrize("case", CASES)
        def test_own(case, compare):
            compare(case)
            helper.look(case)
    """
    project.makepyfile(test_pairs=own, helper="def look(case): pass")
    run = ("test_pairs.py", "--changed", "-m", "cpu")
    assert counts(project.runpytest_inprocess(*run)) == (6, 0)
    assert counts(project.runpytest_inprocess(*run)) == (0, 6)
    project.write(**{"helper.py": "def look(case): assert case\n"})
    assert counts(project.runpytest_inprocess(*run)) == (3, 3)


# Without collecting.

SEEN = "with open('seen', 'a') as file: file.write('x')\n"
"""Says in a file how often a module was imported."""


def test_where_all_is_known_nothing_is_imported(project):
    project.write(**{"twins_all.py": TWINS + SEEN})
    project.run_it()
    seen = Path(project.path, "seen")
    assert seen.read_text() == "x"
    assert changed(project) == (0, A + B)
    assert seen.read_text() == "x"
    project.write(**{"layers_ms.py": "def conv(): return 1\n"})
    assert changed(project) == (A, B)
    assert seen.read_text() == "xx"


def test_a_selection_that_was_never_run_is_collected(project):
    project.run_it()
    assert changed(project, "-k", "a-act") == (0, A)
    project.write(**{"twins_all.py": TWINS + SEEN})
    assert changed(project, "-k", "a-act") == (0, A)
    Path(project.path, "seen").unlink()
    assert changed(project, "-k", "a-act") == (0, A)
    assert not Path(project.path, "seen").exists()


def test_a_case_that_is_named_is_found(project):
    project.run_it()
    name = "twins_all.py::test_twin[b-train-float32-pynative-cpu]"
    assert changed(project, name) == (0, 1)


LISTING = """
import importlib
from pathlib import Path
def declared():
    files = sorted(Path(__file__).parent.glob("family_*.py"))
    return tuple(x for file in files for x in importlib.import_module(file.stem).TWINS)
"""


def test_a_file_of_declarations_that_is_new_in_a_folder_is_found(project):
    project.write(
        **{
            "listing.py": LISTING,
            "family_a.py": TWINS,
            "twins_all.py": "from listing import declared\nTWINS = declared()\n",
        }
    )
    project.run_it()
    assert changed(project) == (0, A + B)
    more = TWINS.partition("TWINS = (")[0] + 'TWINS = (twin("c", normal(4)),)\n'
    project.write(**{"family_c.py": more, "c_pt.py": FILES["b_pt.py"], "c_ms.py": FILES["b_pt.py"]})
    assert changed(project) == (1, A + B)


# The file, and how it ends.


@pytest.mark.parametrize("text", ["", "{", '{"format": 0, "known": {}}'])
def test_a_file_that_cannot_be_read_is_one_sentence_and_everything_is_run(project, text):
    project.run_it()
    path = Path(project.path, ".pytest_cache", "d", "equivalence", FILE)
    assert store.read(path)
    path.write_text(text)
    result = project.run_it("--changed")
    assert counts(result) == (A + B, 0)
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines([f"*{FILE} cannot be read (*); everything is run"])
    assert changed(project) == (0, A + B)


def test_without_a_cache_everything_is_run(project):
    result = project.run_it("-p", "no:cacheprovider", "--changed")
    assert counts(result) == (A + B, 0)
    result.stdout.fnmatch_lines(
        ["pytest's cache is off (-p no:cacheprovider), so everything is run"]
    )


@pytest.mark.parametrize(
    "options",
    [["--diagnose"], ["--further"], ["--hidden-settings"], ["--record=write"], ["--example", "x"]],
)
def test_with_an_option_for_every_case_it_is_a_usage_error(project, options):
    result = project.run_it("--changed", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    name = options[0].partition("=")[0]
    result.stderr.fnmatch_lines(
        [
            f"ERROR: --changed leaves out what was green before, and {name} is for every case that "
            "is selected; leave out one of them"
        ]
    )


def test_to_collect_only_changes_nothing(project):
    project.run_it()
    result = project.run_it("--changed", "--collect-only", "-q")
    assert "3/9 tests collected" in result.stdout.str()


def test_both_sides_raising_is_a_verdict_like_others(project):
    project.write(
        **{
            "twins_all.py": TWINS.replace(
                "**options,", "raises=Raised('ValueError', 'm'), **options,"
            )
        }
    )
    project.run_it()
    assert changed(project) == (0, A + B)

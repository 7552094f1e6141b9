"""Files of declarations inside pytest: what becomes a test, and what is one sentence."""

import json
import warnings
from pathlib import Path

import pytest

from tests.engine.plugin import test_options as test_plugin

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]
_frameworks, cpu_only = test_plugin._frameworks, test_plugin.cpu_only
pytestmark = pytest.mark.usefixtures("cpu_only")

HEAD = """
from equivalence import Initial, Pipeline, Twin, normal


def one(name, candidate="Affine"):
    return Twin(
        name,
        "torch.nn:Linear",
        f"tests.engine.parts.networks_ms:{candidate}",
        [normal(3, 4)],
        configs=({"in_features": 4, "out_features": 4},),
        phases=("train",),
        executions=("pynative",),
    )


"""
RIGHT = HEAD + "TWINS = (one('right'),)\n"
BOTH = HEAD + "TWINS = (one('right'), one('wrong', 'TransposedWeight'))\n"
ID = "{}-in_features4-out_features4-train-float32-pynative-{}"


@pytest.fixture
def project(pytester, monkeypatch):
    """Runs pytest in a project that has files, and nothing else."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(files, *arguments, process="inprocess"):
        for name, text in files.items():
            path = Path(pytester.path, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        command = ("-p", "equivalence.plugin.door", "-p", "no:cacheprovider", *arguments)
        return getattr(pytester, f"runpytest_{process}")(*command)

    run.path = pytester.path
    return run


def errors(result):
    """What a run says of a file that cannot be collected."""
    lines = result.outlines
    begin = next(number for number, line in enumerate(lines) if "ERROR collecting" in line)
    end = next(number for number, line in enumerate(lines) if "short test summary" in line)
    return lines[begin + 1 : end]


def test_a_file_with_twins_is_all_that_a_project_needs(project):
    result = project({"twins_net.py": BOTH}, "--junitxml=junit.xml", "--seed", "3")
    result.assert_outcomes(passed=1, failed=1, skipped=4)
    wrong = ID.format("wrong", "cpu")
    result.stdout.fnmatch_lines(
        [
            "DIFFERENT. wrong (in_features=4, out_features=4, train, PyNative, CPU): *",
            f"repeat: pytest 'twins_net.py::test_twin?{wrong}?' --seed 3",
            "details:",
            f"{wrong}: 3 of 4 tensors differ by more than rounding*",
            "culprit: networks_ms.py:187  return ops.matmul(x, self.weight) + self.bias",
            "DIFFERENT in 1 of 2 cases. 8 tensors of 2 cases of 2 twins*",
        ]
    )
    lines = Path(project.path, "reports/results.jsonl").read_text().splitlines()
    assert {json.loads(line)["case"] for line in lines} == {wrong, ID.format("right", "cpu")}
    assert Path(project.path, f"reports/diagnosis/{wrong}.txt").is_file()
    assert 'name="worst tensor"' in Path(project.path, "junit.xml").read_text()
    assert {path.name for path in project.path.iterdir()} >= {"twins_net.py", "reports"}
    assert not Path(project.path, "rank_0").exists()


@pytest.mark.parametrize(
    ("chosen", "code", "passed"),
    [
        (["-k", "right"], 0, 1),
        (["-m", "cpu and gate", "-k", "right"], 0, 1),
        (["twins_net.py::test_twin[" + ID.format("right", "cpu") + "]"], 0, 1),
        (["--record=require", "-k", "right"], 1, 0),
        (["-m", "nightly"], 5, 0),
        (["-k", "right and gpu"], 1, 0),  # skipped, so that nothing is compared
    ],
)
def test_options_and_exit_codes_are_those_of_the_suite(project, chosen, code, passed):
    result = project({"twins_net.py": BOTH}, *chosen)
    assert result.ret == code
    assert result.parseoutcomes().get("passed", 0) == passed


@pytest.mark.nightly
def test_its_cases_go_to_workers_by_samples(project):
    result = project({"twins_net.py": BOTH}, "-n2", "-m", "cpu", process="subprocess")
    result.assert_outcomes(passed=1, failed=1)


def test_tests_of_the_project_run_beside_it_and_keep_their_markers(project):
    own = """
import pytest

@pytest.mark.gpu
def test_own():
    pass
"""
    result = project({"twins_net.py": RIGHT, "test_own.py": own}, "-k", "own")
    result.assert_outcomes(passed=1, deselected=3)


def test_relative_paths_and_warnings_are_the_users_own(project):
    network = """
import warnings
from pathlib import Path
from tests.engine.parts.networks_ms import Affine

def net(**sizes):
    warnings.warn("of the user's own module")
    assert Path("scale.txt").read_text() == "1"
    return Affine(**sizes)
"""
    twins = RIGHT.replace("tests.engine.parts.networks_ms:{candidate}", "my_net:net")
    files = {"twins_net.py": twins, "my_net.py": network, "scale.txt": "1"}
    with warnings.catch_warnings():
        warnings.resetwarnings()  # as in a process of its own
        result = project(files, "-m", "cpu", "-k", "right")
    result.assert_outcomes(passed=1, deselected=2, warnings=None)
    result.stdout.fnmatch_lines(["*UserWarning: of the user's own module"])


def test_networks_are_found_beside_the_file_and_where_the_project_begins(project):
    body = "from tests.engine.parts.networks_ms import Affine as Net\n"
    both = HEAD.replace("tests.engine.parts.networks_ms:{candidate}", "{candidate}:Net")
    both += "TWINS = (one('a', 'beside'), one('b', 'package.root'))\n"
    files = {
        "sub/twins_net.py": both,
        "sub/beside.py": body,
        "package/root.py": body,
        "package/__init__.py": "",
        "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n",
    }
    project(files, "-m", "cpu").assert_outcomes(passed=2, deselected=4)


WRONG = {
    "no tuple": (HEAD, "has no tuple TWINS; write TWINS = (Twin(...),), or rename the file if it"),
    "a list": (HEAD + "TWINS = [one('a')]", "TWINS is of the type list; write a tuple"),
    "a twin alone": (
        HEAD + "TWINS = one('a')",
        "TWINS is of the type Twin; write TWINS = (Twin(...),)",
    ),
    "a generator": (
        HEAD + "TWINS = (one(n) for n in 'ab')",
        "TWINS is of the type generator; write a",
    ),
    "None": (HEAD + "TWINS = None", "TWINS is of the type NoneType; write a tuple"),
    "empty": (HEAD + "TWINS = ()", "TWINS is empty, so nothing would be compared"),
    "text": (HEAD + "TWINS = ('net',)", "TWINS has a str in it, which is no Twin"),
    "the class": (HEAD + "TWINS = (Twin,)", "TWINS has a type in it, which is no Twin"),
    "nested": (HEAD + "TWINS = ((one('a'),),)", "TWINS has a tuple in it, which is no Twin"),
    "another kind": (
        HEAD + "TWINS = (Initial('i', 'torch.nn:Linear', 'mindspore.nn:Dense'),)",
        "TWINS has a Initial in it, which is no Twin",
    ),
    "twice": (HEAD + "TWINS = (one('a'), one('a'))", "twin 'a' is declared twice; rename one"),
    "left out": (
        RIGHT + "LOST = one('lost')",
        "LOST holds the twin 'lost', which would not be compared; add it to TWINS",
    ),
    "another left out": (
        RIGHT + "LOST = Initial('lost', 'torch.nn:Linear', 'mindspore.nn:Dense')",
        "LOST holds the initial 'lost', which would not be compared; add it to INITIALS",
    ),
    "an import": (
        "import equivalence\nimport no_such_module\n",
        "cannot be imported: ModuleNotFoundError: No module named 'no_such_module' (*twins_*.py:2",
    ),
    "an attribute": (
        "from equivalence import Twim\n",
        "cannot be imported: ImportError: cannot import name 'Twim' from 'equivalence'*",
    ),
    "syntax": (HEAD + "TWINS = (one('a'),", "cannot be imported: SyntaxError: '(' was never clos"),
    "a name": (HEAD + "TWINS = (on('a'),)", "cannot be imported: NameError: name 'on' is not def"),
    "an exit": (HEAD + "import sys\nsys.exit(3)", "cannot be imported: SystemExit: 3 (*"),
    "a field": (
        HEAD + "TWINS = (Twin('a', 'torch.nn:ReLU', 'mindspore.nn:ReLU', []),)",
        "twin 'a': has no inputs*twins_*.py:17*",
    ),
    "a missing field": (
        HEAD + "TWINS = (Twin('a'),)",
        "Twin 'a': missing a required argument: 'reference'; the fields are name, ref",
    ),
    "an encoding": ("# equivalence\nTWINS = '\\x00\0'", "cannot be imported: SyntaxError: *null b"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_file_is_one_sentence_and_no_run(project, wrong):
    text, said = WRONG[wrong]
    name = f"twins_{wrong.replace(' ', '_')}.py"
    result = project({name: text})
    assert result.ret == 2
    (sentence,) = errors(result)
    assert Path(sentence.partition(": ")[0]) == Path(project.path, name)
    result.stdout.fnmatch_lines([f"*{name}: {said.replace('[', '[[]')}*"])


def test_a_name_that_two_files_have_is_one_sentence(project):
    result = project({"twins_a.py": RIGHT, "sub/twins_b.py": RIGHT})
    assert result.ret == 2
    (sentence,) = errors(result)
    assert "twin 'right' is declared, too, in" in sentence
    assert sentence.count("twins_") == 2


def test_a_file_that_skips_itself_is_skipped_in_its_words(project):
    asked = "import pytest\npytest.importorskip('no_such_package', reason='of another host')\n"
    result = project({"twins_a.py": asked + RIGHT}, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*of another host"])


def test_a_file_of_declarations_may_import_torchvision(project):
    text = "import torchvision\nfrom equivalence import Pipeline\nPIPELINES = ()\n"
    found = project({"twins_pictures.py": text}, process="subprocess")
    assert "PIPELINES is empty" in found.stdout.str()  # so it was imported
    assert "cannot be imported" not in found.stdout.str()

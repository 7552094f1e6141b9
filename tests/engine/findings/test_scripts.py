"""Findings: what is read of a script, how its end is judged, and what of it is written."""

import ast
import contextlib
import os
import re
import signal
import sys
from pathlib import Path

import pytest

from equivalence.__main__ import main
from equivalence.errors import FindingError
from equivalence.findings import scripts
from equivalence.findings.scripts import CRASHES, FAILED, FOLDER, GONE, THERE
from tests.engine.parts.scripts import KILLED, SCRIPT, TWO_LINES, empty, script
from tests.engine.test_separation import imported

# The body of a script, its kind, the state that it must be given, and what is told of it.
ENDS = {
    "stands": (TWO_LINES + "sys.exit(1)", "kernel", THERE, "got 2"),
    "is_gone": (TWO_LINES + "sys.exit(0)", "kernel", GONE, "got 2"),
    "crashes": (KILLED, "crash", CRASHES, "killed by SIGSEGV"),
    "aborts": (TWO_LINES + "sys.stdout.flush()\nos.abort()", "crash", CRASHES, "killed by SIGABRT"),
    "ended_by_somebody": (
        TWO_LINES + "sys.stdout.flush()\nos.kill(os.getpid(), 9)",
        "crash",
        FAILED,
        "killed by SIGKILL",
    ),
    "crashed_no_more": (TWO_LINES, "crash", GONE, "got 2"),
    "crash_that_is_wrong_now": (TWO_LINES + "sys.exit(1)", "crash", FAILED, "exit code 1: got 2"),
    "crash_of_another_kind": (KILLED, "kernel", FAILED, "killed by SIGSEGV"),
    "import": ("import no_such_module", "kernel", FAILED, "ModuleNotFoundError: No module named"),
    "raises_late": (TWO_LINES + "raise ValueError(3)", "kernel", FAILED, "ValueError: 3"),
    "silent": ("sys.exit(1)", "kernel", FAILED, "without its two lines: nothing was printed"),
    "nothing_expected": ('print("got 2")\nsys.exit(1)', "kernel", FAILED, "without its two lines"),
    "talks_on": (TWO_LINES + "print(3)\nsys.exit(1)", "kernel", FAILED, "without its two lines: 3"),
    "other_code": (TWO_LINES + "sys.exit(3)", "kernel", FAILED, "exit code 3: got 2"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of findings, in an empty directory to write the report to."""
    return empty(tmp_path, monkeypatch)


def ended(path, limit=30.0):
    (result,) = scripts.run([scripts.read(path)], limit=limit)
    return result


@pytest.mark.parametrize("name", ENDS)
def test_how_a_script_ends_is_its_state(folder, name):
    body, kind, state, measured = ENDS[name]
    result = ended(script(folder, name, body, kind))
    assert result.state == state
    assert measured in result.measured


def test_a_script_that_hangs_is_ended_with_what_it_started(folder):
    body = (
        'import subprocess\nprint(subprocess.Popen(["sleep", "3600"]).pid, file=open({!r}, "w"))\n'
    )
    path = script(folder, "hangs", body.format(str(folder / "pid")) + "time.sleep(3600)")
    result = ended(path, limit=5.0)
    assert result.state == FAILED
    assert result.measured.startswith("it hung: ")
    child = int((folder / "pid").read_text())
    assert not alive(child)


def alive(pid):
    """Whether the process runs; one that ended and was not waited for does not."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_a_run_that_is_left_ends_its_scripts(folder):
    written = str(folder.parent / "pid")
    body = f"print(os.getpid(), file=open({written + '.new'!r}, 'w'), flush=True)\n"
    body += f"os.rename({written + '.new'!r}, {written!r})\n"
    slow = scripts.read(script(folder, "slow", body + "time.sleep(3600)"))
    body = f"while not os.path.exists({written!r}): time.sleep(0.01)\n"
    quick = scripts.read(script(folder, "quick", body + TWO_LINES + "sys.exit(1)"))
    with contextlib.closing(scripts.run([slow, quick], jobs=2)) as results:
        assert next(results).finding == quick
        assert alive(int(Path(written).read_text()))
    assert not alive(int(Path(written).read_text()))


def test_scripts_run_side_by_side_each_in_an_empty_directory(folder):
    met = folder.parent / "met"
    met.mkdir()
    body = f"open('rank_0', 'x').close()\nprint('expected 1', len(os.listdir()))\n{TWO_LINES}"
    body += f"open(os.path.join({str(met)!r}, str(os.getpid())), 'x').close()\n"
    body += f"while len(os.listdir({str(met)!r})) < 3: time.sleep(0.01)\n"  # for ever, if alone
    paths = [script(folder, f"s{i}", body + "sys.exit(1)") for i in range(3)]
    results = list(scripts.run(map(scripts.read, paths), jobs=3))
    assert [result.state for result in results] == [THERE] * 3
    assert os.listdir(folder) == ["kernel"]
    assert sorted(os.listdir(folder / "kernel")) == ["s0.py", "s1.py", "s2.py"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("API = ", "is no Python"),
        ('API = "a"', "no docstring whose first line is a sentence"),
        ('"""wrong"""\nAPI = "a"', "no docstring whose first line is a sentence"),
        ('"""A is wrong."""\nKIND = "kernel"\nAPI = "a"', "a KIND, which its folder tells; take"),
        ('"""A is wrong."""', "no API"),
        ('"""A is wrong."""\nAPI = ""', "no API"),
        ('"""A is wrong."""\nAPI = ["a"]', "no API"),
        ('"""A is wrong."""\nAPI = "a"\nTORCH = ()', "no SEVERITY: one of silent, crashes"),
        ('"""A is wrong."""\nAPI = "a"\nSEVERITY = "bad"\nTORCH = ()', "no SEVERITY"),
        ('"""A is wrong."""\nAPI = "a"\nSEVERITY = "silent"', "no TORCH, a tuple of calls"),
        ('"""A is wrong."""\nAPI = "a"\nSEVERITY = "silent"\nTORCH = "torch.a"', "no TORCH"),
        (
            '"""A is wrong."""\nAPI = "a"\nSEVERITY = "silent"\nTORCH = ()\nALSO = ("b",)',
            "an ALSO that is not",
        ),
    ],
)
def test_a_script_that_does_not_say_what_it_is_about_is_refused(folder, text, complaint):
    path = script(folder, "a", "")
    path.write_text(text)
    with pytest.raises(FindingError, match=complaint):
        scripts.read_all(folder)


@pytest.mark.parametrize("place", ["a.py", "odd/a.py", "kernel/deep/a.py", "odd/kernel/a.py"])
def test_a_script_outside_the_folders_of_the_kinds_is_refused(folder, place, capsys):
    script(folder, "right", "")
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SCRIPT.format(name="a", body=""))
    assert main(["findings", "run"]) == 2
    kinds = "kernel, gradient, ignored, default, behaviour, missing, crash"
    assert capsys.readouterr().err == f"error: {path} lies in no folder of a kind: {kinds}\n"


def test_a_name_that_two_kinds_have_is_refused(folder, capsys):
    one, two = (script(folder, "a", "", kind) for kind in ("kernel", "gradient"))
    assert main(["findings", "run"]) == 2
    assert capsys.readouterr().err == f"error: {one} has the name of {two}; rename one\n"


def test_constants_are_read_without_running(folder):
    path = script(folder, "a", "raise SystemExit(9)", "gradient")
    expected = ("gradient", "mindspore.ops.a", "a is wrong.", "silent", "", ("torch.a",), (), "")
    assert scripts.read(path) == (path, *expected, ())


def test_a_script_may_tell_other_calls_that_do_the_same(folder):
    path = script(folder, "a", "ALSO = {'mindspore.mint.a': 'ms.mint.a(x)'}")
    assert scripts.read(path).apis == ("mindspore.ops.a", "mindspore.mint.a")


def test_findings_are_listed_by_kind_then_by_name(folder):
    for name, kind in (("a", "crash"), ("c", "kernel"), ("b", "kernel")):
        script(folder, name, "", kind)
    assert [finding.name for finding in scripts.read_all(folder)] == ["b", "c", "a"]


DECLARED = scripts.read_all(FOLDER)
NEEDED = {"mindspore", "torch", "numpy", "PIL", "torchvision", *sys.stdlib_module_names}


def test_each_finding_needs_the_frameworks_alone():
    for finding in DECLARED:
        text = finding.path.read_text()
        compile(text, finding.path, "exec")
        assert imported(ast.parse(text)) <= NEEDED, finding.name
        assert "sys.exit(" in text, finding.name
        assert finding.api.split(".")[0] == "mindspore", finding.name


def test_no_two_findings_say_the_same():
    titles = [finding.title for finding in DECLARED]
    assert len(set(titles)) == len(titles) >= 60


def test_two_findings_still_stand():
    chosen = scripts.choose(DECLARED, ["leaky_relu_slope", "relu_nan"])
    assert [result.state for result in scripts.run(chosen, jobs=2)] == [THERE] * 2


def test_a_signal_has_its_name():
    crash = next(finding for finding in DECLARED if finding.kind == "crash")
    lines = "expected 1\n"
    told = scripts._judge(crash, -signal.SIGFPE, lines, "")
    assert told == (CRASHES, "killed by SIGFPE", "expected 1")


def test_a_finding_is_about_calls_that_pytorch_has():
    """And the conditions are about arguments that these calls take."""
    from equivalence.coverage.compared import signatures
    from equivalence.coverage.torch_names import look_up

    for text in sorted({text for each in DECLARED for text in each.torch}):
        node = ast.parse(text, mode="eval").body
        call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
        api = ast.unparse(call.func)
        assert look_up(api) is not None, text
        names = {name for signature in signatures(api) for name in signature} | {"index"}
        assert {each.arg for each in call.keywords} <= names, text


def test_another_error_than_the_expected_one_is_no_discrepancy(folder):
    """A misspelt keyword, which a broad `except` catches, too."""
    body = 'ERROR = "has no kernel"\nprint("expected 1")\nprint("got {}")\nsys.exit(1)'
    right = body.format("RuntimeError: roll has no kernel")
    assert ended(script(folder, "right", right, "missing")).state == THERE
    result = ended(script(folder, "odd", body.format("TypeError: no argument 'shitf'"), "missing"))
    assert result.state == FAILED
    assert result.measured.startswith("not the error 'has no kernel': got TypeError")


def test_every_error_that_a_script_names_is_one_that_it_met(folder):
    body = 'ERROR = ("elu: none", "gelu: none")\nprint("expected 1")\nprint("got {}")\nsys.exit(1)'
    both = script(folder, "both", body.format("elu: none; gelu: none"))
    assert ended(both).state == THERE
    result = ended(script(folder, "one", body.format("elu: none; gelu: RuntimeError")))
    assert (result.state, result.measured.partition(":")[0]) == (FAILED, "not the error 'gelu")


def test_the_error_may_be_that_of_pytorch(folder):
    body = 'ERROR = "out of range"\nprint("expected IndexError: {}")\nprint("got 0")\nsys.exit(1)'
    assert ended(script(folder, "right", body.format("out of range"))).state == THERE
    assert ended(script(folder, "odd", body.format("too few arguments"))).state == FAILED


def test_a_crash_before_pytorch_is_done_is_no_discrepancy(folder):
    """PyTorch itself may have ended the process."""
    result = ended(script(folder, "both", "os.kill(os.getpid(), 11)", "crash"))
    assert result.state == FAILED
    assert result.measured == "killed by SIGSEGV before it printed what PyTorch expects"


def test_a_script_that_says_the_same_of_both_sides_shows_nothing(folder):
    result = ended(script(folder, "same", 'print("expected [2]")\nprint("got   [2]")\nsys.exit(1)'))
    assert result.state == FAILED
    assert result.measured.startswith("it says the same of both sides")


def untold(text):
    """The lines of the handlers of a script that say nothing of the error that they catch."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ExceptHandler)
        and node.name not in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    ]


def test_a_script_that_catches_an_error_tells_it_and_says_its_words():
    for finding in DECLARED:
        text = finding.path.read_text()
        assert untold(text) == [], finding.name
        caught = re.search(r"^ *except |suppress\(", text, re.MULTILINE)
        assert finding.error or not caught, finding.name


def test_a_handler_that_swallows_an_error_is_seen():
    assert untold("try: f()\nexcept ValueError: pass") == [2]
    assert untold("try: f()\nexcept ValueError as error: print(1)") == [2]
    assert untold("try: f()\nexcept ValueError as error: print(error)") == []

"""The suite inside pytest, by runs of a small project that uses the real plugin."""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from equivalence.comparison import check, kept
from equivalence.declare.draws import normal
from equivalence.diagnosis import diagnose as diagnosis
from equivalence.host.devices import DevicePresence
from equivalence.host.isolation import isolated
from equivalence.plugin import options as plugin
from equivalence.plugin.options import named_devices
from equivalence.report.text import comparisons
from tests.engine.parts.plain import house_words
from tests.engine.parts.small import MS, case

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]

TWINS = """
import pytest
from equivalence.host.devices import DEVICES
from equivalence.declare.difference import Difference
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, cases

SQUARE = {"in_features": 4, "out_features": 4}


def twin(name, candidate, level="gate", executions=("pynative",), **options):
    return Twin(
        name,
        "torch.nn:Linear",
        f"tests.engine.parts.networks_ms:{candidate}",
        [normal(3, 4)],
        configs=(SQUARE,),
        phases=("train",),
        executions=executions,
        level=level,
        **options,
    )


TWINS = [
    twin("aborting", "Aborting"),
    twin("right", "Affine", executions=("pynative", "graph")),
    twin("wrong", "TransposedWeight"),
    twin("misnamed", "RenamedWeight"),
    twin("different", "TransposedWeight", differs=Difference("transposed", {"*": 9.0})),
    twin("hanging", "Hanging", level="nightly"),
]


def marks(device, twin):
    yield getattr(pytest.mark, device)
    yield getattr(pytest.mark, twin.level)
    if twin.name == "hanging":
        yield pytest.mark.timeout(4)


CASES = [
    pytest.param(case, id=case.name, marks=[*marks(device, twin)])
    for device in DEVICES
    for twin in TWINS
    for case in cases(twin, device)
]


@pytest.mark.parametrize("case", CASES)
def test_twin(case, compare):
    compare(case)
"""

WRONG = "culprit: networks_ms.py:187  return ops.matmul(x, self.weight) + self.bias"
"""The statement of `TransposedWeight` that is to blame."""

REVERSE = """
def pytest_collection_modifyitems(items):
    items.reverse()
"""

ENGINE_ONLY = """
def test_arithmetic():
    assert 1 + 1 == 2
"""

MIDWAY = """
from pathlib import Path

def test_midway(request):
    folder = Path(request.config.rootpath, "reports")
    print("MIDWAY", sorted(path.suffix for path in folder.iterdir()))
    print("UNTIL NOW", Path(folder, "results.jsonl").read_text())
"""


@pytest.fixture(scope="module", autouse=True)
def _frameworks():
    """Loads here what a case needs: a run forgets the modules that were imported in it."""
    for execution in ("pynative", "graph"):
        square = {"in_features": 4, "out_features": 4}
        dense = case("torch.nn:Linear", MS + "Affine", normal(3, 4), config=square)
        with isolated():
            check.check(replace(dense, execution=execution), seed=0)


@pytest.fixture
def project(project_of):
    """Twins, and tests without any."""
    return project_of(test_twins=TWINS, test_arithmetic=ENGINE_ONLY)


def run(project, *arguments):
    """A run in this process, which has the frameworks already."""
    return project.runpytest_inprocess("-p", "no:cacheprovider", *arguments)


def results(project, file="reports/results.jsonl"):
    """The lines of a results file that compare something."""
    return comparisons(map(json.loads, Path(project.path, file).read_text().splitlines()))


def by_case(records):
    """The lines of each case, in order."""
    cases = {}
    for record in records:
        cases.setdefault(record["case"], []).append(record)
    return cases


def id_of(twin, execution="pynative", device="cpu"):
    return f"{twin}-in_features4-out_features4-train-float32-{execution}-{device}"


def text_of(result):
    return "\n".join(result.outlines)


# Devices.


@pytest.mark.parametrize(
    ("expression", "devices"),
    [
        ("", []),
        ("ascend", ["ascend"]),
        (" ascend ", ["ascend"]),
        ("not ascend", []),
        ("not not ascend", ["ascend"]),
        ("gate and ascend", ["ascend"]),
        ("gate and not ascend", []),
        ("gpu or ascend", ["gpu", "ascend"]),
        ("not (gpu or ascend)", []),
        ("not (cpu or not ascend)", ["ascend"]),
        ("cpu and not (gpu or ascend)", ["cpu"]),
        ("ascender", []),
        ("nightly", []),
        ("ascend and (", []),
    ],
)
def test_a_device_is_asked_for_where_it_is_named_and_not_negated(expression, devices):
    assert named_devices(expression) == devices


@pytest.fixture
def cpu_only(monkeypatch):
    """No device but the CPU, whatever this host has."""
    found = {
        "cpu": DevicePresence(1),
        "gpu": DevicePresence(0, "no driver"),
        "ascend": DevicePresence(0, "no CANN"),
    }
    monkeypatch.setattr(plugin, "found", found.__getitem__)
    monkeypatch.setattr(plugin, "present", lambda device: device == "cpu")


@pytest.mark.usefixtures("cpu_only")
def test_a_device_that_is_named_and_absent_is_a_usage_error_of_one_sentence(project):
    result = run(project, "-m", "ascend")
    assert result.ret == pytest.ExitCode.USAGE_ERROR == 4
    (error,) = [line for line in result.errlines if line]
    assert error == (
        "ERROR: -m names the device ascend, but there is none on this host (no CANN); run where "
        "`mindspore.hal.is_available('Ascend')` is True, or choose `-m cpu`"
    )
    assert result.outlines == []


@pytest.mark.usefixtures("cpu_only")
def test_without_m_the_cases_of_absent_devices_are_skipped_with_the_reason(project):
    result = run(project, "-k", "right")
    result.assert_outcomes(passed=2, skipped=4, deselected=15 + 1)
    result.stdout.fnmatch_lines(["SKIPPED [[]2] *: no gpu device on this host: no driver"])
    result.stdout.fnmatch_lines(["SKIPPED [[]2] *: no ascend device on this host: no CANN"])
    assert result.ret == pytest.ExitCode.OK


@pytest.mark.usefixtures("cpu_only")
def test_to_rule_a_device_out_is_no_error(project):
    result = run(project, "-m", "not ascend", "-k", "right")
    result.assert_outcomes(passed=2, skipped=2, deselected=22 - 4)
    assert result.ret == pytest.ExitCode.OK


def test_a_device_that_is_present_is_not_skipped(project, monkeypatch):
    monkeypatch.setattr(plugin, "present", lambda device: device in ("cpu", "gpu"))
    result = run(project, "-m", "gpu", "-k", "misnamed")
    result.assert_outcomes(failed=1, deselected=21)


def test_markers_are_listed_and_others_are_an_error(project):
    project.makepyfile(test_other="import pytest\n@pytest.mark.asend\ndef test_other(): pass")
    listed = text_of(run(project, "--markers"))
    for marker in ("cpu", "gpu", "ascend", "gate", "nightly"):
        assert f"@pytest.mark.{marker}:" in listed
    result = run(project, "test_other.py")
    result.stdout.fnmatch_lines(["*'asend' not found in `markers`*"])
    assert result.ret == pytest.ExitCode.INTERRUPTED


# Never green on nothing.


@pytest.mark.usefixtures("cpu_only")
def test_a_run_in_which_nothing_was_compared_fails_and_says_so(project):
    result = run(project, "-k", "right and gpu")
    result.assert_outcomes(skipped=2, deselected=20)
    result.stdout.fnmatch_lines(["nothing was compared: the run fails"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert not Path(project.path, "reports").exists()


def test_a_run_without_cases_may_compare_nothing(project):
    result = run(project, "test_arithmetic.py")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.OK
    assert "nothing was compared" not in text_of(result)


def test_to_collect_only_is_no_failure(project):
    result = run(project, "--collect-only", "-q")
    assert result.ret == pytest.ExitCode.OK
    assert "nothing was compared" not in text_of(result)


# Failures.


def failure(lines):
    """The text of the first failure of a run, from its answer to its last detail."""
    start = lines.index(next(line for line in lines if line.startswith("DIFFERENT. ")))
    stop = next(n for n, line in enumerate(lines) if n > start and line.startswith("===="))
    return lines[start:stop]


def test_a_failing_case_prints_its_tensors_and_a_line_that_reproduces_it(project):
    first = run(project, "-k", "(right or wrong) and cpu")
    first.assert_outcomes(passed=2, failed=1, deselected=19)
    assert first.ret == pytest.ExitCode.TESTS_FAILED
    lines = first.outlines
    told = failure(lines)
    below = told[told.index("details:") + 1 :]
    assert below[0].startswith(f"{id_of('wrong')}: 3 of 4 tensors differ by more than rounding")
    for name in ("output.0", "gradient:input[0]", "gradient:weight"):
        assert any(line.strip().startswith(f"{name} ") for line in told)
    assert not any("gradient:bias" in line for line in told)

    (again,) = (line for line in told if line.startswith("repeat: "))
    command, *arguments = shlex.split(again.removeprefix("repeat: "))
    assert command == "pytest"
    second = run(project, *arguments)
    second.assert_outcomes(failed=1)
    assert "\n".join(told) in text_of(second)


def test_a_failing_case_names_the_culprit_and_the_cause_in_30_lines(project):
    told = failure(run(project, "-k", "wrong and cpu").outlines)
    assert len(told) <= 30
    assert told[1:5] == [
        "the statement to mend:",
        f"  port      {WRONG.removeprefix('culprit: ')}",
        *told[3:5],
    ]
    assert house_words("\n".join(told)) == []
    culprit = told.index(WRONG)
    assert told[culprit + 1] == "  in the network itself (Linear)"
    assert "  weights: computes as if weight were transposed to axes (1, 0)" in told
    (where,) = (line for line in told if line.startswith("every layer: "))
    text = Path(project.path, where.removeprefix("every layer: ")).read_text()
    assert WRONG in text.splitlines()


def test_a_diagnosis_that_fails_does_not_hide_the_failure(project, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no\nmore")

    monkeypatch.setattr(diagnosis, "diagnose", broken)
    text = text_of(run(project, "-k", "wrong and cpu"))
    assert "3 of 4 tensors differ by more than rounding" in text
    assert "no diagnosis: RuntimeError: no\n" in text


def test_cases_that_pass_are_diagnosed_on_request_only(project):
    run(project, "-k", "right and cpu").assert_outcomes(passed=2, deselected=20)
    assert not Path(project.path, "reports/diagnosis").exists()
    result = run(project, "-k", "right and cpu", "--diagnose")
    result.assert_outcomes(passed=2, deselected=20)
    for execution in ("pynative", "graph"):
        name = id_of("right", execution)
        result.stdout.fnmatch_lines([f"*{name}*", "culprit: none; *", "every layer: *"])
        text = Path(project.path, f"reports/diagnosis/{name}.txt").read_text()
        assert "    (network)" in text


def test_settings_that_a_sample_does_not_show_are_listed_on_request(project):
    result = run(project, "-k", "right and pynative and cpu", "--hidden-settings")
    result.assert_outcomes(passed=1, deselected=21)
    name = id_of("right", "pynative")
    result.stdout.fnmatch_lines([f"*{name}*", "settings that the sample does not show: 0 of 0"])


BOUNDED = """
from equivalence import Twin, normal

FIELDS = {"inputs": [normal(3, 8)], "phases": ["eval"], "executions": ["pynative"]}
NETS = "tests.engine.parts.further_pt:Clamped", "tests.engine.parts.further_ms:"
TWINS = tuple(Twin(n.lower(), NETS[0], NETS[1] + n, **FIELDS) for n in ("Clamped", "Unclamped"))
"""


def test_further_samples_are_tried_on_request_and_one_that_differs_can_be_repeated(pytester):
    pytester.makepyfile(twins_bounded=BOUNDED)
    plain = pytester.runpytest_inprocess("-p", "no:xdist", "-m", "cpu")
    plain.assert_outcomes(passed=2)
    result = pytester.runpytest_inprocess("-p", "no:xdist", "-m", "cpu", "--further")
    result.assert_outcomes(passed=1, failed=1)
    text = text_of(result)
    assert "With the inputs that were given, all is equal: it shows with a further sample, " in text
    assert "This sample is the first to reach " in text
    assert re.search(r"^  further samples  \d+ of 1 case$", text, re.M)
    (again,) = re.findall(r"^repeat: pytest (\S+)$", text, re.M)
    pytester.runpytest_inprocess("-p", "no:xdist", "-m", "cpu", again).assert_outcomes(failed=1)


def test_what_no_case_of_a_twin_reached_is_counted_and_on_request_listed(project):
    name = "right and pynative and cpu"
    result = run(project, "-k", name)
    result.stdout.fnmatch_lines(["  reach * of * decisions of 1 twin (--reach lists *"])
    result = run(project, "-k", name, "--reach")
    result.stdout.fnmatch_lines(
        ["*- right -*", "reached * of * decisions", "  inputs: no batch of 1"]
    )
    assert "Decisions that were not reached" in Path(project.path, "reports/index.html").read_text()


def test_a_share_that_must_be_reached_makes_a_case_red_and_a_wrong_share_a_sentence(project):
    name = "right and pynative and cpu"
    result = run(project, "-k", name, "--require-reach", "1")
    result.assert_outcomes(failed=1, deselected=21)
    assert "and 1 is demanded" in text_of(result)
    result = run(project, "-k", name, "--require-reach", "90")
    assert "'90' is no share; write one above 0, at most 1" in result.stderr.str()


def test_diagnoses_are_those_of_the_latest_run(project):
    run(project, "-k", "wrong and cpu")
    run(project, "-k", "right and cpu")
    assert not list(Path(project.path, "reports/diagnosis").glob("*.txt"))


def test_the_short_summary_of_a_failing_case_is_one_line_in_ci_too(project, monkeypatch):
    monkeypatch.setenv("CI", "true")
    text = text_of(run(project, "-k", "wrong and cpu"))
    summary = text.partition("short test summary info")[2].splitlines()
    assert len(summary) == 3, "the rest of its title, the case, the count"
    assert " - DIFFERENT. wrong (in_features=4, out_features=4, train, PyNative, " in summary[1]
    assert summary[1].endswith(f"; port {' '.join(WRONG.split()[1:])}")


def test_a_case_that_cannot_be_compared_fails_in_words(project):
    result = run(project, "-k", "misnamed and cpu")
    result.assert_outcomes(failed=1, deselected=21)
    result.stdout.fnmatch_lines(["weights do not pair up: 2 complaints"])
    assert not re.search(r"Traceback|\.py:\d", text_of(result))


def test_its_traceback_is_a_matter_of_an_option(project):
    result = run(project, "-k", "misnamed and cpu", "--tb=long")
    result.stdout.fnmatch_lines(["*pairing.py:*: WeightError"])


def test_a_known_difference_passes_and_is_counted_as_one(project):
    result = run(project, "-k", "different and cpu")
    result.assert_outcomes(passed=1, deselected=21)
    result.stdout.fnmatch_lines(
        ["EQUAL. 4 tensors of 1 case of 1 twin*", "  as declared *1 known difference in *"]
    )


# Results.


def test_every_compared_tensor_is_a_line_of_the_results(project):
    result = run(project, "-k", "(right or wrong) and cpu")
    found = by_case(results(project))
    assert list(found) == [id_of("right"), id_of("right", "graph"), id_of("wrong")]
    names = ["output.0", "gradient:input[0]", "gradient:weight", "gradient:bias"]
    assert all([r["tensor"] for r in records] == names for records in found.values())
    equal = {name: [r["equal"] for r in records] for name, records in found.items()}
    assert equal[id_of("right")] == equal[id_of("right", "graph")] == [True] * 4
    assert equal[id_of("wrong")] == [False, False, False, True]
    assert {r["seed"] for records in found.values() for r in records} == {0}
    result.stdout.fnmatch_lines(["DIFFERENT in 1 of 3 cases. 12 tensors of 3 cases of 2 twins; *"])
    result.stdout.fnmatch_lines(["all comparisons: reports/results.jsonl"])


def test_results_are_complete_or_those_of_the_run_before(project):
    project.makepyfile(test_zz_midway=MIDWAY)
    reports = Path(project.path, "reports")
    reports.mkdir()
    Path(reports, "results.jsonl").write_text('"from before"')
    result = run(
        project, "-s", "-k", "midway or right and cpu", "test_twins.py", "test_zz_midway.py"
    )
    result.assert_outcomes(passed=3, deselected=19)
    assert "MIDWAY ['.jsonl', '.part']" in text_of(result)
    assert 'UNTIL NOW "from before"' in text_of(result)
    assert sorted(path.name for path in reports.iterdir()) == [
        "index.html",
        "results.jsonl",
        "trend.sqlite",
    ]
    assert len(results(project)) == 8


def test_results_go_where_they_are_told_to(project):
    run(project, "-k", "right and cpu and pynative", "--results=elsewhere/mine.jsonl")
    assert list(by_case(results(project, "elsewhere/mine.jsonl"))) == [id_of("right")]
    assert not Path(project.path, "reports").exists()


def test_a_case_has_the_same_errors_alone_and_in_reverse_order(project):
    cases = "(right or wrong or different) and cpu"
    run(project, "-k", cases, "--results=forth.jsonl")
    project.makeconftest((ROOT / "conftest.py").read_text() + REVERSE)
    run(project, "-k", cases, "--results=back.jsonl")
    kept.forget()
    run(project, "-k", "wrong and cpu", "--results=alone.jsonl")
    forth, back, alone = (
        by_case(results(project, f"{name}.jsonl")) for name in ("forth", "back", "alone")
    )
    assert list(forth) == list(reversed(back))
    assert len(forth) == 4
    assert forth == back
    assert alone == {id_of("wrong"): forth[id_of("wrong")]}


def test_the_seed_changes_the_data_and_is_written_down(project):
    for seed in ("0", "1"):
        run(project, "-k", "right and cpu", "--seed", seed, f"--results={seed}.jsonl")
    zero, one = results(project, "0.jsonl"), results(project, "1.jsonl")
    assert {r["seed"] for r in zero} == {0}
    assert {r["seed"] for r in one} == {1}
    assert not {r["truth"] for r in zero} & {r["truth"] for r in one}


# Without xdist, and with it.


def test_xdist_is_not_needed(project):
    result = run(project, "-p", "no:xdist", "test_arithmetic.py")
    result.assert_outcomes(passed=1)


def test_a_crash_and_a_hang_each_fail_one_case_by_name_and_no_other(project):
    run(project, "-k", "(right or wrong) and cpu", "--results=alone.jsonl")
    chosen = "(aborting or right or wrong or hanging) and cpu"
    result = project.runpytest_subprocess("-p", "no:cacheprovider", "-v", "-n2", "-k", chosen)
    text = text_of(result)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2, failed=3)
    for twin in ("aborting", "hanging"):
        where = re.escape(f"test_twins.py::test_twin[{id_of(twin)}]")
        crash = f"^worker 'gw\\d' crashed while running '{where}'$"
        assert len(re.findall(crash, text, re.MULTILINE)) == 1
    failed = re.findall(r"^FAILED test_twins.py::test_twin\[(\w+)-", text, re.MULTILINE)
    assert sorted(failed) == ["aborting", "hanging", "wrong"]
    page = Path(project.path, "reports", "index.html").read_text()
    assert "<b>3</b> different" in page
    written = map(json.loads, Path(project.path, "reports/results.jsonl").read_text().splitlines())
    failures = {each["case"]: each["failure"] for each in written if "failure" in each}
    assert "crashed while running" in failures[id_of("aborting")]
    # Both cases of a sample, on one worker; and every figure as without workers.
    workers = re.findall(r"^\[(gw\d)\].* PASSED .*\[right-", text, re.MULTILINE)
    assert len(workers) == 2
    assert len(set(workers)) == 1
    assert by_case(results(project)) == by_case(results(project, "alone.jsonl"))


def test_a_case_of_other_releases_is_counted_and_must_fail_here(project_of):
    added = """TWINS = [
    twin("coming", "TransposedWeight", releases=">=99"),
    twin("arrived", "Affine", releases=">=99"),"""
    project = project_of(test_twins=TWINS.replace("TWINS = [", added))
    found = run(project, "-k", "(coming or arrived) and cpu", "-ra")
    found.assert_outcomes(xfailed=1, failed=1)
    found.stdout.fnmatch_lines(["XFAIL *coming*not in MindSpore 2.*: needs >=99"])
    found.stdout.fnmatch_lines(["*XPASS(strict)*not in MindSpore 2.*: needs >=99"])


# A long run says how far it is.


TESTS = """
import time

import pytest

@pytest.mark.parametrize("n", range(4))
def test_n(n):
    time.sleep(0.0 if n else 0.4)
"""


@pytest.mark.parametrize("workers", [(), ("-n1",)])
def test_lines_tell_how_many_tests_are_left(project, monkeypatch, workers):
    project.makepyfile(test_n=TESTS)
    monkeypatch.setattr("equivalence.plugin.options.EVERY", 0.0)
    text = text_of(run(project, "test_n.py", *workers))
    assert [*re.findall(r"^\d of 4 tests", text, re.M)] == [f"{n} of 4 tests" for n in (1, 2, 3, 4)]
    assert re.search(r"^1 of 4 tests, about \d+ s left$", text, re.M)
    assert re.search(r"^4 of 4 tests$", text, re.M)


def test_a_short_run_says_nothing_of_it(project):
    project.makepyfile(test_n=TESTS)
    assert "of 4 tests" not in text_of(run(project, "test_n.py"))

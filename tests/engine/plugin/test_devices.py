"""`--mode`, `--rehearse` and cards, by runs of a small project and by a controller's own hooks."""

import os
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from equivalence.comparison import check
from equivalence.declare.draws import normal
from equivalence.host import devices
from equivalence.host.devices import DevicePresence
from equivalence.host.isolation import isolated
from equivalence.plugin import devices as device_plugin
from equivalence.plugin.devices import CARDS, Cards
from tests.engine.parts.small import MS, case
from tests.engine.plugin.test_options import results, run, text_of

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]

TWINS = """
import pytest
from equivalence.host.devices import places
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, cases

TWINS = [
    Twin(
        "right",
        "torch.nn:Linear",
        "tests.engine.parts.networks_ms:Affine",
        [normal(3, 4)],
        configs=({"in_features": 4, "out_features": 4},),
        phases=("train",),
    ),
    Twin("sigmoid", "torch.nn:Sigmoid", "mindspore.nn:Sigmoid", [normal(3, 4)], phases=("eval",)),
]
CASES = [
    pytest.param(case, id=case.name, marks=[getattr(pytest.mark, device), pytest.mark.gate])
    for device, place in places().items()
    for twin in TWINS
    for case in cases(twin, place)
]


@pytest.mark.parametrize("case", CASES)
def test_twin(case, compare):
    compare(case)
"""


@pytest.fixture(scope="module", autouse=True)
def _frameworks():
    """Loads here what a case needs: a run forgets the modules that were imported in it."""
    square = {"in_features": 4, "out_features": 4}
    dense = case("torch.nn:Linear", MS + "Affine", normal(3, 4), config=square)
    with isolated():
        check.check(dense, seed=0)
        check.check(
            case("torch.nn:Linear", MS + "Affine", normal(3, 4), config=square, device=REHEARSED), 0
        )


REHEARSED = "ascend.hf32.rehearsed"


@pytest.fixture
def project(project_of):
    return project_of(test_twins=TWINS)


@pytest.fixture
def host(monkeypatch):
    """Takes the number of Ascend cards of this host; it has no GPU."""

    def has(cards):
        found = {
            "cpu": DevicePresence(1),
            "gpu": DevicePresence(0, "none here"),
            "ascend": DevicePresence(cards, "none"),
        }
        monkeypatch.setattr(devices, "found", found.__getitem__)
        monkeypatch.delenv("ASCEND_RT_VISIBLE_DEVICES", raising=False)

    return has


def refusal(project, *arguments):
    """The one sentence of a usage error."""
    result = run(project, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (error,) = [line for line in result.errlines if line]
    return error.removeprefix("ERROR: ")


def test_a_rehearsal_judges_the_cases_of_the_cpu_by_the_devices_unit(project):
    result = run(project, "-m", "cpu", "--rehearse", "ascend")
    result.assert_outcomes(passed=4, deselected=8)
    names = {line["case"] for line in results(project)}
    assert len(names) == 4
    assert all(name.endswith(f"-{REHEARSED}") for name in names)
    assert {line["device"] for line in results(project)} == {REHEARSED}
    result.stdout.fnmatch_lines(
        [f"{REHEARSED}: 2 cases with rounded products, 2 without any convolution or matrix product"]
    )
    assert devices.places()["cpu"] == "cpu"


def test_the_mode_that_is_rehearsed_can_be_chosen(project):
    result = run(project, "-m", "cpu", "--rehearse", "ascend", "--mode", "float16", "-k", "right")
    result.assert_outcomes(passed=2, deselected=10)
    assert {line["device"] for line in results(project)} == {"ascend.float16.rehearsed"}


def test_a_red_case_is_repeated_in_the_same_place(project):
    project.makepyfile(test_twins=TWINS.replace("Affine", "TransposedWeight"))
    arguments = ("-m", "cpu", "--rehearse", "ascend", "--mode", "float16", "-k", "graph")
    result = run(project, *arguments)
    result.assert_outcomes(failed=1, passed=1, deselected=10)
    (line,) = [line for line in result.outlines if line.startswith("repeat: ")]
    assert line.endswith("float16.rehearsed]' --seed 0 --mode float16 --rehearse ascend")
    run(project, *shlex.split(line)[2:]).assert_outcomes(failed=1)


def test_without_a_rehearsal_nothing_is_said_of_one(project):
    result = run(project, "-m", "cpu")
    result.assert_outcomes(passed=4, deselected=8)
    assert "rounded products" not in text_of(result)
    assert {line["device"] for line in results(project)} == {"cpu"}


@pytest.mark.parametrize("device", ["cpu", "tpu", "ascend.hf32"])
def test_only_a_device_with_an_arithmetic_of_its_own_can_be_rehearsed(project, device):
    assert refusal(project, "--rehearse", device) == (
        f"--rehearse {device}: there is no such device to rehearse; choose gpu or ascend"
    )


def test_a_rehearsal_runs_on_the_cpu(project, host):
    host(8)
    assert refusal(project, "-m", "gate and ascend", "--rehearse", "ascend") == (
        "-m names the device ascend, but a rehearsal runs on the CPU: choose `-m cpu`, or leave "
        "out --rehearse"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-m", "cpu", "--mode", "hf32"), "cpu has no compute mode hf32; it has float32"),
        (
            ("-m", "cpu", "--rehearse", "gpu", "--mode", "float16"),
            "gpu has no compute mode float16; it has tf32, float32",
        ),
        (
            ("-m", "cpu", "--rehearse", "ascend", "--mode", "float32"),
            "ascend in float32 needs no rehearsal: the CPU computes in it; leave out --rehearse, "
            "or choose another --mode",
        ),
    ],
)
def test_a_mode_that_a_device_lacks_is_an_error_of_one_sentence(project, arguments, words):
    assert refusal(project, *arguments) == words


def test_a_mode_is_part_of_the_names_of_a_devices_cases(project):
    listed = text_of(run(project, "--collect-only", "-q", "--mode", "float32"))
    for place in ("cpu", "gpu.float32", "ascend.float32"):
        assert listed.count(f"-{place}]") == 4
    default = text_of(run(project, "--collect-only", "-q"))
    for place in ("cpu", "gpu", "ascend"):
        assert default.count(f"-{place}]") == 4


def test_a_run_on_the_cpu_asks_for_no_other_device(project, monkeypatch):
    asked = []
    monkeypatch.setattr(devices, "found", lambda device: asked.append(device) or DevicePresence(0))
    run(project, "-m", "cpu", "-k", "right").assert_outcomes(passed=2, deselected=10)
    assert asked == []
    run(project, "-m", "gpu", "--collect-only")
    assert asked


# One worker for each card.


def test_more_workers_than_cards_is_an_error_of_one_sentence(project, host):
    host(2)
    assert refusal(project, "-m", "ascend", "-n", "3") == (
        "-n 3 starts more workers than there are ascend cards for: 2 "
        "(ASCEND_RT_VISIBLE_DEVICES=unset); run with -n 2, or make with JOBS=2"
    )


def node(identity):
    """A worker as the controller sees it."""
    return SimpleNamespace(gateway=SimpleNamespace(id=identity), workerinput={})


def test_each_worker_gets_a_card_and_the_successor_of_one_that_crashed_gets_its():
    cards = Cards("ASCEND_RT_VISIBLE_DEVICES", ["5", "2"])
    first, second, third = node("gw0"), node("gw1"), node("gw2")
    cards.pytest_configure_node(first)
    cards.pytest_configure_node(second)
    assert first.workerinput == {CARDS: {"ASCEND_RT_VISIBLE_DEVICES": "5"}}
    assert second.workerinput == {CARDS: {"ASCEND_RT_VISIBLE_DEVICES": "2"}}
    cards.pytest_testnodedown(first)
    cards.pytest_configure_node(third)
    assert third.workerinput == {CARDS: {"ASCEND_RT_VISIBLE_DEVICES": "5"}}


def test_a_worker_sees_its_card_alone(monkeypatch):
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "0,1,2")
    given = {"ASCEND_RT_VISIBLE_DEVICES": "1"}
    option = SimpleNamespace(markexpr="ascend")
    config = SimpleNamespace(
        workerinput={CARDS: given},
        option=option,
        getoption={"mode": None, "rehearse": None}.get,
        stash=pytest.Stash(),
    )
    device_plugin.pytest_configure(config)
    device_plugin.pytest_unconfigure(config)
    assert os.environ["ASCEND_RT_VISIBLE_DEVICES"] == "1"


WHICH_CARD = """
import os

import pytest


@pytest.mark.ascend
@pytest.mark.gate
@pytest.mark.parametrize("number", range(6))
def test_card(number, worker_id):
    import sys
    assert "mindspore" not in sys.modules
    with open(f"{worker_id}.txt", "a") as seen:
        print(os.environ["ASCEND_RT_VISIBLE_DEVICES"], file=seen)
"""

PRESENT = """
from equivalence.host import devices
COUNTS = {"cpu": 1, "gpu": 0, "ascend": 2}
devices.found = lambda device: devices.DevicePresence(COUNTS[device], "none")
"""


def test_workers_of_a_run_have_different_cards(project, monkeypatch):
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "7,3")
    project.makepyfile(test_twins=WHICH_CARD)
    project.makeconftest((ROOT / "conftest.py").read_text() + PRESENT)
    result = project.runpytest_subprocess("-p", "no:cacheprovider", "-m", "ascend", "-n", "2")
    result.assert_outcomes(passed=6)
    seen = {path.stem: set(path.read_text().split()) for path in project.path.glob("gw*.txt")}
    assert sorted(seen) == ["gw0", "gw1"]
    assert sorted(map(tuple, seen.values())) == [("3",), ("7",)]

"""Devices: what each computes in, and whether this host has it."""

import subprocess
import sys

import mindspore as ms
import pytest
from mindspore.device_context.ascend import op_precision as ascend
from mindspore.device_context.gpu import op_precision as gpu

from equivalence.declare.twin import DTYPES
from equivalence.errors import EquivalenceError
from equivalence.host import devices
from equivalence.host.devices import DEVICES, EVERY_PLACE, DevicePresence, Place, place
from equivalence.judge.precision import UNIT_ROUNDOFF


@pytest.mark.parametrize("name", EVERY_PLACE)
def test_every_place_has_a_unit_roundoff_for_every_dtype(name):
    for dtype in DTYPES:
        assert place(name).computes(dtype) in UNIT_ROUNDOFF


def test_only_float32_has_a_choice_of_modes():
    assert place("ascend").computes("float32") == "hf32"
    assert place("gpu").computes("float32") == "tf32"
    assert place("cpu").computes("float32") == "float32"
    assert place("ascend.float32").computes("float32") == "float32"
    assert {place(name).computes("float16") for name in EVERY_PLACE} == {"float16"}


def test_the_modes_share_two_units_and_so_the_records():
    units = {UNIT_ROUNDOFF[place(name).computes(dtype)] for name in EVERY_PLACE for dtype in DTYPES}
    assert units == {2.0**-24, 2.0**-11, 2.0**-8}  # the last is that of bfloat16


def test_targets_are_those_of_mindspore():
    assert {name: device.target for name, device in DEVICES.items()} == {
        "cpu": "CPU",
        "gpu": "GPU",
        "ascend": "Ascend",
    }


@pytest.mark.parametrize("name", EVERY_PLACE)
def test_a_place_is_spelled_as_it_is_read(name):
    assert place(name).name == name
    assert "-" not in name  # which separates the parts of a case's name
    assert place(name).runs_on == ("cpu" if name.endswith("rehearsed") else name.split(".")[0])


def test_the_default_mode_goes_without_saying_but_for_a_rehearsal():
    assert {"cpu", "gpu", "gpu.float32", "ascend", "ascend.float16"} <= set(EVERY_PLACE)
    assert {"gpu.tf32.rehearsed", "ascend.hf32.rehearsed"} <= set(EVERY_PLACE)
    assert not {"cpu.float32", "ascend.hf32", "ascend.float32.rehearsed"} & set(EVERY_PLACE)


# Which mode a run has.


@pytest.fixture
def chosen(monkeypatch):
    monkeypatch.setattr(devices, "_places", {device: device for device in DEVICES})
    return devices.choose


def test_a_mode_is_that_of_the_devices_that_have_it(chosen):
    before = chosen("float16")
    assert before == {device: device for device in DEVICES}
    assert devices.places() == {"cpu": "cpu", "gpu": "gpu", "ascend": "ascend.float16"}
    chosen("float32")
    assert devices.places() == {"cpu": "cpu", "gpu": "gpu.float32", "ascend": "ascend.float32"}
    devices.restore(before)
    assert devices.places() == before


def test_a_rehearsal_takes_the_place_of_the_cpu(chosen):
    chosen(rehearsed="ascend")
    assert devices.places()["cpu"] == "ascend.hf32.rehearsed"
    chosen("float16", "ascend")
    assert devices.places()["cpu"] == "ascend.float16.rehearsed"


@pytest.mark.parametrize(
    ("mode", "device", "words"),
    [
        ("hf32", "gpu", "gpu has no compute mode hf32; it has tf32, float32"),
        ("float32", "ascend", "ascend in float32 needs no rehearsal"),
    ],
)
def test_a_rehearsal_of_nothing_is_refused(chosen, mode, device, words):
    with pytest.raises(EquivalenceError, match=words):
        chosen(mode, device)
    assert devices.places()["cpu"] == "cpu"


# The adapters, with MindSpore's switches recorded: neither device is here.


@pytest.fixture
def switches(monkeypatch):
    """What is set of the process's compute mode, and its device; nothing reaches MindSpore."""
    said = []

    def record(module, *names):
        for name in names:
            monkeypatch.setattr(module, name, lambda value, name=name: said.append((name, value)))

    record(gpu, "matmul_allow_tf32", "conv_allow_tf32")
    record(ascend, "matmul_allow_hf32", "conv_allow_hf32", "precision_mode")
    record(ms, "set_device")
    monkeypatch.setattr(devices, "_standing", None)
    return said


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpu", [("matmul_allow_tf32", True), ("conv_allow_tf32", True)]),
        ("gpu.float32", [("matmul_allow_tf32", False), ("conv_allow_tf32", False)]),
        ("ascend", [("matmul_allow_hf32", True), ("conv_allow_hf32", True)]),
        ("ascend.float32", [("matmul_allow_hf32", False), ("conv_allow_hf32", False)]),
        ("ascend.float16", [("precision_mode", "allow_fp32_to_fp16")]),
    ],
)
def test_entering_sets_device_and_mode_once(switches, name, said):
    target = DEVICES[place(name).device].target
    place(name).enter()
    assert switches == [("set_device", target), *said]
    place(name).enter()  # MindSpore would refuse a second time
    assert switches[len(said) + 1 :] == [("set_device", target)]


def test_a_second_mode_in_one_process_is_an_error_of_one_sentence(switches):
    place("ascend").enter()
    with pytest.raises(EquivalenceError) as caught:
        place("ascend.float16").enter()
    assert str(caught.value) == (
        "ascend.float16: this process computes in hf32, and MindSpore sets the mode of a device "
        "once; run each mode in a command of its own with --mode"
    )
    assert ("precision_mode", "allow_fp32_to_fp16") not in switches


@pytest.mark.parametrize("name", ["cpu", "ascend.float16.rehearsed"])
def test_on_the_cpu_nothing_is_set(switches, name):
    place(name).enter()
    assert switches == []


# Whether a device is there.


@pytest.fixture
def asked(monkeypatch):
    """Takes what MindSpore is to answer; what is asked of a process, instead of starting one."""
    devices.found.cache_clear()
    commands = []

    def answer(status=0, out="", err="", error=None):
        def run(command, **options):
            commands.append((command, options))
            if error:
                raise error
            return subprocess.CompletedProcess(command, status, out, err)

        monkeypatch.setattr(subprocess, "run", run)
        return commands

    yield answer
    devices.found.cache_clear()


def test_the_cpu_is_always_present_and_nobody_is_asked(asked):
    commands = asked(status=1)
    assert devices.present("cpu") is True
    assert commands == []


def test_a_device_is_present_where_mindspore_says_so(asked):
    commands = asked(out="a plugin says hello\ncards: 8\n")
    assert devices.found("ascend") == DevicePresence(8)
    assert devices.present("ascend") is True
    ((command, options),) = commands  # asked once
    assert command[0] == sys.executable
    assert "hal.is_available('Ascend')" in command[2]
    assert options["timeout"] == devices.PROBING


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"out": "cards: 0\n"}, "MindSpore finds none"),
        ({"out": 'why: ["no driver"]\n'}, "no driver"),
        ({"out": "why: []\n"}, "MindSpore refuses without a word"),
        (
            {"status": -11, "err": "dlopen\nSegmentation fault\n"},
            "asking MindSpore ended with status -11: Segmentation fault",
        ),
        ({"status": -6}, "asking MindSpore ended with status -6: it says nothing"),
        (
            {"error": subprocess.TimeoutExpired("python", 60)},
            "MindSpore did not answer within 60 s",
        ),
        (
            {"error": OSError("no memory")},
            "no process can be started to ask MindSpore: no memory",
        ),
    ],
)
def test_what_crashes_hangs_or_refuses_is_an_absent_device_with_the_reason(asked, answer, why):
    asked(**answer)
    assert devices.found("ascend") == DevicePresence(0, why)
    assert devices.present("ascend") is False


def test_the_question_is_one_that_mindspore_answers():
    devices.found.cache_clear()
    for device in ("gpu", "ascend"):
        found = devices.found(device)
        assert found.cards or found.why
        assert "status" not in found.why
    assert ms.get_context("device_target") == "CPU"


@pytest.mark.parametrize(
    ("restricted", "count", "cards"),
    [
        (None, 3, ["0", "1", "2"]),
        ("5,2", 2, ["5", "2"]),
        (" 4 , 6 ", 2, ["4", "6"]),
        ("4,6,7", 2, ["4", "6"]),
        ("", 2, ["0", "1"]),
        (None, 0, []),
    ],
)
def test_a_users_own_restriction_of_the_cards_is_kept(monkeypatch, restricted, count, cards):
    monkeypatch.setattr(devices, "found", lambda _: DevicePresence(count))
    variable = DEVICES["ascend"].visible
    monkeypatch.delenv(variable, raising=False)
    if restricted is not None:
        monkeypatch.setenv(variable, restricted)
    assert devices.cards("ascend") == cards


def test_a_place_in_half_precision_is_not_rehearsed():
    rehearsed = Place("ascend", "hf32", rehearsed=True)
    assert rehearsed.running("float32") == rehearsed
    assert rehearsed.running("float16") == devices.CPU
    assert place("ascend").running("float16") == place("ascend")

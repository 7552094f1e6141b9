"""Devices: what each computes in, and whether this host has it."""

import mindspore as ms
import pytest

from equivalence import devices
from equivalence.devices import DEVICES, present
from equivalence.precision import UNIT_ROUNDOFF
from equivalence.twin import DTYPES


def test_every_device_has_a_unit_roundoff_for_every_dtype():
    for device in DEVICES.values():
        assert set(device.modes) == set(DTYPES)
        assert set(device.modes.values()) <= set(UNIT_ROUNDOFF)


def test_only_the_cpu_computes_float32_in_float32():
    modes = {name: device.modes["float32"] for name, device in DEVICES.items()}
    assert modes == {"cpu": "float32", "gpu": "tf32", "ascend": "hf32"}


def test_targets_are_those_of_mindspore():
    assert {name: device.target for name, device in DEVICES.items()} == {
        "cpu": "CPU",
        "gpu": "GPU",
        "ascend": "Ascend",
    }


def test_the_cpu_is_always_present():
    assert present("cpu") is True


@pytest.mark.parametrize("available", [True, False])
@pytest.mark.parametrize("device", DEVICES)
def test_a_device_is_present_where_mindspore_says_so(device, available, monkeypatch):
    asked = []
    monkeypatch.setattr(ms.hal, "is_available", lambda target: asked.append(target) or available)
    assert present(device) is available
    assert asked == [DEVICES[device].target]


def test_a_device_that_mindspore_stumbles_over_is_absent(monkeypatch):
    def stumble(target):
        raise RuntimeError(f"no plugin for {target}")

    monkeypatch.setattr(ms.hal, "is_available", stumble)
    assert present("gpu") is False


def test_asking_leaves_the_device_as_it_was():
    for device in devices.DEVICES:
        present(device)
    assert ms.get_context("device_target") == "CPU"

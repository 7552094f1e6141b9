"""The devices that a candidate may run on, their compute modes, and whether this host has them.

A place is where and how a candidate computes, by name: "cpu"; "ascend", in the default mode;
"ascend.float16", in another; "ascend.hf32.rehearsed", on the CPU in that arithmetic.

The reference runs on the CPU, or beside a GPU on CUDA where torch has it. With records a host with
a device needs no reference at all.
"""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from equivalence.errors import EquivalenceError

PROBING = 60.0
"""Seconds that the search for devices may take."""


def _gpu_mode(mode: str) -> None:
    """Both switches, since their defaults differ: convolutions may use TF32, products may not."""
    from mindspore.device_context.gpu import op_precision

    op_precision.matmul_allow_tf32(mode == "tf32")
    op_precision.conv_allow_tf32(mode == "tf32")


def _ascend_mode(mode: str) -> None:
    """Both switches of HF32, since CANN's defaults differ as they do on GPU.

    `allow_fp32_to_fp16` takes float16 for what multiplies matrices, convolutions included, and
    leaves what float32 has a kernel for in float32; MindSpore's default is
    "must_keep_origin_dtype". MindSpore refuses to set any of these twice in a process.
    """
    from mindspore.device_context.ascend import op_precision

    if mode == "float16":
        op_precision.precision_mode("allow_fp32_to_fp16")
    else:
        op_precision.matmul_allow_hf32(mode == "hf32")
        op_precision.conv_allow_hf32(mode == "hf32")


@dataclass(frozen=True)
class Device:
    """A device target of MindSpore.

    modes: what float32 may be multiplied in, rows of UNIT_ROUNDOFF, the default first.
    choose: sets the mode of this process. visible: the variable that restricts the cards.
    """

    target: str
    modes: tuple[str, ...]
    choose: Callable[[str], None] | None = None
    visible: str | None = None


DEVICES = {
    "cpu": Device("CPU", ("float32",)),
    "gpu": Device("GPU", ("tf32", "float32"), _gpu_mode, "CUDA_VISIBLE_DEVICES"),
    "ascend": Device(
        "Ascend", ("hf32", "float32", "float16"), _ascend_mode, "ASCEND_RT_VISIBLE_DEVICES"
    ),
}
MODES = tuple(dict.fromkeys(mode for device in DEVICES.values() for mode in device.modes))
REHEARSED = "rehearsed"


@dataclass(frozen=True)
class Place:
    """A device in one compute mode; rehearsed: in its arithmetic, on the CPU."""

    device: str
    mode: str
    rehearsed: bool = False

    @property
    def name(self) -> str:
        """As cases and results spell it; the default mode of a device goes without saying."""
        if self.rehearsed:
            return f"{self.device}.{self.mode}.{REHEARSED}"
        default = DEVICES[self.device].modes[0]
        return self.device if self.mode == default else f"{self.device}.{self.mode}"

    @property
    def runs_on(self) -> str:
        """The device that has to be there."""
        return "cpu" if self.rehearsed else self.device

    def computes(self, dtype: str) -> str:
        """The row of UNIT_ROUNDOFF that a dtype is multiplied in."""
        return self.mode if dtype == "float32" else dtype

    def running(self, dtype: str) -> "Place":
        """Where a dtype is computed: half precision is the CPU's own, and needs no rehearsal."""
        return CPU if self.rehearsed and dtype != "float32" else self

    def enter(self) -> None:
        """Make the device and its mode those of the process."""
        global _standing
        import mindspore as ms

        device = DEVICES[self.runs_on]
        if ms.get_context("device_target") != device.target:
            ms.set_device(device.target)
        if device.choose is None or _standing == self:
            return
        if _standing is not None and _standing.device == self.device:
            raise EquivalenceError(
                f"{self.name}: this process computes in {_standing.mode}, and MindSpore sets the "
                "mode of a device once; run each mode in a command of its own with --mode"
            )
        device.choose(self.mode)
        _standing = self


_standing: Place | None = None


@functools.cache
def place(name: str) -> Place:
    """The place of a name."""
    device, *rest = name.split(".")
    rehearsed = rest[-1:] == [REHEARSED]
    mode = rest[0] if rest else DEVICES[device].modes[0]
    return Place(device, mode, rehearsed)


CPU = place("cpu")

EVERY_PLACE = tuple(
    Place(name, mode, rehearsed).name
    for name, device in DEVICES.items()
    for mode in device.modes
    for rehearsed in (False, True)
    if not (rehearsed and mode == "float32")
)

_places = {device: device for device in DEVICES}


def places() -> dict[str, str]:
    """Device -> the name of the place where this run has the device's cases."""
    return _places


def choose(mode: str | None = None, rehearsed: str | None = None) -> dict[str, str]:
    """Choose the run's mode of float32, for devices that have it, and a device to rehearse.

    Returns the places as they were. Raises EquivalenceError where there is no such rehearsal.
    """
    global _places
    made = {
        name: Place(name, mode if mode in device.modes else device.modes[0]).name
        for name, device in DEVICES.items()
    }
    if rehearsed is not None:
        at = place(made[rehearsed])
        if mode is not None and at.mode != mode:
            raise EquivalenceError(lacking(rehearsed, mode))
        if at.mode == "float32":
            raise EquivalenceError(
                f"{rehearsed} in float32 needs no rehearsal: the CPU computes in it; leave out "
                "--rehearse, or choose another --mode"
            )
        made["cpu"] = Place(rehearsed, at.mode, rehearsed=True).name
    before, _places = _places, made
    return before


def lacking(device: str, mode: str) -> str:
    """That a device does not have a mode."""
    return f"{device} has no compute mode {mode}; it has {', '.join(DEVICES[device].modes)}"


def restore(before: dict[str, str]) -> None:
    """Put the places back."""
    global _places
    _places = before


@dataclass(frozen=True)
class Found:
    """What a host has of a device. why: in a few words, where it has none."""

    cards: int
    why: str = ""


_PROBE = """
import json, mindspore
try:
    there = mindspore.hal.is_available(TARGET)
    print("cards:", json.dumps(mindspore.hal.device_count(TARGET) if there else 0))
except Exception as error:
    print("why:", json.dumps(str(error).strip().splitlines()[:1]))
"""


@functools.cache
def found(device: str) -> Found:
    """How many cards of a device MindSpore finds; asked once, never raises.

    Asked in a process of its own: the library of a device may crash or hang when it is loaded.
    """
    if device == "cpu":
        return Found(1)
    target = DEVICES[device].target
    code = _PROBE.replace("TARGET", repr(target))
    try:
        asked = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=PROBING
        )
    except subprocess.TimeoutExpired:
        return Found(0, f"MindSpore did not answer within {PROBING:.0f} s")
    except OSError as error:
        return Found(0, f"no process can be started to ask MindSpore: {error}")
    return _answer(asked.returncode, asked.stdout, asked.stderr)


def _answer(status: int, out: str, err: str) -> Found:
    for line in reversed(out.splitlines()):
        key, _, value = line.partition(": ")
        if key == "cards":
            cards = json.loads(value)
            return Found(cards, "" if cards else "MindSpore finds none")
        if key == "why":
            return Found(0, " ".join(json.loads(value)) or "MindSpore refuses without a word")
    last = (err.strip().splitlines() or ["it says nothing"])[-1]
    return Found(0, f"asking MindSpore ended with status {status}: {last}")


def cards(device: str) -> list[str]:
    """The cards that this process may use, as the device's variable names them."""
    restricted = os.environ.get(DEVICES[device].visible or "", "")
    named = [card.strip() for card in restricted.split(",") if card.strip()]
    return (named or [str(card) for card in range(found(device).cards)])[: found(device).cards]


def present(device: str) -> bool:
    """Whether MindSpore in this environment can use the device; never raises."""
    return found(device).cards > 0

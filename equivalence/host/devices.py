"""The devices that a candidate can run on, their compute modes, and whether this host has them.

A place is a device in a compute mode. Its name is "cpu"; "ascend" for the default mode of the
device; "ascend.float16" for another mode; "ascend.hf32.rehearsed" where the CPU rounds as that mode
does.

The reference runs on the CPU; for a candidate on a GPU it runs on CUDA, if torch has CUDA. Where
its truth is recorded, the reference need not run at all.
"""

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from equivalence.errors import EquivalenceError

PROBING = 60.0
"""How many seconds the search for one device may take; beyond, the device counts as missing."""


def _gpu_mode(mode: str) -> None:
    """Set both switches of a GPU. By default TF32 is on for convolutions and off for products."""
    from mindspore.device_context.gpu import op_precision

    op_precision.matmul_allow_tf32(mode == "tf32")
    op_precision.conv_allow_tf32(mode == "tf32")


def _ascend_mode(mode: str) -> None:
    """Set both switches of HF32 of an Ascend, or its float16 mode.

    CANN's defaults of the two switches differ, as they do on a GPU. In `allow_fp32_to_fp16`, matrix
    products and convolutions compute in float16; other operators stay in float32 where they have a
    kernel for it. MindSpore's default is "must_keep_origin_dtype". MindSpore raises where one of
    these is set twice in a process.
    """
    from mindspore.device_context.ascend import op_precision

    if mode == "float16":
        op_precision.precision_mode("allow_fp32_to_fp16")
    else:
        op_precision.matmul_allow_hf32(mode == "hf32")
        op_precision.conv_allow_hf32(mode == "hf32")


@dataclass(frozen=True)
class Inaccuracy:
    """What is known of a kernel that loses digits on a device.

    finding: the script in `findings/kernel/` that shows it.
    error: the largest error of its results, in roundings. A case in which it errs more fails.
    """

    finding: str
    error: float


@dataclass(frozen=True)
class Device:
    """A device target of MindSpore.

    target: MindSpore's name of the device.
    modes: the compute modes of float32 products, keys of UNIT_ROUNDOFF, the default first.
    choose: sets the mode of this process; None where there is one mode only.
    visible: the environment variable that restricts the cards; None: there is no such variable.
    reference: the device of torch on which the reference runs beside it, where torch has it.
    inaccurate: the primitives whose kernels lose digits. A network that is equal but for these
    passes, and is counted; one that is equal but for any other fails.
    """

    target: str
    modes: tuple[str, ...]
    choose: Callable[[str], None] | None = None
    visible: str | None = None
    reference: str = "cpu"
    inaccurate: Mapping[str, Inaccuracy] = field(default_factory=dict)


ADDS = "gradient_sums_accuracy"
"""The finding on kernels that add one after the other: their error grows with each equal term."""

INACCURATE_ON_CPU = {
    "BatchNormGrad": Inaccuracy("batch_norm_gradient_accuracy", 20_000),
    "BiasAddGrad": Inaccuracy(ADDS, 20_000),
    "Exp": Inaccuracy("exp_accuracy", 400),
    "Expm1": Inaccuracy("expm1_accuracy", 400),
    "GroupNormGrad": Inaccuracy(ADDS, 20_000),
    "LayerNormGrad": Inaccuracy(ADDS, 20_000),
    "Log": Inaccuracy("log_accuracy", 400),
    "Log1p": Inaccuracy("log1p_accuracy", 400),
    "LogSoftmax": Inaccuracy("log_softmax_accuracy", 100),
    "Sigmoid": Inaccuracy("sigmoid_accuracy", 300),
    "Softmax": Inaccuracy("softmax_accuracy", 400),
    "Softplus": Inaccuracy("softplus_accuracy", 400),
    "Tanh": Inaccuracy("tanh_accuracy", 1700),
    "UnsortedSegmentSum": Inaccuracy(ADDS, 20_000),
}

DEVICES = {
    "cpu": Device("CPU", ("float32",), inaccurate=INACCURATE_ON_CPU),
    "gpu": Device("GPU", ("tf32", "float32"), _gpu_mode, "CUDA_VISIBLE_DEVICES", "cuda"),
    "ascend": Device(
        "Ascend", ("hf32", "float32", "float16"), _ascend_mode, "ASCEND_RT_VISIBLE_DEVICES"
    ),
}
"""Name -> device."""

MODES = tuple(dict.fromkeys(mode for device in DEVICES.values() for mode in device.modes))
"""The compute modes of all devices, each once."""

REHEARSED = "rehearsed"
"""The last part of a place's name where the CPU stands in for the device."""


@dataclass(frozen=True)
class Place:
    """A device in one compute mode.

    device: a key of DEVICES.
    mode: one of the device's modes.
    rehearsed: whether the CPU computes, and rounds as this mode does.
    """

    device: str
    mode: str
    rehearsed: bool = False

    @property
    def name(self) -> str:
        """The name in cases and results; a device's default mode is left out."""
        if self.rehearsed:
            return f"{self.device}.{self.mode}.{REHEARSED}"
        default = DEVICES[self.device].modes[0]
        return self.device if self.mode == default else f"{self.device}.{self.mode}"

    @property
    def runs_on(self) -> str:
        """The device that the host must have."""
        return "cpu" if self.rehearsed else self.device

    @property
    def reference(self) -> str:
        """The device of torch on which the reference runs, where torch has it."""
        return DEVICES[self.runs_on].reference

    def computes(self, dtype: str) -> str:
        """The key of UNIT_ROUNDOFF for products of that dtype."""
        return self.mode if dtype == "float32" else dtype

    def running(self, dtype: str) -> "Place":
        """The place for a dtype: the CPU has float16 itself, so float16 is never rehearsed."""
        return CPU if self.rehearsed and dtype != "float32" else self

    def enter(self) -> None:
        """Set the device and its mode for this process.

        Raises EquivalenceError where the process already computes in another mode of the device.
        """
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
"""The place whose mode this process has set; None before the first."""


@functools.cache
def place(name: str) -> Place:
    """The place with this name."""
    device, *rest = name.split(".")
    rehearsed = rest[-1:] == [REHEARSED]
    mode = rest[0] if rest else DEVICES[device].modes[0]
    return Place(device, mode, rehearsed)


CPU = place("cpu")
"""The CPU in float32."""

EVERY_PLACE = tuple(
    Place(name, mode, rehearsed).name
    for name, device in DEVICES.items()
    for mode in device.modes
    for rehearsed in (False, True)
    if not (rehearsed and mode == "float32")
)
"""The names of all places."""

_places = {device: device for device in DEVICES}


def places() -> dict[str, str]:
    """Device -> the name of the place where this run runs the device's cases."""
    return _places


def choose(mode: str | None = None, rehearsed: str | None = None) -> dict[str, str]:
    """Choose where this run runs the cases of each device.

    mode: the compute mode of float32, for devices that have it; None: each device's default.
    rehearsed: a device that the CPU stands in for; None: none.

    Returns the places before, for `restore`. Raises EquivalenceError where the device lacks the
    mode, or the mode is float32, which the CPU has itself.
    """
    global _places
    chosen = {
        name: Place(name, mode if mode in device.modes else device.modes[0]).name
        for name, device in DEVICES.items()
    }
    if rehearsed is not None:
        at = place(chosen[rehearsed])
        if mode is not None and at.mode != mode:
            raise EquivalenceError(lacking(rehearsed, mode))
        if at.mode == "float32":
            raise EquivalenceError(
                f"{rehearsed} in float32 needs no rehearsal: the CPU computes in it; leave out "
                "--rehearse, or choose another --mode"
            )
        chosen["cpu"] = Place(rehearsed, at.mode, rehearsed=True).name
    before, _places = _places, chosen
    return before


def lacking(device: str, mode: str) -> str:
    """The text that says that a device lacks a mode."""
    return f"{device} has no compute mode {mode}; it has {', '.join(DEVICES[device].modes)}"


def restore(before: dict[str, str]) -> None:
    """Restore the places that `choose` returned."""
    global _places
    _places = before


@dataclass(frozen=True)
class DevicePresence:
    """Whether a host has a device.

    cards: the number of cards.
    why: the reason in a few words where there are none.
    """

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
def found(device: str) -> DevicePresence:
    """How many cards of a device MindSpore finds on this host. Never raises.

    A separate process asks, once: the library of a device may crash or hang while it is loaded.
    """
    if device == "cpu":
        return DevicePresence(1)
    target = DEVICES[device].target
    code = _PROBE.replace("TARGET", repr(target))
    try:
        process = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=PROBING
        )
    except subprocess.TimeoutExpired:
        return DevicePresence(0, f"MindSpore did not answer within {PROBING:.0f} s")
    except OSError as error:
        return DevicePresence(0, f"no process can be started to ask MindSpore: {error}")
    return _answer(process.returncode, process.stdout, process.stderr)


def _answer(status: int, out: str, err: str) -> DevicePresence:
    """The result of a process that ran _PROBE, from its exit status and outputs."""
    for line in reversed(out.splitlines()):
        key, _, value = line.partition(": ")
        if key == "cards":
            cards = json.loads(value)
            return DevicePresence(cards, "" if cards else "MindSpore finds none")
        if key == "why":
            return DevicePresence(
                0, " ".join(json.loads(value)) or "MindSpore refuses without a word"
            )
    last = (err.strip().splitlines() or ["it says nothing"])[-1]
    return DevicePresence(0, f"asking MindSpore ended with status {status}: {last}")


def cards(device: str) -> list[str]:
    """The cards that this process may use, named as in the device's environment variable."""
    visible = os.environ.get(DEVICES[device].visible or "", "")
    names = [card.strip() for card in visible.split(",") if card.strip()]
    return (names or [str(card) for card in range(found(device).cards)])[: found(device).cards]


def present(device: str) -> bool:
    """Whether MindSpore can use the device on this host. Never raises."""
    return found(device).cards > 0

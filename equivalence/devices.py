"""The devices a candidate may run on, and the compute mode of each dtype there."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Device:
    """A device target of MindSpore; `modes` maps a case's dtype to a row of UNIT_ROUNDOFF."""

    target: str
    modes: dict[str, str] = field(hash=False)


DEVICES = {
    "cpu": Device("CPU", {"float32": "float32", "float16": "float16"}),
    # Convolutions and matrix products of float32 run in TF32 and HF32 unless told otherwise.
    "gpu": Device("GPU", {"float32": "tf32", "float16": "float16"}),
    "ascend": Device("Ascend", {"float32": "hf32", "float16": "float16"}),
}


def present(device: str) -> bool:
    """Whether MindSpore in this environment can use the device; never raises."""
    import mindspore as ms

    try:
        return bool(ms.hal.is_available(DEVICES[device].target))
    except Exception:
        return False

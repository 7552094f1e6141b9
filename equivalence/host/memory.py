"""How much memory the host has and its processes hold, as the kernel's tables tell."""

import re
from pathlib import Path

HOST, PROCESS = Path("/proc/meminfo"), Path("/proc/self/status")


def sizes(table: Path) -> dict[str, int]:
    """Name of a size -> its bytes, of `HOST` or `PROCESS`; empty where the kernel has no tables."""
    try:
        told = table.read_text()
    except OSError:
        return {}
    lines = re.findall(r"^(\w+):\s+(\d+) kB$", told, re.MULTILINE)
    return {name: int(size) << 10 for name, size in lines}


def available() -> int | None:
    """The bytes that are free, or can be freed at once; None where the host does not say."""
    return sizes(HOST).get("MemAvailable")


def is_short(share: float) -> bool:
    """Whether less than this share of the memory is free; False where the host does not say."""
    told = sizes(HOST)
    known = {"MemAvailable", "MemTotal"} <= told.keys()
    return known and told["MemAvailable"] < share * told["MemTotal"]

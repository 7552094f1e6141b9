"""How much memory the host has, and how much of it is free."""

from pathlib import Path

MEMINFO = Path("/proc/meminfo")


def available() -> int | None:
    """The bytes that are free, or can be freed at once; None where the host does not say."""
    return _told("MemAvailable")


def is_short(share: float) -> bool:
    """Whether less than this share of the memory is free; False where the host does not say."""
    free, total = available(), _told("MemTotal")
    return free is not None and total is not None and free < share * total


def _told(name: str) -> int | None:
    """A size of the kernel's table of memory, in bytes."""
    try:
        lines = MEMINFO.read_text().splitlines()
    except OSError:
        return None
    sizes = dict(line.split(":", 1) for line in lines)
    return int(sizes[name].split()[0]) << 10 if name in sizes else None

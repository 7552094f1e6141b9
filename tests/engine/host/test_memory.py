"""Memory that is free, as the kernel tells it; hosts without such a table are never short."""

import pytest

from equivalence.host import memory

TABLE = "MemTotal:       16000 kB\nMemFree:          100 kB\nMemAvailable:    1000 kB\n"


@pytest.fixture
def host(tmp_path, monkeypatch):
    """The table of a host, which a test writes."""
    monkeypatch.setattr(memory, "HOST", tmp_path / "meminfo")
    return memory.HOST


def test_this_host_has_memory_that_is_free():
    assert memory.available() > 2**20
    assert not memory.is_short(0.0)
    assert memory.is_short(1.1)


def test_what_this_process_holds_is_told():
    told = memory.sizes(memory.PROCESS)
    assert 2**20 < told["VmRSS"] <= told["VmHWM"]


def test_lines_that_are_no_sizes_are_left_out(host):
    host.write_text("Name:\tcat\nGroups:\t\nHugePages_Total:  7\nVmHWM:\t  12 kB\n")
    assert memory.sizes(host) == {"VmHWM": 12 << 10}


def test_memory_is_short_when_less_than_a_share_is_free(host):
    host.write_text(TABLE)
    assert memory.available() == 1000 << 10
    assert memory.is_short(1 / 15)
    assert not memory.is_short(1 / 17)


def test_a_host_that_does_not_say_is_not_short(host):
    assert memory.available() is None
    assert not memory.is_short(1.0)
    host.write_text("MemTotal: 16000 kB\n")
    assert memory.available() is None
    assert not memory.is_short(1.0)

import os
import subprocess
import sys
import types

import pytest

from equivalence import files


@pytest.mark.parametrize("content", ["text\n", b"\x00bytes"])
def test_a_file_is_written_with_its_folder(tmp_path, content):
    path = tmp_path / "a/b/c.txt"
    assert files.write(path, content) == path
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert list(path.parent.iterdir()) == [path]


def test_a_cell_of_a_notebook_is_named_by_its_number(monkeypatch):
    cells = types.SimpleNamespace(format_code_name={"/x/12.py": ("Cell", "In[3]")}.get)
    shell = types.SimpleNamespace(compile=cells)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert [files.shown("/x/12.py"), files.shown("/x/net.py")] == ["In[3]", "net.py"]
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    assert files.shown("/x/12.py") == "12.py"


def test_what_breaks_off_leaves_the_earlier_file_and_no_draft(tmp_path, monkeypatch):
    path = files.write(tmp_path / "file", "before")

    def broken(_):
        raise OSError("no space left on device")

    monkeypatch.setattr(files.os, "fsync", broken)
    with pytest.raises(OSError, match="no space"):
        files.write(path, "after")
    assert [each.read_text() for each in tmp_path.iterdir()] == ["before"]


def test_a_name_is_one_of_a_file_whatever_it_holds():
    assert files.named("conv-groups2-train-cpu") == "conv-groups2-train-cpu"
    assert files.named("a/b [c]: 'd'") == "a_b_c_d_"
    for long in (9999 * "x", 9999 * "é"):
        assert len(files.named(long).encode()) < 200
        assert files.named(long) != files.named(long + "x")


def test_what_ended_processes_have_left_is_removed_and_nothing_else(tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    for process in (ended.pid, os.getpid()):
        (tmp_path / f"a.txt.{process}.part").write_text("")
        (tmp_path / f"b.{process}.part").mkdir()
    (tmp_path / "c.part").write_text("")
    (tmp_path / f"d.{ended.pid}").symlink_to(tmp_path / "c.part")
    files.clear(tmp_path, files.DRAFTED)
    here = os.getpid()
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"a.txt.{here}.part", f"b.{here}.part", "c.part", f"d.{ended.pid}")
    }
    files.clear(tmp_path / "absent", files.DRAFTED)


def test_a_temporary_folder_goes_with_its_process_or_with_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    killed = "import os, equivalence.files as files; f = files.temporary(); os.kill(os.getpid(), 9)"
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", killed], env=environment)
        assert len([*tmp_path.iterdir()]) == 1
    files._clear_temporary.cache_clear()
    with files.temporary() as folder:
        assert [str(path) for path in tmp_path.iterdir()] == [folder]
    assert not [*tmp_path.iterdir()]

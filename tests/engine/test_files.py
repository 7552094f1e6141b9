import pytest

from equivalence import files


@pytest.mark.parametrize("content", ["text\n", b"\x00bytes"])
def test_a_file_is_written_with_its_folder(tmp_path, content):
    path = tmp_path / "a/b/c.txt"
    assert files.write(path, content) == path
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert list(path.parent.iterdir()) == [path]


def test_what_breaks_off_leaves_the_earlier_file_and_no_draft(tmp_path, monkeypatch):
    path = files.write(tmp_path / "file", "before")

    def broken(_):
        raise OSError("no space left on device")

    monkeypatch.setattr(files.os, "fsync", broken)
    with pytest.raises(OSError, match="no space"):
        files.write(path, "after")
    assert [each.read_text() for each in tmp_path.iterdir()] == ["before"]

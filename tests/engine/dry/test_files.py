import io
import os

import numpy as np

from equivalence.dry.files import unwritten


def test_nothing_is_written_and_all_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("kept.txt", "w", encoding="utf-8") as file:
        file.write("kept")
    with unwritten():
        for mode in ("w", "a", "r+"):
            with open("kept.txt", mode, encoding="utf-8") as file:
                file.write("lost")
        with open("new.bin", "wb") as file:
            file.write(b"lost")
        np.save("new.npy", np.ones(2))
        with io.open("kept.txt", encoding="utf-8") as file:  # noqa: UP020
            assert file.read() == "kept"
    assert os.listdir() == ["kept.txt"]


def test_files_are_written_again_behind_it(tmp_path):
    with unwritten():
        pass
    (tmp_path / "new.txt").write_text("there")
    assert (tmp_path / "new.txt").read_text() == "there"

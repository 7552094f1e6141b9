import io
import os

import numpy as np
import pytest

from equivalence.dry.files import unwritten
from equivalence.errors import EquivalenceError


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


def test_to_load_what_is_not_saved_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("old.npy", "other.npy"):
        np.save(name, np.ones(2))
    with unwritten():
        np.save("old", np.zeros(2))
        assert np.load("other.npy").tolist() == [1, 1]
        with pytest.raises(EquivalenceError, match=r"it loads old\.npy, which"):
            np.load("old.npy")
    assert np.load("old.npy").tolist() == [1, 1]

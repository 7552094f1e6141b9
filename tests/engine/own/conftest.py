"""A folder of somebody's own networks, for the tests of this room."""

import sys

import numpy as np
import pytest
import torch

from tests.engine.parts.own import MODULES


@pytest.fixture(scope="package")
def own_folder(tmp_path_factory):
    """The folder, with arrays beside the modules."""
    folder = tmp_path_factory.mktemp("own")
    for name, text in MODULES.items():
        (folder / name).write_text(text)
    (folder / "folder").mkdir()
    (folder / "bytes.txt").write_bytes(b"\xff\xfe\x00")
    values = np.random.default_rng(0).standard_normal((2, 4))
    np.save(folder / "x.npy", values.astype(np.float32))
    np.save(folder / "double.npy", values)
    np.save(folder / "bytes.npy", np.ones((2, 4), np.uint8))
    np.save(folder / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    weight = torch.ones(3, 4).index_put((torch.tensor(1), torch.tensor(2)), torch.tensor(torch.nan))
    torch.save({"fc.weight": weight, "fc.bias": torch.zeros(3)}, folder / "nan.pth")
    np.savez(folder / "two.npz", x=values.astype(np.float32), y=values.astype(np.float32))
    return folder


@pytest.fixture
def own(own_folder, monkeypatch):
    """The folder as the current one; its modules are imported anew in each test."""
    before = set(sys.modules)
    monkeypatch.chdir(own_folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield own_folder
    for name in [name for name in sys.modules if f"{name}.py" in MODULES and name not in before]:
        del sys.modules[name]

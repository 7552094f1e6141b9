"""After a case the process is as it was before, also when the case raised."""

import contextlib
import os
import random
import subprocess
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
import pytest
import torch

from equivalence.check import check
from equivalence.draws import normal
from equivalence.errors import SideError
from equivalence.isolation import isolated, settings
from tests.engine.small import MS, PT, case


class Broken(Exception):
    """What a block raises here."""


@contextlib.contextmanager
def block(raising):
    """An isolated block that ends as it should, or raises."""
    with contextlib.suppress(Broken), isolated():
        yield
        if raising:
            raise Broken


either_way = pytest.mark.parametrize("raising", [False, True], ids=["done", "raised"])


def read():
    """Every setting, in a form that can be compared."""
    return {name: repr(setting.read()) for name, setting in settings().items()}


CHANGES = {
    "python generator": lambda: random.seed(7),
    "numpy generator": lambda: np.random.seed(7),  # noqa: NPY002
    "numpy errors": lambda: np.seterr(divide="raise"),
    "torch generator": lambda: torch.manual_seed(7),
    "torch dtype": lambda: torch.set_default_dtype(torch.float64),
    "torch threads": lambda: torch.set_num_threads(torch.get_num_threads() + 1),
    "torch gradients": lambda: torch.set_grad_enabled(False),
    "torch determinism": lambda: torch.use_deterministic_algorithms(True),
    "mindspore mode": lambda: ms.set_context(mode=1 - ms.get_context("mode")),
    "mindspore determinism": lambda: ms.set_context(deterministic="ON"),
    "mindspore seed": lambda: ms.set_seed(7),
    "mindspore data seed": lambda: ms.dataset.config.set_seed(7),
    "mindspore generator": lambda: ms.manual_seed(7),
}


@either_way
@pytest.mark.parametrize("name", CHANGES)
def test_a_setting_is_put_back(name, raising):
    with isolated():
        before = read()
        with block(raising):
            CHANGES[name]()
            assert read()[name] != before[name]
        assert read() == before


def test_every_setting_but_the_device_has_a_test_here():
    assert set(settings()) - set(CHANGES) == {"mindspore device"}


def test_a_seed_set_before_survives_with_the_numpy_generator_beside_it():
    with isolated():
        ms.set_seed(3)
        np.random.random()  # noqa: NPY002
        before = read()
        with isolated():
            ms.set_seed(4)
        assert ms.get_seed() == 3
        assert read() == before


def test_the_torch_generator_continues_where_it_was():
    with isolated():
        torch.manual_seed(0)
        expected = torch.rand(2)
        torch.manual_seed(0)
        first = torch.rand(1)
        with isolated():
            torch.rand(5)
        assert torch.equal(torch.cat([first, torch.rand(1)]), expected)


@either_way
def test_a_block_runs_in_an_empty_folder_that_vanishes_with_what_it_wrote(raising):
    before = Path.cwd()
    with block(raising):
        folder = Path.cwd()
        assert folder != before
        assert not list(folder.iterdir())
        Path("rank_0").mkdir()
        Path("rank_0", "graph.ir").write_text("left behind")
    assert Path.cwd() == before
    assert not folder.exists()


@either_way
def test_the_folder_is_left_even_if_the_block_went_elsewhere(raising, tmp_path):
    before = Path.cwd()
    with block(raising):
        folder = Path.cwd()
        os.chdir(tmp_path)
    assert Path.cwd() == before
    assert not folder.exists()


def test_an_exception_comes_through():
    with pytest.raises(Broken), isolated():
        raise Broken


def test_a_failed_graph_compile_leaves_nothing_in_the_working_tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    uncompilable = case(PT + "doubling", MS + "uncompilable", normal(2, 3), execution="graph")
    with pytest.raises(SideError), isolated():
        try:
            check(uncompilable, seed=0)
        finally:
            written = list(Path.cwd().iterdir())
    assert written, "the compile wrote nothing, so that this test shows nothing"
    assert not list(tmp_path.iterdir())


def test_a_case_leaves_everything_as_it_was():
    before = read()
    for execution in ("graph", "pynative"):
        with isolated():
            check(case(PT + "Dropping", MS + "Dropping", normal(5, 4), phase="eval"), seed=0)
        with contextlib.suppress(SideError), isolated():
            refusing = case(PT + "Nested", MS + "Refusing", normal(5, 4), execution=execution)
            check(refusing, seed=0)
    assert read() == before


FRESH = """
import sys
from equivalence.isolation import isolated
assert not {"torch", "mindspore"} & set(sys.modules)
with isolated():
    import mindspore
    import torch
    mindspore.set_context(mode=mindspore.GRAPH_MODE)
    torch.set_default_dtype(torch.float64)
assert mindspore.get_context("mode") == mindspore.PYNATIVE_MODE
assert torch.get_default_dtype() == torch.float32
"""


def test_what_the_first_case_of_a_process_changes_is_put_back_too():
    subprocess.run([sys.executable, "-c", FRESH], cwd=Path(__file__).parents[2], check=True)

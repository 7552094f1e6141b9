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

from equivalence import folders
from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.errors import SideError
from equivalence.host import isolation
from equivalence.host.devices import place
from equivalence.host.isolation import isolated, settings
from tests.engine.parts.small import MS, PT, case


class BrokenError(Exception):
    """What a block raises here."""


@contextlib.contextmanager
def block(raising):
    """An isolated block that ends as it should, or raises."""
    with contextlib.suppress(BrokenError), isolated():
        yield
        if raising:
            raise BrokenError


either_way = pytest.mark.parametrize("raising", [False, True], ids=["done", "raised"])


def read():
    """Every setting, in a form that can be compared."""
    return {name: repr(setting.read()) for name, setting in settings().items()}


def stay_in(folder):
    """As a candidate does that is imported from a folder of its own."""
    with folders.entered(str(Path(folder).absolute()), stays=True):
        pass


CHANGES = {
    "python generator": lambda: random.seed(7),
    "numpy generator": lambda: np.random.seed(7),
    "numpy errors": lambda: np.seterr(divide="raise"),
    "working directory": lambda: os.chdir("/"),
    "folder of modules": lambda: stay_in(Path(__file__).parents[3] / "docs"),
    "torch generator": lambda: torch.manual_seed(7),
    "torch dtype": lambda: torch.set_default_dtype(torch.float64),
    "torch device": lambda: torch.set_default_device("meta"),
    "torch matmul precision": lambda: torch.set_float32_matmul_precision("medium"),
    "recursion limit": lambda: sys.setrecursionlimit(5000),
    "torch threads": lambda: torch.set_num_threads(torch.get_num_threads() + 1),
    "flush to zero": lambda: torch.set_flush_denormal(True),
    "torch gradients": lambda: torch.set_grad_enabled(False),
    "torch determinism": lambda: torch.use_deterministic_algorithms(True),
    "mindspore mode": lambda: ms.set_context(mode=1 - ms.get_context("mode")),
    "mindspore synchronisation": lambda: ms.set_context(
        pynative_synchronize=not ms.get_context("pynative_synchronize")
    ),
    "mindspore parallel mode": lambda: ms.set_auto_parallel_context(parallel_mode="data_parallel"),
    "mindspore jit_level": lambda: ms.set_context(jit_level="O0"),
    "mindspore jit_syntax_level": lambda: ms.set_context(jit_syntax_level=0),
    "mindspore max_call_depth": lambda: ms.set_context(max_call_depth=500),
    "mindspore check_bprop": lambda: ms.set_context(check_bprop=True),
    "mindspore debug_level": lambda: ms.set_context(debug_level=1),
    "mindspore enable_graph_kernel": lambda: ms.set_context(enable_graph_kernel=True),
    "mindspore graph_kernel_flags": lambda: ms.set_context(graph_kernel_flags="--opt_level=1"),
    "mindspore exec_order": lambda: ms.set_context(exec_order="dfs"),
    "mindspore infer_boost": lambda: ms.set_context(infer_boost="on"),
    "mindspore runtime_num_threads": lambda: ms.set_context(
        runtime_num_threads=ms.get_context("runtime_num_threads") + 1
    ),
    "mindspore save_graphs": lambda: ms.set_context(save_graphs=1),
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


@either_way
def test_the_generators_of_cards_are_put_back_where_torch_uses_any(raising, monkeypatch):
    states = [[1, 2]]
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: states[-1])
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", states.append)
    with block(raising):
        states.append([3, 4])
    assert states == [[1, 2], [3, 4], [1, 2]]


def test_every_setting_that_a_host_without_devices_can_change_has_a_test_here():
    others = {"mindspore device", "torch CUDA generators", "torch process group"}
    assert set(settings()) - set(CHANGES) == others


def test_a_seed_set_before_survives_with_the_numpy_generator_beside_it():
    with isolated():
        ms.set_seed(3)
        np.random.random()
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


def test_a_block_runs_in_the_working_directory_so_that_relative_paths_are_the_users_own():
    before = Path.cwd()
    with isolated():
        assert Path.cwd() == before


@either_way
def test_a_block_that_went_elsewhere_comes_back(raising, tmp_path):
    before = Path.cwd()
    with block(raising):
        os.chdir(tmp_path)
    assert Path.cwd() == before


def test_a_folder_that_the_user_chose_for_what_mindspore_writes_is_kept(monkeypatch, tmp_path):
    first, second = isolation.DROPPINGS
    monkeypatch.setenv(first, str(tmp_path))
    monkeypatch.delenv(second)
    with isolated():
        assert os.environ[first] == str(tmp_path)
        assert Path(os.environ[second]).is_dir()


ASYNCHRONOUS = """
import os
import mindspore as ms
from equivalence.host.isolation import isolated

def queues():
    tasks = "/proc/self/task"
    every = os.listdir(tasks) if os.path.exists(tasks) else ()
    names = [open(f"{tasks}/{each}/comm").read().strip() for each in every]
    return [name for name in names if name.endswith("_queue")]

def call():
    ms.value_and_grad(lambda x: ms.ops.relu(x).sum())(ms.Tensor([1.0, 2.0]))

with isolated():
    call()
    folder = os.environ["MS_OM_PATH"]
within = queues()
call()
print(folder, within, queues(), sep="\\n")
"""


@pytest.fixture(scope="module")
def told():
    """What a process with a block prints: a folder, and MindSpore's queues within and after it."""
    bare = {k: v for k, v in os.environ.items() if k not in isolation.DROPPINGS}
    done = subprocess.run(
        [sys.executable, "-c", ASYNCHRONOUS], env=bare, capture_output=True, text=True, check=True
    )
    return done.stdout.strip().splitlines()[-3:]


def test_the_folder_for_what_mindspore_writes_goes_with_the_process(told):
    assert "equivalence-" in told[0]
    assert not Path(told[0]).exists()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Linux alone names threads so")
def test_a_block_starts_no_queues_of_mindspore_through_which_all_later_calls_would_pass(told):
    _, within, after = told
    assert within == "[]"
    assert after != "[]", "a call outside starts none either: this shows nothing"


def test_an_exception_comes_through():
    with pytest.raises(BrokenError), isolated():
        raise BrokenError


def test_a_failed_graph_compile_leaves_nothing_in_the_working_tree(tmp_path, monkeypatch):
    refusing = case(PT + "Nested", MS + "Refusing", normal(5, 4), execution="graph")
    monkeypatch.setenv("MS_OM_PATH", str(tmp_path / "dropped"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    with isolated(), pytest.raises(SideError):
        check(refusing, seed=0)
    assert list((tmp_path / "dropped").iterdir()), "the compile wrote nothing: this shows nothing"
    assert not list(Path.cwd().iterdir())


def test_a_case_leaves_everything_as_it_was():
    before = read()
    for execution in ("graph", "pynative"):
        with isolated():
            check(case(PT + "Dropping", MS + "Dropping", normal(5, 4), phase="eval"), seed=0)
        with contextlib.suppress(SideError), isolated():
            refusing = case(PT + "Nested", MS + "Refusing", normal(5, 4), execution=execution)
            check(refusing, seed=0)
    assert read() == before


def test_both_frameworks_are_imported_first_so_that_their_state_is_known(monkeypatch):
    asked, importing = [], isolation.importlib.import_module
    monkeypatch.setattr(
        isolation.importlib, "import_module", lambda name: asked.append(name) or importing(name)
    )
    settings()
    assert asked == ["torch", "mindspore"]


def test_a_framework_that_is_not_installed_is_passed_over(monkeypatch):
    def importing(name):
        if name == "torch":
            raise ModuleNotFoundError(name)
        return sys.modules[name]

    monkeypatch.setattr(isolation.importlib, "import_module", importing)
    assert "mindspore mode" in settings()
    assert not [name for name in settings() if name.startswith("torch")]


def test_a_group_of_ranks_that_a_case_joins_is_left_and_one_that_was_there_stays(tmp_path):
    ranks = torch.distributed
    with isolated():
        ranks.init_process_group("gloo", f"file://{tmp_path}/a", rank=0, world_size=1)
    assert not ranks.is_initialized()
    ranks.init_process_group("gloo", f"file://{tmp_path}/b", rank=0, world_size=1)
    try:
        with isolated():
            pass
        assert ranks.is_initialized()
    finally:
        ranks.destroy_process_group()


WRITTEN_FOR_ASCEND = """
import mindspore as ms
from mindspore import context, set_device

ms.set_context(mode=ms.GRAPH_MODE, device_target="Ascend", device_id=1)
context.set_context(device_target="GPU")
set_device("Ascend", 1)
ms.set_context(device_target="CPU")
"""


def test_models_ask_for_another_device_in_vain_and_are_warned_with_their_line(tmp_path):
    file = tmp_path / "net.py"
    file.write_text(WRITTEN_FOR_ASCEND)
    code = compile(WRITTEN_FOR_ASCEND, str(file), "exec")
    own = ms.set_context, ms.set_device, ms.context.set_context
    with isolated():
        with pytest.warns(UserWarning, match="runs on the CPU") as warned:
            exec(code, {"__name__": "net"})
        assert ms.get_context("device_target") == "CPU"
        assert ms.get_context("mode") == ms.GRAPH_MODE
    told = [(each.lineno, str(each.message).split(",")[0]) for each in warned]
    assert told == [(5, "it asks for Ascend"), (6, "it asks for GPU")]  # each device once
    assert {each.filename for each in warned} == {str(file)}
    assert own == (ms.set_context, ms.set_device, ms.context.set_context)


def test_the_device_on_which_is_compared_is_set_as_ever():
    with isolated(), pytest.raises(RuntimeError, match="Unsupported device target Ascend"):
        place("ascend").enter()


def test_without_mindspore_no_device_is_kept(monkeypatch):
    monkeypatch.delitem(sys.modules, "mindspore")
    with isolation._keeping_device() as kept:
        assert kept is None
    monkeypatch.setitem(sys.modules, "mindspore", None)  # how an import is forbidden
    with isolation._keeping_device() as kept:
        assert kept is None

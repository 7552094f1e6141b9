"""Restores global state after each case, so that no case affects another, or the folder."""

import contextlib
import functools
import importlib
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from equivalence import files, folders
from equivalence.host import environment


class Setting(NamedTuple):
    """One piece of global state.

    read: returns its value.
    put: sets it to a value that `read` returned before.
    """

    read: Callable[[], Any]
    put: Callable[[Any], object]


CONTEXT = (
    "jit_level",
    "jit_syntax_level",
    "max_call_depth",
    "check_bprop",
    "debug_level",
    "enable_graph_kernel",
    "graph_kernel_flags",
    "exec_order",
    "infer_boost",
    "runtime_num_threads",
    "save_graphs",
)
"""What MindSpore's context holds besides, as far as its version has it."""


def settings() -> dict[str, Setting]:
    """All global state that a case may change, by name. Imports the frameworks that there are."""
    every: dict[str, Setting] = {}
    for framework, its_settings in (("torch", _torch), ("mindspore", _mindspore)):
        with contextlib.suppress(ImportError):
            every |= its_settings(importlib.import_module(framework))
    # These come last: setting MindSpore's seed sets these generators, too.
    return every | {
        "python generator": Setting(random.getstate, random.setstate),
        "numpy generator": Setting(np.random.get_state, np.random.set_state),
        "recursion limit": _where_changed(sys.getrecursionlimit, sys.setrecursionlimit),
        "numpy errors": Setting(np.geterr, lambda errors: np.seterr(**errors)),
        "working directory": Setting(os.getcwd, os.chdir),
        "folder of modules": Setting(folders.current, folders.enter),
    }


def _torch(torch) -> dict[str, Setting]:
    return {
        "torch generator": Setting(torch.get_rng_state, torch.set_rng_state),
        "torch CUDA generators": Setting(
            lambda: torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else [],
            torch.cuda.set_rng_state_all,
        ),
        "torch dtype": Setting(torch.get_default_dtype, torch.set_default_dtype),
        # To set it, even to what it is, makes every call of torch slower.
        "torch device": _where_changed(
            lambda: str(torch.get_default_device()),
            lambda device: torch.set_default_device(None if device == "cpu" else device),
        ),
        "torch matmul precision": _where_changed(
            torch.get_float32_matmul_precision, torch.set_float32_matmul_precision
        ),
        "torch threads": Setting(torch.get_num_threads, torch.set_num_threads),
        # MindSpore's norm leaves this on in the thread that calls it, for NumPy and torch, too.
        "flush to zero": Setting(_flushes_to_zero, torch.set_flush_denormal),
        "torch gradients": Setting(torch.is_grad_enabled, torch.set_grad_enabled),
        "torch determinism": _where_changed(
            torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms
        ),
        # A script of ranks that is stopped has not left its group, and joins it in the next run.
        "torch process group": _where_changed(
            lambda: torch.distributed.is_available() and torch.distributed.is_initialized(),
            lambda was: None if was else torch.distributed.destroy_process_group(),
        ),
    }


def _flushes_to_zero() -> bool:
    """Whether this thread replaces numbers below the smallest normal one by zero."""
    return bool(np.float32(1e-38) * np.float32(0.1) == 0)


def _mindspore(ms) -> dict[str, Setting]:
    # The seed is None until it is first set, and `set_seed` does not accept None.
    seed = sys.modules["mindspore.common.seed"]

    def context(key: str) -> Setting:
        return Setting(lambda: ms.get_context(key), lambda value: ms.set_context(**{key: value}))

    def known(key: str) -> bool:
        with contextlib.suppress(ValueError):
            ms.get_context(key)
            return True
        return False

    return {
        "mindspore seed": Setting(ms.get_seed, lambda value: setattr(seed, "_GLOBAL_SEED", value)),
        "mindspore data seed": Setting(ms.dataset.config.get_seed, ms.dataset.config.set_seed),
        "mindspore generator": Setting(
            lambda: ms.get_rng_state().asnumpy().copy(),
            lambda value: ms.set_rng_state(ms.Tensor(value)),
        ),
        "mindspore mode": context("mode"),
        "mindspore synchronisation": context("pynative_synchronize"),
        "mindspore determinism": context("deterministic"),
        "mindspore parallel mode": _where_changed(
            lambda: ms.get_auto_parallel_context("parallel_mode"),
            lambda mode: (
                ms.reset_auto_parallel_context(),
                mode == "stand_alone" or ms.set_auto_parallel_context(parallel_mode=mode),
            ),
        ),
        **{f"mindspore {key}": _where_changed(*context(key)) for key in filter(known, CONTEXT)},
        "mindspore device": _where_changed(lambda: ms.get_context("device_target"), ms.set_device),
    }


def _where_changed(read: Callable[[], Any], put: Callable[[Any], object]) -> Setting:
    """A setting that is put only where it changed: torch's determinism costs 2 s of imports."""
    return Setting(read, lambda value: read() == value or put(value))


DROPPINGS = ("MS_OM_PATH", "MS_COMPILER_CACHE_PATH")
"""Environment variables of the folders that MindSpore writes to by itself: what a failed compile
saw, and compiled kernels. Without them it writes into the working directory."""


@functools.cache
def _dropped() -> tempfile.TemporaryDirectory[str]:
    """The folder for what MindSpore drops; it goes with the process."""
    return files.temporary()


@contextlib.contextmanager
def isolated() -> Iterator[None]:
    """Restore the state of the process after a block, and keep the working directory clean.

    The working directory stays the user's own, so that relative paths mean what they say. A folder
    that the user has chosen for MindSpore's files is kept, too. On a CPU, MindSpore launches
    operators synchronously in the block.
    """
    for variable in DROPPINGS:
        os.environ.setdefault(variable, _dropped().name)
    before = [(setting, setting.read()) for setting in settings().values()]
    environment.launch_synchronously()
    try:
        with _keeping_device():
            yield
    finally:
        for setting, value in before:
            setting.put(value)


def _keeping_device() -> contextlib.AbstractContextManager:
    """A context in which code of models does not change MindSpore's device."""
    if sys.modules.get("mindspore") is None:  # not installed, not to be had, or kept from here
        return contextlib.nullcontext()
    from equivalence.stream.mindspore_stream import keeping_device

    return keeping_device()

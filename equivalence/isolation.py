"""Puts global state back after a case, so that none sees what another left behind."""

import contextlib
import random
import sys
import tempfile
from collections.abc import Callable, Iterator

import numpy as np


def state() -> dict[str, object]:
    """The settings that a case may change, of the frameworks loaded so far."""
    settings: dict[str, object] = {"numpy errors": np.geterr()}
    if torch := sys.modules.get("torch"):
        settings["torch dtype"] = torch.get_default_dtype()
        settings["torch threads"] = torch.get_num_threads()
        settings["torch gradients"] = torch.is_grad_enabled()
        settings["torch determinism"] = torch.are_deterministic_algorithms_enabled()
    if ms := sys.modules.get("mindspore"):
        settings["mindspore mode"] = ms.get_context("mode")
        settings["mindspore device"] = ms.get_context("device_target")
        settings["mindspore determinism"] = ms.get_context("deterministic")
        settings["mindspore seed"] = ms.get_seed()
    return settings


def _restorers() -> list[Callable[[], object]]:
    """Calls that bring back the generators and settings as they are now."""
    python, numpy, errors = random.getstate(), np.random.get_state(), np.geterr()
    calls: list[Callable[[], object]] = [
        lambda: random.setstate(python),
        lambda: np.random.set_state(numpy),
        lambda: np.seterr(**errors),
    ]
    if torch := sys.modules.get("torch"):
        generator, dtype = torch.get_rng_state(), torch.get_default_dtype()
        threads, gradients = torch.get_num_threads(), torch.is_grad_enabled()
        determinism = torch.are_deterministic_algorithms_enabled()
        calls += [
            lambda: torch.set_rng_state(generator),
            lambda: torch.set_default_dtype(dtype),
            lambda: torch.set_num_threads(threads),
            lambda: torch.set_grad_enabled(gradients),
            lambda: torch.use_deterministic_algorithms(determinism),
        ]
    if ms := sys.modules.get("mindspore"):
        mode, deterministic = ms.get_context("mode"), ms.get_context("deterministic")
        seed, device = ms.get_seed(), ms.get_context("device_target")
        calls += [
            lambda: ms.set_context(mode=mode),
            lambda: ms.set_context(deterministic=deterministic),
            lambda: seed is None or ms.set_seed(seed),
            lambda: ms.get_context("device_target") == device or ms.set_device(device),
        ]
    return calls


@contextlib.contextmanager
def isolated() -> Iterator[None]:
    """Run a block in an empty temporary directory and restore the process's state afterwards.

    A failed compile writes files where it runs; they vanish with the directory.
    """
    restorers = _restorers()
    with tempfile.TemporaryDirectory(prefix="equivalence-") as folder, contextlib.chdir(folder):
        try:
            yield
        finally:
            for restore in restorers:
                restore()

"""Runs a training as it stands: a script, or a function that trains."""

import contextlib
import inspect
import os
import random
import runpy
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from equivalence import folders, torchvision_schemas
from equivalence.distributed import alone
from equivalence.errors import (
    DeclarationError,
    EquivalenceError,
    SideError,
    likely,
    of_engine,
    own_line,
)
from equivalence.scripts.recording import RunRecorder
from equivalence.scripts.steps import StoppedError
from equivalence.targets import described, resolve
from equivalence.typed_targets import target_of
from equivalence.words import counted, raised

SEED = 0
"""Of all generators when a run begins, so that what no script seeds is the same each time."""

UNSEEDED = 5489
"""What `mindspore.dataset.config.get_seed` gives where no seed was set, as of std::mt19937."""


@dataclass(frozen=True)
class ScriptTraining:
    """A training of one side.

    role: "reference" or "candidate".
    name: a script, "train.py", or a function, "module:function", that trains.
    arguments: those of a script, as in a shell.
    steps: what a function is called with where it has a parameter of this name.
    rank: the number of the process that it runs in; None where one process is all.
    variables: those of the environment that are set for it.
    """

    role: str
    name: str
    arguments: str = ""
    steps: int = 0
    rank: int | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        is_function = ":" in self.name and not os.path.exists(self.name)
        if not is_function and not Path(self.name).is_file():
            raise DeclarationError(
                f"the {self.role} {self.name!r} is neither a script nor MODULE:FUNCTION; name one"
            )
        file = self.name.rpartition(":")[0]
        if is_function and file.endswith(".py") and not Path(file).is_file():
            raise DeclarationError(f"the {self.role} {self.name!r}: there is no file {file}")
        if is_function and self.arguments:
            raise DeclarationError(
                f"{self.name!r} is a function, and {self.arguments!r} are for a script; leave them "
                "out"
            )

    @property
    def is_script(self) -> bool:
        """Whether it is a file that is run."""
        return ":" not in self.name or os.path.exists(self.name)

    def run(self, recorder: RunRecorder, around: contextlib.AbstractContextManager[Any]) -> None:
        """Run it until its last step, or its end. around: the context of the run.

        Raises SideError where it raises.
        """
        names: Mapping[str, Any] = {}
        ended = False
        torchvision_schemas.declare_missing()
        folder = os.path.dirname(os.path.abspath(self.name)) if self.is_script else ""
        with _fresh(folder, SEED + (self.rank or 0)):
            os.environ.update(self.variables)
            try:
                with around:
                    try:
                        names = self._ran(recorder)
                        ended = True
                    except SystemExit as end:
                        self._demand_clean(end, recorder)
                        ended = True
                    recorder.finish(names, ended)
            except StoppedError:
                recorder.finish(names, False)
            except EquivalenceError:
                raise
            except Exception as error:
                where = own_line(error.__traceback__)
                made = len(recorder.run.steps)
                if _is_stop(error):  # a framework wraps what is raised within it
                    return
                told = raised(error).rstrip(".")
                cure = likely(str(error))
                did = f"raised {told} after {counted(made, 'step')}{where}{cure}"
                raise self._failed(did) from error

    def _failed(self, did: str) -> SideError:
        return SideError(f"the {self.role} {self.name} {did}", did=did)

    def _ran(self, recorder: RunRecorder) -> Mapping[str, Any]:
        """Run it; one that asks for what a launcher sets runs once more as the only rank of one."""
        run = self._script if self.is_script else self._function
        try:
            return run()
        except KeyError as error:
            if not alone.asked_for(error) or recorder.run.networks:
                raise
        os.environ.update(alone.launched())
        recorder.note(alone.ALONE)
        return run()

    def _script(self) -> Mapping[str, Any]:
        before = sys.argv
        sys.argv = [self.name, *shlex.split(self.arguments)]
        try:
            return runpy.run_path(self.name, run_name="__main__")
        finally:
            sys.argv = before

    def _function(self) -> Mapping[str, Any]:
        target = target_of(self.name)
        function = resolve(target)
        if not callable(function) or isinstance(function, type):
            raise DeclarationError(f"{self.name!r} is {described(function)}; name one that trains")
        parameters = inspect.signature(function).parameters
        given = {n: v for n, v in {"steps": self.steps, "seed": SEED}.items() if n in parameters}
        try:
            inspect.signature(function).bind(**given)
        except TypeError as error:
            raise DeclarationError(
                f"{self.name!r} is called with steps and seed alone, where it has them: {error}"
            ) from None
        with folders.entered(folders.split(target)[0]):
            told = function(**given)
            if inspect.isgenerator(told):
                for _ in told:
                    pass
        return {}

    def _demand_clean(self, end: SystemExit, recorder: RunRecorder) -> None:
        """Raise SideError where a script has ended the process before its last step."""
        made = len(recorder.run.steps)
        if made and not end.code:
            return
        where = own_line(end.__traceback__)
        raise self._failed(
            f"ends by SystemExit({end.code!r}) after {counted(made, 'step')}{where}; its arguments "
            f"are {self.arguments!r}"
        ) from end


def _is_stop(error: BaseException | None) -> bool:
    """Whether an exception was caused by the end of a run."""
    while error is not None:
        if isinstance(error, StoppedError):
            return True
        error = error.__cause__ or error.__context__
    return False


@contextlib.contextmanager
def _fresh(folder: str, seed: int) -> Iterator[None]:
    """A context for one run: seeds, modules and paths are as they were before.

    folder: that of the script, first among those that modules are imported from; "" for none.
    seed: of all generators. Ranks that no script seeds have seeds of their own, as in a training.
    """
    modules, path, variables = {*sys.modules}, [*sys.path], dict(os.environ)
    filters_of = sys.modules["warnings"]
    filters = [*filters_of.filters]
    if folder:
        sys.path.insert(0, folder)
    _seed(seed)
    try:
        yield
    finally:
        sys.path[:] = path
        filters_of.filters[:] = filters
        for name in [name for name in sys.modules if name not in modules]:
            if _is_own(sys.modules[name]):
                del sys.modules[name]
        for name in [name for name in os.environ if name not in variables]:
            del os.environ[name]
        os.environ.update(variables)


def _is_own(module: Any) -> bool:
    """Whether a module is the script's own: neither installed nor the engine's."""
    file = getattr(module, "__file__", None) or ""
    installed = "site-packages" in file or f"{os.sep}lib{os.sep}python" in file
    return bool(file) and not installed and not of_engine(file)


def _seed(seed: int) -> None:
    """Seed the generators of Python, NumPy and the frameworks that are loaded.

    The pipelines of MindSpore stay without a seed until a script sets one: with it each iterator
    has the order of the one before, and without it another.
    """
    for name in ("torch", "mindspore"):
        framework = sys.modules.get(name)
        if framework is not None:
            getattr(framework, "manual_seed" if name == "torch" else "set_seed")(seed)
            if name == "mindspore":
                framework.dataset.config.set_seed(UNSEEDED)
    random.seed(seed)
    np.random.seed(seed)

"""What can go wrong in one sentence, apart from a numerical difference."""

import os
import re
import traceback
from types import TracebackType


class EquivalenceError(Exception):
    """A mistake that a user can act on; its text says what, where and what to do."""


class DeclarationError(EquivalenceError):
    """A twin is declared wrongly."""


class WeightError(EquivalenceError):
    """Weights of the two sides do not pair up, or did not arrive."""


class IllPosedError(EquivalenceError):
    """The case cannot tell a right candidate from a wrong one."""


class SideError(EquivalenceError):
    """One side raised while it was built or run; the cause is chained."""


class CheckpointError(EquivalenceError):
    """A checkpoint cannot be read, converted or written."""


class FindingError(EquivalenceError):
    """A finding is declared wrongly, or there is none of this name."""


class SignatureError(EquivalenceError):
    """The arguments of a framework's function cannot be read."""


class CoverageError(EquivalenceError):
    """What a network uses cannot be told, or what this suite has verified."""


class RecordError(EquivalenceError):
    """A recorded truth or candidate is missing, out of date, damaged or of something else."""


class TorchMissingError(EquivalenceError):
    """The reference is to be run where torch is not installed."""


def words(error: Exception) -> str:
    """What an exception of a side says, and the line of the models' own code that it came from."""
    # MindSpore appends its C++ call stack after an empty line.
    message = str(error).strip().split("\n\n")[0]
    return f"{message}{_place(error.__traceback__)}"


def _place(trace: TracebackType | None) -> str:
    """The innermost line of the models' own code that a traceback passes through."""
    frames = traceback.extract_tb(trace)
    own = [frame for frame in frames if of_models(frame.filename)]
    return f" ({own[-1].filename}:{own[-1].lineno} in {own[-1].name})" if own else ""


def of_models(file: str) -> bool:
    """Whether a source is the models' own: neither the engine's nor a library's."""
    return not file.startswith(_ENGINE) and not _FOREIGN.search(file)


_ENGINE = os.path.dirname(__file__) + os.sep
_FOREIGN = re.compile(r"site-packages|<frozen|lib[\\/]python")

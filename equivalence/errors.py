"""What can go wrong in one sentence, apart from a numerical difference."""


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
    """A recorded truth is missing, out of date, damaged or of something else."""


class TorchMissingError(EquivalenceError):
    """The reference is to be run where torch is not installed."""

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

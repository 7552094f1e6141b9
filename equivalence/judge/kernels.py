"""A kernel of MindSpore whose lost digits explain the error of a network."""

from dataclasses import dataclass

from equivalence.words import number


@dataclass(frozen=True)
class Kernel:
    """A kernel, and its own error on what a candidate fed it.

    name: the primitive.
    device: the device that it ran on.
    error: the largest error of its results, in roundings of the result.
    finding: the name of the finding that shows it; None where none is declared for the device.
    known: the largest error that is declared for it, in roundings.
    moved: the error of the network with this kernel, and with the others to blame, in roundings.
    """

    name: str
    device: str
    error: float
    finding: str | None = None
    known: float = 0.0
    moved: float = 0.0

    @property
    def declared(self) -> bool:
        """Whether the kernel may be as inaccurate as it is."""
        return self.finding is not None and self.error <= self.known

    def __str__(self) -> str:
        told = f"finding {self.finding}" if self.finding else "no finding is declared"
        if self.finding and not self.declared:
            told += f" declares {_short(self.known)} at most"
        return f"ops.{self.name} on {self.device} (its own error {_short(self.error)}; {told})"


def _short(error: float) -> str:
    """An error in roundings, in words."""
    return f"{number(error)} roundings"

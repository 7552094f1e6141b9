"""What is said of the random numbers of a case."""

from dataclasses import dataclass

from equivalence.words import counted


@dataclass(frozen=True)
class Draws:
    """How the random numbers of a case were compared.

    count: how many draws of each side got the same numbers.
    pinned: why none did, so that what draws is compared by its laws alone; "" where they did.

    >>> print(Draws(2))
    2 draws gave both sides the same random numbers
    >>> print(Draws(pinned="there is no torch"))
    what draws is pinned, and compared by its laws alone: there is no torch
    """

    count: int = 0
    pinned: str = ""

    def __str__(self) -> str:
        if self.pinned:
            return f"what draws is pinned, and compared by its laws alone: {self.pinned}"
        return f"{counted(self.count, 'draw')} gave both sides the same random numbers"

"""What there is to mend, in plain words: what a diagnosis says to people who know no word of it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """One place to mend. Prose holds no code, and code stands by itself.

    where: the layers in which it stands, in words; "" for the network's own code.
    words: what differs, a sentence each, without a full stop.
    port: the statement of the port, as "file:line  source"; "" where the layer is meant.
    original: the original's statement with the right value, in the same form; "" if none is known.
    paths: the original's paths of the layers, by which their settings are found.
    of_mindspore: whether the port is right, and MindSpore is not.

    >>> Mistake("stem (Conv2d)", ("its weights are transposed",)).paths
    ()
    """

    where: str = ""
    words: tuple[str, ...] = ()
    port: str = ""
    original: str = ""
    paths: tuple[str, ...] = ()
    of_mindspore: bool = False


ENDED = "the time to look for statements ran out; what was found until then is told"
"""What is said where a search for statements ended before all was tried."""


@dataclass(frozen=True)
class Mistakes:
    """All places to mend of a case, and what is known beyond them.

    found: the places, in the order of the run.
    mended: what is right with the original's values in all these places, as a sentence: "all
        outputs are right"; "" where that was not tried.
    eager: whether all that is wrong in a compiled graph is right in PyNative mode.
    more: whether more is wrong than these places explain.
    cut: what the original cuts out of its gradients on purpose and the port does not, in sentences.
    ended: whether the time to look for a statement ran out.
    padded: the original's paths of the layers whose input the port pads in its own code.
    """

    found: Sequence[Mistake] = ()
    mended: str = ""
    eager: bool = False
    more: bool = False
    cut: tuple[str, ...] = ()
    ended: bool = False
    padded: tuple[str, ...] = ()

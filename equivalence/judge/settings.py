"""The verdict on settings: what both sides hold as data, compared without a run.

No sample shows every setting. The epsilon of a late LayerNorm, or a weight decay at a tiny learning
rate, may change no tensor by more than rounding, and yet the candidate is another network.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from equivalence.errors import DeclarationError

ANY = "*"
"""A layer in a declared setting: "*.eps" stands for the setting of every layer."""


@dataclass(frozen=True)
class Difference:
    """A setting that differs.

    name: the setting, in PyTorch's words.
    reference: its value there, as text.
    candidate: its value there, as text.
    where: the weights or the step for which it is so, as text; "" where it is so for all.
    layer: the reference's path of the layer; "" for the network.
    kind: PyTorch's class name for the layer.
    why: the declared reason; None where the twin does not declare it.
    """

    name: str
    reference: str
    candidate: str
    where: str = ""
    layer: str = ""
    kind: str = ""
    why: str | None = None

    def __str__(self) -> str:
        text = f"{self.name} {self.reference} (reference) {self.candidate} (candidate)"
        return f"{text} {self.where}" if self.where else text

    @property
    def path(self) -> str:
        """The layer and the setting: "layer4.1.bn2.eps"."""
        return f"{self.layer}.{self.name}" if self.layer else self.name

    @property
    def paths(self) -> tuple[str, ...]:
        """The names by which a twin may declare it: of this layer, of its class, of any layer."""
        return self.path, f"{self.kind}.{self.name}", f"{ANY}.{self.name}"


@dataclass(frozen=True)
class Settings:
    """The settings of both sides, compared.

    layers: how many aligned layers have a setting on both sides.
    compared: how many settings were compared.
    differing: the settings that differ, and that the twin does not declare.
    declared: the settings that differ as the twin declares.
    """

    layers: int
    compared: int
    differing: tuple[Difference, ...] = ()
    declared: tuple[Difference, ...] = ()

    @property
    def name_to_declare(self) -> str:
        """The name by which the first that differs is declared: with all like it of its class."""
        first = self.differing[0]
        of_class = first.paths[1]
        alike = {each.path for each in self.differing if each.paths[1] == of_class}
        return first.path if len(alike) == 1 else of_class


def judge_settings(
    found: Sequence[Difference], declared: Mapping[str, str], layers: int, compared: int, case: str
) -> Settings:
    """Tell declared differences from others.

    declared: path of a setting -> why it may differ; see `Difference.paths`.
    case: the name of the case, for the error's text.

    Raises DeclarationError where a declared setting does not differ: then nobody would see when a
    real difference takes its place.
    """
    known = {path for each in found for path in each.paths}
    if gone := sorted(set(declared) - known):
        raise DeclarationError(
            f"{case}: settings says why {gone[0]!r} may differ, and it does not; "
            f"remove it{_guess(found)}"
        )
    told = [
        replace(each, why=next((declared[path] for path in each.paths if path in declared), None))
        for each in found
    ]
    return Settings(
        layers,
        compared,
        tuple(each for each in told if each.why is None),
        tuple(each for each in told if each.why is not None),
    )


def _guess(found: Sequence[Difference]) -> str:
    """What differs in fact, as the end of a sentence."""
    return f" ({', '.join(each.path for each in found[:3])} differs)" if found else ""

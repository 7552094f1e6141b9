"""The verdict on settings: what both sides hold as data, compared without a run.

No sample shows every setting. The epsilon of a late LayerNorm, or a weight decay at a tiny learning
rate, may change no tensor by more than rounding, and yet the candidate is another network.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from equivalence.errors import DeclarationError
from equivalence.words import counted, listed, plain

ANY = "*"
"""A layer in a declared setting: "*.eps" stands for the setting of every layer."""


class NamedSetting:
    """A setting by its layer, the class of that layer and its own name."""

    name: str
    layer: str
    kind: str

    @property
    def path(self) -> str:
        """The layer and the setting: "layer4.1.bn2.eps"."""
        return f"{self.layer}.{self.name}" if self.layer else self.name

    @property
    def paths(self) -> tuple[str, ...]:
        """The names by which a twin may declare it: of this layer, of its class, of any layer."""
        return self.path, f"{self.kind}.{self.name}", f"{ANY}.{self.name}"


@dataclass(frozen=True)
class SettingDifference(NamedSetting):
    """A setting that differs.

    name: the setting, in PyTorch's words.
    reference: its value there, as text.
    candidate: its value there, as text.
    where: the weights or the step for which it is so, as text; "" where it is so for all.
    layer: the reference's path of the layer; "" for the network.
    kind: PyTorch's class name for the layer.
    why: the declared reason; None where the twin does not declare it.
    write: the arguments of MindSpore that give it the reference's value; "" where none is known.
    given: those that give it the candidate's, where an argument of its name has another value.
    shown: whether any sample shows it: windows that begin at another place, unless the port pads in
    its own code.
    """

    name: str
    reference: str
    candidate: str
    where: str = ""
    layer: str = ""
    kind: str = ""
    why: str | None = None
    write: str = ""
    given: str = ""
    shown: bool = False

    @property
    def told(self) -> str:
        """What differs and what to write, in the words of people who know none of the house.

        >>> SettingDifference("eps", "1e-05", "1e-07", write="epsilon=1e-05").told
        'eps is 1e-07 in the port and 1e-05 in the original; write epsilon=1e-05'
        """
        port = f"the port ({self.given})" if self.given else "the port"
        both = f"{self.candidate} in {port} and {self.reference} in the original"
        text = both if self.name == "kind" else f"{self.name} is {both}"
        text += f", {plain(self.where)}" if self.where else ""
        return f"{text}; write {self.write}" if self.write else text

    def __str__(self) -> str:
        text = f"{self.name} {self.reference} (reference) {self.candidate} (candidate)"
        return f"{text} {self.where}" if self.where else text


@dataclass(frozen=True)
class Unread(NamedSetting):
    """A setting that could not be read, on a side or on both, and so is not compared.

    raised: what reading it raised: "AttributeError: no padding".
    own: whether code of the model's own raised it, and none of a framework's or of this suite's.
    name, layer, kind, why: as of a `SettingDifference`; the name `settings`: all of a layer.
    """

    raised: str
    own: bool = False
    name: str = ""
    layer: str = ""
    kind: str = ""
    why: str | None = None

    def __str__(self) -> str:
        return f"{self.path} ({self.raised})"


Found = TypeVar("Found", SettingDifference, Unread)


@dataclass(frozen=True)
class Settings:
    """The settings of both sides, compared.

    layers: how many aligned layers have a setting on both sides.
    compared: how many settings were compared.
    differing: the settings that differ, and that the twin does not declare.
    declared: the settings that differ as the twin declares.
    unread: the settings that could not be read, and so are not compared.
    elsewhere: paddings that differ, and that the port makes in its own code: the tensors show it.
    alone: tables that the port's code looks up, and that the original has none of; not compared.
    """

    layers: int
    compared: int
    differing: tuple[SettingDifference, ...] = ()
    declared: tuple[SettingDifference, ...] = ()
    unread: tuple[Unread, ...] = ()
    elsewhere: tuple[SettingDifference, ...] = ()
    alone: tuple[str, ...] = ()

    def shown_right(self, layers: Collection[str]) -> "Settings":
        """The settings, without the paddings that the port of these layers makes elsewhere."""
        right = tuple(each for each in self.differing if each.shown and each.layer in layers)
        wrong = tuple(each for each in self.differing if each not in right)
        return replace(self, differing=wrong, elsewhere=self.elsewhere + right)

    @property
    def wrong(self) -> tuple[SettingDifference | Unread, ...]:
        """What makes a case red: what differs, and what could not be read of a known layer.

        What code of the model's own raises, such as a property, is counted and named.
        """
        lost = (each for each in self.unread if not each.own and each.why is None)
        return *self.differing, *lost

    @property
    def name_to_declare(self) -> str:
        """The name by which the first that is wrong is declared: with all like it of its class."""
        first = self.wrong[0]
        of_class = first.paths[1]
        alike = {each.path for each in self.wrong if each.paths[1] == of_class}
        return first.path if len(alike) == 1 else of_class


def unread_told(unread: Iterable[object]) -> list[str]:
    """How many settings could not be read, and the first of them, as a line; none if all could."""
    every = [*map(str, unread)]
    names = listed([*dict.fromkeys(every)])
    return [f"{counted(len(every), 'setting')} could not be read: {names}"] if every else []


def alone_told(settings: Settings) -> list[str]:
    """The tables of the port that pair with none of the original, as a line; none if all do."""
    count = counted(len(settings.alone), "table")
    verb = "has" if len(settings.alone) == 1 else "have"
    told = f"{count} that the port's code looks up {verb} no partner, and only the sample compares"
    return [f"{told}: {listed(settings.alone)}"] if settings.alone else []


def judge_settings(compared: Settings, declared: Mapping[str, str], case: str) -> Settings:
    """Tell declared differences from others.

    compared: the settings of both sides, compared without a declaration.
    declared: path of a setting -> why it may differ, or cannot be read; see `NamedSetting.paths`.
    case: the name of the case, for the error's text.

    Raises DeclarationError where a declared setting does not differ: then nobody would see when a
    real difference takes its place.
    """
    found = (*compared.differing, *compared.unread)
    if gone := sorted(set(declared) - {path for each in found for path in each.paths}):
        raise DeclarationError(
            f"{case}: settings says why {gone[0]!r} may differ, and it does not; "
            f"remove it{_guess(compared.differing)}"
        )
    differing = _with_reasons(compared.differing, declared)
    return replace(
        compared,
        differing=tuple(each for each in differing if each.why is None),
        declared=tuple(each for each in differing if each.why is not None),
        unread=_with_reasons(compared.unread, declared),
    )


def _with_reasons(found: tuple[Found, ...], declared: Mapping[str, str]) -> tuple[Found, ...]:
    return tuple(
        replace(each, why=next((declared[path] for path in each.paths if path in declared), None))
        for each in found
    )


def _guess(found: Sequence[SettingDifference]) -> str:
    """What differs in fact, as the end of a sentence."""
    return f" ({', '.join(each.path for each in found[:3])} differs)" if found else ""

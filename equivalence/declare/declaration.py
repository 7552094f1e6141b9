"""What the declarations of twins, pipelines and initialisers have in common."""

import keyword
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from equivalence.errors import DeclarationError

LEVELS = ("gate", "nightly")

_PATH = r"[^\W\d]\w*(\.\w+)*"
_TARGET = re.compile(f"{_PATH}:{_PATH}")
_API = re.compile(f"{_PATH}(:{_PATH})?")

_LONG = 80
"""Characters from which on a value is told by its type alone."""


class Demand:
    """Demands of one declaration: what is wrong is told with its kind, its name and the field.

    `demand(good, complaint)` raises DeclarationError, and so do all methods.
    """

    def __init__(self, kind: str, declared: Any, name: Any):
        self.kind, self.declared, self.name = kind, declared, name

    def __call__(self, good: bool, complaint: str) -> None:
        if not good:
            raise DeclarationError(f"{self.kind} {shown(self.name)}: {complaint}")

    def listed(self, field: str, one: str = "a mapping") -> tuple:
        """Make a tuple of a field that is a list or an iterator; `one`: what a mapping is."""
        values = getattr(self.declared, field)
        self(not isinstance(values, str), f"{field} is a string; write a tuple")
        self(not isinstance(values, Mapping), f"{field} is {one}; write a list")
        self(not isinstance(values, Set), f"{field} is a set, which has no order; write a tuple")
        self(isinstance(values, Iterable), f"{field} is {shown(values)}; write a tuple")
        object.__setattr__(self.declared, field, tuple(values))
        return getattr(self.declared, field)

    def among(self, field: str, allowed: Sequence[str]) -> None:
        """A field is a list of one or several of the `allowed`."""
        values = self.listed(field)
        unknown = [each for each in values if not (isinstance(each, str) and each in allowed)]
        self(not unknown, f"{field} {shown(unknown)} not among {', '.join(allowed)}")
        self(bool(values), f"{field} is empty, so nothing would be compared")
        self(len(set(values)) == len(values), f"{field} {shown(values)} names one twice")

    def configurations(self, field: str, one: str = "a mapping") -> tuple[Mapping, ...]:
        """A field is a list of mappings from names to values."""
        for each in self.listed(field, one):
            self.mapping(field, each)
            for key, value in each.items():
                # Who reads an iterator first leaves nothing to others; a set has many orders.
                kept = not isinstance(value, Iterator | Set)
                kind = type(value).__name__
                self(kept, f"{field} gives {key!r} a {kind}; write a tuple")
        return getattr(self.declared, field)

    def mapping(self, field: str, value: Any) -> None:
        """The value of a field, or one in its list, maps names to anything."""
        self(isinstance(value, Mapping), f"{field} has {shown(value)}; write a mapping")
        odd = [key for key in value if not (isinstance(key, str) and key.isidentifier())]
        self(not odd, f"{field} has the key {shown(odd and odd[0])}; write a name")

    def words(self, field: str) -> None:
        """A field maps texts to texts, none of them empty."""
        value = getattr(self.declared, field)
        self(isinstance(value, Mapping), f"{field} is {shown(value)}; write a mapping")
        for pair in value.items():
            right = all(isinstance(word, str) and word.strip() for word in pair)
            self(right, f"{field} has {shown(pair)}; write texts that are not empty")

    def paths(self, field: str) -> None:
        """A field maps dotted names to dotted names."""
        self.words(field)
        for path in [path for pair in getattr(self.declared, field).items() for path in pair]:
            right = bool(re.fullmatch(r"\w+(\.\w+)*", path))
            self(right, f"{field} has {path!r}; write names with dots between")

    def text(self, field: str) -> None:
        """A field is None or says something."""
        value = getattr(self.declared, field)
        right = value is None or (isinstance(value, str) and bool(value.strip()))
        self(right, f"{field} is {shown(value)}; say it in words or leave it out")

    def flag(self, field: str) -> None:
        """A field is True or False."""
        value = getattr(self.declared, field)
        self(isinstance(value, bool), f"{field} is {shown(value)}; write True or False")

    def whole(self, field: str) -> None:
        """A field is a whole number."""
        value = getattr(self.declared, field)
        self(is_whole(value), f"{field} is {shown(value)}; write a whole number")

    def target(self, field: str) -> None:
        """A field names a callable. It is not imported, since declarations import no framework."""
        value = getattr(self.declared, field)
        right = isinstance(value, str) and bool(_TARGET.fullmatch(value))
        self(right, f"{field} {shown(value)} is not 'module:attribute'")

    def api(self, field: str) -> None:
        """A field names a function, "ops.softmax", or a callable, "module:attribute"."""
        value = getattr(self.declared, field)
        right = isinstance(value, str) and bool(_API.fullmatch(value))
        self(right, f"{field} {shown(value)} is no name, such as 'ops.softmax'")


def demanding(kind: str, declared: Any, targets: Sequence[str]) -> Demand:
    """Check the name, the level, the configurations and the `targets`, fields that name callables.

    Returns the demand for what is particular to the kind. Raises DeclarationError.
    """
    name, level = declared.name, declared.level
    demand = Demand(kind, declared, name)
    demand(isinstance(name, str), "name is no string; write an identifier")
    demand(name.isidentifier() and not keyword.iskeyword(name), "is no identifier")
    for field in targets:
        demand.target(field)
    demand(level in LEVELS, f"level {shown(level)} is not among {', '.join(LEVELS)}")
    configs = demand.configurations("configs", "one configuration")
    demand(bool(configs), "configs is empty, so nothing would be compared")
    stems = [stem(name, config) for config in configs]
    twice = sorted({each for each in stems if stems.count(each) > 1})
    demand(not twice, f"several configurations share the name {', '.join(twice)}")
    return demand


def is_whole(value: Any) -> bool:
    """Whether it is a whole number; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether it is a finite number; True and False are none."""
    return is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def shown(value: Any) -> str:
    """A value as it was written; its type where that takes long or several lines."""
    text = repr(value)
    if len(text) <= _LONG and "\n" not in text:
        return text
    return f"a value of the type {type(value).__name__}"


class Configured:
    """A case of a declaration under one configuration: `sample_name`, `execution`, `device`."""

    @property
    def name(self) -> str:
        """Names the case; also its pytest id."""
        return f"{self.sample_name}-{self.execution}-{self.device}"

    @property
    def arguments(self) -> dict[str, Any]:
        """What both sides are built with: the configuration without the sizes of the inputs."""
        return {key: value for key, value in self.config.items() if not key.isupper()}


def stem(name: str, config: Mapping[str, Any]) -> str:
    """The name of a declaration under one configuration."""
    return "-".join([name, *(f"{key}{_word(value)}" for key, value in config.items())])


def _word(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "_".join(_word(item) for item in value) or "empty"
    return re.sub(r"[^\w.+-]", "_", str(value))

"""The checks and the names that all kinds of declarations share."""

import difflib
import functools
import inspect
import keyword
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar, Protocol, TypeGuard, TypeVar

from equivalence import folders
from equivalence.declare.renames import JOIN, terms
from equivalence.errors import DeclarationError
from equivalence.releases import is_range

LEVELS = ("gate", "nightly")
"""When a declaration is compared: with every change, or once a night."""

_PATH = r"[^\W\d]\w*(\.\w+)*"
_TARGET = re.compile(f"(?:.*{folders.SEPARATOR})?{_PATH}:{_PATH}")
_API = re.compile(f"{_PATH}(:{_PATH})?")

Kind = TypeVar("Kind")

_LONG = 80
"""Up to so many characters, an error shows a value as it is; beyond, it shows the type only."""


class Demand:
    """The checks of one declaration's fields.

    `demand(good, complaint)` raises DeclarationError unless `good`; all methods raise it, too. The
    text begins with the kind and the name of the declaration.

    kind: the kind of the declaration, in a word.
    declared: the declaration.
    name: its name.
    """

    def __init__(self, kind: str, declared: Any, name: Any):
        self.kind, self.declared, self.name = kind, declared, name

    def __call__(self, good: bool, complaint: str) -> None:
        if not good:
            raise DeclarationError(f"{self.kind} {shown(self.name)}: {complaint}")

    def listed(self, field: str, one: str = "a mapping") -> tuple:
        """Turn a field, a list or an iterator, into a tuple, and return it.

        one: what the field would be if it were a mapping, for the error's text.
        """
        values = getattr(self.declared, field)
        self(not isinstance(values, str), f"{field} is a string; write a tuple")
        self(not isinstance(values, Mapping), f"{field} is {one}; write a list")
        self(not isinstance(values, Set), f"{field} is a set, which has no order; write a tuple")
        self(isinstance(values, Iterable), f"{field} is {shown(values)}; write a tuple")
        object.__setattr__(self.declared, field, tuple(values))
        return getattr(self.declared, field)

    def among(self, field: str, allowed: Sequence[str]) -> None:
        """Demand that a field lists some of `allowed`: at least one, and each once."""
        values = self.listed(field)
        unknown = [each for each in values if not (isinstance(each, str) and each in allowed)]
        self(not unknown, f"{field} {shown(unknown)} not among {', '.join(allowed)}")
        self(bool(values), f"{field} is empty, so nothing would be compared")
        self(len(set(values)) == len(values), f"{field} {shown(values)} names one twice")

    def configurations(self, field: str, one: str = "a mapping") -> tuple[Mapping, ...]:
        """Demand that a field lists mappings from names to values; returns them as a tuple."""
        for each in self.listed(field, one):
            self.mapping(field, each)
            for key, value in each.items():
                # An iterator can be read only once; a set has no fixed order.
                repeatable = not isinstance(value, Iterator | Set)
                kind = type(value).__name__
                self(repeatable, f"{field} gives {key!r} a {kind}; write a tuple")
        return getattr(self.declared, field)

    def mapping(self, field: str, value: Any) -> None:
        """Demand that `value`, a field or one item of it, is a mapping whose keys are names."""
        self(isinstance(value, Mapping), f"{field} has {shown(value)}; write a mapping")
        odd = [key for key in value if not (isinstance(key, str) and key.isidentifier())]
        self(not odd, f"{field} has the key {shown(odd and odd[0])}; write a name")

    def words(self, field: str) -> None:
        """Demand that a field maps texts to texts, none of them empty."""
        value = getattr(self.declared, field)
        self(isinstance(value, Mapping), f"{field} is {shown(value)}; write a mapping")
        for pair in value.items():
            right = all(isinstance(word, str) and word.strip() for word in pair)
            self(right, f"{field} has {shown(pair)}; write texts that are not empty")

    def paths(self, field: str) -> None:
        """Demand that a field maps dotted names to dotted names."""
        self.words(field)
        for path in [path for pair in getattr(self.declared, field).items() for path in pair]:
            self._path(field, path)

    def renames(self, field: str) -> None:
        """Demand that a field maps dotted names to dotted names, joined or rearranged ones too."""
        self.words(field)
        for old, new in getattr(self.declared, field).items():
            for path in old.split(JOIN):
                self._path(field, path)
            how = "write names with dots between, as 'q + k', 'w.T' or 'w.reshape()' if need be"
            self(terms(new) is not None, f"{field} has {shown(new)}; {how}")

    def names(self, field: str) -> None:
        """Demand that a field lists dotted names, each once."""
        values = self.listed(field)
        for path in values:
            self._path(field, path)
        self(len(set(values)) == len(values), f"{field} {shown(values)} names one twice")

    def _path(self, field: str, path: Any) -> None:
        right = isinstance(path, str) and bool(re.fullmatch(r"[\w-]+(\.[\w-]+)*", path))
        self(right, f"{field} has {shown(path)}; write names with dots between")

    def text(self, field: str) -> None:
        """Demand that a field is None or a text that is not empty."""
        value = getattr(self.declared, field)
        right = value is None or (isinstance(value, str) and bool(value.strip()))
        self(right, f"{field} is {shown(value)}; say it in words or leave it out")

    def releases(self, executions: Sequence[str] = ()) -> None:
        """Demand that the field `releases` is None or a range of releases of MindSpore.

        executions: those of which each may have a range of its own.
        """
        value = self.declared.releases
        each = isinstance(value, Mapping) and value.keys() <= {*executions}
        right = value is None or all(map(is_range, value.values() if each else [value]))
        self(right, f"releases is {shown(value)}; write a range, such as '>=2.8' or '>=2.8,<2.10'")

    def flag(self, field: str) -> None:
        """Demand that a field is True or False."""
        value = getattr(self.declared, field)
        self(isinstance(value, bool), f"{field} is {shown(value)}; write True or False")

    def whole(self, field: str) -> None:
        """Demand that a field is a whole number."""
        value = getattr(self.declared, field)
        self(is_whole(value), f"{field} is {shown(value)}; write a whole number")

    def target(self, field: str) -> None:
        """Demand that a field is a target, "module:attribute". The module is not imported."""
        value = getattr(self.declared, field)
        if field == "candidate" and isinstance(value, str) and folders.is_exported(value):
            object.__setattr__(self.declared, field, os.path.abspath(os.path.expanduser(value)))
            return
        right = isinstance(value, str) and bool(_TARGET.fullmatch(value))
        self(right, f"{field} {shown(value)} is not 'module:attribute'")
        object.__setattr__(self.declared, field, folders.absolute(value))

    def api(self, field: str) -> None:
        """Demand that a field names a function, "ops.softmax", or is a target."""
        value = getattr(self.declared, field)
        right = isinstance(value, str) and bool(_API.fullmatch(value))
        self(right, f"{field} {shown(value)} is no name, such as 'ops.softmax'")


def demanding(kind: str, declared: Any, targets: Sequence[str]) -> Demand:
    """Check the fields that all kinds of declarations have: name, level, configs and the targets.

    kind: the kind of the declaration, in a word.
    targets: names of the fields that are targets.

    Returns the Demand, for the checks of this kind alone. Raises DeclarationError.
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


def demand_declarations(name: str, kind: type, declared: Any) -> None:
    """Demand a tuple of one kind of declarations that is not empty. Raises DeclarationError."""
    if not isinstance(declared, tuple):
        cure = f"{name} = ({kind.__name__}(...),)" if isinstance(declared, kind) else "a tuple"
        raise DeclarationError(f"{name} is of the type {type(declared).__name__}; write {cure}")
    if not declared:
        raise DeclarationError(f"{name} is empty, so nothing would be compared")
    for each in declared:
        if not isinstance(each, kind):
            raise DeclarationError(
                f"{name} has a {type(each).__name__} in it, which is no {kind.__name__}"
            )


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether a value is a whole number; True and False are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether a value is a finite number; True and False are not."""
    return is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def shown(value: Any) -> str:
    """A value as text; only its type where the text is long or has several lines."""
    text = repr(value)
    if len(text) <= _LONG and "\n" not in text:
        return text
    return f"a value of the type {type(value).__name__}"


def fields_checked(declared: type[Kind]) -> type[Kind]:
    """A class decorator: a missing or unknown field is a DeclarationError with the nearest name."""
    make = declared.__init__
    signature = inspect.signature(make)
    names = [name for name in signature.parameters if name != "self"]

    @functools.wraps(make)
    def checked(self: Any, *values: Any, **fields: Any) -> None:
        try:
            signature.bind(self, *values, **fields)
        except TypeError as error:
            name = fields.get("name", values[0] if values else None)
            unknown = next((field for field in fields if field not in names), "")
            near = difflib.get_close_matches(unknown, names, n=1)
            cure = f"write {near[0]!r}" if near else f"the fields are {', '.join(names)}"
            told = f"{declared.__name__} {shown(name)}: {error}; {cure}"
            raise DeclarationError(told) from None
        make(self, *values, **fields)

    declared.__init__ = checked  # type: ignore[method-assign]  # a decorator of any class
    return declared


class Declaration:
    """The base of declarations: the value that a field has in most kinds, see `kinds.Declared`."""

    differs: Any = None
    raises: ClassVar[Any] = None


class _ConfiguredFields(Protocol):
    """What a subclass of `Configured` has."""

    @property
    def config(self) -> Mapping[str, Any]: ...

    @property
    def sample_name(self) -> str: ...

    @property
    def execution(self) -> str: ...

    @property
    def device(self) -> str: ...


class Configured:
    """The base of cases: a declaration under one configuration.

    A subclass has `config`, `sample_name`, `execution` and `device`.
    """

    @property
    def labels(self) -> Mapping[str, str]:
        """The further columns of the case's results."""
        return {}

    @property
    def limits(self) -> Mapping[str, str]:
        """The limits of the candidate, each with its consequence, in words."""
        return {}

    @property
    def releases(self) -> str | None:
        """The releases of MindSpore that can run it; None: all."""
        return None

    @property
    def name(self: _ConfiguredFields) -> str:
        """The name of the case; also its pytest id."""
        return f"{self.sample_name}-{self.execution}-{self.device}"

    @property
    def arguments(self: _ConfiguredFields) -> dict[str, Any]:
        """The keyword arguments of both sides: the configuration without keys in capitals."""
        return {key: value for key, value in self.config.items() if not key.isupper()}


def stem(name: str, config: Mapping[str, Any]) -> str:
    """The name of a declaration under one configuration."""
    return "-".join([name, *(f"{key}{_word(value)}" for key, value in config.items())])


def _word(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "_".join(_word(item) for item in value) or "empty"
    return re.sub(r"[^\w.+-]", "_", str(value))

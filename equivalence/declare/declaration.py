"""What the declarations of twins, pipelines and initialisers have in common."""

import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from equivalence.errors import DeclarationError

LEVELS = ("gate", "nightly")

_TARGET = re.compile(r"[\w.]+:\w+(\.\w+)*")


def demanding(kind: str, declared: Any, targets: Sequence[str]) -> Callable[[bool, str], None]:
    """Check the name, the level, the configurations and the `targets`, fields that name callables.

    Returns `demand(good, complaint)` for what is particular to the kind. Raises DeclarationError.
    """

    def demand(good: bool, complaint: str) -> None:
        if not good:
            raise DeclarationError(f"{kind} {declared.name!r}: {complaint}")

    name, configs = declared.name, declared.configs
    demand(name.isidentifier() and not keyword.iskeyword(name), "is no identifier")
    for field in targets:
        target = getattr(declared, field)
        demand(bool(_TARGET.fullmatch(target)), f"{field} {target!r} is not 'module:attribute'")
    level = declared.level
    demand(level in LEVELS, f"level {level!r} is not among {', '.join(LEVELS)}")
    demand(not isinstance(configs, Mapping), "configs is one configuration; write a list")
    demand(bool(configs), "configs is empty, so nothing would be compared")
    stems = [stem(name, config) for config in configs]
    twice = sorted({each for each in stems if stems.count(each) > 1})
    demand(not twice, f"several configurations share the name {', '.join(twice)}")
    return demand


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

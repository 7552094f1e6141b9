"""A declaration as a file of Python, which pytest runs."""

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from equivalence import folders
from equivalence.declare.draws import Draw
from equivalence.declare.twin import Twin

LONGEST = 88
"""Characters of a line; a longer mapping or tuple is written in several."""


def source(*twins: Twin) -> str:
    """The text of a file that declares twins, with the fields that are not at their defaults."""
    bodies = [_fields(twin) for twin in twins]
    body = "".join(f"    Twin(\n{each}\n    ),\n" for each in bodies)
    calls = sorted({"Twin", *re.findall(r"(?<![\w.'\"])([a-z_]\w*)\(", body)})
    odd = sorted({*re.findall(r"(?<![\w.'\"])(?:inf|nan)(?![\w'\"=])", body)})
    numbers = f"from math import {', '.join(odd)}\n\n" if odd else ""
    return (
        f'"""The declaration of {twins[0].name}."""\n\n{numbers}'
        f"from equivalence import {', '.join(calls)}\n\n"
        f"TWINS = (\n{body})\n"
    )


def _fields(twin: Twin) -> str:
    """The fields of a twin, a line each."""
    lines = []
    for each in fields(twin):
        value = getattr(twin, each.name)
        if each.name in ("reference", "candidate"):
            value = folders.below(value)
        default = each.default if each.default_factory is MISSING else each.default_factory()
        if default is MISSING or value != default:
            lines.append(f"        {each.name}={_written(value, 8)},")
    lines[0] = f"        {_written(twin.name, 8)},"
    return "\n".join(lines)


def _written(value: Any, indent: int) -> str:
    """A value as Python writes it; draws as the calls that make them."""
    if isinstance(value, Draw):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    pad = " " * (indent + 4)
    if isinstance(value, Mapping):
        items = [f"{_written(key, 0)}: {_written(each, indent + 4)}" for key, each in value.items()]
        ends = "{}"
    elif isinstance(value, tuple | list):
        items, ends = [_written(each, indent + 4) for each in value], "()"
    else:
        return repr(value)
    comma = "," if ends == "()" and len(items) == 1 else ""
    line = f"{ends[0]}{', '.join(items)}{comma}{ends[1]}"
    if len(line) + indent <= LONGEST:
        return line
    return "\n".join([ends[0], *(f"{pad}{item}," for item in items), " " * indent + ends[1]])

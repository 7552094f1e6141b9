"""Targets as people write them on the command line.

`target_of` reads one, and `demand_target` says what is wrong with one, and what is probably meant.
"""

import ast
import os
import shlex

from equivalence import folders
from equivalence.errors import DeclarationError
from equivalence.targets import as_target
from equivalence.words import joined, nearest

NETWORKS = ("Module", "Cell")
"""The last names of the classes that networks derive from."""


def target_of(text: str) -> str:
    """The target that a text writes: itself, or that of FILE.py:ATTRIBUTE, if the file is there.

    A file in a folder that is no package is imported from there, as `python FILE.py` does.

    >>> target_of("nets:Net")
    'nets:Net'
    """
    file, colon, attribute = text.rpartition(":")
    if not (colon and attribute and file.endswith(".py") and os.path.isfile(file)):
        return text
    folder, name = os.path.split(os.path.normpath(file))
    if not folder or os.path.isfile(os.path.join(folder, "__init__.py")):
        return as_target(file, attribute)
    return f"{folder}{folders.SEPARATOR}{name.removesuffix('.py')}:{attribute}"


def demand_target(target: str, option: str) -> None:
    """Demand that a target is written as one; the text says what is probably meant.

    option: how the command's help calls it. Raises DeclarationError.
    """
    if option == "MINDSPORE" and folders.is_exported(target):
        return
    file, colon, attribute = target.partition(":")
    if file.endswith(".py") and os.path.isfile(file):
        raise DeclarationError(f"{option} {target!r} names no class or function{_cure(file)}")
    if file.endswith(".py") and folders.SEPARATOR not in file and colon:
        folder, name = os.path.split(file)
        there = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
        close = nearest(name, [each for each in there if each.endswith(".py")])
        raise DeclarationError(f"{option} {target!r}: there is no file {file}{close}")
    begins, separator, name = target.rpartition(folders.SEPARATOR)
    path, colon, attribute = (name if begins and separator else target).partition(":")
    if path != path.removesuffix(".py").strip("./").replace("/", ".") or not colon:
        whole = target.partition(":")[0].replace(folders.SEPARATOR, "/")
        folder, likely = folders.split(as_target(whole, attribute or "Net"))
        if folder:
            likely += f" --{option.lower()}-path {shlex.quote(folder)}"
        raise DeclarationError(f"{option} {target!r} is not MODULE:ATTRIBUTE; write {likely}")
    if not attribute:
        raise DeclarationError(f"{option} {target!r} names no class or function; write {target}Net")


def _cure(file: str) -> str:
    """What of a file is probably meant, as the end of a sentence; the last network comes first."""
    *others, likely = _offers(file) or ["Net"]
    more = f", or another of it: {joined(others)}" if others else ""
    return f"; write {file}:{likely}{more}"


def _offers(file: str) -> list[str]:
    """The networks that a file declares; its classes and functions where it declares none."""
    try:
        with open(file, encoding="utf-8") as source:
            body = ast.parse(source.read()).body
    except (OSError, SyntaxError, ValueError):
        return []
    declared = [each for each in body if isinstance(each, ast.ClassDef | ast.FunctionDef)]
    networks: set[str] = set()
    for each in declared:
        bases = [ast.unparse(base).split(".")[-1] for base in getattr(each, "bases", ())]
        if any(base in NETWORKS or base in networks for base in bases):
            networks.add(each.name)
    return [each.name for each in declared if not networks or each.name in networks]

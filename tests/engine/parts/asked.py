"""A plugin of pytest that tells of command lines whether they would run something.

`pytest --collect-only -p tests.engine.parts.asked FILES` reads the file that `ASKED` names, a
JSON list of argument lists, and writes what is wrong with each to the file that `ANSWERED` names:
one sentence, or null. So one collection serves all of them.
"""

import functools
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from _pytest import mark

from equivalence.errors import EquivalenceError

ASKED, ANSWERED = "EQUIVALENCE_ASKED", "EQUIVALENCE_ANSWERED"

PART = 250
"""Tests that are looked at together; the first part that has one that is selected is enough."""

_parsers: list[pytest.Parser] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    _parsers[:] = [parser]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    commands = json.loads(Path(os.environ[ASKED]).read_text())
    selections = _Selections(config, items)
    answers = [_answer(words, config, selections) for words in commands]
    Path(os.environ[ANSWERED]).write_text(json.dumps(answers))
    items.clear()  # nothing is left to be done, such as to look for devices


def _answer(words: Sequence[str], config: pytest.Config, selections: "_Selections") -> str | None:
    try:
        given = _parsers[0].parse(words)
    except (pytest.UsageError, SystemExit) as error:
        return f"pytest refuses {words}: {error}"
    markers = {line.partition(":")[0].partition("(")[0] for line in config.getini("markers")}
    if given.rehearse is not None and given.rehearse not in markers - {"cpu"}:
        return f"there is no device {given.rehearse!r}"
    paths = tuple(given.file_or_dir)
    missing = [path for path in paths if not Path(path.partition("::")[0]).exists()]
    if missing:
        return f"there is no {missing[0]}"
    if given.example is not None and (wrong := _no_example(given.example)):
        return wrong
    if any(path.partition("::")[0] not in selections.files for path in paths):
        return None  # of files that were not collected, which are too many, nothing is known
    names = set(re.findall(r"\w+", given.markexpr)) - {"and", "or", "not"}
    if names - markers:
        return f"{sorted(names - markers)} are no markers"
    try:
        found = selections.some(paths, given.keyword, given.markexpr)
    except pytest.UsageError as error:
        return f"pytest refuses {words}: {error}"
    return None if found else f"nothing is selected by {words}"


class _Selections:
    """Whether paths, -k and -m select one of the tests that were collected."""

    def __init__(self, config: pytest.Config, items: Sequence[pytest.Item]):
        self.config, self.items = config, list(items)
        self.files = {item.nodeid.partition("::")[0] for item in items}
        self.some = functools.cache(self._some)

    def _some(self, paths: tuple[str, ...], keyword: str, markexpr: str) -> bool:
        """Raises UsageError for an expression that cannot be read."""
        named = self.items
        if not self.files <= {*paths}:
            named = [each for each in self.items if _named(each.nodeid, paths)]
        option = self.config.option
        option.keyword, option.markexpr = keyword, markexpr
        try:
            parts = (named[i : i + PART] for i in range(0, len(named), PART))
            return any(_selected(part, self.config) for part in parts)
        finally:
            option.keyword = option.markexpr = ""


def _selected(items: list[pytest.Item], config: pytest.Config) -> bool:
    """Whether -k and -m leave any of these."""
    mark.pytest_collection_modifyitems(items, config)
    return bool(items)


def _named(nodeid: str, paths: Sequence[str]) -> bool:
    """Whether a command that names these files or tests runs a test; all, if it names none."""
    return not paths or any(
        nodeid == path or nodeid.startswith((f"{path}::", f"{path}[")) for path in paths
    )


def _no_example(text: str) -> str | None:
    """What is wrong with the example of an operator."""
    from tests.twins.operators import operators

    name = re.match(r"\w*", text)[0]
    try:
        (operator,) = (each for each in operators() if each.name == name)
        operator.example(text)
    except (ValueError, EquivalenceError) as error:
        return f"{text!r} is no example of an operator: {error}"
    return None

"""Which releases of MindSpore a declaration speaks of. Imports no framework.

A range is written as Python's packages write theirs: ">=2.8", "<2.8", ">=2.8,<2.10".
"""

import importlib.metadata

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from equivalence.errors import EquivalenceError

NEWEST = Version("9999")
"""Counts as the release where MindSpore is not installed, and runs are judged that were kept."""


DISPATCHING = ">=2.9"
"""The releases that show their operators as they run in PyNative mode (`MsDispatchMode`)."""


def installed() -> Version:
    """The installed release of MindSpore; a candidate of 2.10.0 counts as 2.10.0."""
    try:
        found = importlib.metadata.version("mindspore")
    except importlib.metadata.PackageNotFoundError:
        return NEWEST
    return Version(Version(found).base_version)


def demand_operators(of: str) -> None:
    """Raise EquivalenceError where MindSpore does not show its operators as they run.

    of: what needs them, in the plural.
    """
    if not holds(DISPATCHING):
        raise EquivalenceError(
            f"MindSpore {installed()} does not show its operators as they run, which {of} need; "
            f"install 'mindspore{DISPATCHING}'"
        )


def is_range(text: object) -> bool:
    """Whether a value is the text of a range of releases.

    >>> is_range(">=2.8,<2.10"), is_range("2.8"), is_range("")
    (True, False, False)
    """
    try:
        return isinstance(text, str) and len(SpecifierSet(text)) > 0
    except InvalidSpecifier:
        return False


def holds(releases: str | None) -> bool:
    """Whether the installed release of MindSpore is in a range; None stands for all releases."""
    return releases is None or installed() in SpecifierSet(releases)

"""The green tests of earlier runs, in one file.

A test is kept under the conditions of its run, with what it depends on besides. The file is
written by the process that leads a run, complete or not at all.
"""

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from equivalence import files
from equivalence.changed.identity import UnknownError
from equivalence.changed.sources import Sources

FORMAT = 1
"""The format of the file. Raise it when the meaning of its content changes."""

KEPT = 8
"""So many conditions, such as other seeds, and so many selections of a file's tests are kept."""


@dataclass(frozen=True)
class Green:
    """What a green test depends on.

    declared: a SHA-256 of what it compares.
    roots: where its sources begin, see `Sources.digest`.
    sources: the digest of these.
    """

    declared: str
    roots: tuple[str, ...]
    sources: str


@dataclass(frozen=True)
class Collected:
    """What the collection of a file of tests depends on, and what it gave.

    roots, sources: as for `Green`.
    selected: the options that select -> the tests that they selected, by their node ids.
    """

    roots: tuple[str, ...]
    sources: str
    selected: Mapping[str, tuple[str, ...]]


@dataclass
class KnownTests:
    """What is known under the same conditions.

    folders: where modules are looked for, see `Sources`.
    reached: what sources were seen to reach.
    tests: node id -> its green test.
    files: path of a file of tests -> its collection.
    """

    folders: list[str] = field(default_factory=list)
    reached: dict[str, list[str]] = field(default_factory=dict)
    tests: dict[str, Green] = field(default_factory=dict)
    files: dict[str, Collected] = field(default_factory=dict)

    def sources(self, root: Path) -> Sources:
        """The sources of the project, as they are now."""
        return Sources(root, self.folders, self.reached)

    def valid(self, sources: Sources) -> "KnownTests":
        """What still holds: sources and files are as they were."""
        return KnownTests(
            self.folders,
            self.reached,
            {name: each for name, each in self.tests.items() if _holds(each, sources)},
            {name: each for name, each in self.files.items() if _holds(each, sources)},
        )

    def joined(
        self, found: "KnownTests", root: Path, begun: float, red: Container[str]
    ) -> tuple["KnownTests", dict[str, str]]:
        """What is known after a run; and which of its tests cannot be kept: node id -> why.

        found: what the run found; the digests in it are not made yet.
        begun: when it began. What depends on something that was written since then is left out.
        red: the tests that were not green in it.

        What was known and holds no more is left out. What sources reach grows by the runs of which
        something is kept: no other test was in a process with what these reached.
        """
        valid = self.valid(self.sources(root))
        tests = {name: each for name, each in valid.tests.items() if name not in red}
        folders = list(dict.fromkeys([*found.folders, *self.folders]))
        reached = {
            file: sorted({*self.reached.get(file, ()), *found.reached.get(file, ())})
            for file in {**self.reached, **found.reached}
        }
        joined = KnownTests(folders, reached)
        sources = joined.sources(root)
        doubts: dict[str, str] = {}

        def fresh(name: str, each: Any) -> bool:
            try:
                return sources.are_older(each.roots, begun)
            except UnknownError as error:
                doubts[name] = str(error)
                return False

        kept = {n: each for n, each in found.tests.items() if n not in red and fresh(n, each)}
        collected = {file: each for file, each in found.files.items() if fresh(file, each)}
        if not (kept or collected):
            joined = KnownTests(folders, self.reached)
            sources = joined.sources(root)
        for file, each in collected.items():
            before = valid.files[file].selected if file in valid.files else {}
            chosen = [*{**before, **each.selected}.items()][-KEPT:]
            collected[file] = replace(each, selected=dict(chosen))
        joined.tests = _renewed(tests | kept, sources)
        joined.files = _renewed({**valid.files, **collected}, sources)
        return joined, {name: why for name, why in doubts.items() if name in found.tests}

    def green(self, file: str, selection: str) -> tuple[str, ...] | None:
        """The tests of a file that options select, if all of them are known to be green."""
        collected = self.files.get(file)
        selected = collected.selected.get(selection) if collected else None
        if selected is None or any(each not in self.tests for each in selected):
            return None
        return selected


def _renewed(every: Mapping[str, Any], sources: Sources) -> dict[str, Any]:
    """The same with the digests of their sources now, without those that cannot be known."""
    digests = {name: digest_of(each.roots, sources) for name, each in every.items()}
    return {
        name: replace(each, sources=digests[name])
        for name, each in every.items()
        if digests[name] is not None
    }


def _holds(each: Green | Collected, sources: Sources) -> bool:
    return digest_of(each.roots, sources) == each.sources


def digest_of(roots: Iterable[str], sources: Sources) -> str | None:
    """The digest of roots; None where it cannot be known."""
    try:
        return sources.digest(roots)
    except UnknownError:
        return None


def read(path: Path) -> dict[str, KnownTests]:
    """Conditions -> what is known under them, the latest last; {} without a file.

    Raises ValueError where the file cannot be read, with a sentence.
    """
    try:
        content = json.loads(path.read_text())
        if content["format"] != FORMAT:
            raise ValueError(f"it has format {content['format']}")
        return {conditions: _known(each) for conditions, each in content["known"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path} cannot be read ({error}); everything is run") from None


def write(path: Path, known: Mapping[str, KnownTests]) -> None:
    """Write the file. Beyond `KEPT` conditions the earliest are left out."""
    kept = list(known.items())[-KEPT:]
    content = {"format": FORMAT, "known": {conditions: _data(each) for conditions, each in kept}}
    files.write(path, json.dumps(content))


def _data(known: KnownTests) -> dict[str, Any]:
    """As JSON. Many tests have the same roots, which are therefore written once."""
    numbers: dict[tuple[str, ...], int] = {}

    def number(roots: tuple[str, ...]) -> int:
        return numbers.setdefault(roots, len(numbers))

    tests = {name: [t.declared, number(t.roots), t.sources] for name, t in known.tests.items()}
    found = {
        name: [number(each.roots), each.sources, each.selected]
        for name, each in known.files.items()
    }
    return {
        "folders": known.folders,
        "reached": known.reached,
        "tests": tests,
        "files": found,
        "roots": list(numbers),
    }


def _known(data: Mapping[str, Any]) -> KnownTests:
    roots = [tuple(map(str, each)) for each in data["roots"]]
    tests = {
        str(name): Green(declared, roots[at], digest)
        for name, (declared, at, digest) in data["tests"].items()
    }
    found = {
        str(name): Collected(roots[at], digest, {k: tuple(map(str, v)) for k, v in chosen.items()})
        for name, (at, digest, chosen) in data["files"].items()
    }
    reached = {str(file): list(map(str, each)) for file, each in data["reached"].items()}
    return KnownTests(list(map(str, data["folders"])), reached, tests, found)

"""Compares the results of two runs line by line: `python benchmarks/compare_results.py OLD NEW`.

A line of results is one compared tensor of one case from one seed. Two runs with the same verdicts
have the same lines, to the last digit, in whatever order. A field that only one of the runs writes
is named and does not count as a change; nor do examples that were set aside. Exit code 0: the same
lines; 1: not; 2: a file cannot be read.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

KEY = ("case", "seed", "tensor")
SHOWN = 10
"""Differing lines that are printed; the rest is counted."""

SAME, DIFFERENT, UNREADABLE = 0, 1, 2

Results = dict[tuple, dict[str, Any]]


def read(path: Path) -> Results:
    """The lines of a file by case, seed and tensor. Raises ValueError for one that is damaged."""
    results: Results = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            result = json.loads(line)
            key = tuple(result.get(part) for part in KEY)
        except (ValueError, AttributeError) as error:
            raise ValueError(f"{path}:{number} is no line of results: {error}") from None
        if "failure" in result:
            continue
        if results.setdefault(key, result) != result:  # a recipe's stage may be a case, too
            raise ValueError(f"{path}:{number} has other figures for {name(key)} than above")
    if not results:
        raise ValueError(f"{path} has no results")
    return results


def name(key: tuple) -> str:
    """A line in words."""
    case, seed, tensor = key
    return f"{tensor or 'the case itself'} of {case} from seed {seed}"


def fields(results: Results) -> set[str]:
    """The fields that any of the lines has."""
    return {field for result in results.values() for field in result}


def differences(old: Results, new: Results, ignored: Iterable[str] = ()) -> list[str]:
    """What is not the same, a sentence for each line."""
    left_out = {*ignored, *(fields(old) ^ fields(new))}
    lines = [f"missing: {name(key)}" for key in old if key not in new]
    lines += [f"new: {name(key)}" for key in new if key not in old]
    for key in old.keys() & new.keys():
        lines += _changed(key, old[key], new[key], left_out)
    return lines


def _changed(
    key: tuple, old: Mapping[str, Any], new: Mapping[str, Any], left_out: set[str]
) -> list[str]:
    changed = [
        f"{field} {old.get(field)!r} -> {new.get(field)!r}"
        for field in sorted({*old, *new} - left_out)
        if old.get(field) != new.get(field)
    ]
    return [f"changed: {name(key)}: {', '.join(changed)}"] if changed else []


def main(arguments: list[str] | None = None) -> int:
    """Compare two files and print what differs; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--ignore", nargs="+", default=[], metavar="FIELD")
    options = parser.parse_args(arguments)
    try:
        old, new = read(options.old), read(options.new)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return UNREADABLE
    for field in sorted(fields(old) ^ fields(new)):
        print(f"only in {'the old' if field in fields(old) else 'the new'} results: {field}")
    found = differences(old, new, options.ignore)
    for line in sorted(found)[:SHOWN]:
        print(line)
    if len(found) > SHOWN:
        print(f"... and {len(found) - SHOWN} more")
    cases = {key[0] for key in new}
    print(f"{len(old)} lines and {len(new)} lines of {len(cases)} cases: {len(found)} differ")
    return DIFFERENT if found else SAME


if __name__ == "__main__":
    sys.exit(main())

"""Checkpoints of several files: shards, and an index that says which weight is in which.

The index is JSON, as Hugging Face's libraries write it: {"weight_map": {weight: file}}, called
`NAME.index.json` beside shards `STEM-00001-of-00003.SUFFIX`.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from equivalence.checkpoints.formats import StoredWeight, twice
from equivalence.errors import CheckpointError

INDEX = ".index.json"
"""The ending of an index."""


def index_of(path: Path) -> Path | None:
    """The index that `path` is, or of the folder that it is; None for another file.

    Raises CheckpointError for a folder with no index, or with several.
    """
    if not path.is_dir():
        return path if path.name.endswith(INDEX) else None
    found = sorted(path.glob(f"*{INDEX}"))
    if len(found) == 1:
        return found[0]
    if found:
        names = " or ".join(each.name for each in found)
        raise CheckpointError(f"{path} is a folder of several checkpoints; name one, {names}")
    raise CheckpointError(
        f"{path} is a folder without an index (*{INDEX}); name the checkpoint file in it"
    )


def suffix_of(path: Path) -> str:
    """The suffix that tells a checkpoint's format: its own, or that of an index's shards."""
    index = index_of(path)
    return path.suffix if index is None else Path(index.name.removesuffix(INDEX)).suffix


def members(index: Path) -> dict[Path, set[str]]:
    """Shard -> names of the weights in it. Raises CheckpointError."""

    def once(pairs: list[tuple]) -> dict:
        names = (name for name, _ in pairs)
        for name, number in Counter(names).items():
            if number > 1:
                raise twice(index, name)
        return dict(pairs)

    try:
        content = json.loads(index.read_text(), object_pairs_hook=once)
    except FileNotFoundError:
        raise CheckpointError(f"{index}: there is no such file") from None
    except (OSError, ValueError, RecursionError):
        raise CheckpointError(
            f"{index} is damaged, or no JSON; copy or download it again"
        ) from None
    places = content.get("weight_map") if isinstance(content, dict) else None
    if not isinstance(places, dict) or not places:
        raise CheckpointError(f"{index} has no 'weight_map' that says where each weight is")
    found: dict[Path, set[str]] = {}
    for name, file in places.items():
        if not isinstance(file, str) or Path(file).name != file or file in ("", ".", ".."):
            raise CheckpointError(
                f"{index} has {name} in {file!r}; a shard is the name of a file beside its index"
            )
        if Path(file).suffix != suffix_of(index):
            raise CheckpointError(f"{index} has {name} in {file!r}, no {suffix_of(index)} file")
        found.setdefault(index.parent / file, set()).add(name)
    for shard in found:
        if not shard.is_file():
            raise CheckpointError(
                f"{index} names {shard.name}, which is not beside it; copy or download that, too"
            )
    return found


def demand_complete(shard: Path, index: Path, found: Mapping, expected: set[str]) -> None:
    """Raise CheckpointError unless a shard holds the weights that its index says."""
    if missing := sorted(expected - found.keys()):
        raise CheckpointError(f"{shard} lacks {missing[0]}, which {index.name} says is in it")
    if more := sorted(found.keys() - expected):
        raise CheckpointError(f"{shard} holds {more[0]}, which {index.name} does not have there")


def index_for(path: Path) -> Path:
    """The index of the checkpoint `path` when that is written in shards."""
    return path.with_name(path.name + INDEX)


def present(path: Path) -> list[Path]:
    """The index and the shards of `path` that exist already."""
    numbered = re.compile(rf"{re.escape(path.stem)}-\d{{5}}-of-\d{{5}}{re.escape(path.suffix)}")
    shards = [each for each in path.parent.iterdir() if numbered.fullmatch(each.name)]
    return [each for each in (index_for(path), *sorted(shards)) if each.exists()]


def split(
    weights: Mapping[str, StoredWeight], aliases: Mapping[str, str], size: int
) -> list[dict[str, StoredWeight]]:
    """The weights in groups of at most `size` bytes each, in order; a larger one is alone.

    A weight of several names is in the group of the first.
    """
    groups: list[dict[str, StoredWeight]] = []
    home: dict[str, int] = {}
    filled = 0
    for name, weight in weights.items():
        if aliases.get(name) in home:
            home[name] = home[aliases[name]]
        else:
            if not groups or filled + weight.values.nbytes > size:
                groups.append({})
                filled = 0
            filled += weight.values.nbytes
            home[name] = len(groups) - 1
        groups[home[name]][name] = weight
    return groups


def names_of(path: Path, count: int) -> list[str]:
    """The names of the shards of `path`."""
    return [f"{path.stem}-{n:05}-of-{count:05}{path.suffix}" for n in range(1, count + 1)]


def index_text(groups: Mapping[str, Mapping[str, StoredWeight]]) -> str:
    """The index of groups of weights, by the name of their file."""
    total = sum(weight.values.nbytes for group in groups.values() for weight in group.values())
    places = {name: file for file, group in groups.items() for name in group}
    content = {"metadata": {"total_size": total}, "weight_map": places}
    return json.dumps(content, indent=2) + "\n"

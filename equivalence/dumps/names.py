"""Which array of one side belongs to which of the other, by their names.

In this order: the same name; the same place in a dump of msprobe, whatever the framework calls the
class; the same place in MindSpore's dump of a graph, whatever the time; and MindSpore's name for a
PyTorch weight, with declared renames. A name that two arrays of a side would share pairs nothing.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from equivalence.errors import WeightError
from equivalence.structure.weights import STANDARD_RENAMES, WRAPPERS, reference_name, renamed

LAYER = re.compile(
    r"(?:Module|Cell)\.(?P<path>.+)\.\w+\.(?P<way>forward|backward)\.(?P<call>\d+)\.(?P<rest>.+)"
)
"""msprobe: `Module.layer1.0.conv1.Conv2d.forward.0.input.0`; `Cell.` in MindSpore."""

WEIGHTS = re.compile(r"(?:Module|Cell)\.(?P<path>.+)\.\w+\.parameters_grad\.(?P<rest>.+)")
"""msprobe: `Module.layer1.0.conv1.Conv2d.parameters_grad.weight`."""

CALL = re.compile(
    r"[A-Z]\w*\.(?P<path>[\w.]+?)\.(?P<call>\d+)\.(?P<way>forward|backward)\.(?P<rest>.+)"
)
"""msprobe: `Functional.relu.0.forward.output.0`; `Mint.`, `Tensor.`, `Primitive.` and so on."""

GRAPH = re.compile(r"(?P<path>\w+\..+?)\.\d+\.\d+\.\d{10,}\.(?P<rest>(?:input|output)\.\d+)\..*")
"""MindSpore's dump of a graph: `Conv2D.Conv2D-op12.0.0.1623124369613540.output.0.NCHW.float32`."""

STEP = "network"
"""First segment of all names in a training step of MindSpore."""


def pair(
    reference: Iterable[str], candidate: Iterable[str], rename: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Name of the candidate's array -> that of the reference, in the order of the reference.

    rename: runs of segments of the candidate's names -> the reference's.

    Raises WeightError where a rename fits no name.
    """
    reference, candidate, rename = [*reference], [*candidate], dict(rename or {})
    for run in rename:
        if all(_renamed(name, {run: "\0"}) == name for name in candidate):
            raise WeightError(
                f"--rename {run}={rename[run]}: {run!r} is in no name of the candidate"
            )
    if len(reference) == len(candidate) == 1:
        return {candidate[0]: reference[0]}
    found: dict[str, str] = {}
    theirs, ours = _without_wrappers(reference), _without_wrappers(candidate)
    ways = (
        lambda name: name,
        lambda name: _renamed(name, rename),
        lambda name: _place(_renamed(name, rename)),
        lambda name: _renamed(name, rename, reference_name),
    )
    for way in ways:
        left = {name: short for name, short in theirs.items() if name not in found.values()}
        keys = _unique({name: way(short) for name, short in left.items()})
        mine = {name: way(short) for name, short in ours.items() if name not in found}
        for key, name in _unique(mine).items():
            if key in keys:
                found[name] = keys[key]
    back = {theirs: ours for ours, theirs in found.items()}
    return {back[name]: name for name in reference if name in back}


def _renamed(
    name: str,
    rename: Mapping[str, str],
    last: Callable[[str, Mapping[str, str]], str] = renamed,
) -> str:
    """A name with renames in each of its folders, and what `last` makes of the rest."""
    *folders, rest = name.split("/")
    if not folders or renamed(name, rename) != name:
        return last(name, rename)
    return "/".join([*(renamed(folder, rename) for folder in folders), last(rest, rename)])


def _unique(keys: Mapping[str, str]) -> dict[str, str]:
    """Key -> name, of the keys that one name alone has."""
    counts = Counter(keys.values())
    return {key: name for name, key in keys.items() if counts[key] == 1}


def _without_wrappers(names: list[str]) -> dict[str, str]:
    """Name -> the same without the wrappers that all names begin with."""
    short = {name: name for name in names}
    while len(names) > 1:
        firsts = {each.partition(".")[0] for each in short.values()}
        if len(firsts) != 1 or not firsts & {*WRAPPERS, STEP}:
            break
        short = {name: each.partition(".")[2] for name, each in short.items()}
    return short


def _place(name: str) -> str:
    """What two frameworks' names of one place have in common; the name itself where it has none."""
    folder, _, last = name.rpartition("/")
    folder = "/".join(part for part in folder.split("/") if part != "dump_tensor_data")
    for kind, pattern in (("layer", LAYER), ("gradient", WEIGHTS), ("call", CALL), ("op", GRAPH)):
        if match := pattern.fullmatch(last):
            parts = match.groupdict()
            rest, _, end = parts.pop("rest").rpartition(".")
            end = STANDARD_RENAMES.get(end, end)
            return "|".join((folder, kind, *(part.lower() for part in parts.values()), rest, end))
    return name

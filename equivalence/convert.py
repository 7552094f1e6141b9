"""A checkpoint of one framework becomes one of the other: by the names that twins pair up by.

With the network that it is for, names and shapes are checked one to one and complete. Without,
MindSpore's names follow from PyTorch's as far as a file shows them (see `mindspore_names`), and
nothing can be said about another architecture. Values and dtypes stay as they are, bit for bit.

Three things have no partner on the other side. PyTorch's `num_batches_tracked` is dropped, and 0
on the way back. A weight used in several places has one name in MindSpore and several in PyTorch.
A MindSpore normalisation without scale and shift keeps ones and zeros in their place.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from equivalence import checkpoints, destination, mindspore_names
from equivalence.checkpoint_formats import MINDSPORE, PYTORCH, Checkpoint, Weight, numpy_dtype
from equivalence.checkpoints import FORMATS
from equivalence.destination import KIND, Destination
from equivalence.errors import CheckpointError, WeightError
from equivalence.weights import REFERENCE_ONLY, Slot, pair, reference_name

OTHER = {PYTORCH: MINDSPORE, MINDSPORE: PYTORCH}
HWIO = {4: (3, 2, 0, 1), 2: (1, 0)}


@dataclass
class Conversion:
    """What becomes of every weight.

    rows: (source name, or why there is none; destination name), in order. weights and aliases:
    as they are written. notes: what was dropped or added, and why.
    """

    rows: list[tuple[str, str]] = field(default_factory=list)
    weights: dict[str, Weight] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, source: str, name: str, weight: Weight) -> None:
        """Write `weight` as `name`; a second one must be the same."""
        if not self.weights.setdefault(name, weight).same(weight):
            other = next(row[0] for row in self.rows if row[1] == name)
            raise CheckpointError(
                f"{source} and {other} are one weight of the network ({name}), but their values "
                f"differ"
            )
        self.rows.append((source, name))

    def note(self, names: Iterable[str], reason: str) -> None:
        """Tell of `names`, if there are any."""
        if names := list(names):
            rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
            self.notes.append(f"{', '.join(names[:3])}{rest}: {reason}")

    def lines(self) -> list[str]:
        """A line for each weight, both names, shape and dtype, then the notes."""
        left = max(len(source) for source, _ in self.rows)
        right = max(len(name) for _, name in self.rows)
        return [
            f"  {source:{left}}  {name:{right}}  {self.weights[name].dtype} "
            f"{self.weights[name].shape}"
            for source, name in self.rows
        ] + self.notes

    def count(self) -> str:
        """How many weights and values there are."""
        values = sum(weight.values.size for weight in self.weights.values())
        amount = f"{values / 1e6:.1f} million" if values >= 1e6 else str(values)
        return f"{len(self.weights)} weights, {amount} values"


def convert(
    source: Path,
    target: Path,
    to: str | None = None,
    network: str | None = None,
    arguments: Mapping[str, Any] | None = None,
    rename: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    layout: str | None = None,
    force: bool = False,
) -> Conversion:
    """Convert the file `source` into the file `target`, which is written whole or not at all.

    to: "pytorch" or "mindspore", where the suffixes leave it open. network: the "module:attribute"
    that, called with `arguments`, builds the network which the destination is for. rename:
    MindSpore run of name segments -> PyTorch run. drop: names, or their first segments, that are
    left out. layout: "hwio" for kernels as TensorFlow has them; needs `network`.

    Raises EquivalenceError for everything that a user can put right.
    """
    rename = dict(rename or {})
    to = _direction(source, target, to)
    if target.exists() and source.exists() and target.samefile(source):
        raise CheckpointError(f"{target} is the source itself; name another destination")
    if target.is_dir() or not target.parent.is_dir():
        wrong = "is a folder" if target.is_dir() else "lies in a folder that does not exist"
        raise CheckpointError(f"{target} {wrong}; name a file in a folder that exists")
    if target.exists() and not force:
        raise CheckpointError(f"{target} exists; give --force to replace it")
    if arguments and not network:
        raise CheckpointError("--arguments are for a --network, and there is none")
    if layout and (not network or source.suffix == ".ckpt"):
        raise CheckpointError(
            "--layout hwio needs --network, which tells the kernels from other weights, and a "
            "source that is no .ckpt"
        )
    read = checkpoints.read(source, OTHER[to])
    wanted = destination.describe(to, network, arguments or {}) if network else None
    made = Conversion()
    if not read.checked:
        made.note([str(source)], "has no checksum, so that damage to its values would not show")
    made.note(read.extras, "beside the weights, not converted")
    _drop(source, read, drop, made)
    try:
        if to == MINDSPORE:
            _to_mindspore(read, rename, layout, wanted, made)
        else:
            _to_pytorch(read, rename, layout, wanted, made)
    except WeightError as error:
        fits = f"does not fit {network}" if network else "cannot be converted"
        raise WeightError(
            f"{source} {fits} (reference is PyTorch's side, candidate MindSpore's): {error}"
        ) from None
    if not made.weights:
        raise CheckpointError(f"{source} holds nothing that {to} has a place for")
    checkpoints.write(target, to, made.weights, made.aliases)
    return made


def _direction(source: Path, target: Path, to: str | None) -> str:
    """The framework of the destination."""
    for path in (source, target):
        if path.suffix not in FORMATS:
            raise CheckpointError(f"{path} does not end in {', '.join(FORMATS)}")
    told = {OTHER.get(FORMATS[source.suffix]), FORMATS[target.suffix], to} - {None}
    if not told:
        raise CheckpointError("a .safetensors may be of either side: give --to pytorch|mindspore")
    if len(told) > 1:
        given = f" --to {to}" if to else ""
        raise CheckpointError(
            f"{source} -> {target}{given} is no conversion from one framework to the other: .pth "
            f"and .pt are PyTorch's, .ckpt is MindSpore's, .safetensors is either's"
        )
    return told.pop()


def _drop(source: Path, read: Checkpoint, drop: Sequence[str], made: Conversion) -> None:
    for run in drop:
        names = [name for name in read.weights if f"{name}.".startswith(f"{run}.")]
        if not names:
            raise CheckpointError(f"--drop {run}: {source} has no such weight")
        made.note(names, "dropped, as told")
        for name in names:
            del read.weights[name]
            read.aliases.pop(name, None)
    if not read.weights:
        raise CheckpointError(f"{source} holds no weights beside those that are dropped")


def _is_count(name: str) -> bool:
    return name.rpartition(".")[2] in REFERENCE_ONLY


def _slots(weights: Mapping[str, Weight]) -> dict[str, Slot]:
    return {name: Slot(weight.shape, KIND) for name, weight in weights.items()}


def _turn(weights: dict[str, Weight], kernels: Iterable[str]) -> None:
    """TensorFlow's kernels, in place: HWIO -> OIHW, IO -> OI."""
    for name in kernels:
        if name in weights and len(weights[name].shape) in HWIO:
            weight = weights[name]
            turned = weight.values.transpose(HWIO[len(weight.shape)]).copy(order="C")
            weights[name] = replace(weight, values=turned)


def _kept(first: Mapping[str, str], partners: Iterable[str]) -> set[str]:
    """Of the names of each shared weight those among `partners`, or else the first one."""
    partners = set(partners)
    groups: dict[str, list[str]] = {}
    for name, head in first.items():
        groups.setdefault(head, []).append(name)
    chosen: set[str] = set()
    for group in groups.values():
        chosen |= partners & set(group) or {group[0]}
    return chosen


def _paired(
    reference: Mapping[str, Slot], candidate: Mapping[str, Slot], rename: Mapping[str, str]
) -> dict[str, str]:
    """Candidate path -> reference name; a count of batches only where both sides have it."""
    counts = {path: reference_name(path, rename) for path in candidate if _is_count(path)}
    counts = {p: name for p, name in counts.items() if reference.get(name) == candidate[p]}
    others = {path: slot for path, slot in candidate.items() if path not in counts}
    return pair(reference, others, rename) | counts


def _to_mindspore(
    read: Checkpoint,
    rename: Mapping[str, str],
    layout: str | None,
    wanted: Destination | None,
    made: Conversion,
) -> None:
    weights = read.weights
    if wanted is None:
        shapes = {name: w.shape for name, w in weights.items() if not _is_count(name)}
        paths = mindspore_names.guess(shapes, rename)
        slots = {path: Slot(shapes[name], KIND) for name, path in paths.items()}
        names = mindspore_names.in_file(slots)
    else:
        slots, names = dict(wanted.slots), wanted.names
        targets = {path: reference_name(path, rename) for path in slots}
        if layout:
            _turn(weights, {targets[path] for path in wanted.kernels})
        for path in _without_partner(wanted, targets, weights):
            del slots[path]
            fill = np.ones if path.endswith("gamma") else np.zeros
            dtype = wanted.constants[path]
            values = fill(wanted.slots[path].shape, numpy_dtype(dtype))
            made.add("(no scale or shift)", names[path], Weight(dtype, values))
        used = [path for path in slots if targets[path] in weights]
        kept = _kept({path: wanted.first[path] for path in slots}, used)
        slots = {path: slot for path, slot in slots.items() if path in kept}
        kept = _kept({n: read.aliases.get(n, n) for n in weights}, (targets[p] for p in slots))
        made.note([n for n in weights if n not in kept], "the same weight under a second name")
        weights = {name: weight for name, weight in weights.items() if name in kept}
    pairs = _paired(_slots(weights), slots, rename)
    for path, name in pairs.items():
        made.add(name, names[path], weights[name])
    counts = [name for name in weights if _is_count(name) and name not in pairs.values()]
    made.note(counts, "dropped, MindSpore has no place for it")


def _without_partner(
    wanted: Destination, targets: Mapping[str, str], weights: Mapping[str, Weight]
) -> list[str]:
    """Frozen scales and shifts of layers for which the file has neither, and says so.

    It says so by running statistics without them; the cell, by its `affine`.
    """
    found = []
    for path in wanted.constants:
        layer = path.rpartition(".")[0]
        prefix = f"{layer}." if layer else ""
        own = [targets[prefix + leaf] for leaf in ("gamma", "beta") if prefix + leaf in targets]
        statistic = targets.get(f"{prefix}moving_mean")
        if not weights.keys() & set(own) and (statistic in weights or layer in wanted.plain):
            found.append(path)
    return found


def _to_pytorch(
    read: Checkpoint,
    rename: Mapping[str, str],
    layout: str | None,
    wanted: Destination | None,
    made: Conversion,
) -> None:
    paths = mindspore_names.in_network(read.weights)
    weights = {path: read.weights[name] for name, path in paths.items()}
    origin = {path: name for name, path in paths.items()}
    targets = {path: reference_name(path, rename) for path in weights}
    if wanted is None:
        slots = {targets[path]: slot for path, slot in _slots(weights).items()}
        first = {name: name for name in slots}
        means = [n.rpartition("running_mean") for n in slots if n.endswith("running_mean")]
        counts = [f"{prefix}num_batches_tracked" for prefix, _, _ in means]
    else:
        first = wanted.first
        counts = [name for name in wanted.slots if _is_count(name)]
        if layout:
            _turn(weights, {path for path in weights if targets[path] in wanted.kernels})
        constants = [path for path in weights if _is_constant(targets[path], weights[path], wanted)]
        made.note((origin[path] for path in constants), "dropped, the layer has no scale or shift")
        weights = {path: weight for path, weight in weights.items() if path not in constants}
        kept = _kept(first, (targets[path] for path in weights))
        slots = {name: slot for name, slot in wanted.slots.items() if name in kept}
    pairs = _paired(slots, _slots(weights), rename)
    for path, name in pairs.items():
        for each in (each for each, head in first.items() if head == first[name]):
            made.add(origin[path], each, weights[path])
            if each != first[name]:
                made.aliases[each] = first[name]
    added = [name for name in counts if name not in made.weights]
    for name in added:
        made.add("(0)", name, Weight("int64", np.zeros((), np.int64)))


def _is_constant(name: str, weight: Weight, wanted: Destination) -> bool:
    """Ones or zeros in place of a scale or shift that PyTorch's layer does not have."""
    layer, _, leaf = name.rpartition(".")
    value = {"weight": 1, "bias": 0}.get(leaf)
    if name in wanted.slots or layer not in wanted.plain or value is None:
        return False
    constant = np.full(weight.shape, value, numpy_dtype(weight.dtype))
    return weight.dtype != "bfloat16" and np.array_equal(weight.values, constant)

"""A checkpoint of one framework becomes one of the other: by the names that twins pair up by.

With the network that it is for, names and shapes are checked one to one and complete. Without,
MindSpore's names follow from PyTorch's as far as a file shows them (see `mindspore_names`), and
nothing can be said about another architecture. Values and dtypes stay as they are, bit for bit.

Three things have no partner on the other side. PyTorch's `num_batches_tracked` is dropped, and 0
on the way back. A weight used in several places has one name in MindSpore and several in PyTorch.
A MindSpore normalisation without scale and shift keeps ones and zeros in their place.

The state of an optimiser goes along where the optimiser of the destination is named, and is
refused where it is neither named nor dropped: a training would go on without it unnoticed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from equivalence.convert import (
    checkpoints,
    destination,
    kernels,
    mindspore_names,
    optimizer_numbers,
    optimizer_state,
)
from equivalence.convert.checkpoints import FORMATS
from equivalence.convert.conversion import Conversion
from equivalence.convert.destination import KIND, Destination
from equivalence.convert.formats import MINDSPORE, PYTORCH, Checkpoint, Weight, numpy_dtype
from equivalence.errors import CheckpointError, WeightError
from equivalence.sides.weights import REFERENCE_ONLY, Slot, pair, reference_name

OTHER = {PYTORCH: MINDSPORE, MINDSPORE: PYTORCH}

WRAPPERS = ("module", "_orig_mod")
"""First segments of all names in a file of `DataParallel` and of `torch.compile`."""

OPTIMIZER = "optimizer"
"""What --drop calls the state of an optimiser."""


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
    optimizer: str | None = None,
    steps: int | None = None,
) -> Conversion:
    """Convert the file `source` into the file `target`, which is written whole or not at all.

    to: "pytorch" or "mindspore", where the suffixes leave it open. network: the "module:attribute"
    that, called with `arguments`, builds the network which the destination is for. rename:
    MindSpore run of name segments -> PyTorch run. drop: names, or their first segments, that are
    left out; "optimizer" is all of an optimiser's state. layout: "hwio" for kernels as TensorFlow
    has them; needs `network`. optimizer: the "module:attribute" that, called with the network,
    builds the optimiser which the state is for. steps: how many steps PyTorch's SGD has taken,
    where MindSpore's learning rate follows them.

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
    if optimizer and (not network or layout):
        raise CheckpointError("--optimizer needs --network, and has no --layout")
    if steps is not None and not optimizer:
        raise CheckpointError("--steps are for an --optimizer, and there is none")
    wanted = destination.describe(to, network, arguments or {}) if network else None
    nothing = wanted is not None and not wanted.slots
    read = checkpoints.read(source, OTHER[to], empty=nothing)
    made = Conversion()
    if not read.checked:
        made.note([str(source)], "has no checksum, so that damage to its values would not show")
    made.note(read.extras, "beside the weights, not converted")
    job = _Job(source, read, rename, layout, wanted, made)
    if to == MINDSPORE:
        _unwrap(job)
    remembered = _drop(job, drop)
    if remembered and not optimizer:
        raise CheckpointError(
            f"{source} holds the state of an optimiser ({remembered}): build the one that it is "
            f"for with --optimizer, or leave it behind with --drop {OPTIMIZER}"
        )
    if optimizer and not remembered:
        raise CheckpointError(f"{source} holds no state of an optimiser for --optimizer")
    try:
        if to == MINDSPORE:
            _to_mindspore(job, optimizer, steps)
        else:
            _to_pytorch(job, optimizer, steps)
    except WeightError as error:
        fits = f"does not fit {network}" if network else "cannot be converted"
        raise WeightError(
            f"{source} {fits} (reference is PyTorch's side, candidate MindSpore's): {error}"
        ) from None
    if not made.weights and not nothing:
        raise CheckpointError(f"{source} holds nothing that {to} has a place for")
    checkpoints.write(target, to, made.weights, made.aliases, made.optimizer)
    return made


@dataclass
class _Job:
    """What is converted, how, and what has come of it so far."""

    source: Path
    read: Checkpoint
    rename: dict[str, str]
    layout: str | None
    wanted: Destination | None
    made: Conversion


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


def _unwrap(job: _Job) -> None:
    """Take a wrapper off the front of PyTorch's names, where the destination does not have it."""
    read, expected = job.read, list(job.rename.values())
    if job.wanted is not None:
        expected += [reference_name(path, job.rename) for path in job.wanted.slots]
    taken = True
    while taken:
        taken = [
            f"{wrapper}."
            for wrapper in WRAPPERS
            if all(name.startswith(f"{wrapper}.") for name in read.weights)
            and not any(f"{name}.".startswith(f"{wrapper}.") for name in expected)
        ]
        for run in taken if read.weights else ():
            read.weights = {n.removeprefix(run): w for n, w in read.weights.items()}
            read.aliases = {
                n.removeprefix(run): kept.removeprefix(run) for n, kept in read.aliases.items()
            }
            for group in read.optimizer.groups if read.optimizer else ():
                if "param_names" in group:
                    group["param_names"] = [n.removeprefix(run) for n in group["param_names"]]
            job.made.note([run.rstrip(".")], "in front of every name, taken off")
        taken = taken and bool(read.weights)


def _drop(job: _Job, drop: Sequence[str]) -> str | None:
    """Leave out what the user says; something of the state of an optimiser that is left."""
    read = job.read
    for run in drop:
        owned = optimizer_state.owned(read.weights) if run == OPTIMIZER else ()
        names = [n for n in read.weights if f"{n}.".startswith(f"{run}.") or n in owned]
        if not names and not (run == OPTIMIZER and read.optimizer):
            raise CheckpointError(f"--drop {run}: {job.source} has no such weight")
        job.made.note(names or [OPTIMIZER], "dropped, as told")
        for name in names:
            del read.weights[name]
            read.aliases.pop(name, None)
        if run == OPTIMIZER:
            read.optimizer = None
    if drop and not read.weights:
        raise CheckpointError(f"{job.source} holds no weights beside those that are dropped")
    if read.optimizer:
        return OPTIMIZER
    return next((n for n in read.weights if n in optimizer_state.owned(read.weights)), None)


def _is_count(name: str) -> bool:
    return name.rpartition(".")[2] in REFERENCE_ONLY


def _slots(weights: Mapping[str, Weight]) -> dict[str, Slot]:
    return {name: Slot(weight.shape, KIND) for name, weight in weights.items()}


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


def _demand_kinds(job: _Job, name: str, weight: Weight, wanted: str) -> str | None:
    """Refuse integers for numbers; the name of a weight that is wider or narrower."""
    kinds = ["float" in dtype for dtype in (weight.dtype, wanted)]
    if kinds[0] != kinds[1]:
        raise CheckpointError(
            f"{job.source}: {name} is {weight.dtype}, and the network has {wanted} in its place"
        )
    return name if weight.dtype != wanted else None


def _to_mindspore(job: _Job, optimizer: str | None, steps: int | None) -> None:
    read, rename, wanted, made = job.read, job.rename, job.wanted, job.made
    weights = read.weights
    given = {name: weight.shape for name, weight in weights.items()}
    if wanted is None:
        shapes = {name: w.shape for name, w in weights.items() if not _is_count(name)}
        paths = mindspore_names.guess(shapes, rename)
        slots = {path: Slot(shapes[name], KIND) for name, path in paths.items()}
        names = mindspore_names.in_file(slots)
    else:
        slots, names = dict(wanted.slots), wanted.names
        targets = {path: reference_name(path, rename) for path in slots}
        if job.layout:
            depthwise = {targets[path] for path in wanted.depthwise}
            kernels.turn(weights, {targets[path] for path in wanted.kernels}, depthwise)
        for name in {targets[path] for path in wanted.flat} & weights.keys():
            weights[name] = kernels.unflattened(weights[name])
        for path in _without_partner(wanted, targets, weights):
            del slots[path]
            fill = np.ones if path.endswith("gamma") else np.zeros
            dtype = wanted.dtypes[path]
            values = fill(wanted.slots[path].shape, numpy_dtype(dtype))
            made.add("(no scale or shift)", names[path], Weight(dtype, values))
        used = [path for path in slots if targets[path] in weights]
        kept = _kept({path: wanted.first[path] for path in slots}, used)
        slots = {path: slot for path, slot in slots.items() if path in kept}
        kept = _kept({n: read.aliases.get(n, n) for n in weights}, (targets[p] for p in slots))
        made.note([n for n in weights if n not in kept], "the same weight under a second name")
        weights = {name: weight for name, weight in weights.items() if name in kept}
    pairs = _paired(_slots(weights), slots, rename)
    _note_dtypes(job, [(name, weights[name], path) for path, name in pairs.items()])
    for path, name in pairs.items():
        made.add(name, names[path], weights[name])
    counts = [name for name in weights if _is_count(name) and name not in pairs.values()]
    made.note(counts, "dropped, MindSpore has no place for it")
    if optimizer:
        built, stepped = destination.optimizer_of_cell(optimizer, wanted.network)
        heads = {path: read.aliases.get(name, name) for path, name in pairs.items()}
        partners = {names[path]: head for path, head in heads.items() if names[path] in stepped}
        order = {name: shape for name, shape in given.items() if name in partners.values()}
        state = optimizer_numbers.from_pytorch(read.optimizer, order, steps)
        for held in state.moments.values():
            for name in held.keys() & {heads[path] for path in wanted.flat}:
                held[name] = kernels.unflattened(held[name])
        entries = optimizer_state.to_mindspore(state, built, partners)
        for name, (origin, weight) in entries.items():
            made.add(origin, name, weight)


def _note_dtypes(job: _Job, weights: Iterable[tuple[str, Weight, str]]) -> None:
    """Tell of weights, (name, values, path in the destination), whose dtype is another there."""
    if job.wanted is None:
        return
    others: dict[tuple[str, str], list[str]] = {}
    for name, weight, path in weights:
        wanted = job.wanted.dtypes[path]
        if _demand_kinds(job, name, weight, wanted):
            others.setdefault((weight.dtype, wanted), []).append(name)
    for (dtype, wanted), names in others.items():
        job.made.note(names, f"stays {dtype}, which the network has as {wanted}")


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


def _to_pytorch(job: _Job, optimizer: str | None, steps: int | None) -> None:
    read, rename, wanted, made = job.read, job.rename, job.wanted, job.made
    owned = optimizer_state.owned(read.weights) if optimizer else set()
    entries = {name: read.weights.pop(name) for name in list(read.weights) if name in owned}
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
        if job.layout:
            turned = {path for path in weights if targets[path] in wanted.kernels}
            depthwise = {path for path in weights if targets[path] in wanted.depthwise}
            kernels.turn(weights, turned, depthwise)
        for path in weights:
            if targets[path] in wanted.flat:
                weights[path] = kernels.flattened(weights[path])
        constants = [path for path in weights if _is_constant(targets[path], weights[path], wanted)]
        made.note((origin[path] for path in constants), "dropped, the layer has no scale or shift")
        weights = {path: weight for path, weight in weights.items() if path not in constants}
        kept = _kept(first, (targets[path] for path in weights))
        slots = {name: slot for name, slot in wanted.slots.items() if name in kept}
    pairs = _paired(slots, _slots(weights), rename)
    _note_dtypes(job, [(origin[path], weights[path], name) for path, name in pairs.items()])
    for path, name in pairs.items():
        for each in (each for each, head in first.items() if head == first[name]):
            made.add(origin[path], each, weights[path])
            if each != first[name]:
                made.aliases[each] = first[name]
    added = [name for name in counts if name not in made.weights]
    for name in added:
        made.add("(0)", name, Weight("int64", np.zeros((), np.int64)))
    if optimizer:
        if steps is not None:
            raise CheckpointError("--steps is for PyTorch's SGD, which has no place for them")
        partners = {origin[path]: first[name] for path, name in pairs.items()}
        _optimizer_to_pytorch(job, optimizer, entries, partners)


def _optimizer_to_pytorch(
    job: _Job, optimizer: str, entries: Mapping[str, Weight], partners: Mapping[str, str]
) -> None:
    """partners: MindSpore's name of each weight -> PyTorch's."""
    groups, names = destination.optimizer_of_module(optimizer, job.wanted.network)
    shapes = {name: weight.shape for name, weight in job.read.weights.items()}
    state = optimizer_state.from_mindspore(entries, shapes)
    origin = {partners[name]: name for name in state.parameters if name in partners}
    state.parameters = set(origin)
    for held, values in state.moments.items():
        named = {partners[name]: weight for name, weight in values.items() if name in partners}
        for name in named.keys() & job.wanted.flat:
            named[name] = kernels.flattened(named[name])
        state.moments[held] = named
    built = optimizer_numbers.to_pytorch(state, groups, names)
    job.made.add_optimizer(built, {number: origin[name] for number, name in names.items()})
    if not state.adaptive and state.steps:
        told = f"{state.steps}: dropped, PyTorch's SGD does not count its steps"
        job.made.notes.append(f"global_step {told}")


def _is_constant(name: str, weight: Weight, wanted: Destination) -> bool:
    """Ones or zeros in place of a scale or shift that PyTorch's layer does not have."""
    layer, _, leaf = name.rpartition(".")
    value = {"weight": 1, "bias": 0}.get(leaf)
    if name in wanted.slots or layer not in wanted.plain or value is None:
        return False
    constant = np.full(weight.shape, value, numpy_dtype(weight.dtype))
    return weight.dtype != "bfloat16" and np.array_equal(weight.values, constant)

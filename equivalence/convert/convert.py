"""Converts a checkpoint of one framework into one of the other, by the names that pair up twins.

With the network that the checkpoint is for, names and shapes are checked one to one and complete.
Without it, MindSpore's names follow from PyTorch's as far as a file shows them (see
`mindspore_names`), and another architecture is not noticed. Values and dtypes stay the same, bit
for bit.

Three things have no partner on the other side. PyTorch's `num_batches_tracked` is dropped, and is
0 on the way back. A weight that is used in several places has one name in MindSpore and several in
PyTorch. A MindSpore normalisation without scale and shift keeps ones and zeros in their place.

The state of an optimiser is converted if the destination's optimiser is named. If it is neither
named nor dropped, CheckpointError is raised: a training would go on without it unnoticed.
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
from equivalence.structure.weights import REFERENCE_ONLY, Slot, pair, reference_name

OTHER = {PYTORCH: MINDSPORE, MINDSPORE: PYTORCH}
"""A framework -> the other one."""

WRAPPERS = ("module", "_orig_mod")
"""First segments of all names in a file that `DataParallel` or `torch.compile` wrote."""

OPTIMIZER = "optimizer"
"""The name that --drop gives the state of an optimiser."""


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
    """Convert the file `source` into the file `target`, which is written completely or not at all.

    to: "pytorch" or "mindspore"; needed where the suffixes leave it open.
    network: the "module:attribute" that builds the destination's network from `arguments`.
    arguments: keyword arguments of `network`.
    rename: MindSpore's name segments -> PyTorch's, where they differ from the standard.
    drop: names, or their first segments, to leave out; "optimizer" is an optimiser's whole state.
    layout: "hwio" for kernels in TensorFlow's order; needs `network`.
    force: whether an existing `target` is replaced.
    optimizer: the "module:attribute" that builds the destination's optimiser from the network.
    steps: how many steps PyTorch's SGD has taken, if MindSpore's learning rate follows them.

    Raises EquivalenceError for everything that a user can correct.
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
    needs = destination.describe(to, network, arguments or {}) if network else None
    nothing_needed = needs is not None and not needs.slots
    read = checkpoints.read(source, OTHER[to], empty=nothing_needed)
    result = Conversion()
    if not read.checked:
        result.note([str(source)], "has no checksum, so that damage to its values would not show")
    result.note(read.extras, "beside the weights, not converted")
    job = _Job(source, read, rename, layout, needs, result)
    if to == MINDSPORE:
        _unwrap(job)
    state = _drop(job, drop)
    if state and not optimizer:
        raise CheckpointError(
            f"{source} holds the state of an optimiser ({state}): build the one that it is "
            f"for with --optimizer, or leave it behind with --drop {OPTIMIZER}"
        )
    if optimizer and not state:
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
    if not result.weights and not nothing_needed:
        raise CheckpointError(f"{source} holds nothing that {to} has a place for")
    checkpoints.write(target, to, result.weights, result.aliases, result.optimizer)
    return result


@dataclass
class _Job:
    """What is converted and how, and the result so far.

    source: the file.
    read: what it holds.
    rename: MindSpore's name segments -> PyTorch's.
    layout: "hwio" or None.
    needs: what the destination's network needs; None where no network is given.
    result: what is written.
    """

    source: Path
    read: Checkpoint
    rename: dict[str, str]
    layout: str | None
    needs: Destination | None
    result: Conversion


def _direction(source: Path, target: Path, to: str | None) -> str:
    """The framework of the destination; CheckpointError where it is open or contradictory."""
    for path in (source, target):
        if path.suffix not in FORMATS:
            raise CheckpointError(f"{path} does not end in {', '.join(FORMATS)}")
    directions = {OTHER.get(FORMATS[source.suffix]), FORMATS[target.suffix], to} - {None}
    if not directions:
        raise CheckpointError("a .safetensors may be of either side: give --to pytorch|mindspore")
    if len(directions) > 1:
        given = f" --to {to}" if to else ""
        raise CheckpointError(
            f"{source} -> {target}{given} is no conversion from one framework to the other: .pth "
            f"and .pt are PyTorch's, .ckpt is MindSpore's, .safetensors is either's"
        )
    return directions.pop()


def _unwrap(job: _Job) -> None:
    """Take wrappers off the front of PyTorch's names, unless the destination has them, too."""
    read, expected = job.read, list(job.rename.values())
    if job.needs is not None:
        expected += [reference_name(path, job.rename) for path in job.needs.slots]
    prefixes = True
    while prefixes:
        prefixes = [
            f"{wrapper}."
            for wrapper in WRAPPERS
            if all(name.startswith(f"{wrapper}.") for name in read.weights)
            and not any(f"{name}.".startswith(f"{wrapper}.") for name in expected)
        ]
        for prefix in prefixes if read.weights else ():
            read.weights = {n.removeprefix(prefix): w for n, w in read.weights.items()}
            read.aliases = {
                n.removeprefix(prefix): original.removeprefix(prefix)
                for n, original in read.aliases.items()
            }
            for group in read.optimizer.groups if read.optimizer else ():
                if "param_names" in group:
                    group["param_names"] = [n.removeprefix(prefix) for n in group["param_names"]]
            job.result.note([prefix.rstrip(".")], "in front of every name, taken off")
        prefixes = prefixes and bool(read.weights)


def _drop(job: _Job, drop: Sequence[str]) -> str | None:
    """Leave out what the user names; return a name of an optimiser's state that remains."""
    read = job.read
    for prefix in drop:
        owned = optimizer_state.state_names(read.weights) if prefix == OPTIMIZER else ()
        names = [n for n in read.weights if f"{n}.".startswith(f"{prefix}.") or n in owned]
        if not names and not (prefix == OPTIMIZER and read.optimizer):
            raise CheckpointError(f"--drop {prefix}: {job.source} has no such weight")
        job.result.note(names or [OPTIMIZER], "dropped, as told")
        for name in names:
            del read.weights[name]
            read.aliases.pop(name, None)
        if prefix == OPTIMIZER:
            read.optimizer = None
    if drop and not read.weights:
        raise CheckpointError(f"{job.source} holds no weights beside those that are dropped")
    if read.optimizer:
        return OPTIMIZER
    return next((n for n in read.weights if n in optimizer_state.state_names(read.weights)), None)


def _is_count(name: str) -> bool:
    """Whether a name is PyTorch's count of batches, which MindSpore does not have."""
    return name.rpartition(".")[2] in REFERENCE_ONLY


def _slots(weights: Mapping[str, Weight]) -> dict[str, Slot]:
    return {name: Slot(weight.shape, KIND) for name, weight in weights.items()}


def _choose_names(first: Mapping[str, str], partners: Iterable[str]) -> set[str]:
    """One name, or several, of each shared weight: those among `partners`, or else the first one.

    first: name -> the first name of the same weight.
    """
    partners = set(partners)
    groups: dict[str, list[str]] = {}
    for name, head in first.items():
        groups.setdefault(head, []).append(name)
    chosen: set[str] = set()
    for group in groups.values():
        chosen |= partners & set(group) or {group[0]}
    return chosen


def _pair(
    reference: Mapping[str, Slot], candidate: Mapping[str, Slot], rename: Mapping[str, str]
) -> dict[str, str]:
    """Candidate path -> reference name; a count of batches counts only where both sides have it."""
    counts = {path: reference_name(path, rename) for path in candidate if _is_count(path)}
    counts = {p: name for p, name in counts.items() if reference.get(name) == candidate[p]}
    others = {path: slot for path, slot in candidate.items() if path not in counts}
    partners = pair(reference, others, rename)
    if partners.groups:
        raise WeightError(f"{partners.groups[0]}: a conversion only renames weights")
    return partners | counts


def _demand_kinds(job: _Job, name: str, weight: Weight, dtype: str) -> str | None:
    """The name of a weight whose dtype differs from the network's, else None.

    Raises CheckpointError where one of the two dtypes is an integer type and the other is not.
    """
    kinds = ["float" in kind for kind in (weight.dtype, dtype)]
    if kinds[0] != kinds[1]:
        raise CheckpointError(
            f"{job.source}: {name} is {weight.dtype}, and the network has {dtype} in its place"
        )
    return name if weight.dtype != dtype else None


def _to_mindspore(job: _Job, optimizer: str | None, steps: int | None) -> None:
    read, rename, needs, result = job.read, job.rename, job.needs, job.result
    weights = read.weights
    shapes_in_file = {name: weight.shape for name, weight in weights.items()}
    if needs is None:
        shapes = {name: w.shape for name, w in weights.items() if not _is_count(name)}
        paths = mindspore_names.guess(shapes, rename)
        slots = {path: Slot(shapes[name], KIND) for name, path in paths.items()}
        names = mindspore_names.in_file(slots)
    else:
        slots, names = dict(needs.slots), needs.names
        targets = {path: reference_name(path, rename) for path in slots}
        if job.layout:
            depthwise = {targets[path] for path in needs.depthwise}
            kernels.transpose_kernels(weights, {targets[path] for path in needs.kernels}, depthwise)
        for name in {targets[path] for path in needs.flat} & weights.keys():
            weights[name] = kernels.add_height(weights[name])
        for path in destination.without_partner(needs, targets, weights):
            del slots[path]
            fill = np.ones if path.endswith("gamma") else np.zeros
            dtype = needs.dtypes[path]
            values = fill(needs.slots[path].shape, numpy_dtype(dtype))
            result.add("(no scale or shift)", names[path], Weight(dtype, values))
        used = [path for path in slots if targets[path] in weights]
        chosen = _choose_names({path: needs.first[path] for path in slots}, used)
        slots = {path: slot for path, slot in slots.items() if path in chosen}
        chosen = _choose_names(
            {n: read.aliases.get(n, n) for n in weights}, (targets[p] for p in slots)
        )
        result.note([n for n in weights if n not in chosen], "the same weight under a second name")
        weights = {name: weight for name, weight in weights.items() if name in chosen}
    pairs = _pair(_slots(weights), slots, rename)
    _note_dtypes(job, [(name, weights[name], path) for path, name in pairs.items()])
    for path, name in pairs.items():
        result.add(name, names[path], weights[name])
    counts = [name for name in weights if _is_count(name) and name not in pairs.values()]
    result.note(counts, "dropped, MindSpore has no place for it")
    if optimizer:
        built, trained = destination.optimizer_of_cell(optimizer, needs.network)
        heads = {path: read.aliases.get(name, name) for path, name in pairs.items()}
        partners = {names[path]: head for path, head in heads.items() if names[path] in trained}
        order = {name: shape for name, shape in shapes_in_file.items() if name in partners.values()}
        state = optimizer_numbers.from_pytorch(read.optimizer, order, steps)
        for moments in state.moments.values():
            for name in moments.keys() & {heads[path] for path in needs.flat}:
                moments[name] = kernels.add_height(moments[name])
        entries = optimizer_state.to_mindspore(state, built, partners)
        for name, (origin, weight) in entries.items():
            result.add(origin, name, weight)


def _note_dtypes(job: _Job, weights: Iterable[tuple[str, Weight, str]]) -> None:
    """Note weights, (name, values, path in the destination), that have another dtype there."""
    if job.needs is None:
        return
    others: dict[tuple[str, str], list[str]] = {}
    for name, weight, path in weights:
        needed = job.needs.dtypes[path]
        if _demand_kinds(job, name, weight, needed):
            others.setdefault((weight.dtype, needed), []).append(name)
    for (dtype, needed), names in others.items():
        job.result.note(names, f"stays {dtype}, which the network has as {needed}")


def _to_pytorch(job: _Job, optimizer: str | None, steps: int | None) -> None:
    read, rename, needs, result = job.read, job.rename, job.needs, job.result
    owned = optimizer_state.state_names(read.weights) if optimizer else set()
    entries = {name: read.weights.pop(name) for name in list(read.weights) if name in owned}
    paths = mindspore_names.in_network(read.weights)
    weights = {path: read.weights[name] for name, path in paths.items()}
    origin = {path: name for name, path in paths.items()}
    targets = {path: reference_name(path, rename) for path in weights}
    if needs is None:
        slots = {targets[path]: slot for path, slot in _slots(weights).items()}
        first = {name: name for name in slots}
        means = [n.rpartition("running_mean") for n in slots if n.endswith("running_mean")]
        counts = [f"{prefix}num_batches_tracked" for prefix, _, _ in means]
    else:
        first = needs.first
        counts = [name for name in needs.slots if _is_count(name)]
        if job.layout:
            kernel_paths = {path for path in weights if targets[path] in needs.kernels}
            depthwise = {path for path in weights if targets[path] in needs.depthwise}
            kernels.transpose_kernels(weights, kernel_paths, depthwise)
        for path in weights:
            if targets[path] in needs.flat:
                weights[path] = kernels.drop_height(weights[path])
        constants = [
            path for path in weights if destination.is_constant(targets[path], weights[path], needs)
        ]
        result.note(
            (origin[path] for path in constants), "dropped, the layer has no scale or shift"
        )
        weights = {path: weight for path, weight in weights.items() if path not in constants}
        chosen = _choose_names(first, (targets[path] for path in weights))
        slots = {name: slot for name, slot in needs.slots.items() if name in chosen}
    pairs = _pair(slots, _slots(weights), rename)
    _note_dtypes(job, [(origin[path], weights[path], name) for path, name in pairs.items()])
    for path, name in pairs.items():
        for alias in (alias for alias, head in first.items() if head == first[name]):
            result.add(origin[path], alias, weights[path])
            if alias != first[name]:
                result.aliases[alias] = first[name]
    missing = [name for name in counts if name not in result.weights]
    for name in missing:
        result.add("(0)", name, Weight("int64", np.zeros((), np.int64)))
    if optimizer:
        if steps is not None:
            raise CheckpointError("--steps is for PyTorch's SGD, which has no place for them")
        partners = {origin[path]: first[name] for path, name in pairs.items()}
        _optimizer_to_pytorch(job, optimizer, entries, partners)


def _optimizer_to_pytorch(
    job: _Job, optimizer: str, entries: Mapping[str, Weight], partners: Mapping[str, str]
) -> None:
    """Convert the state of MindSpore's optimiser, in `entries`, into PyTorch's.

    partners: MindSpore's name of each weight -> PyTorch's.
    """
    groups, names = destination.optimizer_of_module(optimizer, job.needs.network)
    shapes = {name: weight.shape for name, weight in job.read.weights.items()}
    state = optimizer_state.from_mindspore(entries, shapes)
    origin = {partners[name]: name for name in state.parameters if name in partners}
    state.parameters = set(origin)
    for quantity, values in state.moments.items():
        by_name = {partners[name]: weight for name, weight in values.items() if name in partners}
        for name in by_name.keys() & job.needs.flat:
            by_name[name] = kernels.drop_height(by_name[name])
        state.moments[quantity] = by_name
    built = optimizer_numbers.to_pytorch(state, groups, names)
    job.result.add_optimizer(built, {number: origin[name] for number, name in names.items()})
    if not state.adaptive and state.steps:
        words = f"{state.steps}: dropped, PyTorch's SGD does not count its steps"
        job.result.notes.append(f"global_step {words}")

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

from equivalence.checkpoints import files, shards
from equivalence.checkpoints.formats import MINDSPORE, Checkpoint, StoredWeight, numpy_dtype
from equivalence.convert import (
    destination,
    joined,
    mindspore_names,
    optimizer_numbers,
    optimizer_state,
)
from equivalence.convert import source as sources
from equivalence.convert.destination import KIND, Destination
from equivalence.convert.source import Conversion
from equivalence.declare.renames import JOIN, is_plain
from equivalence.errors import CheckpointError, WeightError
from equivalence.structure.weights import REFERENCE_ONLY, Partners, Slot, pair, reference_name


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
    key: str | None = None,
    strip: Sequence[str] = (),
    shard: int | None = None,
) -> Conversion:
    """Convert the file `source` into the file `target`, which is written completely or not at all.

    source: a file, the index of several files, or their folder.

    to: "pytorch" or "mindspore"; needed where the suffixes leave it open.
    network: the "module:attribute" that builds the destination's network from `arguments`.
    arguments: keyword arguments of `network`.
    rename: MindSpore's name segments -> PyTorch's, where they differ from the standard.
    drop: names, or their first segments, to leave out; "optimizer" is an optimiser's whole state.
    layout: "hwio" for kernels in TensorFlow's order; needs `network`.
    force: whether an existing `target` is replaced.
    optimizer: the "module:attribute" that builds the destination's optimiser from the network.
    steps: how many steps PyTorch's SGD has taken, if MindSpore's learning rate follows them.
    key: where a PyTorch file has its state dict, "ema.module"; None looks for it.
    strip: prefixes to take off the names in the file.
    shard: the most bytes of a file; the weights are then in shards, with an index.

    Raises EquivalenceError for everything that a user can correct.
    """
    rename = dict(rename or {})
    to = sources.direction(source, target, to)
    if target.exists() and source.exists() and target.samefile(source):
        raise CheckpointError(f"{target} is the source itself; name another destination")
    if target.is_dir() or not target.parent.is_dir():
        wrong = "is a folder" if target.is_dir() else "lies in a folder that does not exist"
        raise CheckpointError(f"{target} {wrong}; name a file in a folder that exists")
    there = shards.present(target) if shard else [each for each in (target,) if each.exists()]
    if there and not force:
        raise CheckpointError(f"{there[0]} exists; give --force to replace it")
    if arguments and not network:
        raise CheckpointError("--arguments are for a --network, and there is none")
    if layout and (not network or source.suffix == ".ckpt"):
        raise CheckpointError(
            "--layout hwio needs --network, which tells the kernels from other weights, and a "
            "source that is no .ckpt"
        )
    if not network and (odd := next((old for old in rename if not is_plain(old, rename[old])), "")):
        raise CheckpointError(
            f"--rename {odd}={rename[odd]} rearranges weights, which needs --network"
        )
    if optimizer and (not network or layout):
        raise CheckpointError("--optimizer needs --network, and has no --layout")
    if steps is not None and not optimizer:
        raise CheckpointError("--steps are for an --optimizer, and there is none")
    needs = destination.describe(to, network, arguments or {}) if network else None
    nothing_needed = needs is not None and not needs.slots
    read = files.read(source, sources.OTHER[to], empty=nothing_needed, key=key)
    result = Conversion()
    if not read.checked:
        result.note([str(source)], "has no checksum, so that damage to its values would not show")
    result.note(read.extras, "beside the weights, not converted")
    job = _ConversionSoFar(source, read, rename, layout, needs, result)
    if to == MINDSPORE:
        expected = [reference_name(path, rename) for path in needs.slots] if needs else []
        for wrapper in sources.unwrap(read, [*rename.values(), *strip, *expected]):
            result.note([wrapper], "in front of every name, taken off")
    sources.strip(read, strip, source, result)
    state = sources.drop(read, drop, source, result)
    if state and not optimizer:
        raise CheckpointError(
            f"{source} holds the state of an optimiser ({state}): build the one that it is "
            f"for with --optimizer, or leave it behind with --drop {sources.OPTIMIZER}"
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
    files.write(target, to, result.weights, result.aliases, result.optimizer, shard)
    return result


@dataclass
class _ConversionSoFar:
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


def _is_count(name: str) -> bool:
    """Whether a name is PyTorch's count of batches, which MindSpore does not have."""
    return name.rpartition(".")[2] in REFERENCE_ONLY


def _slots(weights: Mapping[str, StoredWeight]) -> dict[str, Slot]:
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
    reference: Mapping[str, Slot],
    candidate: Mapping[str, Slot],
    rename: Mapping[str, str],
    known: bool,
) -> Partners:
    """The partners of all weights; a count of batches counts only where both sides have it.

    known: whether a network tells the names. Without one, a name must come back by rule.
    """
    counts = {path: reference_name(path, rename) for path in candidate if _is_count(path)}
    counts = {p: name for p, name in counts.items() if reference.get(name) == candidate[p]}
    others = {path: slot for path, slot in candidate.items() if path not in counts}
    partners = pair(reference, others, rename)
    for name, target in partners.items():
        by_rule = reference_name(name, rename)
        if name == target != by_rule and not known:
            raise WeightError(
                f"candidate {name} ({candidate[name]}) maps to {by_rule}, under which it would "
                "come back; --network tells the names"
            )
    partners.update(counts)
    return partners


def _demand_no_state(pairs: Partners, optimizer: str | None) -> None:
    """Raise CheckpointError where the state of an optimiser would have to be rearranged."""
    if pairs.groups and optimizer:
        raise CheckpointError(
            f"{pairs.groups[0]}: the state of an optimiser is not rearranged; leave it behind with "
            f"--drop {sources.OPTIMIZER}"
        )


def _demand_kinds(job: _ConversionSoFar, name: str, weight: StoredWeight, dtype: str) -> str | None:
    """The name of a weight whose dtype differs from the network's, else None.

    Raises CheckpointError where one of the two dtypes is an integer type and the other is not.
    """
    kinds = ["float" in kind for kind in (weight.dtype, dtype)]
    if kinds[0] != kinds[1]:
        raise CheckpointError(
            f"{job.source}: {name} is {weight.dtype}, and the network has {dtype} in its place"
        )
    return name if weight.dtype != dtype else None


def _to_mindspore(job: _ConversionSoFar, optimizer: str | None, steps: int | None) -> None:
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
            joined.transpose_kernels(weights, {targets[path] for path in needs.kernels}, depthwise)
        for name in {targets[path] for path in needs.flat} & weights.keys():
            weights[name] = joined.add_height(weights[name])
        for path in destination.without_partner(needs, targets, weights):
            del slots[path]
            fill = np.ones if path.endswith("gamma") else np.zeros
            dtype = needs.dtypes[path]
            values = fill(needs.slots[path].shape, numpy_dtype(dtype))
            result.add("(no scale or shift)", names[path], StoredWeight(dtype, values))
        used = [path for path in slots if targets[path] in weights]
        chosen = _choose_names({path: needs.first[path] for path in slots}, used)
        slots = {path: slot for path, slot in slots.items() if path in chosen}
        chosen = _choose_names(
            {n: read.aliases.get(n, n) for n in weights}, (targets[p] for p in slots)
        )
        result.note([n for n in weights if n not in chosen], "the same weight under a second name")
        weights = {name: weight for name, weight in weights.items() if name in chosen}
    pairs = _pair(_slots(weights), slots, rename, needs is not None)
    _note_dtypes(job, [(name, weights[name], path) for path, name in pairs.items()])
    for path, name in pairs.items():
        result.add(name, names[path], weights[name])
    _demand_no_state(pairs, optimizer)
    for group in pairs.groups:
        for path, weight in joined.to_candidate(group, weights).items():
            result.add(JOIN.join(group.reference), names[path], weight)
    counts = [name for name in weights if _is_count(name) and name not in pairs.values()]
    result.note(counts, "dropped, MindSpore has no place for it")
    if optimizer and needs is not None and read.optimizer is not None:
        built, trained = destination.optimizer_of_cell(optimizer, needs.network)
        heads = {path: read.aliases.get(name, name) for path, name in pairs.items()}
        partners = {names[path]: head for path, head in heads.items() if names[path] in trained}
        order = {name: shape for name, shape in shapes_in_file.items() if name in partners.values()}
        state = optimizer_numbers.from_pytorch(read.optimizer, order, steps)
        for moments in state.moments.values():
            for name in moments.keys() & {heads[path] for path in needs.flat}:
                moments[name] = joined.add_height(moments[name])
        entries = optimizer_state.to_mindspore(state, built, partners)
        for name, (origin, weight) in entries.items():
            result.add(origin, name, weight)


def _note_dtypes(job: _ConversionSoFar, weights: Iterable[tuple[str, StoredWeight, str]]) -> None:
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


def _to_pytorch(job: _ConversionSoFar, optimizer: str | None, steps: int | None) -> None:
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
            joined.transpose_kernels(weights, kernel_paths, depthwise)
        for path in weights:
            if targets[path] in needs.flat:
                weights[path] = joined.drop_height(weights[path])
        constants = [
            path for path in weights if destination.is_constant(targets[path], weights[path], needs)
        ]
        result.note(
            (origin[path] for path in constants), "dropped, the layer has no scale or shift"
        )
        weights = {path: weight for path, weight in weights.items() if path not in constants}
        chosen = _choose_names(first, (targets[path] for path in weights))
        slots = {name: slot for name, slot in needs.slots.items() if name in chosen}
    pairs = _pair(slots, _slots(weights), rename, needs is not None)
    _note_dtypes(job, [(origin[path], weights[path], name) for path, name in pairs.items()])
    for path, name in pairs.items():
        for alias in (alias for alias, head in first.items() if head == first[name]):
            result.add(origin[path], alias, weights[path])
            if alias != first[name]:
                result.aliases[alias] = first[name]
    _demand_no_state(pairs, optimizer)
    for group in pairs.groups:
        for name, weight in joined.to_reference(group, weights).items():
            result.add(JOIN.join(origin[path] for path in group.candidate), name, weight)
    missing = [name for name in counts if name not in result.weights]
    for name in missing:
        result.add("(0)", name, StoredWeight("int64", np.zeros((), np.int64)))
    if optimizer and needs is not None:
        if steps is not None:
            raise CheckpointError("--steps is for PyTorch's SGD, which has no place for them")
        partners = {origin[path]: first[name] for path, name in pairs.items()}
        _optimizer_to_pytorch(job, needs, optimizer, entries, partners)


def _optimizer_to_pytorch(
    job: _ConversionSoFar,
    needs: Destination,
    optimizer: str,
    entries: Mapping[str, StoredWeight],
    partners: Mapping[str, str],
) -> None:
    """Convert the state of MindSpore's optimiser, in `entries`, into PyTorch's.

    partners: MindSpore's name of each weight -> PyTorch's.
    """
    groups, names = destination.optimizer_of_module(optimizer, needs.network)
    shapes = {name: weight.shape for name, weight in job.read.weights.items()}
    state = optimizer_state.from_mindspore(entries, shapes)
    origin = {partners[name]: name for name in state.parameters if name in partners}
    state.parameters = set(origin)
    for quantity, values in state.moments.items():
        by_name = {partners[name]: weight for name, weight in values.items() if name in partners}
        for name in by_name.keys() & needs.flat:
            by_name[name] = joined.drop_height(by_name[name])
        state.moments[quantity] = by_name
    built = optimizer_numbers.to_pytorch(state, groups, names)
    job.result.add_optimizer(built, {number: origin[name] for number, name in names.items()})
    if not state.adaptive and state.steps:
        words = f"{state.steps}: dropped, PyTorch's SGD does not count its steps"
        job.result.notes.append(f"global_step {words}")


def command(
    source: Path,
    destination: Path,
    arguments: Sequence[tuple[str, Any]],
    rename: Sequence[tuple[str, str]],
    **options: Any,
) -> int:
    """Convert a checkpoint and print what became of it; returns the exit code."""
    conversion = convert(
        source, destination, arguments=dict(arguments), rename=dict(rename), **options
    )
    print(f"{source} -> {destination}", *conversion.lines(), sep="\n")
    print(f"{destination}: {conversion.count()}, verified by reading back")
    return 0

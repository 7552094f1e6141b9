"""MindSpore's name of a PyTorch weight, as far as a state dict shows its layer.

`reference_name` goes one way only: PyTorch's `weight` may be MindSpore's `weight`, or `gamma` in a
normalisation, or `embedding_table`. Without the network, the layer's other weights decide:

- running statistics: a BatchNorm, with `gamma` and `beta`;
- one axis, and a bias of the same shape: a LayerNorm or GroupNorm, with `gamma` and `beta`;
- two axes and a bias: a Dense; four or five axes: a convolution; both with `weight` and `bias`.

For every other weight or bias CheckpointError is raised: one axis without a bias (PReLU, RMSNorm),
two axes without a bias (Dense or Embedding), three axes (MindSpore's `nn.Conv1d` has four). A
rename of the whole name settles it. Other names stay the same.
"""

from collections.abc import Iterable, Mapping

from equivalence.errors import CheckpointError
from equivalence.structure.slots import STATISTICS
from equivalence.structure.weights import STANDARD_RENAMES, renamed

BACK = {new: old for old, new in STANDARD_RENAMES.items() if old != "embedding_table"}
"""PyTorch's last segment -> MindSpore's, in a normalisation."""

ROOT_STATISTICS = {"moving_mean": "mean", "moving_variance": "variance"}
"""Name within a layer -> name in the file of a BatchNorm that is the whole network."""


def guess(shapes: Mapping[str, tuple[int, ...]], rename: Mapping[str, str]) -> dict[str, str]:
    """PyTorch name -> MindSpore name, each a path below the network.

    rename: MindSpore's name segments -> PyTorch's.

    Raises CheckpointError with every name that remains open, or with two that would become one.
    """
    backwards = {new: old for old, new in rename.items()}
    names, unknown = {}, []
    for name in shapes:
        path = renamed(name, backwards)
        if any(f".{name}".endswith(f".{new}") for new in backwards):
            names[name] = path
            continue
        prefix, dot, last = path.rpartition(".")
        layer_prefix = name.rpartition(".")[0] + "." if "." in name else ""
        partner = _leaf(last, {leaf: shapes.get(layer_prefix + leaf) for leaf in BACK})
        if partner is None:
            unknown.append(f"{name} {shapes[name]}")
        names[name] = f"{prefix}{dot}{partner}"
    if unknown:
        raise CheckpointError(
            f"whether {unknown[0]} and {len(unknown) - 1} others are of a dense layer, an embedding"
            f" or something else is not known without the network: name it with --network, or say "
            f"it with --rename {unknown[0].split()[0]}={unknown[0].split()[0]} (MindSpore's name "
            f"first)"
        )
    sources: dict[str, str] = {}
    for name, path in names.items():
        if sources.setdefault(path, name) != name:
            raise CheckpointError(
                f"{sources[path]} {shapes[sources[path]]} and {name} {shapes[name]} would both be "
                f"{path}: a --rename is wrong, or one is missing"
            )
    return names


def _leaf(last: str, layer: Mapping[str, tuple[int, ...] | None]) -> str | None:
    """MindSpore's last segment; None where `layer`, its weights' shapes by name, leaves it open."""
    weight, bias = layer["weight"], layer["bias"]
    if last not in BACK:
        return last
    if last in STATISTICS or any(layer[name] for name in STATISTICS):
        return BACK[last]
    if weight and bias and len(weight) == 1 and weight == bias:
        return BACK[last]
    if weight and (len(weight) in (4, 5) or (len(weight) == 2 and bias)):
        return last
    return None


def in_file(paths: Iterable[str]) -> dict[str, str]:
    """Path below the network -> MindSpore's name in a file, where the network is not available."""
    return {path: ROOT_STATISTICS.get(path, path) for path in paths}


def in_network(names: Iterable[str]) -> dict[str, str]:
    """MindSpore's name in a file -> path below the network, where the network is not available."""
    paths = {name: path for path, name in ROOT_STATISTICS.items()}
    whole = paths.keys() <= set(names)
    return {name: paths.get(name, name) if whole else name for name in names}

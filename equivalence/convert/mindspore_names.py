"""MindSpore's name of a PyTorch weight, from what a state dict shows of its layer.

`reference_name` goes one way only: `weight` may have been `weight` or `gamma` (a normalisation) or
`embedding_table`. Without the network, the layer's other weights decide:

- running statistics beside it: a BatchNorm, `gamma` and `beta`;
- one dimension, and a bias of the same shape: a LayerNorm or GroupNorm, `gamma` and `beta`;
- two dimensions and a bias: a Dense; four or five: a convolution; `weight` and `bias`.

Everything else called weight or bias cannot be known and is refused: one dimension without a bias
(PReLU, RMSNorm), two without a bias (Dense or Embedding), three (`nn.Conv1d` of MindSpore has
four). A rename of the whole name says it. Other names stay as they are.
"""

from collections.abc import Iterable, Mapping

from equivalence.errors import CheckpointError
from equivalence.sides.weights import STANDARD_RENAMES, renamed

# The standard renames the other way; `weight` -> `gamma` where the layer is a normalisation.
BACK = {new: old for old, new in STANDARD_RENAMES.items() if old != "embedding_table"}
STATISTICS = ("running_mean", "running_var")

# A BatchNorm that is the whole network calls its statistics so; within a network they have the
# names that their layer gives them.
ROOT_STATISTICS = {"moving_mean": "mean", "moving_variance": "variance"}


def guess(shapes: Mapping[str, tuple[int, ...]], rename: Mapping[str, str]) -> dict[str, str]:
    """PyTorch name -> MindSpore name, each a path below the network.

    rename: MindSpore run -> PyTorch run. Raises CheckpointError with every name that cannot be
    known, or with two that would become one.
    """
    backwards = {new: old for old, new in rename.items()}
    names, unknown = {}, []
    for name in shapes:
        path = renamed(name, backwards)
        if any(f".{name}".endswith(f".{new}") for new in backwards):
            names[name] = path
            continue
        prefix, dot, last = path.rpartition(".")
        beside = name.rpartition(".")[0] + "." if "." in name else ""
        partner = _leaf(last, {leaf: shapes.get(beside + leaf) for leaf in BACK})
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
    taken: dict[str, str] = {}
    for name, path in names.items():
        if taken.setdefault(path, name) != name:
            raise CheckpointError(
                f"{taken[path]} {shapes[taken[path]]} and {name} {shapes[name]} would both be "
                f"{path}: a --rename is wrong, or one is missing"
            )
    return names


def _leaf(last: str, layer: Mapping[str, tuple[int, ...] | None]) -> str | None:
    """MindSpore's last segment; None where `layer`, the shapes of its weights, does not tell."""
    weight, bias = layer["weight"], layer["bias"]
    if last not in BACK:
        return last
    if last in STATISTICS or any(layer[each] for each in STATISTICS):
        return BACK[last]
    if weight and bias and len(weight) == 1 and weight == bias:
        return BACK[last]
    if weight and (len(weight) in (4, 5) or (len(weight) == 2 and bias)):
        return last
    return None


def in_file(paths: Iterable[str]) -> dict[str, str]:
    """Path below the network -> MindSpore's name in a file, where the network is not at hand."""
    return {path: ROOT_STATISTICS.get(path, path) for path in paths}


def in_network(names: Iterable[str]) -> dict[str, str]:
    """MindSpore's name in a file -> path below the network, where that is not at hand."""
    paths = {name: path for path, name in ROOT_STATISTICS.items()}
    whole = paths.keys() <= set(names)
    return {name: paths.get(name, name) if whole else name for name in names}

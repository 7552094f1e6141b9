"""What two built networks tell before they run: the shape of an input, and what one alone keeps.

And the inputs of a twin as text.
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from equivalence.words import listed

SHAPES = {
    "Conv1d": "normal(2, {0.in_channels}, 64)",
    "Conv2d": "normal(2, {0.in_channels}, 64, 64)",
    "Conv3d": "normal(2, {0.in_channels}, 16, 32, 32)",
    "ConvTranspose1d": "normal(2, {0.in_channels}, 16)",
    "ConvTranspose2d": "normal(2, {0.in_channels}, 16, 16)",
    "Linear": "normal(2, {0.in_features})",
    "Embedding": "integers(2, 16, high={0.num_embeddings})",
    "RNNBase": "normal(2, 16, {0.input_size})",
    "RNNCellBase": "normal(2, {0.input_size})",
    "BatchNorm1d": "normal(8, {0.num_features})",
    "BatchNorm2d": "normal(4, {0.num_features}, 16, 16)",
    "GroupNorm": "normal(2, {0.num_channels}, 16, 16)",
    "TransformerEncoderLayer": "normal(2, 16, {0.self_attn.embed_dim})",
}
"""Class of PyTorch -> a draw that its layers can take."""

SUCH = "normal(2, 3, 64, 64)"
"""A draw as it is written."""


def propose(module: Any) -> str:
    """A sentence that says which inputs a module needs; with a draw where its layers tell one."""
    plain = getattr(module, "plain", None)  # of a function that stands for a module
    if plain is not None:
        return f"it is {plain}; give each tensor in order, such as {SUCH!r}"
    needed = required(module)
    if len(needed) > 1:
        return f"forward takes {' and '.join(needed)}; give each in order, such as {SUCH!r}"
    for layer in module.modules():
        names = [cls.__name__ for cls in type(layer).__mro__ if cls.__module__.startswith("torch.")]
        if kind := next((name for name in names if name in SHAPES), None):
            draw = SHAPES[kind].format(layer)
            return f"the first layer is a {names[0]}, so {draw!r} may do; or give an array"
    return f"the layers tell no shape; write one, such as {SUCH!r}, or give an array"


def required(module: Any) -> list[str]:
    """The names of the inputs that a module must be given."""
    parameters = inspect.signature(module.forward).parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.kind in positional and p.default is p.empty]


def unkept(names: Sequence[str]) -> tuple[str, ...]:
    """What is said of buffers of the original that the port keeps in no weight."""
    told = f"The port keeps {listed(list(names), 3)} in no weight: what is computed with it counts"
    return (f"{told}, and its values where the port has such a table.",) if names else ()


def shown_inputs(inputs: Any) -> str:
    """The inputs of a twin as text."""
    return ", ".join(shown_each(inputs))


def shown_each(inputs: Any) -> list[str]:
    """Each input of a twin as text."""
    if isinstance(inputs, Mapping):
        return [f"{name}={_shown(value)}" for name, value in inputs.items()]
    return [*map(_shown, inputs)] if isinstance(inputs, Sequence) else [str(inputs)]


def _shown(value: Any) -> str:
    """One input as text: the call that draws it, or the structure that holds such."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {_shown(each)}' for key, each in value.items())}}}"
    if isinstance(value, tuple | list):
        ends = "[]" if isinstance(value, list) else "()"
        return f"{ends[0]}{', '.join(map(_shown, value))}{ends[1]}"
    return repr(value) if isinstance(value, str) else str(value)

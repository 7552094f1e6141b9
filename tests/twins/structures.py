"""Inputs by keyword, nested and None; outputs in mappings and dataclasses."""

from equivalence.declare.draws import given, normal
from equivalence.declare.twin import Twin, grid


def twin(name, network, inputs, configs, **more) -> Twin:
    """Both sides have the network, of the same name and arguments."""
    reference, candidate = f"pt_reference.structures:{network}", f"ms_models.structures:{network}"
    phases = ("train",)
    return Twin(name, reference, candidate, inputs, configs, phases, level="nightly", **more)


PAST = (normal(2, 3, "size"), normal(2, 3, "size"))
"""Cached keys and values of three tokens."""

TWINS = (
    twin(
        "block_with_keywords",
        "Block",
        {
            "hidden_states": normal(2, 4, "size"),
            "attention_mask": normal(4, 7),
            "past": PAST,
            "use_cache": True,
        },
        grid(size=8, outputs="dict"),
    ),
    twin(
        "block_without_mask",
        "Block",
        [normal(2, 4, "size"), None, None, False],
        grid(size=8, outputs="dict"),
    ),
    twin(
        "block_of_a_dataclass",
        "Block",
        {"hidden_states": normal(2, 4, "size")},
        grid(size=8, outputs="dataclass"),
        executions=("pynative",),  # graph mode has no gradient through a dataclass
    ),
    twin(
        "stack_with_caches",
        "Stack",
        {
            "batch": {"features": normal(2, 4, "size"), "scales": given(1, values=[0.5])},
            "cache": [PAST, PAST],
        },
        grid(size=8, blocks=2),
    ),
)

"""Parts of language models: relative positions of T5, BERT, LoRA, the selective scan of Mamba."""

from equivalence.declare.draws import given, integers, normal
from equivalence.declare.twin import Twin, grid


def twin(name, network, inputs, configs, candidate=None, **more) -> Twin:
    """Both sides have the network, of the same arguments."""
    return Twin(
        name,
        reference=f"pt_reference.language:{network}",
        candidate=f"ms_models.language:{candidate or network}",
        inputs=inputs,
        configs=configs,
        phases=("train",),
        level="nightly",
        **more,
    )


LORA = grid(inputs=12, outputs=10, rank=3, alpha=8)

TWINS = (
    twin(
        "t5_buckets",
        "Buckets",
        [given(401, values=[*range(-200, 201)])],
        grid(count=32, farthest=128, bidirectional=[True, False]),
    ),
    twin(
        "t5_layer",
        "T5Layer",
        [normal(2, 40, "width"), given(2, 40, values=[[1] * 40, [0] * 3 + [1] * 37])],
        # At no distance the logarithm gives a whole number: rounding would decide the bucket.
        grid(width=12, heads=3, hidden=16, bidirectional=[True, False], count=8, farthest=20),
    ),
    twin(
        "bert",
        "Bert",
        [
            integers(2, 6, high=13),
            given(2, 6, values=[[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0]]),
            given(2, 6, values=[[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]]),
        ],
        grid(vocabulary=13, width=12, heads=3, hidden=20, layers=2),
        rename={
            "query.weight + key.weight + value.weight": "self_attn.in_proj_weight",
            "query.bias + key.bias + value.bias": "self_attn.in_proj_bias",
            "dense": "self_attn.out_proj",
        },
    ),
    twin("lora", "LoRA", [normal(2, 5, "inputs")], LORA),
    twin("merged_lora", "LoRA", [normal(2, 5, "inputs")], LORA, candidate="MergedLoRA"),
    twin(
        "mamba",
        "Mamba",
        [normal(2, 7, "width")],
        grid(width=12, inner=16, state=4, rank=2),
        rename={"conv1d.weight": "conv1d.weight.reshape()"},
    ),
)

"""A Llama and its parts: rotary positions, grouped queries, gated layers, a cache, generation."""

from equivalence.declare.draws import given, integers, normal
from equivalence.declare.twin import Twin, grid

NIGHTLY = {"phases": ("train",), "level": "nightly"}

# Two rows: one full, one that is padded on its left, as for generation.
PADDED = ((1, 1, 1, 1, 1, 1, 1), (0, 0, 1, 1, 1, 1, 1))
ATTENDED = given(2, 7, values=PADDED)
# Labels: padding and the prompt do not count.
LABELS = given(2, 7, values=[[-100, -100, 4, 0, 9, 2, 7], [-100, -100, -100, 5, 10, 1, 3]])
SMALL = {"vocabulary": 11, "width": 32, "layers": 2, "hidden": 40, "heads": 4, "kv_heads": 2}
ONE_LAYER = SMALL | {"layers": 1}
TOKENS = integers(2, 7, high=11)


def twin(name, network, inputs, configs, candidate=None, **more) -> Twin:
    """Both sides have the network, of the same name and arguments."""
    return Twin(
        name,
        reference=f"pt_reference.llama:{network}",
        candidate=f"ms_models.llama:{candidate or network}",
        inputs=inputs,
        configs=configs,
        **NIGHTLY | more,
    )


TWINS = (
    Twin(
        "rms_norm",
        reference="torch.nn:RMSNorm",
        candidate="ms_models.llama:RMSNorm",
        # So small that the epsilon shows.
        inputs=[normal(3, 4, "normalized_shape", scale=0.01)],
        configs=grid(normalized_shape=12, eps=[1e-5, 1e-6]),
        **NIGHTLY,
    ),
    twin(
        "rotary_positions",
        "Rotary",
        [normal(2, 3, 5, "size"), given(2, 5, values=[[0, 1, 2, 3, 4], [900, 901, 902, 903, 904]])],
        grid(
            size=16,
            theta=500000.0,
            style=["halves", "interleaved"],
            scaling=[("llama3", 8.0, 1.0, 4.0, 512), ("linear", 4.0), None],
        ),
    ),
    twin(
        "grouped_queries",
        "Attention",
        [normal(2, 7, "width"), ATTENDED],
        grid(width=64, heads=4, kv_heads=[2, 1]),
        # Where a device has it, halves go through the fused kernel, which wants heads of 16.
        dtypes=("float32", "float16"),
    ),
    twin(
        "grouped_queries_with_cache",
        "Attention",
        [
            normal(2, 2, "width"),
            ATTENDED,
            (normal(2, "kv_heads", 5, 8), normal(2, "kv_heads", 5, 8)),
        ],
        grid(width=32, heads=4, kv_heads=2),
    ),
    twin(
        "gated",
        "Gated",
        [normal(2, 5, "width")],
        grid(width=12, hidden=20, activation=["silu", "gelu", "gelu_tanh"]),
    ),
    twin(
        "llama",
        "LanguageModel",
        [TOKENS, ATTENDED, LABELS],
        grid(**SMALL),
        level="gate",
        # Compiling it takes ten seconds; at night the step llama_by_adamw compiles the same.
        executions=("pynative",),
    ),
    twin(
        "llama_untied",
        "LanguageModel",
        [TOKENS, ATTENDED, LABELS],
        grid(**SMALL, tied=False, style="interleaved", scaling=("llama3", 8.0, 1.0, 4.0, 512)),
    ),
    # Fed at once or piece by piece, the logits and the cache are the same: each side is held to
    # the other one that goes the other way.
    twin(
        "llama_in_pieces",
        "InPieces",
        [TOKENS, ATTENDED],
        grid(**ONE_LAYER, pieces=(4, 1, 1, 1)),
    ),
    twin(
        "llama_at_once_by_pieces",
        "AtOnce",
        [TOKENS, ATTENDED],
        grid(**ONE_LAYER, pieces=(3, 3, 1)),
        candidate="InPieces",
    ),
    twin(
        "llama_by_pieces_at_once",
        "InPieces",
        [TOKENS, ATTENDED],
        grid(**ONE_LAYER, pieces=(3, 3, 1)),
        candidate="AtOnce",
    ),
    twin("greedy_generation", "Greedy", [TOKENS, ATTENDED], grid(**ONE_LAYER, count=5)),
    twin(
        "llama_by_adamw",
        "training_step",
        [TOKENS, ATTENDED, LABELS],
        grid(**SMALL, learning_rate=0.01, weight_decay=0.1),
        steps=1,
    ),
    twin(
        "llama_layer_of_1024",
        "Layer",
        [normal(1, 256, "width"), given(1, 256, values=[[0] * 9 + [1] * 247])],
        grid(width=1024, hidden=2816, eps=1e-5, heads=16, kv_heads=4, theta=500000.0),
    ),
)

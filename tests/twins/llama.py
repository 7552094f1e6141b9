"""A Llama and its parts: rotary positions, grouped queries, gated layers, a cache, generation."""

from equivalence.declare.draws import given, integers, logits, normal
from equivalence.declare.twin import Twin, grid

NIGHTLY = {"phases": ("train",), "level": "nightly"}

# Two rows: one full, one that is padded on its left, as for generation.
PADDED = ((1, 1, 1, 1, 1, 1, 1), (0, 0, 1, 1, 1, 1, 1))
ATTENDED = given(2, 7, values=PADDED)
# Labels: padding and the prompt do not count.
LABELS = given(2, 7, values=[[-100, -100, 4, 0, 9, 2, 7], [-100, -100, -100, 5, 10, 1, 3]])
SMALL = {"vocabulary": 11, "width": 32, "layers": 2, "hidden": 40, "heads": 4, "kv_heads": 2}
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
        inputs=[logits(3, 4, "normalized_shape", largest=20.0)],
        configs=grid(normalized_shape=12, eps=[1e-5, 1e-6]),
        dtypes=("float32", "float16"),
        **NIGHTLY,
    ),
    twin(
        "rotary_positions",
        "Rotary",
        [normal(2, 3, 5, "size"), given(2, 5, values=[[0, 1, 2, 3, 4], [900, 901, 902, 903, 904]])],
        grid(
            size=16,
            theta=[10000.0, 500000.0],
            style=["halves", "interleaved"],
            scaling=[None, ("linear", 4.0), ("llama3", 8.0, 1.0, 4.0, 512)],
        ),
    ),
    twin(
        "grouped_queries",
        "Attention",
        [normal(2, 7, "width"), ATTENDED],
        grid(width=32, heads=4, kv_heads=[1, 2, 4]) + grid(width=32, heads=2, kv_heads=1),
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
        dtypes=("float32", "float16"),
    ),
    twin("llama", "LanguageModel", [TOKENS, ATTENDED, LABELS], grid(**SMALL), level="gate"),
    twin(
        "llama_untied",
        "LanguageModel",
        [TOKENS, ATTENDED, LABELS],
        grid(**SMALL, tied=False, style="interleaved"),
    ),
    # What is fed at once and what is fed piece by piece have the same logits and the same cache:
    # each side that goes piece by piece is held to the other side's single pass.
    twin(
        "llama_in_pieces",
        "InPieces",
        [TOKENS, ATTENDED],
        grid(**SMALL, pieces=[(4, 1, 1, 1), (3, 3, 1)]),
    ),
)

"""Mixtures of experts, and attention to a compressed cache."""

from equivalence.declare.draws import given, normal
from equivalence.declare.twin import Twin, grid

LATENT = grid(width=24, heads=3, rank=8, nope=6, rope=4, values=5, q_rank=10)
# Two rows: one full, one that is padded on its left.
ATTENDED = given(2, 6, values=[[1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1]])


def twin(name, network, inputs, configs, candidate=None, **more) -> Twin:
    """Both sides have the network, of the same arguments."""
    return Twin(
        name,
        reference=f"pt_reference.mixture:{network}",
        candidate=f"ms_models.mixture:{candidate or network}",
        inputs=inputs,
        configs=configs,
        phases=("train",),
        **{"level": "nightly"} | more,
    )


TWINS = (
    twin(
        "mixture_of_experts",
        "Mixture",
        [normal(2, 5, "width")],
        grid(width=12, hidden=10, experts=4, k=2, scoring="softmax"),
        level="gate",
        # Compiling it takes five seconds; at night scaled_mixture compiles the same.
        executions=("pynative",),
    ),
    twin(
        "scaled_mixture",
        "Mixture",
        [normal(2, 5, "width")],
        grid(width=12, hidden=10, experts=4, k=3, scoring=["softmax", "sigmoid"], scale=2.5),
    ),
    twin("latent_attention", "LatentAttention", [normal(2, 6, "width"), ATTENDED], LATENT),
    twin(
        "absorbed_attention",
        "LatentAttention",
        [
            normal(2, 2, "width"),
            ATTENDED,
            (normal(2, 4, "rank"), normal(2, 4, "rope")),
        ],
        LATENT,
        candidate="AbsorbedAttention",
    ),
)

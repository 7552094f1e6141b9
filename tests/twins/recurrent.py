"""Recurrent layers, and an embedding of times: networks that live on tanh, sigmoid and exp.

The inputs drive the gates into saturation, where the CPU kernels of tanh and exp lose digits.
"""

from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin, grid


def layer(name: str, kind: str) -> Twin:
    """Both frameworks have the layer, of the same name and arguments: L,N,C -> L,N,H; 1,N,H.

    Compiled, it is unrolled over time, which takes long.
    """
    return Twin(
        name,
        reference=f"torch.nn:{kind}",
        candidate=f"mindspore.nn:{kind}",
        inputs=[normal(3, 2, "input_size", scale=3.0)],
        configs=grid(input_size=6, hidden_size=5),
        phases=("train",),
        executions=("pynative",),
        level="nightly",
    )


TWINS = (
    layer("rnn", "RNN"),
    layer("gru", "GRU"),
    layer("lstm", "LSTM"),
    Twin(
        "timestep_embedding",
        reference="pt_reference.embedding:TimestepEmbedding",
        candidate="ms_models.embedding:TimestepEmbedding",
        inputs=[integers(4, high=200)],
        configs=grid(width=32, channels=8),
        phases=("train",),
        level="nightly",
    ),
)

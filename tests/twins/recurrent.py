"""Recurrent layers, and an embedding of times: networks that live on tanh, sigmoid and exp.

The inputs drive the gates into saturation, where the CPU kernels of tanh and exp lose digits.
Compiled, a layer is unrolled over time, which takes long: graph mode gets short sequences.
"""

from typing import Any

from equivalence.declare.draws import given, integers, normal
from equivalence.declare.twin import Twin, grid

PT, MS = "pt_reference.recurrent:", "ms_models.recurrent:"
NIGHTLY = {"phases": ("train",), "level": "nightly"}
PYNATIVE = {"executions": ("pynative",)}

SIZES = {"input_size": 6, "hidden_size": 5}
STATE = normal(4, 2, 5)


def layer(name: str, kind: str, **declared: Any) -> Twin:
    """Both frameworks have the layer, of the same name and arguments: L,N,C -> L,N,H; 1,N,H."""
    inputs = declared.pop("inputs", [normal(3, 2, "input_size", scale=3.0)])
    declared = {"configs": grid(**SIZES)} | NIGHTLY | declared
    sides = {"reference": f"torch.nn:{kind}", "candidate": f"mindspore.nn:{kind}"}
    return Twin(name, **sides, inputs=inputs, **declared)


def own(name: str, attribute: str, **declared: Any) -> Twin:
    """A twin of our own networks of the same name."""
    return Twin(name, reference=PT + attribute, candidate=MS + attribute, **NIGHTLY | declared)


LAYERS = tuple(
    twin
    for kind in ("RNN", "GRU", "LSTM")
    for twin in (
        layer(kind.lower(), kind, **PYNATIVE),
        # Deep, two ways, batches first, and with initial states.
        layer(
            f"{kind.lower()}_deep",
            kind,
            configs=grid(**SIZES, num_layers=2, bidirectional=True, batch_first=True),
            inputs=[normal(2, 3, 6), (STATE, STATE) if kind == "LSTM" else STATE],
            **PYNATIVE,
        ),
        layer(f"{kind.lower()}_compiled", kind, inputs=[normal(2, 2, 6)], executions=("graph",)),
        # What is dropped between the layers is pinned; that both drop by one law is compared.
        layer(
            f"{kind.lower()}_dropout",
            kind,
            configs=grid(**SIZES, num_layers=2, dropout=0.3),
            random_layers="eval",
            **PYNATIVE,
        ),
        own(
            f"{kind.lower()}_packed",
            "Packed",
            configs=grid(kind=kind, **SIZES, bidirectional=True),
            inputs=[normal(4, 3, "input_size"), given(3, values=(2, 4, 1))],
            dtypes=("float32", "float16"),
            **PYNATIVE,
        ),
        # The cells take their state; LSTMCell takes two.
        layer(
            f"{kind.lower()}_cell",
            f"{kind}Cell",
            inputs=[normal(3, 6), (normal(3, 5), normal(3, 5)) if kind == "LSTM" else normal(3, 5)],
        ),
    )
)

TWINS = (
    *LAYERS,
    layer("rnn_relu", "RNN", configs=grid(**SIZES, nonlinearity="relu"), **PYNATIVE),
    own(
        "lstm_projected",
        "ProjectedLSTM",
        configs=grid(**SIZES, proj_size=3),
        inputs=[normal(3, 2, "input_size")],
    ),
    own("tagger", "Tagger", inputs=[integers(3, 4, high=20), given(3, values=(2, 4, 1))]),
    own("translator", "Translator", inputs=[integers(3, 4, high=20), integers(3, 3, high=20)]),
    own(
        "tagger_step",
        "tagger_step",
        configs=grid(learning_rate=0.01, eps=1e-3),
        inputs=[integers(3, 4, high=20), given(3, values=(2, 4, 1)), integers(3, 4, high=4)],
        steps=1,
    ),
    own(
        "translator_step",
        "translator_step",
        configs=grid(learning_rate=0.01, eps=1e-3),
        inputs=[integers(3, 4, high=20), integers(3, 3, high=20), integers(3, 3, high=20)],
        steps=1,
    ),
    Twin(
        "timestep_embedding",
        reference="pt_reference.embedding:TimestepEmbedding",
        candidate="ms_models.embedding:TimestepEmbedding",
        inputs=[integers(4, high=200)],
        configs=grid(width=32, channels=8),
        **NIGHTLY,
    ),
)

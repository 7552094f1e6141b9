"""Long sums: single layers that add up thousands of terms, forward or backward."""

from equivalence.declare.draws import Draw, integers, normal
from equivalence.declare.twin import Twin

PT, MS = "benchmarks.catalogue.pt.sums:", "benchmarks.catalogue.ms.sums:"


def sums(name: str, network: str, inputs: list[Draw], **arguments) -> Twin:
    """Layers that do the same in training and evaluation."""
    sides = {"reference": PT + network, "candidate": MS + network}
    return Twin(name, **sides, inputs=inputs, configs=(arguments,), phases=("train",))


def convolution(name: str, inputs: list[Draw], **arguments) -> Twin:
    """One convolution with a bias."""
    return Twin(
        name,
        reference="torch.nn:Conv2d",
        candidate="ms_models.conv:conv2d",
        inputs=inputs,
        configs=({**arguments, "bias": True},),
        phases=("train",),
    )


def recurrent(name: str, **arguments) -> Twin:
    """A recurrent network over 64 steps of 8 sequences."""
    return sums(name, "Recurrent", [normal(8, 64, 64)], width=64, hidden=128, **arguments)


TWINS = (
    convolution(
        "sum_stem",
        [normal(2, 3, 224, 224)],
        in_channels=3,
        out_channels=64,
        kernel_size=7,
        stride=2,
        padding=3,
    ),
    convolution(
        "sum_conv_wide",
        [normal(4, 32, 64, 64)],
        in_channels=32,
        out_channels=32,
        kernel_size=3,
        padding=1,
    ),
    convolution(
        "sum_conv_deep",
        [normal(2, 1024, 8, 8)],
        in_channels=1024,
        out_channels=256,
        kernel_size=3,
        padding=1,
    ),
    sums("sum_matmul", "Product", [normal(64, 16384), normal(16384, 48)]),
    sums("sum_norm_mean_196", "NormThenMean", [normal(2, 196, 768)], channels=768),
    sums("sum_norm_mean_4096", "NormThenMean", [normal(2, 4096, 768)], channels=768),
    sums("sum_channel_bias", "ChannelBias", [normal(8, 16, 112, 112)], channels=16),
    Twin(
        "sum_dense_bias",
        reference="torch.nn:Linear",
        candidate="mindspore.mint.nn:Linear",
        inputs=[normal(100352, 16)],
        configs=({"in_features": 16, "out_features": 16},),
        phases=("train",),
    ),
    sums(
        "sum_vocabulary",
        "VocabularyHead",
        [normal(64, 768), integers(64, high=50257)],
        width=768,
        vocabulary=50257,
    ),
    sums("sum_timesteps", "Timesteps", [integers(16, high=1000)], width=320),
    recurrent("sum_rnn_tanh", kind="RNN"),
    recurrent("sum_rnn_relu", kind="RNN", nonlinearity="relu"),
    recurrent("sum_gru", kind="GRU", num_layers=2),
    recurrent("sum_lstm", kind="LSTM", num_layers=2, bidirectional=True),
)

"""Training steps, gradients of zero in truth, and inverted residuals in training."""

from equivalence.declare.draws import Draw, integers, normal
from equivalence.declare.twin import Twin

PT, MS = "benchmarks.catalogue.pt.training:", "benchmarks.catalogue.ms.training:"

OPTIMISERS = ("sgd", "adam", "adamw")

INPUTS = {
    "cnn": normal(8, 3, 32, 32),
    "attention": normal(8, 16, 32),
    "inverted": normal(8, 16, 14, 14),
    "mobilenet": normal(8, 3, 64, 64),
}
"""Name of a network -> its batch of eight."""


def training(
    name: str,
    network: str,
    steps: int,
    executions: tuple[str, ...] = ("pynative", "graph"),
    **arguments,
) -> Twin:
    """Some training steps of a network that classifies a batch of eight."""
    labels: Draw = integers(8, high=10)
    return Twin(
        name,
        reference=PT + "step",
        candidate=MS + "step",
        inputs=[INPUTS[network].constant(), labels],
        configs=({"network": network, **arguments},),
        phases=("train",),
        executions=executions,
        steps=steps,
    )


STEPS = tuple(
    training(f"train_{network}_{optimiser}_{steps}", network, steps, optimiser=optimiser)
    for network in ("cnn", "attention", "inverted")
    for optimiser in OPTIMISERS
    for steps in (1, 3)
)

# Adam's first update is the learning rate times the sign of the gradient. In a network so deep,
# with random weights and eight pictures, one rounding decides many signs: no Adam here.
MOBILE_STEPS = (training("train_mobilenet_sgd_1", "mobilenet", 1, ("pynative",), optimiser="sgd"),)

# The gradient of a bias in front of a BatchNorm is zero in truth. (So is that of the key's bias in
# the steps on attention.)
ZEROS = tuple(
    training(f"train_cnn_bias_{optimiser}_{steps}", "cnn", steps, optimiser=optimiser, bias=True)
    for optimiser in OPTIMISERS
    for steps in (1, 3)
)

FEATURES = tuple(
    Twin(
        f"inverted_residuals_{depth}",
        reference=PT + "mobilenet_features",
        candidate=MS + "mobilenet_features",
        inputs=[normal(4, 3, 112, 112)],
        configs=({"depth": depth},),
        phases=("train",),
        executions=("pynative",),
    )
    for depth in (1, 8, 17)
)

TWINS = (*STEPS, *MOBILE_STEPS, *ZEROS, *FEATURES)

"""Twins that the gate does not have, for mistakes that none of its own can show."""

from equivalence.declare.draws import integers, normal, uniform
from equivalence.declare.twin import Twin, grid
from tests.defects import (
    attributes,
    functional,
    functional_gradients,
    handed,
    quantised,
    sequences,
    yolox,
)
from tests.twins.optim import gradients

RIGHT = "tests.defects.operator_candidates:"

TABLED = "tests.engine.parts.tabled_"

TWINS = (
    *attributes.twins(),
    *functional.twins(),
    *functional_gradients.twins(),
    *handed.twins(),
    *quantised.twins(),
    *sequences.twins(),
    *yolox.twins(),
    Twin(
        "palette",
        reference=TABLED + "pt:Palette",
        candidate=TABLED + "ms:Palette",
        inputs=[integers(2, 3, high=5)],
        phases=("train",),
    ),
    Twin(
        "positions",
        reference=TABLED + "pt:Positions",
        candidate=TABLED + "ms:Positions",
        inputs=[normal(2, 6, 8)],
        phases=("train",),
    ),
    Twin(
        "looked_up_sampler",
        reference="tests.engine.parts.looked_up_pt:Sampler",
        candidate="tests.engine.parts.looked_up_ms:Sampler",
        inputs=[normal(3, 4)],
        phases=("train",),
    ),
    Twin(
        "rectangular_conv",
        reference="torch.nn:Conv2d",
        candidate=RIGHT + "rectangular_conv",
        configs=grid(
            in_channels=6, out_channels=8, kernel_size=(3, 5), stride=(2, 1), padding=(1, 2)
        ),
        inputs=[normal(2, "in_channels", 13, 10)],
        phases=("train",),
    ),
    Twin(
        "transposed_conv",
        reference="torch.nn:ConvTranspose2d",
        candidate=RIGHT + "transposed_conv",
        configs=grid(
            in_channels=6, out_channels=8, kernel_size=3, stride=2, padding=1, output_padding=1
        ),
        inputs=[normal(2, "in_channels", 7, 5)],
        phases=("train",),
    ),
    Twin(
        "upsampled",
        reference="torch.nn:Upsample",
        candidate=RIGHT + "Upsampled",
        configs=grid(size=(14, 9), mode="bilinear", align_corners=False)
        + grid(size=(14, 10), mode="nearest", align_corners=None),
        inputs=[normal(2, 4, 7, 5)],
        phases=("train",),
    ),
    Twin(
        "adaptive_mean_pool",
        reference="torch.nn:AdaptiveAvgPool2d",
        candidate="mindspore.nn:AdaptiveAvgPool2d",
        configs=grid(output_size=(3, 2)),
        inputs=[normal(2, 4, 7, 5)],
        phases=("train",),
    ),
    Twin(
        "flatten",
        reference="torch.nn:Flatten",
        candidate="mindspore.nn:Flatten",
        inputs=[normal(2, 5, 4, 3)],
        phases=("train",),
    ),
)

# Of these, settings do not show in any tensor.
HIDDEN = (
    Twin(
        "norms_of_large_inputs",
        reference="pt_reference.hidden:Norms",
        candidate="ms_models.hidden:Norms",
        inputs=[normal(5, 12)],
        phases=("eval",),
    ),
    Twin(
        "activations_above_zero",
        reference="pt_reference.hidden:Activations",
        candidate="ms_models.hidden:Activations",
        inputs=[normal(5, 12), integers(5, high=12)],
        phases=("eval",),
    ),
    Twin(
        "fine_tuning",
        reference="pt_reference.hidden:fine_tuning",
        candidate="ms_models.hidden:fine_tuning",
        configs=grid(learning_rate=2e-5, weight_decay=0.01),
        inputs=gradients(),
        steps=2,
        phases=("train",),
    ),
    Twin(
        "long_run",
        reference="pt_reference.hidden:long_run",
        candidate="ms_models.hidden:long_run",
        configs=grid(learning_rate=0.01, warmup_steps=1000, total_steps=9000),
        inputs=gradients(),
        steps=2,
        phases=("train",),
    ),
    Twin(
        "dropping",
        reference="pt_reference.hidden:dropping",
        candidate="ms_models.hidden:dropping",
        configs=grid(learning_rate=0.1, milestone=5000, total_steps=9000),
        inputs=gradients(),
        steps=2,
        phases=("train",),
    ),
    Twin(
        "half_energy",
        reference="pt_reference.precision:HalfEnergy",
        candidate="ms_models.precision:Energy",
        inputs=[uniform(4, 6, low=-400.0, high=400.0)],
        phases=("train",),
    ),
)

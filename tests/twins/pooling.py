"""Pooling. The inputs of a max pooling are mostly negative, so that a border of zeros would win."""

from equivalence.declare.draws import normal, uniform
from equivalence.declare.twin import Twin, grid

NEGATIVE = [normal(2, 5, 12, 9, shift=-2.0)]  # one size even, one odd

TWINS = (
    Twin(
        "max_pool2d",
        reference="torch.nn:MaxPool2d",
        candidate="ms_models.pooling:max_pool2d",
        configs=grid(kernel_size=3, stride=2, padding=1),
        inputs=NEGATIVE,
        phases=("train",),
    ),
    Twin(
        "zero_padded_max_pool2d",
        reference="torch.nn:MaxPool2d",
        candidate="ms_models.pooling:zero_padded_max_pool2d",
        configs=grid(kernel_size=3, stride=2, padding=1),
        inputs=[uniform(2, 5, 12, 9)],
        phases=("train",),
        settings={"padding_value": "zeros are below all inputs, which are not negative"},
    ),
    Twin(
        "same_max_pool2d_by_two",
        reference="torch.nn:MaxPool2d",
        candidate="ms_models.pooling:same_max_pool2d",
        configs=grid(kernel_size=2, stride=2, ceil_mode=True),
        inputs=NEGATIVE,
        phases=("train",),
    ),
    Twin(
        "same_max_pool2d_on_odd_sizes",
        reference="torch.nn:MaxPool2d",
        candidate="ms_models.pooling:same_max_pool2d",
        configs=grid(kernel_size=3, stride=2, padding=1),
        inputs=[normal(2, 5, 11, 9, shift=-2.0)],
        phases=("train",),
        settings={"padding": "for odd sizes TensorFlow's rule pads a row on either side"},
        without={"remainder": "for even sizes it pads at the far side alone"},
    ),
    Twin(
        "avg_pool2d",
        reference="torch.nn:AvgPool2d",
        candidate="ms_models.pooling:avg_pool2d",
        configs=grid(kernel_size=3, stride=2, padding=1, count_include_pad=[True, False])
        + grid(kernel_size=3, stride=2, padding=1, ceil_mode=True, count_include_pad=False),
        inputs=[normal(2, 5, 12, 9, shift=-2.0)],
        phases=("train",),
    ),
    Twin(
        "adaptive_avg_pool2d_to_one",
        reference="torch.nn:AdaptiveAvgPool2d",
        candidate="mindspore.nn:AdaptiveAvgPool2d",
        configs=grid(output_size=1),
        inputs=[normal(2, 5, 7, 4)],
        phases=("train",),
    ),
    Twin(
        "global_mean_pool",
        reference="pt_reference.pooling:global_mean_pool",
        candidate="ms_models.pooling:GlobalMeanPool",
        inputs=[normal(2, 5, 7, 4)],
        phases=("train",),
    ),
    Twin(
        "global_max_pool",
        reference="pt_reference.pooling:global_max_pool",
        candidate="ms_models.pooling:GlobalMaxPool",
        inputs=[normal(2, 5, 7, 4, shift=-2.0)],
        phases=("train",),
    ),
)
